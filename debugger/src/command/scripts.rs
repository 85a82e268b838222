//! Commands from files and for them: scripts that are carried out, what they expect, and sessions that are
//! saved. The only part of the commands that knows files.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use reviver_files::{Content, FileKind, Replaces, WriteError};

use super::actions::{Done, Row};
use super::table::REASONS;
use super::{CommandError, Console, Outcome, without_comment};
use crate::expression::Expression;

/// The first line of a saved session, which tells it from other files.
pub const SAVED: &str = "# a session of the reviver debugger";

/// Saved sessions among other files.
pub static SESSION: FileKind =
    FileKind { name: "a saved session", is: |bytes| bytes.starts_with(SAVED.as_bytes()) };

/// Scripts that carry one another out, the innermost last. What they come to is bounded, however they are
/// written: a script is no program.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    /// As they were named, and where they really are.
    paths: Vec<(String, Option<PathBuf>)>,
    /// Commands that were carried out by scripts within a script.
    nested: usize,
}

impl Open {
    /// Scripts within one another, and commands that those within one carry out, at most.
    const DEEPEST: usize = 10;
    const MOST_NESTED: usize = 100_000;

    fn enter(&mut self, path: &str) -> Result<(), CommandError> {
        let place = std::fs::canonicalize(path).ok();
        let chain =
            || self.paths.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" in ");
        let is_open = place.is_some() && self.paths.iter().any(|(_, open)| *open == place);
        if is_open {
            let chain = chain();
            let message =
                format!("`{path}` is being carried out already: it would never end (it is in {chain})");
            return Err(CommandError::Failed(message));
        }
        if self.paths.len() >= Open::DEEPEST {
            let message = format!(
                "`{path}` is nested too deeply: no more than {} scripts carry one another out (it is in {})",
                Open::DEEPEST,
                chain()
            );
            return Err(CommandError::Failed(message));
        }
        self.paths.push((path.to_owned(), place));
        Ok(())
    }

    /// Another command of the innermost script is due.
    fn count(&mut self) -> Result<(), CommandError> {
        if self.paths.len() > 1 {
            self.nested += 1;
        }
        match self.nested > Open::MOST_NESTED {
            true => Err(CommandError::Failed(format!(
                "the scripts within a script have carried out {} commands: there are no more to be",
                Open::MOST_NESTED
            ))),
            false => Ok(()),
        }
    }

    fn leave(&mut self) {
        self.paths.pop();
        if self.paths.is_empty() {
            self.nested = 0;
        }
    }
}

fn add_line(text: String, line: &str) -> String {
    text + line + "\n"
}

/// Lines as a script that begins with [`SAVED`].
pub(crate) fn script(lines: &[String]) -> String {
    std::iter::once(SAVED).chain(lines.iter().map(String::as_str)).fold(String::new(), add_line)
}

impl Console {
    /// The lines that were carried out so far, as a script that begins with [`SAVED`].
    pub fn transcript(&self) -> String {
        script(&self.transcript)
    }

    /// The lines themselves.
    pub(crate) fn recorded(&self) -> &[String] {
        &self.transcript
    }

    /// Carries the lines of a script out, until one fails or is cut short. Returns each line with its outcome.
    fn script(&mut self, path: &str, text: &str) -> Result<Outcome, CommandError> {
        self.scripts.enter(path)?;
        let outcome = self.script_lines(text);
        self.scripts.leave();
        outcome
    }

    fn script_lines(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let mut outcomes = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if without_comment(line).trim().is_empty() {
                continue;
            }
            let command = line.trim().to_owned();
            let outcome = match self.scripts.count().and_then(|()| self.execute(line)) {
                Ok(outcome) => outcome,
                Err(error) => {
                    let (line, error) = (number + 1, Box::new(error));
                    return Err(CommandError::Script { line, command, error, done: outcomes });
                }
            };
            let ends = outcome.quits() || outcome.cut_short().is_some();
            outcomes.push((command, outcome));
            if ends {
                break;
            }
        }
        Ok(Outcome::All(outcomes))
    }
}

pub fn expect(console: &mut Console, row: Row, rest: &str) -> Done {
    let condition = Expression::parse(row.something(rest, "a condition")?)?;
    match condition.holds(console.session.scene())? {
        true => Ok(Outcome::Nothing),
        false => {
            let sides = condition.sides(console.session.scene());
            let sides =
                sides.map_or(String::new(), |(left, right)| format!(": the sides are {left} and {right}"));
            Err(CommandError::Failed(format!("`{rest}` does not hold{sides}")))
        }
    }
}

pub fn expect_stop(console: &mut Console, row: Row, rest: &str) -> Done {
    if !REASONS.contains(&rest) {
        return Err(row.wrong(format!("`{rest}` is none of {}", REASONS.join(", "))));
    }
    match console.session.reason().map(|reason| reason.kind().name()) {
        Some(reason) if reason == rest => Ok(Outcome::Nothing),
        Some(reason) => Err(CommandError::Failed(format!("the last motion stopped for `{reason}`"))),
        None => Err(CommandError::Failed("there was no motion yet".into())),
    }
}

pub fn source(console: &mut Console, row: Row, rest: &str) -> Done {
    let path = row.something(rest, "a file")?;
    let unreadable = |error: &dyn Display| CommandError::File(format!("`{path}` can't be read: {error}"));
    let bytes = console.files.read(Path::new(path), Content::Text).map_err(|error| unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8 text"))?;
    console.script(path, &text)
}

pub fn save(console: &mut Console, row: Row, rest: &str) -> Done {
    let path = row.something(rest, "a file")?;
    let text = console.transcript();
    write(console, path, &text, &SESSION)
}

/// Writes a text of a kind, over a file of the same kind or an empty one at most.
pub(super) fn write(console: &Console, path: &str, text: &str, kind: &'static FileKind) -> Done {
    let refused = |error: WriteError| {
        let help = if error.yields_to_force() { ": choose another name, or delete it first" } else { "" };
        CommandError::File(format!("{error}{help}"))
    };
    let output = console.files.output(Path::new(path), Replaces::Kind(kind)).map_err(refused)?;
    output.commit(text.as_bytes()).map_err(refused)?;
    Ok(Outcome::Saved(path.to_owned()))
}
