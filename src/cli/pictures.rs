//! Options of the commands that draw: `plot`, `graph` and `circuit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::counts::count;
use super::strategy::RetainedOptions;
use super::{Constants, Force, Given};

/// Plot cells over the steps of a run, forward and backward.
///
/// The picture is SVG, for light and dark backgrounds. On a terminal the curves are drawn in characters, unless `-o`
/// names a file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver plot programs/fib.rasm --cells a,b -o fib.svg
  reviver plot programs/leapfrog.rasm --cells y --against x -o orbit.svg
  reviver plot programs/kick_drift.rasm --cells b --against a --at 54 --there -o fit.svg
  reviver plot programs/horner.rasm --cells y --of y -o adjoints.svg")]
pub struct PlotOptions {
    #[command(flatten)]
    pub given: Given,
    /// Draw these cells: `a`, `A[3]`, whole arrays, or several (`a,b`); also variables of main
    #[arg(long, value_name = "NAMES")]
    pub cells: Vec<String>,
    /// Sample the cells only at arrivals at a place: a line (`12`, `file:12`), a label or a procedure
    #[arg(long, value_name = "PLACE", conflicts_with = "drift")]
    pub at: Option<String>,
    /// Draw the cells over this one instead of over the steps
    #[arg(long, value_name = "NAME", conflicts_with_all = ["grad", "drift", "erased"])]
    pub against: Option<String>,
    /// Draw also the adjoints of the cells in the reverse sweep: derivatives of this real cell
    #[arg(long = "of", visible_alias = "grad", value_name = "LOSS", conflicts_with = "there")]
    pub grad: Option<String>,
    /// Draw the drift: the difference between the backward and the forward run
    #[arg(long, conflicts_with = "there")]
    pub drift: bool,
    /// Draw each cell in a separate panel, with a separate scale
    #[arg(long, conflicts_with = "against")]
    pub apart: bool,
    /// Draw the number of erased bits
    #[arg(long)]
    pub erased: bool,
    /// Draw only the forward run
    #[arg(long)]
    pub there: bool,
    #[command(flatten)]
    pub pace: PlotPace,
    #[command(flatten)]
    pub drawn: Drawn,
}

/// Step limit of a run, and the history that it keeps for the backward run.
#[derive(Debug, Args)]
pub struct PlotPace {
    /// Keep the bits that steps lose, so that the backward run is bit for bit exact
    #[arg(long)]
    pub exact: bool,
    /// Stop after N steps in each direction, with exit code 5; the steps until then are drawn
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    #[command(flatten)]
    pub retained: RetainedOptions,
}

/// Destination of a picture.
#[derive(Debug, Args)]
pub struct Drawn {
    /// Write the picture to a file instead of printing it; `-` prints it on a terminal too
    #[arg(short, long, value_name = "SVG")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
}

/// Draw a program's flow chart, and the call tree of a run.
///
/// Tests are diamonds, assertions are circles, and each test is next to the assertion that its jump leads to. For the
/// tree the program runs with its inputs: the tree has each caller and callee, with the number of calls and steps.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver graph programs/fib.rasm -o fib.svg
  reviver graph programs/hanoi.rasm --only calls")]
pub struct GraphOptions {
    #[command(flatten)]
    pub given: Given,
    /// Draw only one of the two
    #[arg(long, value_name = "PART")]
    pub only: Option<GraphPart>,
    /// Stop the run after N steps, with exit code 5; the calls until then are drawn
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    #[command(flatten)]
    pub drawn: Drawn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphPart {
    /// The control flow, without running the program
    Flow,
    /// The call tree of a run
    Calls,
}

/// Draw a program as a circuit of gates on wires.
///
/// `xor`, `not` and `swap` on cells that hold a bit are gates, as in the macros of `programs/lib/logic.rasm`. Any other
/// statement, and each call, is a box. Loops with constant bounds are unrolled, up to 1,000 columns. Branches on cells
/// are refused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver circuit course/book/programs/full_adder.rasm -o adder.svg
  reviver circuit programs/adder.rasm --const WIDTH=4 -o adder4.svg")]
pub struct CircuitOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub constants: Constants,
    #[command(flatten)]
    pub drawn: Drawn,
}
