//! Options of `reviver batch` and `reviver devices`.

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
/// The file has a column for each input cell, named after the cell: `x`, `A[3]`, `M[1,2]`. In an `.npz` file, one NumPy
/// array can hold an array of the program; its first dimension is the lanes. In an Arrow file, a column of lists can
/// hold an array of the program. The results have a row for each lane, in the same order, and a column for each result
/// cell.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv
  reviver batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --grad out -o slopes.npz
  reviver batch programs/reprojection.rasm --lanes programs/reprojection.csv --grad cost --json")]
pub struct BatchArguments {
    /// A `.rasm` text or a `.rbc` image
    pub file: PathBuf,
    /// Read the inputs of the lanes from a `.csv` (its first line names the columns), a `.npz`, an `.arrow`, an
    /// `.arrows`, or a `.npy` (its columns are the inputs in the order of their declarations). `-` reads CSV or Arrow
    /// from standard input
    #[arg(long, value_name = "FILE|-")]
    pub lanes: PathBuf,
    /// Set inputs that all lanes share: a cell (`w=0.5`), or an array (`A=3,1,2`; one value fills every cell)
    #[arg(long, value_name = "NAME=VALUE")]
    pub shared: Vec<String>,
    /// Compute the value and the gradient of this real cell in each lane. Derivatives with respect to shared inputs are
    /// summed over the lanes
    #[arg(long, value_name = "LOSS", conflicts_with_all = ["jacobian", "back", "check"])]
    pub grad: Option<String>,
    /// Compute the gradient of a weighted sum of results in each lane. NAME=VALUE sets the weights (seeds), the same
    /// for all lanes: of real cells (`y=10,z=1`), or of whole arrays (`A=1,0,2`, `A=@FILE`)
    #[arg(long, value_name = "NAME=VALUE", conflicts_with_all = ["grad", "jacobian", "back", "check"])]
    pub seed: Vec<String>,
    /// Compute the value, the gradient and the Hessian of this real cell in each lane
    #[arg(long, value_name = "LOSS", conflicts_with_all = ["grad", "seed", "jacobian", "back", "check"])]
    pub hessian: Option<String>,
    /// Compute the Jacobian of these real cells or whole arrays in each lane, by reverse sweeps
    #[arg(long = "of", visible_alias = "jacobian", value_name = "OUT,…", conflicts_with_all = ["back", "check"])]
    pub jacobian: Option<String>,
    /// Multiply the Jacobian of `--of` or the Hessian of `--hessian` by this vector in each lane:
    /// `x=1,y=2`, `A=@FILE`
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "wrt")]
    pub times: Vec<String>,
    /// Differentiate with respect to these cells or whole arrays [default: all real inputs]
    #[arg(long, value_name = "NAME,…")]
    pub wrt: Vec<String>,
    /// Fail each lane whose derivatives may be wrong because values that affect them were lost
    #[arg(long)]
    pub strict: bool,
    /// Compare the derivatives of N random lanes with dual numbers and with finite differences; without N, 16 lanes.
    /// The exit code is 1 if they disagree, or if the finite differences can't decide, for example at a kink
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "16",
          value_parser = count_from_1::<NonZeroU16>)]
    pub verify: Option<NonZeroU16>,
    /// Run each lane backward from the results in the file, and output the inputs
    #[arg(long)]
    pub back: bool,
    /// Run each lane to its end and back, and fail each lane whose start isn't restored
    #[arg(long)]
    pub check: bool,
    /// Choose the device: all CPU cores (`cpu`), or a GPU (`gpu`, or a part of its name). The default, `auto`, uses a
    /// hardware GPU if there is one and it can run the program, otherwise the CPU
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub device: String,
    /// Use at most N CPU threads, from 1 to 1024 [default: one for each core]. If the system can't start a thread, the
    /// other threads execute its lanes
    #[arg(long, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub threads: Option<NonZeroU16>,
    /// Set the engine on the CPU: the interpreter (`interp`), native code (`jit`), or native code if available (`auto`)
    #[arg(long, value_name = "ENGINE", default_value_t, value_parser = engines())]
    pub engine: EngineChoice,
    #[command(flatten)]
    pub checking: LevelOption,
    /// Stop each lane after N steps in each direction, with exit code 5
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_negative_numbers = true)]
    pub max_steps: Option<u64>,
    /// Write the results to a `.csv`, a `.npz`, an `.arrow` or an `.arrows` (a stream) instead of printing them
    #[arg(short, long, value_name = "OUT|-")]
    pub output: Option<PathBuf>,
    /// Set the format of printed results: `csv`, or `arrow` (a stream of record batches). The format of a file (`-o`)
    /// follows from its name
    #[arg(long, value_name = "FORMAT", value_parser = ["csv", "arrow"])]
    pub output_format: Option<String>,
    #[command(flatten)]
    pub force: Force,
    /// Continue after failed lanes. The column `status` marks these lanes, and the exit code is then 1
    #[arg(long)]
    pub keep_going: bool,
    /// Write the results of finished lanes if a signal or an error stops the batch; by default the output file appears
    /// only if all lanes are finished. With this option lanes run in smaller blocks, so that at most about a second of
    /// work is lost
    #[arg(long)]
    pub keep_partial: bool,
    /// Print one JSON object instead of text; it contains the results, unless `-o` names a file
    #[arg(long)]
    pub json: bool,
    /// Print the times of loading, compiling, reading, running and writing, and the lanes per second
    #[arg(long)]
    pub stats: bool,
    /// Write integers as bit patterns in base 16
    #[arg(long, conflicts_with = "unsigned")]
    pub hex: bool,
    /// Write and read integers without a sign
    #[arg(long)]
    pub unsigned: bool,
    #[command(flatten)]
    pub constants: Constants,
    #[command(flatten)]
    pub numbers: OtherNumbers,
}

/// List the devices that execute lanes, and what each supports.
///
/// A test shader compares the results of each operation on the device with those of the CPU, bit for bit. If they
/// differ, the operation is replaced by others, or the device isn't used for programs that need it.
#[derive(Debug, Args)]
pub struct DevicesOptions {
    /// Probe the device that a batch uses for this name, and print nothing. Internal: runs in a child process that a
    /// driver may crash
    #[arg(long, value_name = "NAME", hide = true)]
    pub probe: Option<String>,
    /// List devices in this process. Internal: runs in a child process that a driver may crash
    #[arg(long, hide = true)]
    pub apart: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

impl BatchArguments {
    /// Returns the engine and the check level.
    pub fn compiled(&self) -> CompileOptions {
        CompileOptions { engine: self.engine, level: self.checking.level() }
    }

    /// Returns the maximum number of verified lanes.
    pub fn verified(&self) -> usize {
        self.verify.map_or(0, |lanes| lanes.get().into())
    }

    /// Returns the notation of integers.
    pub fn notation(&self) -> Notation {
        notation(self.hex, self.unsigned)
    }
}
