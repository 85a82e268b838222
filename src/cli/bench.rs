//! Options of `reviver bench`.

use clap::Args;

use super::{Given, LevelOption};

/// Measure the speed of each engine: forward, backward and gradient.
///
/// Engines and directions take turns many times, and the best time of each is printed. Times vary between two calls of
/// this command, so compare only times of the same call.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver bench programs/fib.rasm --set n=1000
  reviver bench programs/besselj.rasm --of out --json
  reviver bench programs/besselj.rasm --of out --explain")]
pub struct BenchOptions {
    #[command(flatten)]
    pub given: Given,
    /// Measure the gradient of this real cell too: `y`, `A[3]`, `M[1,2]`
    #[arg(long = "of", visible_alias = "loss", value_name = "NAME")]
    pub loss: Option<String>,
    #[command(flatten)]
    pub checking: LevelOption,
    /// Limit the time of all repetitions; each engine and direction is measured at least once
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, allow_negative_numbers = true, value_parser = parse_seconds)]
    pub seconds: f64,
    /// Measure nothing. List the reals that the reverse sweep of native code uses, by line. A real is kept from the
    /// primal sweep, recomputed, or restored by inverting the statement that changed it
    #[arg(long, requires = "loss", conflicts_with = "seconds")]
    pub explain: bool,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    const MOST: f64 = 86_400.0;
    let seconds = text.parse().ok().filter(|seconds| (0.0..=MOST).contains(seconds));
    seconds.ok_or_else(|| format!("a number of seconds from 0 to {MOST} is expected"))
}
