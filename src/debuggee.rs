//! Loads a program into a debugger session, for the screen as well as for the prompt.

use std::path::Path;

use reviver_assembler::constants::Replacements;
use reviver_debugger::session::Session;
use reviver_debugger::timeline::TimelineLimits;
use reviver_inspect::listing::{OpenError, OpenedProgram};
use reviver_vm::Travel;
use reviver_vm::allocation::OutOfMemory;

use crate::cli::{Debugged, Given};
use crate::failure::{Exit, Failure, Fallible};
use crate::{engine, load, read, start, streams};

/// Session of a program, or the errors of a text that can't be assembled.
pub enum Debuggee {
    Session(Box<Session>),
    /// Errors of the text.
    Broken {
        /// Errors, for display on the screen.
        error: OpenError,
        /// The same errors, for commands that need a program.
        failure: Failure,
    },
}

impl Debuggee {
    /// Returns the session, or the failure if there is none.
    pub fn session(self) -> Fallible<Session> {
        match self {
            Debuggee::Session(session) => Ok(*session),
            Debuggee::Broken { failure, .. } => Err(failure),
        }
    }
}

/// Opens the program of the options at its start, with all inputs set. `script` is another file that the command reads;
/// only one of the command's files can be standard input.
pub fn open(options: &Debugged, script: Option<&Path>) -> Fallible<Debuggee> {
    let given = &options.given;
    start::check_input(given, &[script])?;
    let bytes = read::source(&given.file)?;
    if read::is_image(&given.file, &bytes) {
        // A damaged image has no source lines for the screen, so its error is returned before the session begins.
        load::module_of(&given.file, bytes.clone(), &given.constants)?;
    }
    let constants = load::constants(&given.file, &bytes, &given.constants)?;
    let replacements = Replacements {
        constants: &constants,
        cells: &load::whole_cells(&given.set),
        ..Replacements::default()
    };
    let opened =
        OpenedProgram::open_with(&read::name(&given.file), bytes.clone(), read::files(), replacements);
    match opened {
        Ok(subject) => Ok(Debuggee::Session(Box::new(session(options, subject)?))),
        Err(error) => Ok(broken(given, bytes, error)),
    }
}

fn session(options: &Debugged, mut subject: OpenedProgram) -> Fallible<Session> {
    streams::complain_styled(&subject.warnings);
    subject.program =
        start::in_numbers(&options.given.file, &options.given.numbers, subject.program.module().clone())?;
    let machine = start::machine(&options.given, &subject.program, Travel::Forward)?;
    let limits = limits(options);
    let long_runs = engine::long_runs(options.engine, &subject.program)?;
    let session = Session::new(subject, machine.into_state(), limits).map_err(no_memory)?;
    let session = match &long_runs {
        Some(long_runs) => session.with_long_runs(long_runs),
        None => session,
    };
    Ok(match options.max_steps {
        Some(most) => session.with_most_steps(most),
        None => session,
    })
}

/// Returns the limits on the timeline's memory, as the options set them.
fn limits(options: &Debugged) -> TimelineLimits {
    let of_history = || {
        let history = usize::try_from(options.history).unwrap_or(usize::MAX);
        TimelineLimits { history, ..TimelineLimits::default() }
    };
    options.retained.retention().map_or_else(of_history, TimelineLimits::of)
}

/// Failure if there is no memory for the copy of the state that the debugger keeps.
fn no_memory(error: OutOfMemory) -> Failure {
    Failure::new(Exit::Trap, format_args!("{error} for the copy of the state from which the session starts"))
        .help("declare smaller arrays, or use `reviver run`, which makes no copy")
}

/// Converts the errors of a text, for display by the debugger and by other commands.
fn broken(given: &Given, bytes: Vec<u8>, error: OpenError) -> Debuggee {
    let module = load::module_with(given, bytes);
    let failure = match module.and_then(|module| start::in_numbers(&given.file, &given.numbers, module)) {
        Ok(_) => Failure::load(&error).caused_by(&error),
        Err(failure) => failure,
    };
    Debuggee::Broken { error, failure }
}
