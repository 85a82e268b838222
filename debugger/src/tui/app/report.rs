//! Reports the outcomes of commands in the list of messages, in the last row, or as an overlay. Also updates the
//! panes, so that they show the result.

use reviver_vm::Cause;

use super::messages::Tone;
use super::overlay::Overlay;
use super::{App, Effect, SessionPlace};
use crate::answer::Answer;
use crate::columns::width;
use crate::command::{CommandError, Console, Outcome};
use crate::outcome::Reason;
use crate::render::{printed, render, render_done, render_error};
use crate::session::Session;
use crate::tui::panes::PaneKind;

impl App {
    /// Reports the outcome of a command. If the session has moved, the panes follow.
    pub(super) fn report(
        &mut self,
        line: &str,
        is_quiet: bool,
        has_moved: bool,
        outcome: Result<Outcome, CommandError>,
    ) {
        if let Ok(outcome) = &outcome {
            self.plotted(outcome);
            self.notice(line);
        }
        let SessionPlace::Here(console) = &self.engine else { return };
        let answer = outcome.as_ref().ok().and_then(|outcome| Answer::of(&console.session, line, outcome));
        let moves = has_moved || outcome.as_ref().is_ok_and(Outcome::moves);
        let goes_on = moves && console.session.reason() == Some(&Reason::Arrived);
        let is_trap = console.session.trap().is_some();
        let (tone, text) = match &outcome {
            // The plot itself is drawn in the timeline pane.
            Ok(Outcome::Plot(plot)) => (Tone::Reply, format!("plots {}", plot.name)),
            Ok(outcome) => (Tone::Reply, render(&console.session, outcome)),
            // If a command is refused because there is nothing further in its direction, that is no error.
            Err(CommandError::Session(error)) if error.is_bound() => (Tone::Note, error.to_string()),
            Err(error) => (Tone::Error, render_error(error)),
        };
        let printed = outcome.as_ref().map_or(String::new(), |outcome| printed(&console.session, outcome));
        let done = outcome.as_ref().err().map(|error| render_done(&console.session, error));
        if is_quiet && goes_on {
            // During playback, output of the program and of log points doesn't pause the playback.
            self.report_printed(&printed);
        } else {
            self.player.pause();
            self.say(Tone::Command, line);
            done.iter().for_each(|done| self.say(Tone::Reply, done));
            let first = self.messages.lines().len();
            self.messages.dismiss();
            let is_asked = outcome.as_ref().map_or(true, is_asked);
            match answer {
                Some(answer) => {
                    self.say(tone, text.trim_end());
                    self.show_answer(answer);
                }
                None => self.report_reply(tone, text.trim_end(), first, is_asked),
            }
            // If an overlay is shown, the next key closes the overlay. In that case, the key `q` isn't taken for
            // an attempt to close the answer.
            self.is_answered = is_asked && self.overlay.is_none();
            if let Some(headline) = self.headline(&printed, &text).filter(|_| !is_asked) {
                self.messages.show(Tone::Reply, headline);
            }
        }
        if moves {
            self.follow_in_time();
            self.follow();
            self.show_failure(is_trap);
            self.select_trapped();
        }
    }

    /// After a trap, selects the cell that caused it.
    fn select_trapped(&mut self) {
        let about = match self.session().and_then(Session::reason) {
            // If a function has no value for its arguments, the last source is taken as the cause, for example the
            // divisor.
            Some(Reason::Trap(trap)) if matches!(trap.cause, Cause::Fault(_)) => trap.values.last().cloned(),
            Some(Reason::Trap(trap)) => trap.values.first().cloned(),
            _ => None,
        };
        about.iter().for_each(|(name, _)| self.select_named(name));
    }

    /// Returns a line about a movement: the last line that was printed during the movement, and the reason for the
    /// stop. If the cells pane is hidden, the line includes the displayed expressions. Returns `None` if there is
    /// neither output nor a displayed expression.
    fn headline(&self, printed: &str, text: &str) -> Option<String> {
        let count = printed.lines().count();
        let displayed: Vec<&str> = match self.panes.is_seen(PaneKind::Cells) {
            true => Vec::new(),
            false => self.choices.displayed.iter().map(String::as_str).collect(),
        };
        if count == 0 && displayed.is_empty() {
            return None;
        }
        let key = self.keys.keys("focus messages").next();
        let more = match (count, key) {
            (0 | 1, _) => String::new(),
            (_, Some(key)) => format!("(+{}: {key} shows them)", count - 1),
            (_, None) => format!("(+{})", count - 1),
        };
        let last = printed.lines().last().unwrap_or_default();
        let parts = [last, &more].into_iter().chain(displayed).chain(text.lines().nth(count));
        Some(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  "))
    }

    /// Shows the reason why a line isn't executed.
    pub(super) fn refuse(&mut self, text: &str) -> Option<Effect> {
        let first = self.messages.lines().len();
        self.messages.dismiss();
        self.report_reply(Tone::Error, text.trim_end(), first, true);
        self.is_answered = self.overlay.is_none();
        None
    }

    /// Adds output that was printed during a movement to the messages, and shows its last line.
    fn report_printed(&mut self, printed: &str) {
        if let Some(last) = printed.lines().last() {
            self.say(Tone::Reply, printed);
            self.messages.show(Tone::Reply, last.to_owned());
        }
    }

    /// Adds a reply to the messages. If the user requested the reply (`is_asked`), and the reply doesn't fit into
    /// the last row, an overlay shows it, too. No overlay is needed if the messages pane is visible.
    fn report_reply(&mut self, tone: Tone, text: &str, first: usize, is_asked: bool) {
        if text.is_empty() {
            return;
        }
        self.say(tone, text);
        let (lines, room) = (text.lines().count(), usize::from(self.panes.screen().prompt.width));
        let fits = lines == 1 && width(text) <= room;
        if !fits && is_asked && !self.panes.is_seen(PaneKind::Messages) {
            let first = first.min(self.messages.lines().len().saturating_sub(lines));
            self.overlay = Some(Overlay::reply(first, lines));
        }
    }
}

/// Returns the expressions displayed after every movement, as text.
pub(super) fn displayed(console: &Console) -> Vec<String> {
    let values = console.displayed().into_iter();
    values.map(|(text, value)| format!("{text} = {}", value.unwrap_or_else(|error| error))).collect()
}

/// Returns true if the user executed the command for its text. The text of a movement or of an edit is less
/// important, because the panes show the result.
fn is_asked(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Motion(_) | Outcome::Edited { .. } => false,
        // In a list of outcomes, those of a script have a command line. The displayed expressions have an empty
        // command line.
        Outcome::All(outcomes) => outcomes.iter().any(|(command, _)| !command.is_empty()),
        _ => true,
    }
}
