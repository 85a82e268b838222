//! Options of `reviver tradeoff`.

use std::path::PathBuf;

use clap::Args;

use super::counts::kelvin;
use super::{Force, Given};

/// Compare steps, memory and erased bits of reversible methods.
///
/// The program runs unchanged, with a tape, with kept states, and by Bennett's method with four plans of 64 segments.
/// If the header of the program has a line `; Reversible  FILE`, the reversible program in FILE runs too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver tradeoff programs/collatz_plain.rasm --set n=27
  reviver tradeoff programs/bubble_sort.rasm --temperature 4 --json
  reviver tradeoff programs/collatz_plain.rasm --set n=27 --svg tradeoff.svg")]
pub struct TradeoffOptions {
    #[command(flatten)]
    pub given: Given,
    /// Set the temperature at which bits are erased, in kelvin
    #[arg(long, value_name = "KELVIN", default_value_t = 300.0, value_parser = kelvin, allow_negative_numbers = true)]
    pub temperature: f64,
    /// Also write a picture: the steps of each method over its memory, and the bits that the method erases
    #[arg(long, value_name = "SVG")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}
