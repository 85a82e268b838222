//! Commands for scripts and saved sessions: `source`, `save`, `expect` and `expect-stop`. All commands that read or
//! write files use the functions of this module.

use std::fmt::Display;
use std::path::Path;

use reviver_files::{Content, FileKind, Replaces, WriteError};

use super::arguments::without_comment;
use super::console::{CommandError, CommandResult, CommandRow, Console, Outcome};
use super::names::REASONS;
use crate::expression::ConsoleExpression;

/// First line of a saved session, which identifies the file type.
pub const SAVED: &str = "# a session of the reviver debugger";

/// File type of saved sessions. Saving may overwrite a file of this type.
pub static SESSION: FileKind =
    FileKind { name: "a saved session", is: |bytes| bytes.starts_with(SAVED.as_bytes()) };

fn add_line(text: String, line: &str) -> String {
    text + line + "\n"
}

/// Builds a script from lines. The first line of the script is [`SAVED`].
pub fn script(lines: &[String]) -> String {
    std::iter::once(SAVED).chain(lines.iter().map(String::as_str)).fold(String::new(), add_line)
}

impl Console {
    /// Returns the lines executed so far, as a script that begins with [`SAVED`].
    pub fn transcript(&self) -> String {
        script(&self.transcript)
    }

    /// Returns the lines executed so far.
    pub fn recorded(&self) -> &[String] {
        &self.transcript
    }

    /// Executes the lines of a script until a line fails or is interrupted. Returns each executed line with
    /// its outcome.
    fn script(&mut self, path: &str, text: &str) -> Result<Outcome, CommandError> {
        self.scripts.enter(path).map_err(CommandError::Failed)?;
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
            let may_go_on = self.scripts.count().map_err(CommandError::Failed);
            let outcome = match may_go_on.and_then(|()| self.execute(line)) {
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

pub fn expect(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let condition = ConsoleExpression::parse(row.something(rest, "a condition")?)?;
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

pub fn expect_stop(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    if !REASONS.contains(&rest) {
        return Err(row.wrong(format!("`{rest}` is none of {}", REASONS.join(", "))));
    }
    match console.session.reason().map(|reason| reason.kind().name()) {
        Some(reason) if reason == rest => Ok(Outcome::Nothing),
        Some(reason) => Err(CommandError::Failed(format!("the last motion stopped for `{reason}`"))),
        None => Err(CommandError::Failed("there was no motion yet".into())),
    }
}

pub fn source(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let path = row.something(rest, "a file")?;
    let unreadable = |error: &dyn Display| CommandError::File(format!("`{path}` can't be read: {error}"));
    let bytes = console.files.read(Path::new(path), Content::Text).map_err(|error| unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8 text"))?;
    console.script(path, &text)
}

pub fn save(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let path = row.something(rest, "a file")?;
    let text = console.transcript();
    write(console, path, &text, &SESSION)
}

/// Writes a text as a file of the given type. An existing file is overwritten only if it is empty or of the
/// same type.
pub(super) fn write(console: &Console, path: &str, text: &str, kind: &'static FileKind) -> CommandResult {
    let refused = |error: WriteError| {
        let help =
            if error.yields_to_force() { ": choose another name, or delete the file first" } else { "" };
        CommandError::File(format!("{error}{help}"))
    };
    let output = console.files.output(Path::new(path), Replaces::Kind(kind)).map_err(refused)?;
    output.commit(text.as_bytes()).map_err(refused)?;
    Ok(Outcome::Saved(path.to_owned()))
}
