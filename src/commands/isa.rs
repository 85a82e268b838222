//! `reviver isa`: shows the instruction manual on the terminal.

use reviver_assembler::suggest::nearest;
use reviver_isa::language::{DIRECTIVES, KEYWORDS};
use reviver_isa::{Function, Update, manual};

use crate::cli::IsaOptions;
use crate::failure::{Failure, Fallible};
use crate::streams;

pub fn run(options: &IsaOptions) -> Fallible {
    let Some(name) = &options.name else { return streams::print(&manual::overview()) };
    match manual::page(name) {
        Some(page) => streams::print(&page),
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Failure {
    let failure = Failure::usage(format_args!("there is no instruction, keyword or directive `{name}`"));
    match suggestion(name) {
        Some(near) => failure.help(format_args!("did you mean `{near}`?")),
        None => failure.help("`reviver isa` lists all instructions, keywords and directives"),
    }
}

/// Returns the known name that is most similar to an unknown one. In a name with two parts (`add.mul`), each part is
/// corrected separately.
fn suggestion(name: &str) -> Option<String> {
    let updates = || Update::ALL.iter().map(|row| row.name());
    let functions = || Function::ALL.iter().map(|row| row.name());
    let words = KEYWORDS.iter().chain(DIRECTIVES).copied();
    let Some((update, function)) = name.split_once('.').filter(|(update, _)| !update.is_empty()) else {
        return nearest(name, updates().chain(functions()).chain(words)).map(str::to_owned);
    };
    let near = format!("{}.{}", nearest(update, updates())?, nearest(function, functions())?);
    manual::page(&near).map(|_| near)
}
