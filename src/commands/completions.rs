//! `reviver completions`: what a shell needs to complete arguments.

use clap::CommandFactory as _;

use crate::cli::{Arguments, Completions};
use crate::failure::Outcome;
use crate::write;

pub fn run(options: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "reviver", &mut script);
    write::print(&String::from_utf8_lossy(&script))
}
