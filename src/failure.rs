//! How a command fails: a text for stderr and an exit code.

/// The exit codes of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
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
}

/// A failed command.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    /// What is printed on stderr, line ends included.
    pub message: String,
}

impl Failure {
    /// "error: …" in the manner of the diagnostics.
    pub fn new(exit: Exit, message: impl std::fmt::Display) -> Failure {
        Failure { exit, message: format!("error: {message}\n") }
    }

    /// With a line that says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl std::fmt::Display) -> Failure {
        self.message.push_str(&format!("  = help: {help}\n"));
        self
    }
}

pub type Outcome<T = ()> = Result<T, Failure>;
