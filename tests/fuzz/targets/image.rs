//! Fuzz target: bytes as an image with a repaired checksum; decode, verify and run.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reviver_lab::fuzz::sealed_image(bytes));
