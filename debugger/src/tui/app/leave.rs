//! The end of a session by a key. A key that may have been meant to close an answer ends nothing, and what
//! would be gone with the session is worth a question. The command `quit` is no slip, and isn't asked about.

use super::messages::Tone;
use super::{App, Effect};
use crate::session::Session;
use crate::tui::panes::PaneKind;

impl App {
    /// Ends the session, or asks whether that is meant: the same key once more ends it.
    pub(super) fn leave(&mut self, is_answered: bool) -> Option<Effect> {
        if self.panes.focus() == PaneKind::Answer && self.close_answer() {
            return None;
        }
        let gone = self.session().and_then(would_be_gone);
        if gone.is_none() && !is_answered {
            return Some(Effect::Quit);
        }
        self.is_leaving = true;
        let key = self.keys.keys("leave").next();
        let key = key.map_or(String::new(), |key| format!("{key} again "));
        let gone =
            gone.map_or(String::new(), |gone| format!(" with {gone}; `save FILE` keeps what was done"));
        self.messages.show(Tone::Note, format!("{key}ends the session{gone}"));
        None
    }
}

/// What somebody has put into a session that ends with it, in words; none if there is nothing.
pub(super) fn would_be_gone(session: &Session) -> Option<String> {
    let branches = session.timeline().forks().len().saturating_sub(1);
    let counts = [(session.points().len(), "point"), (session.marks().len(), "mark"), (branches, "branch")];
    let told = counts.iter().filter(|(count, _)| *count > 0).map(|&(count, what)| match (count, what) {
        (1, what) => format!("1 {what}"),
        (count, "branch") => format!("{count} branches"),
        (count, what) => format!("{count} {what}s"),
    });
    Some(told.collect::<Vec<_>>().join(", ")).filter(|told| !told.is_empty())
}
