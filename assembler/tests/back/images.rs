//! Tests of images: their exact bytes, and the detection of damage.

use reviver_assembler::disassemble::disassemble;
use reviver_assembler::image::{LoadError, MAGIC, checksum, decode, encode};
use reviver_isa::module::Structure;
use reviver_isa::verify::verify;

use crate::support::{Random, SAMPLES, module};

const SMALL: &str = ".inout x = 3\n\tadd x, 2\n";

fn small() -> Vec<u8> {
    encode(&module(SMALL)).unwrap()
}

/// Updates the checksum of an image.
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
    let hex: Vec<String> =
        small().chunks(16).map(|row| row.iter().map(|b| format!("{b:02x}")).collect()).collect();
    assert_eq!(hex, GOLDEN);
}

/// The exact bytes of an image. A change of these bytes requires a new format version.
const GOLDEN: &[&str] = &[
    "895242430d0a1a0a0500000020369c2f",
    "05000000010000007800000000000000",
    "1400000000000000020000008c000000",
    "000000000b0000000000000003000000",
    "97000000000000000b00000000000000",
    "04000000a20000000000000013000000",
    "0000000005000000b500000000000000",
    "0a000000000000000323000000010002",
    "03000000000004002400000001017800",
    "0300000106000001046d61696e000000",
    "02000300fca0860100fc00000001fc00",
    "000001000000030102010000000000",
];

#[test]
fn every_bit_flip_is_refused() {
    for name in ["fibonacci", "narrow", "reals"] {
        let text = SAMPLES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).expect("a sample");
        let mut image = encode(&module(text)).unwrap();
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
        let image = encode(&module(text)).unwrap();
        for length in 0..image.len() {
            let error = decode(&image[..length]).expect_err(name);
            let expected =
                matches!(error, LoadError::Truncated { .. }) || length == 0 && error == LoadError::NotAnImage;
            assert!(expected, "{name} at {length}: {error}");
        }
    }
}

#[test]
fn each_damaged_image_has_its_error() {
    assert_eq!(decode(b""), Err(LoadError::NotAnImage));
    assert_eq!(decode(b"; a text\n\tadd x, y\n"), Err(LoadError::NotAnImage));
    assert_eq!(repaired(|i| i[0] = b'x'), LoadError::NotAnImage);
    assert_eq!(repaired(|i| i[8] = 9), LoadError::Version { found: 9 });
    assert_eq!(repaired(|i| i[8] = 1), LoadError::Version { found: 1 });
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
    assert_eq!(reason(|i| i[20] = 2), "the section 0x02 is out of order, or listed twice");
    assert_eq!(reason(|i| i[20] = 3), "the section 0x02 is out of order, or listed twice");
    assert_eq!(reason(|i| i[20] = 0xff), "the section 0xff is unknown to this build");
    assert_eq!(reason(|i| i[24] -= 1), "the section 0x01 overlaps the section before it");
    assert_eq!(reason(|i| i[24] += 1), "the section 0x01 leaves a gap before it");
    assert_eq!(reason(|i| i[32] += 1), "the section 0x02 overlaps the section before it");
    assert_eq!(reason(|i| i[39] = 0xff), "the section 0x01 reaches outside of the image");
    assert!(matches!(repaired(|i| i[19] = 0xff), LoadError::Truncated { .. }));
}

/// Returns the small image with changed sections.
fn with_sections(change: impl FnOnce(&mut Vec<(u32, Vec<u8>)>)) -> Vec<u8> {
    let image = small();
    let u64_at = |at: usize| u64::from_le_bytes(image[at..at + 8].try_into().expect("eight bytes")) as usize;
    let section = |n: usize| {
        let entry = 20 + 20 * n;
        let (offset, length) = (u64_at(entry + 4), u64_at(entry + 12));
        (u32::from(image[entry]), image[offset..offset + length].to_vec())
    };
    let mut sections: Vec<_> = (0..usize::from(image[16])).map(section).collect();
    change(&mut sections);
    let mut changed = image[..16].to_vec();
    changed.extend((sections.len() as u32).to_le_bytes());
    let mut offset = 20 + 20 * sections.len() as u64;
    for (id, bytes) in &sections {
        changed.extend(id.to_le_bytes());
        changed.extend(offset.to_le_bytes());
        changed.extend((bytes.len() as u64).to_le_bytes());
        offset += bytes.len() as u64;
    }
    changed.extend(sections.into_iter().flat_map(|(_, bytes)| bytes));
    repair(&mut changed);
    changed
}

#[test]
fn a_section_that_is_missing_is_named() {
    assert_eq!(with_sections(|_| {}), small());
    let image = with_sections(|sections| drop(sections.remove(2)));
    let reason = "the section `procedures` is missing".to_owned();
    assert_eq!(decode(&image), Err(LoadError::SectionTable(reason)));
}

/// Checks that other bytes for the same module are rejected: a number with superfluous bytes, and an empty
/// section.
#[test]
fn a_module_has_one_image() {
    let image = with_sections(|sections| {
        // The count of globals, 1, as a number of two bytes.
        sections[1].1.splice(0..1, [0xfb, 1, 0]);
    });
    let reason = "a number is stored in more bytes than necessary".to_owned();
    assert_eq!(decode(&image), Err(LoadError::Section { section: "data", reason }));
    let image = with_sections(|sections| sections[4].1 = vec![0; 7]);
    let reason = "it is empty, and an empty section must be omitted".to_owned();
    assert_eq!(decode(&image), Err(LoadError::Section { section: "structure", reason }));
}

#[test]
fn a_false_length_allocates_no_memory() {
    // A count of globals, and the length of a name: 2^63 each, as the codec writes it.
    let huge = [&[0xfd][..], &(1u64 << 63).to_le_bytes()].concat();
    for data in [huge.clone(), [&[1][..], &huge].concat()] {
        let image = with_sections(|sections| sections[1].1 = data.clone());
        let error = decode(&image).expect_err("the claim is refused");
        assert!(matches!(error, LoadError::Section { section: "data", .. }), "{error}");
    }
}

#[test]
fn a_section_with_trailing_bytes_is_refused() {
    let image = with_sections(|sections| sections[3].1.push(0));
    let reason = "a byte is left over".to_owned();
    assert_eq!(decode(&image), Err(LoadError::Section { section: "limits", reason }));
}

#[test]
fn structure_is_optional() {
    let mut bare = module(SMALL);
    bare.structure = Structure::default();
    let image = encode(&bare).unwrap();
    assert!(image.len() < small().len());
    assert_eq!(decode(&image), Ok(bare));
}

#[test]
fn a_malformed_section_is_named() {
    // The second byte of the code is the update of the first instruction.
    let image = with_sections(|sections| sections[0].1[1] = 0xee);
    let Err(LoadError::Section { section, reason }) = decode(&image) else {
        panic!("the code section is at fault")
    };
    assert_eq!((section, reason.as_str()), ("code", "no update has the byte 0xee"));
}

#[test]
fn random_damage_never_panics() {
    let images: Vec<Vec<u8>> = SAMPLES.iter().map(|(_, text)| encode(&module(text)).unwrap()).collect();
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
            // The module can be decoded but is invalid. Neither the verifier nor the disassembler may panic.
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

#[test]
fn the_magic_detects_converted_line_ends() {
    assert!(MAGIC.contains(&b'\r') && MAGIC.contains(&b'\n') && MAGIC[0] >= 0x80);
}
