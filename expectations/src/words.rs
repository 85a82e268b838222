//! Counts as people say them. Knows no run.

/// "1 step", "3 steps".
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
