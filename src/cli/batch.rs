//! `reviver batch`.

use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::Args;
use reviver::{CompileOptions, EngineChoice};
use reviver_vm::notation::Notation;

use super::Force;
use super::counts::{count, count_from_1, threads};
use super::start::{Constants, LevelOption, OtherNumbers, engines, notation};

/// Run a program at many inputs: one lane for each line of a file.
///
/// Columns have the names of cells: `x`, `A[3]`, `M[1,2]`; in `.npz` files an array of the program may be one array, with the lanes
/// first, in Arrow a column of lists. Results come in the order of the lanes, a column for each cell that is a result.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv
  reviver batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --grad out -o slopes.npz
  reviver batch programs/reprojection.rasm --lanes programs/reprojection.csv --grad cost --json")]
pub struct BatchArguments {
    /// A `.rasm` text or a `.rbc` image
    pub file: PathBuf,
    /// What the lanes are given: a `.csv` with a line of names, a `.npz`, an `.arrow` or `.arrows`, or a `.npy` (whose columns are the
    /// inputs in the order of their declarations); `-` reads CSV or Arrow from standard input, as its first bytes say
    #[arg(long, value_name = "FILE|-")]
    pub lanes: PathBuf,
    /// Give all lanes the same numbers: a cell (`w=0.5`), or an array (`A=3,1,2`; one value stands for every cell)
    #[arg(long, value_name = "NAME=VALUE")]
    pub shared: Vec<String>,
    /// The value of this real cell in each lane, and its gradient. By what all lanes share there is one derivative, the sum of theirs
    #[arg(long, value_name = "LOSS", conflicts_with_all = ["jacobian", "back", "check"])]
    pub grad: Option<String>,
    /// The gradient of the sum of seed times value in each lane, with the same seeds for all: real cells with their seeds (`y=10,z=1`), or
    /// whole arrays (`A=1,0,2`, `A=@FILE`)
    #[arg(long, value_name = "NAME=VALUE", conflicts_with_all = ["grad", "jacobian", "back", "check"])]
    pub seed: Vec<String>,
    /// The derivatives of these in each lane: real cells or whole arrays, by a pass back for each cell
    #[arg(long, value_name = "OUT,…", conflicts_with_all = ["back", "check"])]
    pub jacobian: Option<String>,
    /// Differentiate with respect to these: cells or whole arrays. All real inputs if not given
    #[arg(long, value_name = "NAME,…")]
    pub wrt: Vec<String>,
    /// A lane whose derivatives may be wrong, because values that count were lost, has failed
    #[arg(long)]
    pub strict: bool,
    /// Compare the derivatives of N lanes, taken at random, with dual numbers run forward, and with differences of runs
    /// at inputs near by. Exit code 1 if they disagree, or if no difference tells, as at a kink
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "16",
          value_parser = count_from_1::<NonZeroU16>)]
    pub verify: Option<NonZeroU16>,
    /// Run from the end to the beginning: give the results, find the inputs
    #[arg(long)]
    pub back: bool,
    /// Run each lane to its end and all the way back; one that isn't restored has failed
    #[arg(long)]
    pub check: bool,
    /// Who carries out the lanes: the cores of the processor (`cpu`), a graphics processor (`gpu`, or a part of its name), or a
    /// graphics processor where there is one that is no software, and the cores for what it can't do (`auto`)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: String,
    /// Use at most N threads of the processor, from 1 to 1024; the default is one for each core. Lanes of a thread that the system
    /// doesn't start go to the others
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<NonZeroU16>,
    /// Who makes the steps on the processor: the interpreter (`interp`), native code (`jit`), or native code where there is some (`auto`)
    #[arg(long, value_name = "ENGINE", default_value_t, value_parser = engines())]
    pub engine: EngineChoice,
    #[command(flatten)]
    pub checking: LevelOption,
    /// Stop each lane after so many steps in each direction, with exit code 5
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    /// Where the results go: a `.csv`, a `.npz`, an `.arrow` or `.arrows` (a stream); they are printed where no file is named
    #[arg(short, long, value_name = "OUT|-")]
    pub output: Option<PathBuf>,
    /// How results are printed: `csv`, or `arrow`, a stream of record batches. Of a file its name says it
    #[arg(long, value_name = "FORMAT", value_parser = ["csv", "arrow"])]
    pub output_format: Option<String>,
    #[command(flatten)]
    pub force: Force,
    /// Go on with the other lanes where one fails: a column `status` says which did, and the exit code is 1 then
    #[arg(long)]
    pub keep_going: bool,
    /// Keep the results of the lanes that are done where the batch is stopped, by a signal or an error: the output file appears with them.
    /// Otherwise it appears only if all lanes are done. Lanes are run in smaller blocks, so that at most about a second of work is lost
    #[arg(long)]
    pub keep_partial: bool,
    /// Print one JSON object instead of text; the results are in it, unless `-o` names a file
    #[arg(long)]
    pub json: bool,
    /// Print how long it took to load, compile, read, run and write, and how many lanes a second that makes
    #[arg(long)]
    pub stats: bool,
    /// Write integers as bits in base 16
    #[arg(long, conflicts_with = "unsigned")]
    pub hex: bool,
    /// Write integers without a sign, and read such
    #[arg(long)]
    pub unsigned: bool,
    #[command(flatten)]
    pub constants: Constants,
    #[command(flatten)]
    pub numbers: OtherNumbers,
}

/// List the devices that execute lanes, and what each supports.
///
/// A device is asked by a shader of its own whether it computes as this machine does, to the last bit. What it gets wrong is done in another
/// way, or the device isn't used for it.
#[derive(Debug, Args)]
pub struct DevicesOptions {
    /// Only ask the device that a batch takes for this name, and print nothing: for `reviver` itself, in a process that a driver may end
    #[arg(long, value_name = "NAME", hide = true)]
    pub probe: Option<String>,
    /// List devices in this process, which a driver may end: for `reviver` itself
    #[arg(long, hide = true)]
    pub apart: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

impl BatchArguments {
    /// Who makes the steps, and how much of them is checked.
    pub fn compiled(&self) -> CompileOptions {
        CompileOptions { engine: self.engine, level: self.checking.level() }
    }

    /// How many lanes are verified, at most.
    pub fn verified(&self) -> usize {
        self.verify.map_or(0, |lanes| lanes.get().into())
    }

    /// How integers are written and read.
    pub fn notation(&self) -> Notation {
        notation(self.hex, self.unsigned)
    }
}
