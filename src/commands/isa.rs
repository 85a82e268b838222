//! `reviver isa`: the manual on the terminal.

use reviver_isa::{Function, Update, manual};

use crate::cli::Isa;
use crate::failure::{Exit, Failure, Outcome};
use crate::write;

pub fn run(options: &Isa) -> Outcome {
    let Some(name) = &options.name else { return write::print(&manual::overview()) };
    match manual::page(name) {
        Some(page) => write::print(&page),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Failure {
    let updates = Update::ALL.iter().map(|row| row.name());
    let functions = Function::ALL.iter().map(|row| row.name());
    let failure = Failure::new(Exit::Usage, format_args!("there is no instruction `{name}`"));
    match reviver_assembler::suggest::nearest(name, updates.chain(functions)) {
        Some(near) => failure.help(format_args!("there is `{near}`")),
        None => failure.help("`reviver isa` lists them all"),
    }
}
