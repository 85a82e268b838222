//! The end of a session by a key. A key that may have been meant to close an answer ends nothing, and what
//! would be gone with the session is worth a question. The command `quit` is no slip, and isn't asked about.

use super::messages::Tone;
use super::{App, Effect};
use crate::belongings::{question, would_be_gone};
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
        self.messages.show(Tone::Note, question(&key, gone.as_deref()));
        None
    }
}
