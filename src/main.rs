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

fn main() -> ExitCode {
    let arguments = Arguments::parse();
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
            write::complain(&failure.message);
            ExitCode::from(failure.exit as u8)
        }
    }
}
