//! Fuzz target: bytes as a saved state with a repaired checksum; decode, and continue in both directions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reviver_lab::fuzz::sealed_state(bytes));
