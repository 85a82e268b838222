//! What an account of a run takes for granted.

use std::path::PathBuf;

use clap::Args;

use super::counts::kelvin;

#[derive(Debug, Args)]
pub struct AccountOptions {
    /// Print what the run costs whoever pays for bits: garbage, ancillas that were in use at once, history, erased bits, and the heat that
    /// erasing them makes at least. The interpreter makes the steps then
    #[arg(long, conflicts_with = "from_state")]
    pub account: bool,
    /// The temperature at which the bits are erased, in kelvin
    #[arg(long, value_name = "KELVIN", default_value_t = 300.0, requires = "account", value_parser = kelvin, allow_negative_numbers = true)]
    pub temperature: f64,
    /// A distribution of inputs: a file of comma-separated values, a line for each that may come, with the cells' names on top, and under
    /// `weight` how likely it is. The account has the entropy that the program loses of it then
    #[arg(long, value_name = "CSV", requires = "account", conflicts_with_all = ["back", "tape"])]
    pub inputs: Option<PathBuf>,
}
