//! The command that writes C text.

use std::path::PathBuf;

use clap::Args;

use super::{Constants, Force, LevelOption, OtherNumbers};

/// Write a program as C text, or as a library that other programs can call.
///
/// The text is C11 without dependencies. It has a function from inputs to results, one from results to inputs, and with
/// `--loss` one for a gradient; results are those of `run`, bit for bit. The header says what each takes and gives.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver build programs/fib.rasm -o fib.c
  reviver build programs/fib.rasm --header -o fib.h
  reviver build programs/horner.rasm --loss y --lib -o libhorner.so")]
pub struct BuildOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub constants: Constants,
    #[command(flatten)]
    pub numbers: OtherNumbers,
    /// The C file, which is whole without the header; this is the default
    #[arg(long, group = "form")]
    pub c: bool,
    /// The header: arguments, statuses, what a gradient promises
    #[arg(long, group = "form")]
    pub header: bool,
    /// A shared library, made by the C compiler that `$CC` names, or by `cc`
    #[arg(long, group = "form", requires = "output")]
    pub lib: bool,
    #[command(flatten)]
    pub checking: LevelOption,
    /// Add a function for the gradient of this real cell: `y`, `A[3]`, `M[1,2]`
    #[arg(long, value_name = "NAME")]
    pub loss: Option<String>,
    /// Add a function for the gradient of the sum of seed times value (a vector–Jacobian product); callers pass a seed for each
    /// cell of these reals
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "loss")]
    pub seed: Vec<String>,
    /// What the names in the text begin with; the file's name if not given
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Write to a file instead of printing
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
}
