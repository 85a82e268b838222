//! Any bytes as an image, its checksum repaired: decode, verify and run.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reviver_lab::fuzz::sealed_image(bytes));
