//! Options of an account of a run.

use std::path::PathBuf;

use clap::Args;

use super::counts::kelvin;

#[derive(Debug, Args)]
pub struct AccountOptions {
    /// Print the bits that the run costs: garbage, ancillas in use at once, history, erased bits, and the least heat of
    /// erasing them. The interpreter executes the steps then
    #[arg(long, conflicts_with = "from_state")]
    pub account: bool,
    /// Set the temperature at which bits are erased, in kelvin
    #[arg(long, value_name = "KELVIN", default_value_t = 300.0, requires = "account", value_parser = kelvin, allow_negative_numbers = true)]
    pub temperature: f64,
    /// Add the entropy that the program loses of a distribution of inputs: a CSV with the names of cells in its first
    /// line, a line for each input, and its probability in the column `weight`
    #[arg(long, value_name = "CSV", requires = "account", conflicts_with_all = ["back", "tape"])]
    pub inputs: Option<PathBuf>,
}
