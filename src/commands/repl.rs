//! `reviver repl`: runs the debugger's line mode.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use etcetera::BaseStrategy as _;
use reviver_debugger::command::{Console, SESSION};
use reviver_debugger::repl::{self, Observer};
use reviver_debugger::tui::app::Face;

use crate::cli::ReplOptions;
use crate::failure::{Failure, Fallible, all};
use crate::interrupt::Signal;
use crate::write::OutputTarget;
use crate::{debuggee, interrupt, read, start, streams};

pub fn run(options: &ReplOptions) -> Fallible {
    check_input(options)?;
    let session = debuggee::open(&options.debugged, None)?.session()?;
    // The target is checked before the session, because a refusal after a long session would lose the transcript.
    let transcript =
        options.transcript.as_ref().map(|path| OutputTarget::new(path, &SESSION, options.force.force));
    let transcript = transcript.transpose()?;
    let is_typed = std::io::stdin().is_terminal();
    if is_typed {
        streams::print("`help` lists the commands, Tab completes, Ctrl-D ends the session.\n")?;
    }
    let history = is_typed.then(history).flatten();
    let console = Console::new(session, read::files().clone(), Box::new(Face::default()));
    let observer = Observer::new(&console);
    let transcript = transcript.map(|target| Arc::new(Mutex::new(Some(target))));
    let (place, reported) = (transcript.clone(), observer.clone());
    interrupt::at_the_end(move |signal| end(signal, &reported, place.as_deref()));
    let ended = repl::run(console, history.as_deref(), &mut std::io::stdout(), &observer);
    // The transcript is written even after an error.
    let written = transcript.map_or(Ok(()), |target| keep(&target, &ended.transcript));
    let stopped = interrupt::ending().map_or(Ok(()), |signal| Err(stopped(signal)));
    all([stopped, written, ended.outcome.map_err(|error| streams::unprintable(&error))])
}

/// Target of the transcript. The main thread and the thread that handles signals share the target. The thread that
/// takes the target first writes the transcript.
type TranscriptFile = Mutex<Option<OutputTarget>>;

fn keep(place: &TranscriptFile, transcript: &str) -> Fallible {
    let target = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    target.map_or(Ok(()), |target| target.write(transcript.as_bytes()))
}

/// Ends the session when a signal arrives; runs on a separate thread. A running command gets a grace period to stop.
/// The thread that waits for input can't be stopped, so the process ends without it.
fn end(signal: Signal, observer: &Observer, place: Option<&TranscriptFile>) {
    const LOOKS: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(20);
    let mut looks = 0;
    while !observer.end() && looks < LOOKS {
        std::thread::sleep(PAUSE);
        looks += 1;
    }
    repl::restore_terminal();
    let kept = place.map_or(Ok(()), |place| keep(place, &observer.transcript()));
    let ended = all([Err(stopped(signal)), kept]);
    ended.unwrap_or_else(|failure| streams::tell(&failure, false));
    std::process::exit(signal.exit() as i32);
}

fn stopped(signal: Signal) -> Failure {
    Failure::new(signal.exit(), format_args!("stopped by {}", signal.name()))
}

/// Refuses other inputs from standard input, from which the session reads its commands.
fn check_input(options: &ReplOptions) -> Fallible {
    start::check_input(&options.debugged.given, &[Some(Path::new("-"))]).map_err(|_| {
        Failure::usage("`reviver repl` reads its commands from standard input, so no other input can be `-`")
    })
}

/// Returns the file with the command history of earlier sessions. `None` if the platform has no folder for it, or the
/// folder can't be created. Then a session starts without a history.
fn history() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    let folder = folders.state_dir().unwrap_or_else(|| folders.data_dir()).join("reviver");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}
