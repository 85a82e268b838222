//! `reviver completions`: writes a shell script that completes arguments.

use clap::CommandFactory as _;

use crate::cli::{Arguments, CompletionsOptions};
use crate::failure::Fallible;
use crate::streams;

pub fn run(options: &CompletionsOptions) -> Fallible {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "reviver", &mut script);
    streams::print(&String::from_utf8_lossy(&script))
}
