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
    /// Draw these cells: `a`, `A[3]`, whole arrays, or several (`a,b`). Variables of main are cells, too
    #[arg(long, value_name = "NAMES")]
    pub cells: Vec<String>,
    /// Sample the cells only when the run reaches this place: a line (`12`, `file:12`), a label or a procedure
    #[arg(long, value_name = "PLACE", conflicts_with = "drift")]
    pub at: Option<String>,
    /// Draw the cells over this cell instead of over the steps
    #[arg(long, value_name = "NAME", conflicts_with_all = ["grad", "drift", "erased"])]
    pub against: Option<String>,
    /// Also draw the adjoints of the cells in the reverse sweep: the derivatives of this real cell with respect to them
    #[arg(long = "of", visible_alias = "grad", value_name = "LOSS", conflicts_with = "there")]
    pub grad: Option<String>,
    /// Draw the drift: the value in the backward run minus the value in the forward run
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
    /// Stop after N steps in each direction, with exit code 5, and draw these steps
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    #[command(flatten)]
    pub retained: RetainedOptions,
}

/// Destination of a picture.
#[derive(Debug, Args)]
pub struct Drawn {
    /// Write the picture to a file instead of printing it; `-` prints SVG even on a terminal
    #[arg(short, long, value_name = "SVG")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
}

/// Draw a program's flow chart and call tree, or its memory graph.
///
/// In the flow chart, tests are diamonds and assertions are circles. A line leads from each test to the assertion at
/// the destination of its jump. For the call tree, the program runs with its inputs. The tree shows each procedure
/// below its caller, with the number of calls and steps.
///
/// In the memory graph (`--memory`), each cell or array is a line from the start of a procedure to its end. Each
/// statement is a row: a box on the lines that it changes, and a dot on the lines that it reads. Statements that cancel
/// each other, such as a `local` and its `delocal`, are grey and dashed, and a note names the other statement. The
/// program doesn't run. On a terminal, the graph is drawn in characters, unless `-o` names a file.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver graph programs/fib.rasm -o fib.svg
  reviver graph programs/hanoi.rasm --only calls
  reviver graph programs/besselj.rasm --memory -o besselj.svg")]
pub struct GraphOptions {
    #[command(flatten)]
    pub given: Given,
    /// Draw only the flow chart (`flow`), the call tree (`calls`), or the memory graph (`memory`)
    #[arg(long, value_name = "PART")]
    pub only: Option<GraphPart>,
    /// Draw the memory graph instead of the flow chart and the call tree; the same as `--only memory`
    #[arg(long = "memory", conflicts_with_all = ["only", "max_steps"])]
    pub shows_memory: bool,
    /// Stop the run after N steps, with exit code 5, and draw the calls in these steps
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
    /// The cells that each statement reads and changes, without running the program
    Memory,
}

/// Draw a program as a circuit of gates on wires.
///
/// `xor`, `not` and `swap` on integer cells are drawn as gates on bits, as in the macros of `programs/lib/logic.rasm`.
/// Any other statement, and each call, is a box. Loops with constant bounds are unrolled, up to 1,000 columns. A
/// program with a branch on a cell can't be drawn.
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
