//! Tells `cargo bench`, which measures, from `cargo test --benches`, which only checks that benchmarks run.

/// Returns true if the benchmark was started by `cargo bench`.
pub fn measures() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
