//! Options of `reviver bennett`.

use std::path::PathBuf;

use clap::Args;

use super::Written;
use super::counts::count;
use super::strategy::parse_bytes;

/// Print a reversible program for one that overwrites values.
///
/// The program has the same results and leaves no garbage. A segment runs with its lost values on a stack, the state is
/// copied, and the segment is undone. Levels of segments remove the states in between.
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
    /// Set the number of levels [default: 2; with `--segments` alone 1]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub levels: Option<u32>,
    /// Set the number of iterations of a segment; the program traps if G to the power of N segments don't reach its
    /// end. By default the program tries 1, 2, 4, …
    #[arg(long, value_name = "K", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub rounds: Option<u32>,
    /// Choose the plan (64, 8², 4³ or 2⁶ segments) with the fewest runs whose kept states fit: 1000, 64K, 1M, …
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, conflicts_with_all = ["segments", "levels"], allow_negative_numbers = true)]
    pub space: Option<u64>,
    #[command(flatten)]
    pub written: Written,
}
