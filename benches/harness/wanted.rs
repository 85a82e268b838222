//! What the command line asks for. Knows nothing that is measured.

/// Whether the command line asks for something: it names a part of its name, or nothing at all.
pub fn is_wanted(name: &str) -> bool {
    let mut parts = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    parts.peek().is_none() || parts.any(|part| name.contains(&part))
}
