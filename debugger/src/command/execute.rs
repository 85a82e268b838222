//! Executes lines: looks the command up, repeats the last command for an empty line, and records lines in the
//! transcript.

use super::arguments::{split_word, without_comment};
use super::console::{Command, CommandAction, CommandError, Console, Outcome};
use super::foreign;
use super::screen::ScreenAction;
use super::table::find;
use crate::outcome::{Reason, StopKind};
use crate::session::Session;

impl Console {
    /// Executes a line. As in gdb, an empty line repeats the last movement or the last selection of a frame, or
    /// prints the next page after a `list`. A `#` begins a comment.
    ///
    /// # Errors
    /// The line is no command, or the command failed. A failed command changes nothing, except that a failed
    /// script has executed the lines before the failing one.
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
            // After `list -`, an empty line continues with the page before.
            Outcome::Code(_) if rest == "-" => Some(line.clone()),
            Outcome::Code(_) => Some(command.name.to_owned()),
            _ => None,
        };
        // The lines of the script were recorded while the script ran, so its `source` command isn't recorded.
        if self.transcript.len() == recorded {
            self.transcript.extend(replay(line, &outcome));
            if matches!(outcome, Outcome::Motion(_)) && is_interrupted(&outcome) {
                self.ignore_as_now(&ignored);
            }
        }
        self.glides = false;
        Ok(self.with_displays(outcome))
    }

    /// Executes a movement that the user didn't type, for example one of many during playback. Consecutive
    /// movements that hit no point are recorded as a single `goto`, and a single `undo` undoes them all.
    ///
    /// # Errors
    /// The same errors as [`Console::execute`].
    pub fn glide(&mut self, line: &str) -> Result<Outcome, CommandError> {
        let hits = |session: &Session| session.points().iter().map(|point| point.hits).sum::<u64>();
        let (glides, before, from) = (self.glides, hits(&self.session), self.session.time_point());
        let outcome = self.execute(line)?;
        let is_free = self.session.reason() == Some(&Reason::Arrived) && hits(&self.session) == before;
        if is_free && glides && self.session.time_point() != from {
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

    /// Records an `ignore` command for each point whose ignore count has changed. The transcript needs these
    /// commands after an interrupted movement: instead of the movement, a replay executes a `goto`, which counts
    /// no hits.
    fn ignore_as_now(&mut self, before: &[(u32, u64)]) {
        let changed = ignored(&self.session).into_iter().filter(|now| !before.contains(now));
        self.transcript.extend(changed.map(|(id, count)| format!("ignore {id} {count}")));
    }

    /// Appends the displayed values to a movement.
    fn with_displays(&self, outcome: Outcome) -> Outcome {
        if self.displays.is_empty() || !matches!(outcome, Outcome::Motion(_)) {
            return outcome;
        }
        let values = Outcome::Values(self.displayed());
        Outcome::All(vec![(String::new(), outcome), (String::new(), values)])
    }
}

/// Returns the line to record in the transcript so that a replay has the same result. Returns `None` if no
/// line is needed.
fn replay(line: String, outcome: &Outcome) -> Option<String> {
    match outcome {
        // A replay repeats the session without writing files.
        Outcome::Saved(_) => None,
        // A replay can't be interrupted at the same step, so it travels to that step directly.
        Outcome::Motion(motion) if is_interrupted(outcome) => Some(format!("goto {}", motion.to.step)),
        // An interrupted query isn't recorded, because a replay couldn't interrupt it. An interrupted `plot` is
        // recorded, because the cell stays plotted.
        Outcome::Plot(_) => Some(line),
        _ if is_interrupted(outcome) => None,
        _ => Some(line),
    }
}

fn is_interrupted(outcome: &Outcome) -> bool {
    outcome.cut_short() == Some(StopKind::Interrupted)
}

/// Returns the remaining ignore count of each point.
fn ignored(session: &Session) -> Vec<(u32, u64)> {
    session.points().iter().map(|point| (point.id, point.ignore)).collect()
}

impl Command {
    /// Executes the command on a session.
    ///
    /// # Errors
    /// The command fails, or it needs a screen.
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
    /// Returns the screen action that a line requests. Returns `None` for a command of the session, and for
    /// an unknown command.
    pub fn of(line: &str) -> Option<Result<ScreenAction, CommandError>> {
        let (row, rest) = named(line).ok()?;
        match row.action {
            CommandAction::Screen(action) => Some(action(row, rest)),
            CommandAction::Session(_) => None,
        }
    }
}

/// Splits a line into its command and the text after the command's name.
///
/// # Errors
/// No command matches, or several do.
pub fn named(line: &str) -> Result<(&'static Command, &str), CommandError> {
    let (word, rest) = split_command(line);
    Ok((find(word)?, rest))
}

/// Splits a line into the name of its command and the rest. A format may follow the name without a blank, as in
/// `print/x`. The command `x/i` of gdb is treated as one name.
fn split_command(line: &str) -> (&str, &str) {
    let (whole, _) = split_word(line);
    let end = match foreign::instead_of(whole) {
        Some(_) => whole.len(),
        None => whole.find('/').filter(|at| *at > 0).unwrap_or(whole.len()),
    };
    let (word, rest) = line.split_at(end);
    (word, rest.trim())
}
