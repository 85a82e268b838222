//! Fuzz target: bytes as a text; assemble and run.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reviver_lab::fuzz::program(bytes));
