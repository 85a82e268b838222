//! Any bytes as a saved state, its checksum repaired: decode and go on, both ways.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reviver_lab::fuzz::sealed_state(bytes));
