//! Counts with units as text. This module is independent of runs.

/// Returns a count with its unit, for example "1 step" or "3 steps".
pub(crate) fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
