//! The command line as data: subcommands, options and their help.

mod account;
mod batch;
mod bench;
mod bennett;
mod build;
mod counts;
mod course;
mod debugger;
mod derivatives;
mod groups;
pub mod misuse;
mod pictures;
mod start;
mod strategy;
mod test;
mod tradeoff;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Command, Parser, Subcommand};
use clap_complete::Shell;
use reviver_assembler::optimize::Pass;

pub use account::AccountOptions;
pub use batch::{BatchArguments, DevicesOptions};
pub use bench::BenchOptions;
pub use bennett::BennettOptions;
pub use build::BuildOptions;
pub use course::{
    CourseCheck, CourseCommand, CourseGrade, CourseOptions, CourseRead, CourseReport, CourseSimilar,
    CourseSolutions, CourseStart,
};
pub use debugger::{DebugOptions, Debugged, ReplOptions};
pub use derivatives::{GradOptions, HessianOptions, JacobianOptions, JvpOptions, TaylorOptions};
pub use pictures::{CircuitOptions, Drawn, GraphOptions, GraphPart, PlotOptions};
pub use start::{Constants, Given, LevelOption, OtherNumbers, Start};
pub use strategy::StrategyOptions;
pub use test::{TestOptions, TestRunning};
pub use tradeoff::TradeoffOptions;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "Exit codes: 0 success, 1 a check failed, 2 wrong usage, 3 the program can't be \
                          assembled or loaded, or a file can't be read or written, 4 the program trapped or memory ran out, 5 the \
                          step limit was reached, 129, 130, 143 stopped by SIGHUP, Ctrl-C, SIGTERM.";

/// Run programs of a reversible bytecode virtual machine, forward and backward.
#[derive(Debug, Parser)]
#[command(name = "reviver", version, styles = STYLES, after_help = EXIT_CODES, max_term_width = 100)]
#[command(help_template = help_template())]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Invocation,
}

fn help_template() -> String {
    groups::help_template(&Invocation::augment_subcommands(Command::new("reviver").styles(STYLES)))
}

#[derive(Debug, Subcommand)]
pub enum Invocation {
    Run(RunOptions),
    Debug(DebugOptions),
    Repl(ReplOptions),
    Grad(GradOptions),
    Jacobian(JacobianOptions),
    Jvp(JvpOptions),
    Hessian(HessianOptions),
    Taylor(TaylorOptions),
    Batch(BatchArguments),
    Devices(DevicesOptions),
    Bench(BenchOptions),
    Plot(PlotOptions),
    Graph(GraphOptions),
    Circuit(CircuitOptions),
    Asm(AsmOptions),
    Disasm(DisasmOptions),
    Build(BuildOptions),
    Expand(ExpandOptions),
    Check(CheckOptions),
    Test(TestOptions),
    Course(CourseOptions),
    Fmt(FmtOptions),
    Invert(InvertOptions),
    Opt(OptOptions),
    Bennett(BennettOptions),
    Tradeoff(TradeoffOptions),
    Isa(IsaOptions),
    Explain(ExplainOptions),
    Completions(CompletionsOptions),
}

impl Invocation {
    /// Returns true if the output must be one JSON object, also after an error.
    pub fn json(&self) -> bool {
        match self {
            Invocation::Run(options) => options.start.json,
            Invocation::Grad(options) => options.differentiated.start.json,
            Invocation::Jacobian(options) => options.differentiated.start.json,
            Invocation::Hessian(options) => options.differentiated.start.json,
            Invocation::Taylor(options) => options.start.json,
            Invocation::Batch(options) => options.json,
            Invocation::Devices(options) => options.json,
            Invocation::Bench(options) => options.json,
            Invocation::Check(options) => options.json,
            Invocation::Test(options) => options.json,
            Invocation::Course(options) => options.json,
            Invocation::Tradeoff(options) => options.json,
            Invocation::Explain(options) => options.json,
            Invocation::Debug(_)
            | Invocation::Repl(_)
            | Invocation::Jvp(_)
            | Invocation::Plot(_)
            | Invocation::Graph(_)
            | Invocation::Circuit(_)
            | Invocation::Asm(_)
            | Invocation::Disasm(_)
            | Invocation::Build(_)
            | Invocation::Expand(_)
            | Invocation::Fmt(_)
            | Invocation::Invert(_)
            | Invocation::Opt(_)
            | Invocation::Bennett(_)
            | Invocation::Isa(_)
            | Invocation::Completions(_) => false,
        }
    }
}

/// Run a program forward or backward.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver run programs/fib.rasm --set n=10 --check
  reviver run programs/fib.rasm --back --set a=55,b=89
  reviver run programs/sort.rasm --set A=@numbers.csv --json")]
pub struct RunOptions {
    #[command(flatten)]
    pub start: Start,
    /// Write the resulting tape to a file, one value a line, instead of printing it
    #[arg(long, value_name = "FILE|-")]
    pub tape_out: Option<PathBuf>,
    /// Run to the end and back, and report whether the start was restored
    #[arg(long)]
    pub check: bool,
    /// Run backward from the results in --set (and the output tape in --tape), and print the inputs
    #[arg(long)]
    pub back: bool,
    /// Continue from a saved state
    #[arg(long, value_name = "FILE", conflicts_with_all = ["set", "tape", "check"])]
    pub from_state: Option<PathBuf>,
    /// Save the state in which the run stops: at its end, a trap, the step limit, or Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub save_state: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
    /// Print the cost of the run: steps, time, memory, erased bits
    #[arg(long)]
    pub stats: bool,
    /// Write the values of cells to a CSV file, a line for each step that changes one of them. With this option the
    /// interpreter executes every step
    #[arg(long, value_name = "CSV")]
    pub log: Option<PathBuf>,
    /// Log only these cells: `a`, `A[3]`, an array, or several [default: all globals except stacks; `.ancilla` cells
    /// aren't globals]
    #[arg(long, value_name = "NAMES", requires = "log")]
    pub log_cells: Vec<String>,
    #[command(flatten)]
    pub account: AccountOptions,
    #[command(flatten)]
    pub strategies: StrategyOptions,
}

/// Assemble a text into an image.
#[derive(Debug, Args)]
pub struct AsmOptions {
    /// A `.rasm` text; `-` reads standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub constants: Constants,
    /// Write the image to this file, usually `.rbc`; `-` prints it
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    #[command(flatten)]
    pub force: Force,
}

/// Permission for output files to replace others.
#[derive(Debug, Args)]
pub struct Force {
    /// Replace an output file of any kind, even if it is write-protected. By default only earlier output of the same
    /// kind is replaced. An input is never overwritten
    #[arg(long)]
    pub force: bool,
}

/// Destination of a text.
#[derive(Debug, Args)]
pub struct Written {
    /// Write to a file instead of printing
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
}

/// Print an image as flat assembly.
///
/// The output assembles to the same image. A text is assembled first, so the output shows the instructions of its
/// blocks and macros.
#[derive(Debug, Args)]
pub struct DisasmOptions {
    /// A `.rbc` image or a `.rasm` text; `-` reads standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub constants: Constants,
    #[command(flatten)]
    pub written: Written,
}

/// Print each line beside the instructions that it assembles to.
///
/// The output is itself a program: it has the same instructions, with the source lines as comments. Expressions are
/// computed into temporaries and uncomputed, blocks become pairs of branches, and macros become their bodies.
#[derive(Debug, Args)]
pub struct ExpandOptions {
    /// A `.rasm` text; `-` reads standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub constants: Constants,
    #[command(flatten)]
    pub written: Written,
}

/// Report errors and warnings without running the program.
#[derive(Debug, Args)]
pub struct CheckOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub constants: Constants,
    /// Print one JSON object instead of text: the program's properties, and every diagnostic with its place
    #[arg(long)]
    pub json: bool,
}

/// Print a text in the canonical layout.
#[derive(Debug, Args)]
pub struct FmtOptions {
    /// `.rasm` texts; `-` reads standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Rewrite the files in place
    #[arg(short, long, conflicts_with = "check")]
    pub write: bool,
    /// Only list files that aren't formatted (exit code 1 if there are any)
    #[arg(long)]
    pub check: bool,
}

/// Print the inverse program, which computes inputs from results.
#[derive(Debug, Args)]
pub struct InvertOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub written: Written,
}

/// Print an equivalent program that needs fewer steps.
///
/// Results stay equal, apart from the rounding of reals at level 2. Garbage that nothing reads isn't computed. A statement
/// that is removed can't trap.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver opt programs/besselj.rasm
  reviver grad programs/besselj.rasm --of out --emit -O0 | reviver opt -O1 -
  reviver opt programs/qr.rasm --pass pairs --pass dead -o qr_short.rasm")]
pub struct OptOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    /// Set the level. 1 preserves all bits of the results. 2 also inlines procedures that are called once, removes
    /// statements with their inverses, and divides instead of multiplying by an inverse
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2), default_value = "2")]
    pub level: u8,
    /// Run only this pass, or these passes
    #[arg(long, value_name = "PASS", value_parser = PossibleValuesParser::new(Pass::ALL.map(Pass::name)), conflicts_with = "level")]
    pub pass: Vec<String>,
    #[command(flatten)]
    pub written: Written,
}

/// Print the manual of an instruction, or list all instructions.
#[derive(Debug, Args)]
pub struct IsaOptions {
    /// An update (`add`), a function (`mul`), both (`add.mul`), a keyword (`for`) or a directive (`.in`)
    pub name: Option<String>,
}

/// Explain the code of a message with an example and its correction.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver explain T20
  reviver explain index-outside")]
pub struct ExplainOptions {
    /// The code in the brackets of a message, or the name of the code; without this argument, all codes are listed
    pub code: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Print completions for a shell.
#[derive(Debug, Args)]
pub struct CompletionsOptions {
    pub shell: Shell,
}
