//! `reviver debug`: runs the debugger on a terminal, or with a script.

use std::path::Path;

use reviver_debugger::batch::{self, BatchEnding};
use reviver_debugger::command::Console;
use reviver_debugger::tui::app::{App, Face};
use reviver_debugger::tui::theme::{Theme, ThemeName};
use reviver_debugger::tui::{self, TuiError, keys, terminal};

use crate::cli::DebugOptions;
use crate::debuggee::{self, Debuggee};
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::{read, streams};

pub fn run(options: &DebugOptions) -> Fallible {
    match &options.batch {
        Some(script) => batch(options, script),
        None => screen(options),
    }
}

fn screen(options: &DebugOptions) -> Fallible {
    let keys =
        keys::file::load(read::files(), options.keys.as_deref(), options.preset).map_err(Failure::load)?;
    if !terminal::is_terminal() {
        let refused = no_screen(TuiError::NoTerminal);
        return Err(if options.tour {
            refused.help("start the tour in a terminal: the tour explains the screen")
        } else {
            refused
        });
    }
    let debuggee = debuggee::open(&options.debugged, None)?;
    let variable = |name: &str| std::env::var(name).ok();
    let theme = Theme::new(ThemeName::choose(options.theme, variable));
    let (app, failure) = match debuggee {
        Debuggee::Session(session) => {
            let app = App::new(*session, read::files().clone(), keys, theme);
            (if options.tour { app.on_tour() } else { app }, None)
        }
        Debuggee::Broken { error, failure } => (App::broken(&error, keys, theme), Some(failure)),
    };
    tui::run(if options.theme.is_none() { app.following_ground() } else { app }).map_err(no_screen)?;
    failure.map_or(Ok(()), Err)
}

fn no_screen(error: TuiError) -> Failure {
    match error {
        TuiError::NoTerminal => Failure::usage(
            "the debugger's screen needs a terminal for input and output, with a `TERM` that isn't `dumb`",
        )
        .help("without a terminal, use `reviver repl FILE` or `reviver debug FILE --batch SCRIPT`"),
        TuiError::Terminal(_) => Failure::load(error),
    }
}

fn batch(options: &DebugOptions, path: &Path) -> Fallible {
    let session = debuggee::open(&options.debugged, Some(path))?.session()?;
    let script = script(path)?;
    let ended = batch::run(
        &mut Console::new(session, read::files().clone(), Box::new(Face::default())),
        &script,
        &mut std::io::stdout().lock(),
    );
    match ended.map_err(|error| streams::unprintable(&error))? {
        BatchEnding::Fine => Ok(()),
        BatchEnding::Failed { line } => {
            let name = read::shown(path);
            Err(Failure::new(Exit::Check, format_args!("the command on line {line} of {name} failed")))
        }
        BatchEnding::Limited { line } => {
            let (name, limit) = (read::shown(path), options.debugged.max_steps.unwrap_or_default());
            let failure = Failure::new(
                Exit::StepLimit,
                format_args!(
                    "the command on line {line} of {name} was stopped at {} from the start",
                    counted(usize::try_from(limit).unwrap_or(usize::MAX), "step")
                ),
            );
            Err(failure.help("raise `--max-steps`"))
        }
    }
}

/// Returns the debugger commands in a script file. If the file is the printed output of an earlier script, extracts the
/// commands from this output.
fn script(path: &Path) -> Fallible<String> {
    let text = read::text(path)?;
    let is_transcript = text.lines().any(|line| line.starts_with("> "));
    Ok(if is_transcript { batch::script_of(&text) } else { text })
}
