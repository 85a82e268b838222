//! Commands from a script: the grader's mode. Each command is echoed, then what came of it; the first
//! one that fails ends the script, and so does one that reaches the session's step limit.
//!
//! A script is a text of commands, one a line; `#` begins a comment. `expect` and `expect-stop` fail
//! unless something holds, so a script is also a test. Output is a transcript; its commands are the
//! lines that begin with `> `.

use std::io::{self, Write};

use reviver_escape::TextWriter;

use crate::command::{Console, without_comment};
use crate::outcome::StopKind;
use crate::render::{render, render_done, render_error};

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchEnding {
    /// Every command succeeded, or one of them was `quit`.
    Fine,
    /// The command on this line (counted from 1) failed; what was said about it has been written.
    Failed { line: usize },
    /// The command on this line would have gone beyond the session's step limit.
    Limited { line: usize },
}

/// Carries a script out.
///
/// # Errors
/// Output that can't be written.
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

/// The script in a transcript: its commands, each on its own line, without what came of them.
pub fn script_of(transcript: &str) -> String {
    transcript.lines().map(|line| format!("{}\n", line.strip_prefix("> ").unwrap_or_default())).collect()
}
