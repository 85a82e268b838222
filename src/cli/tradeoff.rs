//! What `tradeoff` is asked for.

use std::path::PathBuf;

use clap::Args;

use super::counts::kelvin;
use super::{Force, Given};

/// Compare steps, memory and erased bits of reversible methods.
///
/// The program is run as it is, with a tape, with kept states, by Bennett's method at four plans of 64 segments, and as the
/// reversible program that its header names in a line `; Reversible  FILE`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver tradeoff programs/collatz_plain.rasm --set n=27
  reviver tradeoff programs/bubble_sort.rasm --temperature 4 --json
  reviver tradeoff programs/collatz_plain.rasm --set n=27 --svg tradeoff.svg")]
pub struct TradeoffOptions {
    #[command(flatten)]
    pub given: Given,
    /// The temperature at which bits are erased, in kelvins
    #[arg(long, value_name = "KELVIN", default_value_t = 300.0, value_parser = kelvin, allow_negative_numbers = true)]
    pub temperature: f64,
    /// Write a picture besides: steps over memory for each method, and the bits that it erases
    #[arg(long, value_name = "SVG")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}
