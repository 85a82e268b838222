//! Options of `reviver build`, which writes C text.

use std::path::PathBuf;

use clap::Args;

use super::{Constants, Force, LevelOption, OtherNumbers};

/// Translate a program to C text, or to a library.
///
/// The text is C11 without dependencies. One function computes results from inputs, and another one computes inputs
/// from results. `--of` and `--seed` add a function for a gradient. Results are those of `run`, bit for bit. The header
/// documents the arguments of each function.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver build programs/fib.rasm -o fib.c
  reviver build programs/fib.rasm --header -o fib.h
  reviver build programs/horner.rasm --of y --lib -o libhorner.so")]
pub struct BuildOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub constants: Constants,
    #[command(flatten)]
    pub numbers: OtherNumbers,
    /// Write the C file, which doesn't need the header (default)
    #[arg(long, group = "form")]
    pub c: bool,
    /// Write the header, which documents the arguments, the statuses and the guarantees of a gradient
    #[arg(long, group = "form")]
    pub header: bool,
    /// Write a shared library, compiled by the C compiler that `$CC` names, or by `cc`
    #[arg(long, group = "form", requires = "output")]
    pub lib: bool,
    #[command(flatten)]
    pub checking: LevelOption,
    /// Add a function for the gradient of this real cell: `y`, `A[3]`, `M[1,2]`
    #[arg(long = "of", visible_alias = "loss", value_name = "NAME")]
    pub loss: Option<String>,
    /// Add a function for the gradient of a weighted sum of these reals (a vector–Jacobian product). Its caller passes
    /// a weight (seed) for each cell
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "loss")]
    pub seed: Vec<String>,
    /// Add to the gradient function of `--of` the product of the Hessian with a direction, which the caller passes
    #[arg(long, requires = "loss")]
    pub times: bool,
    /// Set the prefix of C names [default: the file's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Write to a file instead of printing
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
}
