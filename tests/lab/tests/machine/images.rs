//! Damaged images and state files. The checksum detects damage. With a repaired checksum, decoding gives an error or a
//! verified program, but never a panic, an endless loop, or an impossible state.

use std::path::PathBuf;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_assembler::image;
use reviver_lab::campaign::{programs, subject};
use reviver_lab::damage::{flipped, resealed_image, resealed_state};
use reviver_lab::fuzz;
use reviver_lab::rng::Rng;
use reviver_lab::run::travel;
use reviver_lab::subject::{Subject, load};
use reviver_lab::tree::in_tree;
use reviver_vm::{Travel, checkpoint};

/// Maximum size in bytes of images in which every bit is flipped. In a larger image, random bits are flipped, as many
/// as an image of this size has.
const EVERY_BIT: usize = 64 << 10;

/// Returns the names and images of all programs of the repository.
fn shipped() -> Vec<(String, Vec<u8>)> {
    let folder = in_tree("programs");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "rasm")).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths.into_iter().map(|path| (path.display().to_string(), image_of(&path))).collect()
}

fn image_of(path: &PathBuf) -> Vec<u8> {
    let name = path.display().to_string();
    let assembly = assemble(&name, std::fs::read(path).unwrap(), &Disk);
    let module = assembly.module.unwrap_or_else(|| panic!("{name}: {:#?}", assembly.diagnostics));
    image::encode(&module).unwrap()
}

/// Returns the indices of the bits to flip. `all` is the number of bits in the image. Small images give all indices,
/// large ones a sample.
fn places(all: usize) -> Vec<usize> {
    let mut rng = Rng::new(all as u64);
    let most = EVERY_BIT * 8;
    if all <= most { (0..all).collect() } else { (0..most).map(|_| rng.below(all)).collect() }
}

#[test]
fn every_flipped_bit_is_refused() {
    for (name, bytes) in shipped() {
        assert!(image::decode(&bytes).is_ok(), "{name}");
        for bit in places(bytes.len() * 8) {
            assert!(image::decode(&flipped(&bytes, bit)).is_err(), "{name}, bit {bit}");
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    for (name, bytes) in shipped() {
        for length in places(bytes.len()) {
            assert!(image::decode(&bytes[..length]).is_err(), "{name}, {length} bytes");
        }
        assert!(image::decode(&[&bytes[..], &[0]].concat()).is_err(), "{name}, one more byte");
    }
}

/// Returns the images to damage: those of the repository's programs, and of generated ones.
fn samples() -> Vec<Vec<u8>> {
    let generated = (0..40).map(|seed| image::encode(subject(seed).program.module()).unwrap());
    shipped().into_iter().map(|(_, bytes)| bytes).chain(generated).collect()
}

#[test]
fn damage_with_a_repaired_checksum() {
    let samples = samples();
    let mut rng = Rng::new(1);
    let (mut verified, rounds) = (0, programs(40_000));
    for _ in 0..rounds {
        let sample = rng.pick(&samples);
        let image = resealed_image(&mut rng, sample);
        verified += u64::from(image::decode(&image).is_ok_and(|module| load(module).is_ok()));
        fuzz::image(&image);
    }
    // If fewer damaged images pass the verifier, this test hardly tests the machine.
    assert!(verified > rounds / 100, "only {verified} of {rounds} damaged images were programs");
}

/// Returns a generated program and its encoded state in the middle of a run, mostly inside of calls.
fn interrupted(seed: u64) -> (Subject, Vec<u8>) {
    let subject = subject(seed);
    let mut machine = subject.machine(true);
    for _ in 0..2000 {
        travel(&mut machine, Travel::Forward, 1);
        if machine.state().calls.len() >= 2 {
            break;
        }
    }
    let bytes = checkpoint::encode(&subject.program, machine.state(), machine.residues()).unwrap();
    (subject, bytes)
}

#[test]
fn damaged_state_files_are_refused() {
    for seed in 0..30 {
        let (subject, bytes) = interrupted(seed);
        for bit in 0..bytes.len() * 8 {
            let damaged = flipped(&bytes, bit);
            assert!(checkpoint::decode(&subject.program, &damaged).is_err(), "seed {seed}, bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(checkpoint::decode(&subject.program, &bytes[..length]).is_err(), "seed {seed}, {length}");
        }
    }
}

#[test]
fn state_files_of_other_programs_are_refused() {
    let (_, bytes) = interrupted(0);
    assert!(checkpoint::decode(&interrupted(1).0.program, &bytes).is_err());
}

#[test]
fn damaged_states_with_a_repaired_checksum() {
    let samples: Vec<(Subject, Vec<u8>)> = (0..60).map(interrupted).collect();
    let mut rng = Rng::new(2);
    let (mut accepted, rounds) = (0, programs(15_000));
    for _ in 0..rounds {
        let (subject, bytes) = rng.pick(&samples);
        let damaged = resealed_state(&mut rng, bytes);
        accepted += u64::from(checkpoint::decode(&subject.program, &damaged).is_ok());
        fuzz::state_of(&subject.program, &damaged);
    }
    assert!(accepted > rounds / 100, "only {accepted} of {rounds} damaged states were accepted");
}
