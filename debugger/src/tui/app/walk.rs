//! Navigation in an answer: folds and unfolds rows. If the unfolded row has an open question, asks the question.

use super::background::Task;
use super::messages::Tone;
use super::{App, Effect};
use crate::answer::{Answer, AnswerRow, Fold};
use crate::session::SessionError;
use crate::tui::panes::PaneKind;

impl App {
    /// Shows an answer and focuses it.
    pub(super) fn show_answer(&mut self, answer: Answer) {
        self.panes.set_focus(PaneKind::Answer);
        self.panes.set_cursor(PaneKind::Answer, answer.first);
        self.choices.answer = Some(answer);
    }

    /// Closes the answer, and focuses the pane that had the focus before. Returns false if there was no answer.
    pub(super) fn close_answer(&mut self) -> bool {
        let was_there = self.choices.answer.take().is_some();
        if was_there {
            self.panes.lower(PaneKind::Answer);
        }
        was_there
    }

    /// Unfolds the row under the cursor. If the row is unfolded already, moves to the first row below it.
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

    /// Folds the row under the cursor. If the row can't be folded, moves to its parent.
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

    /// Replaces a row with a question by the rows that answer the question. If these rows are inserted above the
    /// cursor, the cursor stays at the same row.
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
