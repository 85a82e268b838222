//! What a command came to, in words: in the messages, in the last row, or over the screen. And what follows
//! from it: where it led comes into sight.

use reviver_vm::Cause;

use super::messages::Tone;
use super::overlay::Overlay;
use super::{App, Effect, Whereabouts};
use crate::answer::Answer;
use crate::columns::width;
use crate::command::{CommandError, Console, Outcome};
use crate::outcome::Reason;
use crate::render::{printed, render, render_done, render_error};
use crate::session::Session;
use crate::tui::panes::PaneKind;

impl App {
    /// Says what a command came to, and shows where it led.
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
        let Whereabouts::Here(console) = &self.engine else { return };
        let answer = outcome.as_ref().ok().and_then(|outcome| Answer::of(&console.session, line, outcome));
        let moves = has_moved || outcome.as_ref().is_ok_and(Outcome::moves);
        let goes_on = moves && console.session.reason() == Some(&Reason::Arrived);
        let is_trap = console.session.trap().is_some();
        let (tone, text) = match &outcome {
            // The pane below the time bar draws it better.
            Ok(Outcome::Plot(plot)) => (Tone::Reply, format!("plots {}", plot.name)),
            Ok(outcome) => (Tone::Reply, render(&console.session, outcome)),
            // That there is nothing further on is no mistake.
            Err(CommandError::Session(error)) if error.is_bound() => (Tone::Note, error.to_string()),
            Err(error) => (Tone::Error, render_error(error)),
        };
        let printed = outcome.as_ref().map_or(String::new(), |outcome| printed(&console.session, outcome));
        let done = outcome.as_ref().err().map(|error| render_done(&console.session, error));
        if is_quiet && goes_on {
            // What the program and log points print is said while playing too, and playing goes on.
            self.say_printed(&printed);
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
                None => self.say_reply(tone, text.trim_end(), first, is_asked),
            }
            // What lies over the screen has to be closed, and is closed by the same key.
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

    /// Selects the cell that a trap is about.
    fn select_trapped(&mut self) {
        let about = match self.session().and_then(Session::reason) {
            // What a function has no value of is its last source, where it has several: a divisor, say.
            Some(Reason::Trap(trap)) if matches!(trap.cause, Cause::Fault(_)) => trap.values.last().cloned(),
            Some(Reason::Trap(trap)) => trap.values.first().cloned(),
            _ => None,
        };
        about.iter().for_each(|(name, _)| self.select_named(name));
    }

    /// What the last row says of a motion on which something was printed: the last of that, and why it
    /// stopped. Where the cells aren't seen, also what is displayed after every motion.
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

    /// Says why a line is not carried out.
    pub(super) fn refuse(&mut self, text: &str) -> Option<Effect> {
        let first = self.messages.lines().len();
        self.messages.dismiss();
        self.say_reply(Tone::Error, text.trim_end(), first, true);
        self.is_answered = self.overlay.is_none();
        None
    }

    /// Says what was printed on the way, and nothing else.
    fn say_printed(&mut self, printed: &str) {
        if let Some(last) = printed.lines().last() {
            self.say(Tone::Reply, printed);
            self.messages.show(Tone::Reply, last.to_owned());
        }
    }

    /// A reply that doesn't fit into the last row lies over the screen, if it was asked for, unless the
    /// messages are seen anyway.
    fn say_reply(&mut self, tone: Tone, text: &str, first: usize, is_asked: bool) {
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

/// What is displayed after every motion, as text.
pub(super) fn displayed(console: &Console) -> Vec<String> {
    let values = console.displayed().into_iter();
    values.map(|(text, value)| format!("{text} = {}", value.unwrap_or_else(|error| error))).collect()
}

/// Whether what a command said is why it was given: a motion shows itself, and what it says is extra.
fn is_asked(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Motion(_) | Outcome::Edited { .. } => false,
        // The lines of a script have their commands above them; what is displayed has none.
        Outcome::All(outcomes) => outcomes.iter().any(|(command, _)| !command.is_empty()),
        _ => true,
    }
}
