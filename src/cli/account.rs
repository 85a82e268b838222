//! Options of an account of a run.

use std::path::PathBuf;

use clap::Args;

use super::counts::kelvin;

#[derive(Debug, Args)]
pub struct AccountOptions {
    /// Print an account of the run: garbage, the most ancillas in use at once, history, erased bits, and the minimum
    /// heat of erasing these bits. With this option the interpreter executes every step
    #[arg(long, conflicts_with = "from_state")]
    pub account: bool,
    /// Set the temperature at which bits are erased, in kelvin
    #[arg(long, value_name = "KELVIN", default_value_t = 300.0, requires = "account", value_parser = kelvin, allow_negative_numbers = true)]
    pub temperature: f64,
    /// Also print the entropy that the program loses for a distribution of inputs. The first line of the CSV file names
    /// cells, and each further line is one possible input. The column `weight` has the relative probability of a line
    /// [default: 1]
    #[arg(long, value_name = "CSV", requires = "account", conflicts_with_all = ["back", "tape"])]
    pub inputs: Option<PathBuf>,
}
