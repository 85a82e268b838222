//! What `bennett` is asked for.

use std::path::PathBuf;

use clap::Args;

use super::Written;
use super::counts::count;
use super::strategy::parse_bytes;

/// Print a reversible program for one that overwrites values.
///
/// It computes the same results and leaves no garbage: a segment of the program runs with what it loses on a stack, the
/// state is copied, and the segment is undone; levels of segments take the states in between away again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver bennett programs/collatz_plain.rasm | reviver run - --set n=27 --check
  reviver bennett programs/bisection.rasm --segments 4 --levels 3 --rounds 2 -o root.rasm")]
pub struct BennettOptions {
    /// A `.rasm` text or a `.rbc` image; `-` reads standard input
    pub file: PathBuf,
    /// Segments of each level [default: 8]
    #[arg(long, value_name = "G", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub segments: Option<u32>,
    /// Levels of segments [default: 2; with `--segments` alone 1]
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub levels: Option<u32>,
    /// Rounds of a segment: then the program traps where G to the power of N segments don't reach its end. Unless this is
    /// given, it finds out by trying 1, 2, 4, …
    #[arg(long, value_name = "K", value_parser = count::<u32>, allow_negative_numbers = true)]
    pub rounds: Option<u32>,
    /// Choose among 64, 8², 4³ and 2⁶ segments the fewest runs whose kept states fit: 1000, 64K, 1M, …
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, conflicts_with_all = ["segments", "levels"], allow_negative_numbers = true)]
    pub space: Option<u64>,
    #[command(flatten)]
    pub written: Written,
}
