//! The purpose of a call by cargo: `cargo bench` measures, `cargo test --benches` only tries whether benches run.

/// Returns true if cargo asks to measure.
pub fn measures() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
