//! Fuzz target: bytes as a text; parse and format.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reviver_lab::fuzz::text(bytes));
