//! `reviver repl`: the debugger's line mode.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use reviver_debugger::command::Console;
use reviver_debugger::repl;

use crate::cli::Repl;
use crate::failure::{Failure, Outcome};
use crate::{debuggee, start, write};

pub fn run(options: &Repl) -> Outcome {
    check_input(options)?;
    let session = debuggee::open(&options.debugged, None)?.session()?;
    if let Some(path) = &options.transcript {
        // Better refused now than after an hour of work.
        write::text(Some(path), "")?;
    }
    let is_typed = std::io::stdin().is_terminal();
    if is_typed {
        write::print("`help` lists the commands, Tab completes, Ctrl-D ends the session.\n")?;
    }
    let history = is_typed.then(history).flatten();
    let transcript = repl::run(Console::new(session), history.as_deref(), &mut std::io::stdout())
        .map_err(|error| write::unprintable(&error))?;
    options.transcript.as_ref().map_or(Ok(()), |path| write::text(Some(path), &transcript))
}

/// Commands come from standard input, so nothing else can.
fn check_input(options: &Repl) -> Outcome {
    start::check_input(&options.debugged.given, &[Some(Path::new("-"))]).map_err(|_| {
        Failure::usage("`reviver repl` reads commands from standard input: nothing else can be read from it")
    })
}

/// The file that keeps what was typed in earlier sessions. A platform without a folder for such files, or
/// one that can't be made, is no reason not to begin.
fn history() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    let folder = folders.state_dir().unwrap_or_else(|| folders.data_dir()).join("reviver");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
