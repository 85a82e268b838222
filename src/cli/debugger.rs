//! Options of the debugger's commands, `reviver debug` and `reviver repl`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use reviver::EngineChoice;
use reviver_debugger::tui::keys::Preset;
use reviver_debugger::tui::theme::ThemeName;

use super::counts::count;
use super::start::engines;
use super::strategy::{RetainedOptions, parse_bytes};
use super::{Force, Given};

/// The program to debug, and the memory that its history may take.
#[derive(Debug, Args)]
pub struct Debugged {
    #[command(flatten)]
    pub given: Given,
    /// Limit the memory for bits that float steps lose, in bytes: 64M, 1G, … To go further back than this history, the
    /// debugger recomputes steps. The history of the last few thousand steps is always kept. Integers and fixed point
    /// need no history
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = parse_bytes,
        conflicts_with_all = ["strategy", "memory"], allow_negative_numbers = true)]
    pub history: u64,
    #[command(flatten)]
    pub retained: RetainedOptions,
    /// Set the engine of long runs: the interpreter (`interp`), native code from the first step on (`jit`), or native
    /// code after a million steps of a command (`auto`). The output doesn't depend on the engine. The interpreter
    /// always executes single steps, and steps that record lost bits
    #[arg(long, value_name = "ENGINE", default_value_t, value_parser = engines())]
    pub engine: EngineChoice,
    /// Stop a run when it is N steps from the start, in either direction; with `--batch`, the exit code is then 5
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
}

/// Debug a run on a screen, forward and backward.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver debug programs/fib.rasm
  reviver debug programs/besselj.rasm --set nu=3,z=2.5 --preset vi
  reviver debug programs/fib.rasm --batch commands.txt
  reviver debug programs/fib.rasm --tour

On the screen `?` shows the keys, and `:` takes the commands of `reviver repl`.
--batch ends with exit code 1 at the first command that fails, for example `expect CONDITION`.
After an edit, a program may run without end: --max-steps stops it.")]
pub struct DebugOptions {
    #[command(flatten)]
    pub debugged: Debugged,
    /// Execute the commands in a file, print their output, and exit; `-` reads standard input
    #[arg(long, value_name = "SCRIPT", conflicts_with_all = ["keys", "preset", "theme"])]
    pub batch: Option<PathBuf>,
    /// Begin with a tour that explains the screen step by step
    #[arg(long, conflicts_with = "batch")]
    pub tour: bool,
    /// Read key bindings from a TOML file; see docs/keys.md
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
    /// Choose a set of key bindings [default: gdb]
    #[arg(long, value_parser = presets())]
    pub preset: Option<Preset>,
    /// Choose the colours [default: those that fit the terminal]
    #[arg(long, value_parser = themes())]
    pub theme: Option<ThemeName>,
}

/// Debug a run line by line, with the same commands.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  reviver repl programs/fib.rasm --set n=20

`help` lists the commands, Tab completes, Ctrl-C stops a long run, Ctrl-D ends the session.")]
pub struct ReplOptions {
    #[command(flatten)]
    pub debugged: Debugged,
    /// Write the commands to a file at the end of the session; `reviver debug --batch` executes this file
    #[arg(long, value_name = "FILE")]
    pub transcript: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
}

fn presets() -> impl TypedValueParser<Value = Preset> {
    let named = |name: String| Preset::named(&name).ok_or("no preset");
    PossibleValuesParser::new(Preset::ALL.map(Preset::name)).try_map(named)
}

fn themes() -> impl TypedValueParser<Value = ThemeName> {
    let named =
        |name: String| ThemeName::ALL.into_iter().find(|theme| theme.name() == name).ok_or("no theme");
    PossibleValuesParser::new(ThemeName::ALL.map(ThemeName::name)).try_map(named)
}
