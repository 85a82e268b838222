//! Options of the commands that differentiate.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use reviver_vm::differentiate::matrices::MAX_ORDER;

use super::{Force, Start, StrategyOptions, Written};

/// Options that all derivatives share.
#[derive(Debug, Args)]
pub struct Differentiated {
    /// Differentiate with respect to these cells (`x`, `A[3]`, `M[1,2]`) or whole arrays [default: all real inputs,
    /// `.in` and `.inout`]. Derivatives with respect to other inputs need not exist
    #[arg(long, value_name = "NAME,…")]
    pub wrt: Vec<String>,
    /// Fail (exit code 1) if the derivatives may be wrong because values that affect them were lost
    #[arg(long)]
    pub strict: bool,
    /// Compare the derivatives with dual numbers and with finite differences. The exit code is 1 if they disagree, or
    /// if the finite differences can't decide, for example at a kink
    #[arg(long)]
    pub verify: bool,
    /// Begin the reverse sweep at the end of the program. By default, if the program ends with an `uncompute` that
    /// doesn't change the loss, the sweep begins before this `uncompute`
    #[arg(long)]
    pub whole: bool,
    /// Print the cost of the reverse sweep: total steps, memory, kept states
    #[arg(long)]
    pub stats: bool,
    #[command(flatten)]
    pub strategies: StrategyOptions,
    #[command(flatten)]
    pub start: Start,
}

/// Compute the gradient of a result by a reverse sweep.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("objective").args(["loss", "seed"]).required(true)))]
#[command(after_help = "Examples:
  reviver grad programs/norm.rasm --of length --verify
  reviver grad programs/besselj.rasm --of out --set nu=2 --set z=1.0 --json
  reviver grad programs/complex_multiply.rasm --seed w_re=1,w_im=2 --verify
  reviver grad programs/besselj.rasm --of out --emit -o besselj_gradient.rasm")]
pub struct GradOptions {
    /// Differentiate this real cell: `y`, `A[3]`, `M[1,2]`
    #[arg(long = "of", visible_alias = "loss", value_name = "NAME")]
    pub loss: Option<String>,
    /// Differentiate a weighted sum of results instead of one cell (a vector–Jacobian product). NAME=VALUE sets the
    /// weights (seeds): of real cells (`y=10,z=1`), or of whole arrays (`A=1,0,2`, `A=@FILE`)
    #[arg(long, value_name = "NAME=VALUE")]
    pub seed: Vec<String>,
    /// Save the unfinished gradient if Ctrl-C, SIGTERM, SIGHUP or the step limit stops it
    #[arg(long, value_name = "FILE")]
    pub save_state: Option<PathBuf>,
    /// Resume a saved gradient; give all other arguments as before
    #[arg(long, value_name = "FILE")]
    pub from_state: Option<PathBuf>,
    /// Write a program that computes the gradient, as plain assembly, instead of running this program. The new program
    /// has a cell `x_bar` for the derivative by each real `x`. `run` runs it, and `grad` differentiates it again
    #[arg(long, conflicts_with_all = ["set", "tape", "constants", "real", "word", "exact", "max_steps", "threads",
        "unchecked", "json", "hex", "unsigned", "wrt", "strict", "verify", "stats", "strategy", "memory", "plan",
        "save_state", "from_state"])]
    pub emit: bool,
    /// With `--emit`: write to a file instead of printing
    #[arg(short, long, value_name = "OUT", requires = "emit")]
    pub output: Option<PathBuf>,
    /// With `--emit`: set the level of optimization. Level 0 performs the operations of `grad`. Level 1 leaves out the
    /// derivatives that are always 0 or that nothing reads. All bits of the results stay. Level 2 shortens the program
    /// further, as `opt` does, so that reals may be rounded differently
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2), default_value = "1",
        requires = "emit")]
    pub level: u8,
    /// With `--emit`: set what happens to the derivative by a cell that becomes vacant. `keep` moves it to a stack of
    /// garbage, so that the new program can be undone. `erase` erases it
    #[arg(long, value_name = "HOW", requires = "emit", value_parser = ["keep", "erase"], default_value = "keep",
        hide_default_value = true)]
    pub drop: String,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub differentiated: Differentiated,
}

/// Compute all partial derivatives of results by inputs.
///
/// The Jacobian takes one reverse sweep for each result, or one forward run for each input, whichever are fewer.
/// Reverse sweeps are also used if a rule replaces an adjoint, or if a function has no derivative at these inputs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver jacobian programs/norm.rasm --of length
  reviver jacobian programs/norm.rasm --of length --times v=1,0,0,0")]
pub struct JacobianOptions {
    /// Differentiate these cells or whole arrays [default: all real results, `.out` and `.inout`]
    #[arg(long, value_name = "NAME,…")]
    pub of: Vec<String>,
    /// Compute the Jacobian's product with this vector instead, in one forward run: `x=1,y=2`, `A=@FILE`. The
    /// components of other inputs are 0
    #[arg(long, value_name = "NAME=VALUE")]
    pub times: Vec<String>,
    #[command(flatten)]
    pub differentiated: Differentiated,
}

/// Compute the second derivatives of a result.
///
/// Each row of the Hessian takes one reverse sweep with dual numbers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver hessian programs/norm.rasm --of length
  reviver hessian programs/norm.rasm --of length --times v=1,0,0,0")]
pub struct HessianOptions {
    /// Differentiate this real cell: `y`, `A[3]`, `M[1,2]`
    #[arg(long = "of", visible_alias = "loss", value_name = "NAME")]
    pub loss: String,
    /// Compute the Hessian's product with this vector instead, in one sweep: `x=1,y=2`, `A=@FILE`. The components of
    /// other inputs are 0
    #[arg(long, value_name = "NAME=VALUE")]
    pub times: Vec<String>,
    #[command(flatten)]
    pub differentiated: Differentiated,
}

/// Compute Taylor coefficients of results along a direction.
///
/// The series is f(x + t v) = c0 + c1 t + c2 t² + … The direction v changes one input or several. The series
/// takes one forward run, or one reverse sweep for each result if a rule replaces an adjoint.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver taylor programs/horner.rasm --order 3 --along x
  reviver taylor programs/norm.rasm --order 3 --along v=1,0,-1,0")]
pub struct TaylorOptions {
    /// Set the highest power of t
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=MAX_ORDER as i64))]
    pub order: u8,
    /// Set the direction: one real cell (`x`, `A[3]`, `M[1,2]`), or several with components (`x=1,y=2`, `A=1,0,2`,
    /// `A=@FILE`)
    #[arg(long, value_name = "NAME[=VALUE]", required = true)]
    pub along: Vec<String>,
    /// Expand these cells or whole arrays [default: all real results, `.out` and `.inout`]
    #[arg(long, value_name = "NAME,…")]
    pub of: Vec<String>,
    /// Fail (exit code 1) if the coefficients may be wrong because values that affect them were lost
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub start: Start,
}

/// Write a program that computes derivatives along a direction.
///
/// The written program is plain assembly. It computes the results `y` of the original, and their derivatives `y_dot`
/// along a direction, in one forward run. Its inputs are those of the original and the components of the direction.
/// `jacobian FILE --times x=1` computes the same derivatives without writing a program.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver jvp programs/besselj.rasm --wrt z --emit | reviver run -
  reviver jvp programs/norm.rasm --wrt v --emit -o norm_jvp.rasm
  reviver run norm_jvp.rasm --set v_dot=1,0,0,0")]
pub struct JvpOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    /// Set the real inputs that change along the direction: scalars or whole arrays. The written program has an input
    /// `x_dot` for each input `x`: the components of the direction, which are 1 by default
    #[arg(long, value_name = "NAME,…", required = true)]
    pub wrt: Vec<String>,
    /// Write the program. Without this option, `jvp` explains how to compute derivatives by `jacobian`
    #[arg(long)]
    pub emit: bool,
    /// Set the level of optimization. Level 0 computes all derivatives. Level 1 leaves out those that are always 0 or that
    /// nothing reads. Level 2 shortens the program further, as `opt` does, so that reals may be rounded differently
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=2), default_value = "1")]
    pub level: u8,
    #[command(flatten)]
    pub written: Written,
}
