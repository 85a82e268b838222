//! How a command fails: a text for stderr, the same as an object for `--json`, and an exit code.

use std::error::Error as Cause;
use std::io;

use reviver::Error;
use reviver_escape as escape;
use reviver_memory::OutOfMemory;
use serde_json::{Map, Value as Json, json};

/// The exit codes of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing went wrong: nobody reads the output any more.
    Unread = 0,
    /// A check failed: not restored, not formatted, garbage on arrival.
    Check = 1,
    /// The arguments don't make sense.
    Usage = 2,
    /// The program could not be assembled or loaded, or a file could not be read or written.
    Load = 3,
    /// The program trapped.
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
    /// What a lane that failed would have ended with alone.
    pub fn of_lane(error: &Error) -> Exit {
        match error {
            Error::Trap { .. } => Exit::Trap,
            Error::StepLimit { .. } => Exit::StepLimit,
            _ => Exit::Check,
        }
    }

    /// What `--json` calls it.
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

/// A failed command.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    /// The text for stderr, line ends included; escaped.
    pub message: String,
    for_programs: Box<ForPrograms>,
    /// Whether the command has put all of this into an object of its own.
    pub(crate) told: bool,
}

/// What `--json` prints of a failure.
#[derive(Debug)]
struct ForPrograms {
    /// One sentence.
    summary: String,
    help: Vec<String>,
    /// Members of the object besides `error`.
    details: Map<String, Json>,
}

impl Failure {
    /// "error: …" in the manner of the diagnostics.
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Failure {
        let message = message.to_string();
        let text = format!("error: {}\n", escape::line(&message));
        Failure::spelled(exit, message, text)
    }

    /// With a text for people that says more than the sentence for programs, or says it otherwise.
    pub fn spelled(exit: Exit, summary: impl Into<String>, text: impl AsRef<str>) -> Failure {
        Failure::styled(exit, summary, escape::text(text.as_ref()))
    }

    /// The same, where the text may have colours. Its parts from outside are escaped already.
    pub fn styled(exit: Exit, summary: impl Into<String>, text: impl Into<String>) -> Failure {
        let for_programs = ForPrograms { summary: summary.into(), help: Vec::new(), details: Map::new() };
        Failure { exit, message: text.into(), for_programs: Box::new(for_programs), told: false }
    }

    /// The arguments don't make sense.
    pub fn usage(message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Something can't be assembled, loaded, read or written.
    pub fn load(message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Load, message)
    }

    /// The same with the exit code of arguments that don't make sense: the file that is wrong is one of them.
    #[must_use]
    pub fn into_usage(self) -> Failure {
        // Refused memory is not the fault of an argument.
        if self.exit == Exit::Trap { self } else { Failure { exit: Exit::Usage, ..self } }
    }

    /// With the exit code of a trap if memory was refused, according to the error or one of its causes.
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

    /// With a line that says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl std::fmt::Display) -> Failure {
        let help = help.to_string();
        self.push_line(&format!("  = help: {help}"));
        self.for_programs.help.push(help);
        self
    }

    /// Adds a line to what is printed on stderr.
    pub fn push_line(&mut self, line: &str) {
        self.message.push_str(&escape::line(line));
        self.message.push('\n');
    }

    /// What went wrong, in one sentence.
    pub fn summary(&self) -> &str {
        &self.for_programs.summary
    }

    /// With one more member in the object for programs.
    #[must_use]
    pub fn detail(mut self, key: &str, value: Json) -> Failure {
        self.for_programs.details.insert(key.to_owned(), value);
        self
    }

    /// Two failures as one. The first counts, unless it is only that nobody reads.
    pub fn and(self, other: Failure) -> Failure {
        let (mut first, second) = if self.exit == Exit::Unread { (other, self) } else { (self, other) };
        first.message.push_str(&second.message);
        first.for_programs.details.extend(second.for_programs.details);
        first
    }

    /// The members of an object that tell programs of the failure.
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

    /// Marks that the object on stdout has the members already.
    #[must_use]
    pub fn told(self) -> Failure {
        Failure { told: true, ..self }
    }
}

pub type Fallible<T = ()> = Result<T, Failure>;

/// Several outcomes: the words of all that failed, and the exit code of the first of them.
///
/// # Errors
/// Where one of them is one.
pub fn all(outcomes: impl IntoIterator<Item = Fallible>) -> Fallible {
    let failures = outcomes.into_iter().filter_map(Fallible::err);
    failures.reduce(Failure::and).map_or(Ok(()), Err)
}

/// "1 step", "2 steps".
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
