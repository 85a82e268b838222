//! How a command fails: a text for stderr and an exit code.

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

    /// The arguments don't make sense.
    pub fn usage(message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Something can't be assembled, loaded, read or written.
    pub fn load(message: impl std::fmt::Display) -> Failure {
        Failure::new(Exit::Load, message)
    }

    /// With a line that says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl std::fmt::Display) -> Failure {
        self.message.push_str(&format!("  = help: {help}\n"));
        self
    }
}

pub type Outcome<T = ()> = Result<T, Failure>;

/// "1 step", "2 steps".
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
