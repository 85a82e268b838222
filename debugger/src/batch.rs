//! Executes the commands of a script, for example to grade programs automatically. The output repeats each command,
//! followed by its outcome. The script ends at the first command that fails or that reaches the session's step
//! limit.
//!
//! A script is a text with one command a line; `#` begins a comment. The commands `expect` and `expect-stop` fail
//! if their condition is false, so a script can serve as a test. The output is a transcript; its commands are the
//! lines that begin with `> `.

use std::io::{self, Write};

use reviver_escape::TextWriter;

use crate::command::{Console, without_comment};
use crate::outcome::StopKind;
use crate::render::{render, render_done, render_error};

/// The way in which a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchEnding {
    /// Every command succeeded, or one of them was `quit`.
    Fine,
    /// The command on this line (counted from 1) failed; its error message has been written.
    Failed {
        /// Number of the failed line in the script.
        line: usize,
    },
    /// The command on this line (counted from 1) reached the session's step limit.
    Limited {
        /// Number of the line whose command reached the limit.
        line: usize,
    },
}

/// Executes a script and writes the transcript to `output`.
///
/// # Errors
/// The output can't be written.
pub fn run(console: &mut Console, script: &str, output: &mut dyn Write) -> io::Result<BatchEnding> {
    let output = &mut TextWriter::new(output);
    for (number, line) in (1..).zip(script.lines()) {
        let command = without_comment(line).trim();
        if command.is_empty() {
            continue;
        }
        writeln!(output, "> {command}")?;
        match console.execute(command) {
            Ok(outcome) => {
                output.write_all(render(&console.session, &outcome).as_bytes())?;
                if outcome.cut_short() == Some(StopKind::StepLimit) {
                    return Ok(BatchEnding::Limited { line: number });
                }
                if outcome.quits() {
                    break;
                }
            }
            Err(error) => {
                output.write_all(render_done(&console.session, &error).as_bytes())?;
                output.write_all(render_error(&error).as_bytes())?;
                return Ok(BatchEnding::Failed { line: number });
            }
        }
    }
    Ok(BatchEnding::Fine)
}

/// Extracts the script from a transcript. Lines of output become empty lines, so that each command keeps its line
/// number.
pub fn script_of(transcript: &str) -> String {
    transcript.lines().map(|line| format!("{}\n", line.strip_prefix("> ").unwrap_or_default())).collect()
}
