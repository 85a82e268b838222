//! What somebody has put into a session and that ends with it: whoever leaves is asked once. Asks nobody itself.

use crate::session::Session;

/// What would be gone, in words; none if there is nothing.
pub(crate) fn would_be_gone(session: &Session) -> Option<String> {
    let branches = session.timeline().forks().len().saturating_sub(1);
    let counts = [(session.points().len(), "point"), (session.marks().len(), "mark"), (branches, "branch")];
    let told = counts.iter().filter(|(count, _)| *count > 0).map(|&(count, what)| match (count, what) {
        (1, what) => format!("1 {what}"),
        (count, "branch") => format!("{count} branches"),
        (count, what) => format!("{count} {what}s"),
    });
    Some(told.collect::<Vec<_>>().join(", ")).filter(|told| !told.is_empty())
}

/// The question: doing `again` once more ends the session.
pub(crate) fn question(again: &str, gone: Option<&str>) -> String {
    let gone = gone.map_or(String::new(), |gone| format!(" with {gone}; `save FILE` keeps what was done"));
    format!("{again}ends the session{gone}")
}
