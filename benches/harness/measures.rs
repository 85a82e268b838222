//! What cargo calls a bench for. Knows nothing that is measured.

/// Whether to measure: `cargo bench` says so; `cargo test --benches` calls benches too.
pub fn measures() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}
