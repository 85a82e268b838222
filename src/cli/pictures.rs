//! What the commands are told that draw: `plot`, `graph` and `circuit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::counts::count;
use super::strategy::RetainedOptions;
use super::{Constants, Force, Given};

/// Plot cells over the steps of a run, forward and backward.
///
/// The picture is SVG, for light and dark ground. On a terminal the curves are drawn in characters, unless the picture goes to a file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver plot programs/fib.rasm --cells a,b -o fib.svg
  reviver plot programs/leapfrog.rasm --cells y --against x -o orbit.svg
  reviver plot programs/kick_drift.rasm --cells b --against a --at 54 --there -o fit.svg
  reviver plot programs/horner.rasm --cells y --grad y -o adjoints.svg")]
pub struct PlotOptions {
    #[command(flatten)]
    pub given: Given,
    /// The cells to draw: `a`, `A[3]`, an array as a whole, or several (`a,b`); variables of main too
    #[arg(long, value_name = "NAMES")]
    pub cells: Vec<String>,
    /// Look at the cells only where the run comes to a place: a line (`12`, `file:12`), a label or a procedure
    #[arg(long, value_name = "PLACE", conflicts_with = "drift")]
    pub at: Option<String>,
    /// Draw the cells over this one instead of over the steps
    #[arg(long, value_name = "NAME", conflicts_with_all = ["grad", "drift", "erased"])]
    pub against: Option<String>,
    /// Go back in gradient mode, and draw the adjoints of the cells on that way: derivatives of this real cell
    #[arg(long, value_name = "LOSS", conflicts_with = "there")]
    pub grad: Option<String>,
    /// Draw how far the way back is from the way there
    #[arg(long, conflicts_with = "there")]
    pub drift: bool,
    /// Draw each cell in a panel of its own, with a scale of its own
    #[arg(long, conflicts_with = "against")]
    pub apart: bool,
    /// Draw how many bits have been erased
    #[arg(long)]
    pub erased: bool,
    /// Draw the way there only
    #[arg(long)]
    pub there: bool,
    #[command(flatten)]
    pub pace: PlotPace,
    #[command(flatten)]
    pub drawn: Drawn,
}

/// How far a run goes, and what it keeps for the way back.
#[derive(Debug, Args)]
pub struct PlotPace {
    /// Keep the bits that steps lose, so that the way back is bit for bit exact
    #[arg(long)]
    pub exact: bool,
    /// Stop after so many steps in each direction, with exit code 5; what there is until then is drawn
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    #[command(flatten)]
    pub retained: RetainedOptions,
}

/// Where a picture goes.
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
/// Tests are diamonds, assertions are circles, and each test has the assertion that its jump leads to. For the tree the program is run
/// with what it is given: who called whom, how often, and how many steps that took.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver graph programs/fib.rasm -o fib.svg
  reviver graph programs/hanoi.rasm --only calls")]
pub struct GraphOptions {
    #[command(flatten)]
    pub given: Given,
    /// Draw one of the two only
    #[arg(long, value_name = "PART")]
    pub only: Option<GraphPart>,
    /// Stop the run after so many steps, with exit code 5; the calls until then are drawn
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    #[command(flatten)]
    pub drawn: Drawn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphPart {
    /// Control flow; nothing is run
    Flow,
    /// The call tree
    Calls,
}

/// Draw a program as a circuit of gates on wires.
///
/// `xor`, `not` and `swap` on cells that hold a bit are gates, as the macros of `programs/lib/logic.rasm` make them; any other
/// statement and each call is a box. Loops with constant bounds are unrolled, up to 1,000 columns. Branches on cells are refused.
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
