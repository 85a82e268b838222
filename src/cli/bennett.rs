//! Options of `reviver bennett`.

use std::path::PathBuf;

use clap::Args;

use super::Written;
use super::counts::count;
use super::strategy::parse_bytes;

/// Print a reversible version of a program that overwrites values.
///
/// The printed program has the same results and leaves no garbage. It runs in segments. A segment pushes the values
/// that it overwrites onto a stack. After the segment, the state is copied, and the segment is undone, which empties
/// the stack. With several levels, copies that are no longer needed are removed during the run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver bennett programs/collatz_plain.rasm | reviver run - --set n=27 --check
  reviver bennett programs/bisection.rasm --segments 4 --levels 3 --rounds 2 -o root.rasm")]
pub struct BennettOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    /// Set the number of segments of each level [default: 8]
    #[arg(long, value_name = "G", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub segments: Option<u32>,
    /// Set the number of levels [default: 2, or 1 if only `--segments` is given]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub levels: Option<u32>,
    /// Set the number of iterations in a segment. The printed program traps if the end of the run isn't reached in G to
    /// the power of N segments. By default the printed program tries 1, 2, 4, … iterations
    #[arg(long, value_name = "K", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub rounds: Option<u32>,
    /// Limit the memory for kept states, in bytes: 1000, 64K, 1M, … Of the plans with 64, 8², 4³ or 2⁶ segments that
    /// fit, this selects the plan with the fewest segment runs
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, conflicts_with_all = ["segments", "levels"], allow_negative_numbers = true)]
    pub space: Option<u64>,
    #[command(flatten)]
    pub written: Written,
}
