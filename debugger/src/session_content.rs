//! The content of a session that is lost when the session ends: points, marks and branches. Before a session with
//! such content ends, front ends ask for confirmation. This module builds the text of the question.

use crate::session::Session;

/// Lists the content that would be lost if the session ended now. Returns `None` if there is none.
pub(crate) fn unsaved_content(session: &Session) -> Option<String> {
    let branches = session.timeline().forks().len().saturating_sub(1);
    let counts = [(session.points().len(), "point"), (session.marks().len(), "mark"), (branches, "branch")];
    let reported = counts.iter().filter(|(count, _)| *count > 0).map(|&(count, what)| match (count, what) {
        (1, what) => format!("1 {what}"),
        (count, "branch") => format!("{count} branches"),
        (count, what) => format!("{count} {what}s"),
    });
    Some(reported.collect::<Vec<_>>().join(", ")).filter(|reported| !reported.is_empty())
}

/// Builds the confirmation question. `again` is the action that the user repeats to end the session, followed by
/// "again" and a blank. `gone` lists the content that would be lost.
pub(crate) fn question(again: &str, gone: Option<&str>) -> String {
    match gone {
        Some(gone) => format!("{again}quits without saving {gone}; `save FILE` saves the commands"),
        None => format!("{again}ends the session"),
    }
}
