//! Ends the session when a key requests it. A key that may have been meant to close an answer doesn't end the
//! session. If content would be lost, a confirmation question is shown first. The typed command `quit` ends
//! the session without a question.

use super::messages::Tone;
use super::{App, Effect};
use crate::session_content::{question, unsaved_content};
use crate::tui::panes::PaneKind;

impl App {
    /// Ends the session, or shows the confirmation question. Pressing the same key again then ends the
    /// session.
    pub(super) fn leave(&mut self, is_answered: bool) -> Option<Effect> {
        if self.panes.focus() == PaneKind::Answer && self.close_answer() {
            return None;
        }
        let gone = self.session().and_then(unsaved_content);
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
