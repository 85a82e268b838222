//! Carrying lines out: which command a line is, what an empty one repeats, and what of it stands in the
//! transcript.

use super::arguments::{split_word, without_comment};
use super::console::{Command, CommandAction, CommandError, Console, Outcome};
use super::foreign;
use super::screen::ScreenAction;
use super::table::find;
use crate::outcome::{Reason, StopKind};
use crate::session::Session;

impl Console {
    /// Carries a line out. An empty one repeats the last motion or choice of a frame, or prints the next page
    /// of `list`, as in gdb; what follows `#` is a comment.
    ///
    /// # Errors
    /// What is wrong with the line, or why the command failed; nothing has changed then. A script that
    /// fails has done what stands before the line that failed.
    pub fn execute(&mut self, line: &str) -> Result<Outcome, CommandError> {
        let mut line = without_comment(line).trim().to_owned();
        if line.is_empty() {
            match &self.repeated {
                Some(repeated) => line.clone_from(repeated),
                None => return Ok(Outcome::Nothing),
            }
        }
        let (command, rest) = named(&line)?;
        let (recorded, ignored) = (self.transcript.len(), ignored(&self.session));
        let outcome = command.carry_out(self, rest)?;
        self.repeated = match outcome {
            Outcome::Motion(_) | Outcome::Frame(_) => Some(line.clone()),
            // The next page.
            Outcome::Code(_) if rest == "-" => Some(line.clone()),
            Outcome::Code(_) => Some(command.name.to_owned()),
            _ => None,
        };
        // A script stands in the transcript as its lines.
        if self.transcript.len() == recorded {
            self.transcript.extend(replay(line, &outcome));
            if matches!(outcome, Outcome::Motion(_)) && is_interrupted(&outcome) {
                self.ignore_as_now(&ignored);
            }
        }
        self.glides = false;
        Ok(self.with_displays(outcome))
    }

    /// Carries a motion out that nobody typed: of playing, say, where many follow one another. As long as
    /// they meet no point they stand in the transcript as one `goto`, and are undone as one.
    ///
    /// # Errors
    /// As [`Console::execute`].
    pub fn glide(&mut self, line: &str) -> Result<Outcome, CommandError> {
        let hits = |session: &Session| session.points().iter().map(|point| point.hits).sum::<u64>();
        let (glides, before, from) = (self.glides, hits(&self.session), self.session.moment());
        let outcome = self.execute(line)?;
        let is_free = self.session.reason() == Some(&Reason::Arrived) && hits(&self.session) == before;
        if is_free && glides && self.session.moment() != from {
            self.session.join_motions();
        }
        if is_free {
            let joined = 1 + usize::from(glides);
            self.transcript.truncate(self.transcript.len().saturating_sub(joined));
            self.transcript.push(format!("goto {}", self.session.step_number()));
            self.glides = true;
        }
        Ok(outcome)
    }

    /// Notes how many hits are still to be ignored, where that is another number than before: a `goto` doesn't
    /// count them.
    fn ignore_as_now(&mut self, before: &[(u32, u64)]) {
        let changed = ignored(&self.session).into_iter().filter(|now| !before.contains(now));
        self.transcript.extend(changed.map(|(id, count)| format!("ignore {id} {count}")));
    }

    /// A motion is followed by what is to be displayed.
    fn with_displays(&self, outcome: Outcome) -> Outcome {
        if self.displays.is_empty() || !matches!(outcome, Outcome::Motion(_)) {
            return outcome;
        }
        let values = Outcome::Values(self.displayed());
        Outcome::All(vec![(String::new(), outcome), (String::new(), values)])
    }
}

/// What a line is replaced by in the transcript, so that a replay comes to the same.
fn replay(line: String, outcome: &Outcome) -> Option<String> {
    match outcome {
        // Who replays a session wants to see it again, not to write files.
        Outcome::Saved(_) => None,
        // Nobody interrupts the replay at the same step.
        Outcome::Motion(motion) if is_interrupted(outcome) => Some(format!("goto {}", motion.to.step)),
        // A question that took too long is left out, for it would again; a plot stays.
        Outcome::Plot(_) => Some(line),
        _ if is_interrupted(outcome) => None,
        _ => Some(line),
    }
}

fn is_interrupted(outcome: &Outcome) -> bool {
    outcome.cut_short() == Some(StopKind::Interrupted)
}

/// How many hits of each point are still to be ignored.
fn ignored(session: &Session) -> Vec<(u32, u64)> {
    session.points().iter().map(|point| (point.id, point.ignore)).collect()
}

impl Command {
    /// Carries the command out on a session.
    ///
    /// # Errors
    /// Those of the command; one that only a screen can carry out.
    pub(super) fn carry_out(
        &'static self,
        console: &mut Console,
        rest: &str,
    ) -> Result<Outcome, CommandError> {
        match self.action {
            CommandAction::Session(action) => action(console, self, rest),
            CommandAction::Screen(_) => Err(CommandError::NoScreen(self.name)),
        }
    }
}

impl ScreenAction {
    /// What a line asks of the screen; none where it is one for the session, or no command at all.
    pub fn of(line: &str) -> Option<Result<ScreenAction, CommandError>> {
        let (row, rest) = named(line).ok()?;
        match row.action {
            CommandAction::Screen(action) => Some(action(row, rest)),
            CommandAction::Session(_) => None,
        }
    }
}

/// The command of a line, and what follows its name.
///
/// # Errors
/// No such command, or several.
pub fn named(line: &str) -> Result<(&'static Command, &str), CommandError> {
    let (word, rest) = split_command(line);
    Ok((find(word)?, rest))
}

/// The name of a line's command, and what follows it. A format may follow without a blank, as in `print/x`; `x/i` is
/// a command of gdb as a whole.
fn split_command(line: &str) -> (&str, &str) {
    let (whole, _) = split_word(line);
    let end = match foreign::instead_of(whole) {
        Some(_) => whole.len(),
        None => whole.find('/').filter(|at| *at > 0).unwrap_or(whole.len()),
    };
    let (word, rest) = line.split_at(end);
    (word, rest.trim())
}
