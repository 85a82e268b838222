//! Walking an answer: it is shown where one was asked for, and its rows are folded and unfolded. What nobody has
//! asked yet is asked then.

use super::errand::Task;
use super::messages::Tone;
use super::{App, Effect};
use crate::answer::{Answer, AnswerRow, Fold};
use crate::session::SessionError;
use crate::tui::panes::PaneKind;

impl App {
    /// Shows an answer, with the focus on it.
    pub(super) fn show_answer(&mut self, answer: Answer) {
        self.panes.set_focus(PaneKind::Answer);
        self.panes.set_cursor(PaneKind::Answer, answer.first);
        self.choices.answer = Some(answer);
    }

    /// Takes the answer away, if there is one; the focus is where it was before. Whether there was one.
    pub(super) fn close_answer(&mut self) -> bool {
        let was_there = self.choices.answer.take().is_some();
        if was_there {
            self.panes.lower(PaneKind::Answer);
        }
        was_there
    }

    /// Shows what belongs to the row under the cursor; where that is seen, goes to the first of it.
    pub(super) fn unfold(&mut self) -> Option<Effect> {
        let cursor = self.panes.scroll(PaneKind::Answer).cursor;
        let answer = self.choices.answer.as_mut()?;
        let (number, row) = answer.row(cursor)?;
        match &row.fold {
            Fold::Nothing => {}
            Fold::Open => self.panes.set_cursor(PaneKind::Answer, cursor + 1),
            Fold::Closed => answer.set_open(number, true),
            Fold::Unasked(question) => {
                let (question, depth) = (question.clone(), row.depth);
                return self.send(Task::Ask { question, number, depth });
            }
        }
        None
    }

    /// Hides what belongs to the row under the cursor, or goes to the row that it belongs to.
    pub(super) fn fold(&mut self) {
        let cursor = self.panes.scroll(PaneKind::Answer).cursor;
        let Some(answer) = &mut self.choices.answer else { return };
        match answer.row(cursor) {
            Some((number, AnswerRow { fold: Fold::Open, .. })) => answer.set_open(number, false),
            _ => {
                let above = answer.above(cursor).unwrap_or(cursor);
                self.panes.set_cursor(PaneKind::Answer, above);
            }
        }
    }

    /// Puts what a question came to in its place. Where that is a list that goes on further up, the cursor stays
    /// beside what was there already.
    pub(super) fn answered(&mut self, number: usize, rows: Result<Vec<AnswerRow>, SessionError>) {
        let rows = match rows {
            Ok(rows) => rows,
            Err(error) => return self.say(Tone::Error, &error.to_string()),
        };
        let Some(answer) = &mut self.choices.answer else { return };
        let goes_on =
            rows.len() > 1 && matches!(rows.first(), Some(AnswerRow { name, .. }) if name.is_empty());
        let added = if goes_on { rows.len() - 1 } else { 0 };
        answer.replace(number, rows);
        let cursor = self.panes.scroll(PaneKind::Answer).cursor;
        self.panes.set_cursor(PaneKind::Answer, cursor + added);
    }
}
