//! Fuzz targets as plain tests. Each target's body runs on the committed seeds, and on some thousand damaged copies.
//! An input with which a fuzzer found a mistake becomes a seed.

use reviver_assembler::image;
use reviver_lab::campaign::{programs, subject};
use reviver_lab::damage::{edited, edited_text, resealed_image, resealed_state};
use reviver_lab::fuzz;
use reviver_lab::rng::Rng;
use reviver_lab::tree::in_tree;

/// Number of damaged seeds for each body, except in campaigns.
const ROUNDS: u64 = 10_000;

/// Returns the committed seed texts, and some generated programs.
fn texts() -> Vec<Vec<u8>> {
    let folder = in_tree("tests/fuzz/seeds");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let committed = entries.map(|path| std::fs::read(path).unwrap());
    committed.chain((0..20).map(|seed| subject(seed).text.into_bytes())).collect()
}

fn images() -> Vec<Vec<u8>> {
    (0..20).map(|seed| image::encode(subject(seed).program.module()).unwrap()).collect()
}

/// Runs the body of a fuzz target on all seeds, and on damaged copies of them.
fn try_all(seeds: &[Vec<u8>], body: fn(&[u8]), damage: impl Fn(&mut Rng, &[u8]) -> Vec<u8>) {
    seeds.iter().for_each(|seed| body(seed));
    let mut rng = Rng::new(3);
    for _ in 0..programs(ROUNDS) {
        let seed = rng.pick(seeds);
        body(&damage(&mut rng, seed));
    }
}

/// Damages a text by lines and words, or by bytes.
fn damaged_text(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(bytes) {
        Ok(text) if rng.chance(70) => edited_text(rng, text),
        _ => edited(rng, bytes),
    }
}

#[test]
fn texts_are_parsed_and_formatted() {
    try_all(&texts(), fuzz::text, damaged_text);
}

#[test]
fn texts_are_assembled_and_run() {
    try_all(&texts(), fuzz::program, damaged_text);
}

#[test]
fn images_are_decoded_and_run() {
    try_all(&images(), fuzz::image, edited);
    try_all(&images(), fuzz::sealed_image, edited);
    try_all(&images(), fuzz::image, resealed_image);
}

#[test]
fn states_are_decoded_and_resumed() {
    let states = fuzz::sample_states();
    try_all(&states, fuzz::state, edited);
    try_all(&states, fuzz::sealed_state, edited);
    try_all(&states, fuzz::state, resealed_state);
}
