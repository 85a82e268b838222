//! `reviver repl`: the debugger's line mode.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use reviver_debugger::command::{Console, SESSION};
use reviver_debugger::repl;

use crate::cli::Repl;
use crate::failure::{Failure, Outcome, all};
use crate::write::Target;
use crate::{debuggee, load, start, write};

pub fn run(options: &Repl) -> Outcome {
    check_input(options)?;
    let session = debuggee::open(&options.debugged, None)?.session()?;
    // Better refused now than after an hour of work.
    let transcript = options.transcript.as_ref().map(|path| Target::new(path, &SESSION, options.force.force));
    let transcript = transcript.transpose()?;
    let is_typed = std::io::stdin().is_terminal();
    if is_typed {
        write::print("`help` lists the commands, Tab completes, Ctrl-D ends the session.\n")?;
    }
    let history = is_typed.then(history).flatten();
    let console = Console::new(session, load::files().clone());
    let ended = repl::run(console, history.as_deref(), &mut std::io::stdout());
    // What was done so far is worth keeping, however it ended.
    let written = transcript.map_or(Ok(()), |target| target.write(ended.transcript.as_bytes()));
    all([written, ended.outcome.map_err(|error| write::unprintable(&error))])
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
