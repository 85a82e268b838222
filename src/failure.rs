//! Failures of commands: text for standard error, a JSON object for `--json`, and an exit code.

use std::error::Error as Cause;
use std::io;

use reviver::Error;
use reviver_escape as escape;
use reviver_memory::OutOfMemory;
use serde_json::{Map, Value as Json, json};

/// Exit codes of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// No error: the reader of standard output has closed the pipe (`| head`).
    Unread = 0,
    /// A check failed: state not restored, text not formatted, garbage at the end.
    Check = 1,
    /// The arguments are invalid or contradictory.
    Usage = 2,
    /// The program could not be assembled or loaded, or a file could not be read or written.
    Load = 3,
    /// The program trapped during a run.
    Trap = 4,
    /// The step limit was reached before the end.
    StepLimit = 5,
    /// SIGHUP stopped the run.
    HungUp = 129,
    /// SIGINT stopped the run.
    Interrupted = 130,
    /// SIGTERM stopped the run.
    Terminated = 143,
}

impl Exit {
    /// Returns the exit code for an error in a lane: the exit code of `reviver run` with the lane's inputs.
    pub fn of_lane(error: &Error) -> Exit {
        match error {
            Error::Trap { .. } => Exit::Trap,
            Error::StepLimit { .. } => Exit::StepLimit,
            _ => Exit::Check,
        }
    }

    /// Returns the member `kind` in the output of `--json`.
    pub fn kind(self) -> &'static str {
        match self {
            Exit::Unread => "unread",
            Exit::Check => "check",
            Exit::Usage => "usage",
            Exit::Load => "load",
            Exit::Trap => "trap",
            Exit::StepLimit => "step_limit",
            Exit::HungUp | Exit::Interrupted | Exit::Terminated => "interrupted",
        }
    }
}

/// Failure of a command.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    /// Escaped text for standard error, including line ends.
    pub message: String,
    for_programs: Box<ForPrograms>,
    /// True if the failure is already part of the JSON object that the command printed.
    pub(crate) reported: bool,
}

/// Content of a failure for `--json`.
#[derive(Debug)]
struct ForPrograms {
    /// Summary in one sentence.
    summary: String,
    help: Vec<String>,
    /// Members that the JSON object has in addition to `error`.
    details: Map<String, Json>,
}

impl Failure {
    /// Creates a failure with a text that begins with `error: `, like the text of a diagnostic.
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Failure {
        let message = message.to_string();
        let text = format!("error: {}\n", escape::line(&message));
        Failure::spelled(exit, message, text)
    }

    /// Creates a failure with a one-sentence summary for JSON, and a different text for standard error.
    pub fn spelled(exit: Exit, summary: impl Into<String>, text: impl AsRef<str>) -> Failure {
        Failure::styled(exit, summary, escape::text(text.as_ref()))
    }

    /// Creates a failure with a text that may have colors; external parts of the text must be escaped already.
    pub fn styled(exit: Exit, summary: impl Into<String>, text: impl Into<String>) -> Failure {
        let for_programs = ForPrograms { summary: summary.into(), help: Vec::new(), details: Map::new() };
        Failure { exit, message: text.into(), for_programs: Box::new(for_programs), reported: false }
    }

    /// Creates a failure for invalid arguments.
    pub fn usage(message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Creates a failure for something that can't be assembled, loaded, read or written.
    pub fn load(message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Load, message)
    }

    /// Creates a failure for an error of the library, with the error's cure as advice.
    pub fn of(exit: Exit, error: &Error) -> Failure {
        let failure = Failure::new(exit, error.summary());
        failure.caused_by(error).with_cure(error)
    }

    /// Creates a failure for an error of the library in a context, such as the name of an option.
    pub fn within(exit: Exit, context: impl std::fmt::Display, error: &Error) -> Failure {
        let failure = Failure::new(exit, format_args!("{context}: {}", error.summary()));
        failure.caused_by(error).with_cure(error)
    }

    /// Creates a failure for an argument that the library refuses. `context` names the option or the file.
    pub fn refused(context: impl std::fmt::Display, error: &Error) -> Failure {
        Failure::within(Exit::Usage, context, error)
    }

    /// Adds the cure of an error as advice.
    #[must_use]
    pub fn with_cure(self, error: &Error) -> Failure {
        error.cure().into_iter().fold(self, Failure::help)
    }

    /// Changes the exit code to 2 (invalid arguments), because an argument names the faulty file. The exit code for
    /// exhausted memory stays 4.
    #[must_use]
    pub fn into_usage(self) -> Failure {
        // Memory exhaustion isn't the fault of an argument.
        if self.exit == Exit::Trap { self } else { Failure { exit: Exit::Usage, ..self } }
    }

    /// Sets the exit code to 4 (trap) if the error, or one of its causes, is exhausted memory.
    #[must_use]
    pub fn caused_by(self, error: &(dyn Cause + 'static)) -> Failure {
        let is_of_system = |error: &io::Error| error.kind() == io::ErrorKind::OutOfMemory;
        let (mut cause, mut is_memory) = (Some(error), false);
        while let Some(error) = cause {
            is_memory |= error.is::<OutOfMemory>() || error.downcast_ref().is_some_and(is_of_system);
            cause = error.source();
        }
        if is_memory { Failure { exit: Exit::Trap, ..self } } else { self }
    }

    /// Adds a line of advice.
    #[must_use]
    pub fn help(mut self, help: impl std::fmt::Display) -> Failure {
        let help = help.to_string();
        self.push_line(&format!("  = help: {help}"));
        self.for_programs.help.push(help);
        self
    }

    /// Adds a line to the text for standard error.
    pub fn push_line(&mut self, line: &str) {
        self.message.push_str(&escape::line(line));
        self.message.push('\n');
    }

    /// Returns the summary in one sentence.
    pub fn summary(&self) -> &str {
        &self.for_programs.summary
    }

    /// Adds a member to the JSON object.
    #[must_use]
    pub fn detail(mut self, key: &str, value: Json) -> Failure {
        self.for_programs.details.insert(key.to_owned(), value);
        self
    }

    /// Combines two failures. The exit code is that of the first failure, or of the second failure if the first is only
    /// a closed pipe.
    pub fn and(self, other: Failure) -> Failure {
        let (mut first, second) = if self.exit == Exit::Unread { (other, self) } else { (self, other) };
        first.message.push_str(&second.message);
        first.for_programs.details.extend(second.for_programs.details);
        first
    }

    /// Returns the members of the JSON object that describe the failure.
    pub fn members(&self) -> Map<String, Json> {
        let ForPrograms { summary, help, details } = &*self.for_programs;
        let mut error = Map::new();
        error.insert("kind".into(), self.exit.kind().into());
        error.insert("message".into(), summary.clone().into());
        if !help.is_empty() {
            error.insert("help".into(), json!(help));
        }
        let mut members = details.clone();
        members.insert("error".into(), Json::Object(error));
        members
    }

    /// Marks the failure as part of the JSON object that the command prints, so that it isn't printed as a second
    /// object.
    #[must_use]
    pub fn reported(self) -> Failure {
        Failure { reported: true, ..self }
    }
}

pub type Fallible<T = ()> = Result<T, Failure>;

/// Combines several outcomes: the texts of all failures, with the exit code of the first failure.
///
/// # Errors
/// The combined failure if any outcome failed.
pub fn all(outcomes: impl IntoIterator<Item = Fallible>) -> Fallible {
    let failures = outcomes.into_iter().filter_map(Fallible::err);
    failures.reduce(Failure::and).map_or(Ok(()), Err)
}

/// Formats a count with its noun: "1 step", "2 steps".
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
