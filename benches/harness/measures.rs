//! Distinction between `cargo bench`, which measures, and `cargo test --benches`, which only checks that benchmarks
//! run.

/// Returns true if cargo asks to measure.
pub fn measures() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
