//! The `reviver` command: reads arguments and files, calls the libraries, prints. Everything that
//! isn't about a terminal or a file lives in the libraries.

mod cli;
mod commands;
mod debuggee;
mod failure;
mod given;
mod journey;
mod load;
mod output;
mod progress;
mod start;
mod subject;
mod write;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Arguments, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => misused(&error),
    };
    let outcome = match &arguments.command {
        Command::Run(options) => commands::run::run(options),
        Command::Debug(options) => commands::debug::run(options),
        Command::Repl(options) => commands::repl::run(options),
        Command::Grad(options) => commands::grad::run(options),
        Command::Jacobian(options) => commands::jacobian::run(options),
        Command::Hessian(options) => commands::hessian::run(options),
        Command::Taylor(options) => commands::taylor::run(options),
        Command::Asm(options) => commands::asm::run(options),
        Command::Disasm(options) => commands::disasm::run(options),
        Command::Check(options) => commands::check::run(options),
        Command::Fmt(options) => commands::fmt::run(options),
        Command::Invert(options) => commands::invert::run(options),
        Command::Isa(options) => commands::isa::run(options),
        Command::Completions(options) => commands::completions::run(options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.tell(arguments.command.json());
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Ends with what the arguments are wrong in, or with the help that was asked for. Programs that ask for
/// JSON get some.
fn misused(error: &clap::Error) -> ! {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let failure = usage_failure(&error.render().to_string());
        write::print(&output::object(failure.members(), &Ok(()))).ok();
    }
    error.exit()
}

/// The first paragraph of clap's text is what is wrong, the others are what to do.
fn usage_failure(text: &str) -> Failure {
    let on_one_line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.trim().split("\n\n").map(on_one_line);
    let message = paragraphs.next().unwrap_or_default();
    let failure = Failure::usage(message.strip_prefix("error: ").unwrap_or(&message));
    paragraphs.fold(failure, Failure::help)
}
