//! Images: frozen bytes, and no damage that goes unnoticed.

use reviver_assembler::disassemble::disassemble;
use reviver_assembler::image::{LoadError, MAGIC, VERSION, checksum, decode, encode};
use reviver_isa::module::Structure;
use reviver_isa::verify::verify;

use crate::support::{SAMPLES, module};

const SMALL: &str = ".inout x = 3\n\tadd x, 2\n";

fn small() -> Vec<u8> {
    encode(&module(SMALL))
}

/// Writes the checksum that the bytes should have.
fn repair(image: &mut [u8]) {
    let sum = checksum(image).to_le_bytes();
    if let Some(field) = image.get_mut(12..16) {
        field.copy_from_slice(&sum);
    }
}

fn repaired(change: impl FnOnce(&mut Vec<u8>)) -> LoadError {
    let mut image = small();
    change(&mut image);
    repair(&mut image);
    decode(&image).expect_err("a damaged image is refused")
}

#[test]
fn the_bytes_of_an_image_are_frozen() {
    let hex: Vec<String> = small().chunks(16).map(|row| row.iter().map(|b| format!("{b:02x}")).collect()).collect();
    assert_eq!(hex, GOLDEN);
}

const GOLDEN: &[&str] = &[];

#[test]
fn every_bit_flip_is_refused() {
    for name in ["fibonacci", "narrow", "reals"] {
        let text = SAMPLES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).expect("a sample");
        let mut image = encode(&module(text));
        for bit in 0..image.len() * 8 {
            image[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&image).is_err(), "{name}: bit {bit}");
            image[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(decode(&image).is_ok());
    }
}

#[test]
fn every_truncation_is_refused() {
    for (name, text) in SAMPLES {
        let image = encode(&module(text));
        for length in 0..image.len() {
            let error = decode(&image[..length]).expect_err(name);
            let expected = matches!(error, LoadError::Truncated { .. })
                || length == 0 && error == LoadError::NotAnImage;
            assert!(expected, "{name} at {length}: {error}");
        }
    }
}

#[test]
fn each_damage_has_its_name() {
    assert_eq!(decode(b""), Err(LoadError::NotAnImage));
    assert_eq!(decode(b"; a text\n\tadd x, y\n"), Err(LoadError::NotAnImage));
    assert_eq!(repaired(|i| i[0] = b'x'), LoadError::NotAnImage);
    assert_eq!(repaired(|i| i[8] = 9), LoadError::NewerVersion { found: 9, newest: VERSION });
    assert_eq!(repaired(|i| i[8] = 0), LoadError::NoVersion);
    assert_eq!(repaired(|i| i[11] = 1), LoadError::UnknownFlags(0x100));
    assert_eq!(repaired(|i| i.push(0)), LoadError::TrailingBytes(1));
    assert!(matches!(repaired(|i| i.truncate(30)), LoadError::Truncated { found: 30, .. }));
    let mut damaged = small();
    *damaged.last_mut().expect("it has bytes") ^= 1;
    assert!(matches!(decode(&damaged), Err(LoadError::Checksum { .. })));
    let message = decode(&damaged).expect_err("damaged").to_string();
    assert!(message.contains("checksum"), "{message}");
}

#[test]
fn each_wrong_table_has_its_reason() {
    let reason = |change: fn(&mut Vec<u8>)| match repaired(change) {
        LoadError::SectionTable(reason) => reason,
        other => panic!("{other}"),
    };
    // The first entry: id at 20, offset at 24, length at 32; the second begins at 40.
    assert_eq!(reason(|i| i[20] = 2), "the section 0x02 is listed twice");
    assert_eq!(reason(|i| i[20] = 0x7f), "the section 0x7f is unknown to this build");
    assert_eq!(reason(|i| i[20] = 0x80), "the section `code` is missing");
    assert_eq!(reason(|i| i[24] -= 1), "the section 0x01 overlaps what is before it");
    assert_eq!(reason(|i| i[24] += 1), "the section 0x01 leaves a gap before it");
    assert_eq!(reason(|i| i[32] += 1), "the section 0x02 overlaps what is before it");
    assert_eq!(reason(|i| i[39] = 0xff), "the section 0x01 reaches outside of the image");
    assert!(matches!(repaired(|i| i[19] = 0xff), LoadError::Truncated { .. }));
}

#[test]
fn an_unknown_optional_section_is_left_aside() {
    let mut image = small();
    let count = image[16];
    image[16] = count + 1;
    let table_end = 20 + 20 * usize::from(count);
    let end = image.len() as u64 + 20;
    let entry = [&0x80u32.to_le_bytes()[..], &end.to_le_bytes(), &3u64.to_le_bytes()].concat();
    image.splice(table_end..table_end, entry);
    for n in 0..usize::from(count) {
        let offset = 20 + 20 * n + 4;
        let old = u64::from_le_bytes(image[offset..offset + 8].try_into().expect("eight bytes"));
        image[offset..offset + 8].copy_from_slice(&(old + 20).to_le_bytes());
    }
    image.extend_from_slice(b"new");
    repair(&mut image);
    assert_eq!(decode(&image), Ok(module(SMALL)));
}

#[test]
fn structure_is_optional() {
    let mut bare = module(SMALL);
    bare.structure = Structure::default();
    let image = encode(&bare);
    assert!(image.len() < small().len());
    assert_eq!(decode(&image), Ok(bare));
}

#[test]
fn a_malformed_section_is_named() {
    let LoadError::Section { section, reason } = repaired(|i| {
        let code = u64::from_le_bytes(i[24..32].try_into().expect("eight bytes")) as usize;
        // The second byte of the code section is the update of the first instruction.
        i[code + 1] = 0xee;
    }) else {
        panic!("the code section is at fault")
    };
    assert_eq!((section, reason.as_str()), ("code", "no update has the byte 0xee"));
}

#[test]
fn random_damage_never_panics() {
    let images: Vec<Vec<u8>> = SAMPLES.iter().map(|(_, text)| encode(&module(text))).collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut decoded = 0;
    for round in 0..20_000 {
        let mut image = images[round % images.len()].clone();
        for _ in 0..=random.below(4) {
            damage(&mut image, &mut random);
        }
        repair(&mut image);
        if let Ok(module) = decode(&image) {
            decoded += 1;
            // Neither may choke on what decodes and is no program.
            let _ = verify(&module);
            let _ = disassemble(&module);
        }
    }
    assert!(decoded > 1_000, "only {decoded} images decode: the damage is too coarse to test much");
}

fn damage(image: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(image.len());
    match random.below(6) {
        0 => {
            image.remove(at);
        }
        1 => image.insert(at, random.below(256) as u8),
        2 => image[at] = [0, 0x7f, 0x80, 0xfb, 0xfc, 0xfd, 0xff][random.below(7)],
        _ => image[at] ^= 1 << random.below(8),
    }
}

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

#[test]
fn the_magic_shows_meddling_with_line_ends() {
    assert!(MAGIC.contains(&b'\r') && MAGIC.contains(&b'\n') && MAGIC[0] >= 0x80);
}
