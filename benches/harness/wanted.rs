//! Selection of benchmarks by the command line.

/// Returns true if the command line selects a benchmark: it contains a part of the benchmark's name, or no name.
pub fn is_wanted(name: &str) -> bool {
    let mut parts = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    parts.peek().is_none() || parts.any(|part| name.contains(&part))
}
