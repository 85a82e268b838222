//! Deliberate damage to bytes: single bits, random edits, and edits with a repaired checksum. This file contains the
//! positions of checksums and lengths in images and state files, and interprets nothing else in them.

use reviver_assembler::image;
use reviver_isa::codec;

use crate::rng::Rng;

/// Offset of the section table in an image, in bytes.
const TABLE: usize = 20;
/// Size of an entry of the section table, in bytes.
const ENTRY: usize = 20;
/// Offset of the checksummed body in a state file, in bytes.
const STATE_BODY: usize = 14;
const STATE_CHECKSUM: std::ops::Range<usize> = 10..14;

/// Returns the bytes with one bit flipped.
pub fn flipped(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

/// Applies one to four random edits.
pub fn edited(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..rng.within(1..=4) {
        edit(rng, &mut bytes);
    }
    bytes
}

fn edit(rng: &mut Rng, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        bytes.push(rng.bits() as u8);
        return;
    }
    let at = rng.below(bytes.len());
    let run = at..(at + 1 + rng.below(8)).min(bytes.len());
    match rng.below(8) {
        0 | 1 => bytes[at] ^= 1 << rng.below(8),
        2 => bytes[at] = rng.bits() as u8,
        // These values change the structure: encoded lengths and variants are small numbers, and the bytes 251 to 255
        // begin longer encodings.
        3 => bytes[at] = *rng.pick(&[0, 1, 2, 0x7f, 0x80, 250, 251, 252, 253, 254, 255]),
        4 => bytes[at] = bytes[at].wrapping_add(*rng.pick(&[1, 255])),
        5 => drop(bytes.drain(run)),
        6 => drop(bytes.splice(at..at, (0..run.len() as u8).map(|n| n.wrapping_mul(37)))),
        _ => {
            let copy = bytes[run].to_vec();
            let to = rng.below(bytes.len());
            drop(bytes.splice(to..(to + copy.len()).min(bytes.len()), copy));
        }
    }
}

/// Edits one section of an image, and repairs its table and checksum.
pub fn resealed_image(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut sections = sections(bytes);
    let chosen = rng.below(sections.len());
    sections[chosen].1 = edited(rng, &sections[chosen].1);
    let count = sections.len();
    let mut image = bytes[..TABLE].to_vec();
    let mut offset = TABLE + ENTRY * count;
    for (id, content) in &sections {
        image.extend(id);
        image.extend((offset as u64).to_le_bytes());
        image.extend((content.len() as u64).to_le_bytes());
        offset += content.len();
    }
    sections.iter().for_each(|(_, content)| image.extend(content));
    seal_image(&mut image);
    image
}

/// Returns the sections of a valid image: identifier and content.
fn sections(image: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let number = |at: usize| u64::from_le_bytes(image[at..at + 8].try_into().unwrap()) as usize;
    let count = u32::from_le_bytes(image[16..20].try_into().unwrap()) as usize;
    let entries = (0..count).map(|n| TABLE + n * ENTRY);
    entries
        .map(|at| {
            let (start, length) = (number(at + 4), number(at + 12));
            (image[at..at + 4].try_into().unwrap(), image[start..start + length].to_vec())
        })
        .collect()
}

/// Repairs the checksum of an image.
pub fn seal_image(image: &mut [u8]) {
    let checksum = image::checksum(image).to_le_bytes();
    if let Some(field) = image.get_mut(12..16) {
        field.copy_from_slice(&checksum);
    }
}

/// Edits the body of a state file, and repairs its checksum.
pub fn resealed_state(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let body = edited(rng, &bytes[STATE_BODY..]);
    let mut state = bytes[..STATE_BODY].to_vec();
    state.extend(body);
    seal_state(&mut state);
    state
}

/// Repairs the checksum of a state file.
pub fn seal_state(state: &mut [u8]) {
    if state.len() >= STATE_BODY {
        let checksum = codec::checksum([&state[STATE_BODY..]]).to_le_bytes();
        state[STATE_CHECKSUM].copy_from_slice(&checksum);
    }
}

/// Omits, duplicates, swaps or edits lines of a text.
pub fn edited_text(rng: &mut Rng, text: &str) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
    for _ in 0..rng.within(1..=4) {
        if lines.is_empty() {
            break;
        }
        let (at, other) = (rng.below(lines.len()), rng.below(lines.len()));
        match rng.below(5) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => edit_word(rng, &mut lines, at, other),
            _ => lines[at] = edited(rng, &lines[at]),
        }
    }
    lines.join(&b'\n')
}

/// Replaces a word of the line `at` by a word of the line `other`.
fn edit_word(rng: &mut Rng, lines: &mut [Vec<u8>], at: usize, other: usize) {
    let words = |line: &[u8]| line.split(|b| *b == b' ').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let mut changed = words(&lines[at]);
    let donor = words(&lines[other]);
    let place = rng.below(changed.len());
    changed[place] = rng.pick(&donor).clone();
    lines[at] = changed.join(&b' ');
}
