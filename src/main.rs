//! The `reviver` command: reads arguments and files, calls the libraries, and prints. Everything that doesn't concern
//! terminals or files is in the libraries.

mod account;
mod charts;
mod cli;
mod commands;
mod constants;
mod course;
mod debuggee;
mod drivers;
mod ended;
mod engine;
mod entropy;
mod failure;
mod following;
mod given;
mod interrupt;
mod kinds;
mod lanes;
mod load;
mod objective;
mod output;
mod probes;
mod progress;
mod read;
mod refused;
mod run_to_end;
mod shown;
mod start;
mod stopwatch;
mod streams;
mod subject;
mod table;
mod testing;
mod vectors;
mod write;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;
use reviver_escape as escape;
use reviver_memory::{EndingAllocator, refusals};

use crate::cli::{Arguments, Invocation};
use crate::failure::{Exit, Failure, Fallible};

/// Allocator that ends the command with an error message if an allocation fails.
#[global_allocator]
static ALLOCATOR: EndingAllocator = EndingAllocator::new(refused::end);

fn main() -> ExitCode {
    let asks_for_json = std::env::args_os().any(|argument| argument == "--json");
    refused::as_json(asks_for_json);
    refusals::begin();
    let exit = match arguments() {
        Ok(Some(arguments)) => {
            let json = arguments.command.json();
            refused::as_json(json);
            ended(run(&arguments.command), json)
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(failure) => ended(Err(failure), asks_for_json),
    };
    if let Some(count) = refusals::count() {
        streams::complain(&format!("{count} allocations\n"));
    }
    exit
}

/// Prints the failure of the command if there is one, also as JSON if `json` is true. Returns the exit code.
fn ended(outcome: Fallible, json: bool) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            streams::tell(&failure, json);
            if matches!(failure.exit, Exit::HungUp | Exit::Interrupted | Exit::Terminated) {
                interrupt::leave(failure.exit);
            }
            ExitCode::from(failure.exit as u8)
        }
    }
}

/// Returns the arguments; `None` if clap has already printed the answer, such as help or the version.
fn arguments() -> Fallible<Option<Arguments>> {
    match Arguments::try_parse() {
        Ok(arguments) => Ok(Some(arguments)),
        Err(error) if error.use_stderr() => {
            let given: Vec<String> =
                std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
            let shown: Vec<String> =
                given.iter().map(|argument| escape::line(argument).into_owned()).collect();
            let mut error = about_shown(error, given != shown, &shown);
            cli::misuse::advise(&mut error, shown.get(1..).unwrap_or_default());
            Err(misuse(&error))
        }
        Err(error) => {
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            printed.map(|()| None).map_err(|error| streams::unprintable(&error))
        }
    }
}

/// If the arguments contain special characters, parses the escaped arguments again and returns the error of this second
/// attempt. Clap's own message would quote the characters unescaped in colored text.
fn about_shown(error: clap::Error, is_escaped: bool, shown: &[String]) -> clap::Error {
    let again = is_escaped.then(|| Arguments::try_parse_from(shown).err()).flatten();
    again.unwrap_or(error)
}

fn run(command: &Invocation) -> Fallible {
    match command {
        Invocation::Run(options) => commands::run::run(options),
        Invocation::Debug(options) => commands::debug::run(options),
        Invocation::Repl(options) => commands::repl::run(options),
        Invocation::Grad(options) => commands::grad::run(options),
        Invocation::Jacobian(options) => commands::jacobian::run(options),
        Invocation::Jvp(options) => commands::jvp::run(options),
        Invocation::Hessian(options) => commands::hessian::run(options),
        Invocation::Taylor(options) => commands::taylor::run(options),
        Invocation::Batch(options) => commands::batch::run(options),
        Invocation::Devices(options) => commands::devices::run(options),
        Invocation::Bench(options) => commands::bench::run(options),
        Invocation::Plot(options) => commands::plot::run(options),
        Invocation::Graph(options) => commands::graph::run(options),
        Invocation::Circuit(options) => commands::circuit::run(options),
        Invocation::Asm(options) => commands::asm::run(options),
        Invocation::Disasm(options) => commands::disasm::run(options),
        Invocation::Build(options) => commands::build::run(options),
        Invocation::Expand(options) => commands::expand::run(options),
        Invocation::Check(options) => commands::check::run(options),
        Invocation::Test(options) => commands::test::run(options),
        Invocation::Course(options) => commands::course::run(options),
        Invocation::Fmt(options) => commands::fmt::run(options),
        Invocation::Invert(options) => commands::invert::run(options),
        Invocation::Opt(options) => commands::opt::run(options),
        Invocation::Bennett(options) => commands::bennett::run(options),
        Invocation::Tradeoff(options) => commands::tradeoff::run(options),
        Invocation::Isa(options) => commands::isa::run(options),
        Invocation::Explain(options) => commands::explain::run(options),
        Invocation::Completions(options) => commands::completions::run(options),
    }
}

/// Prints the text of a clap error, in colors on a terminal. Returns the failure for invalid arguments, without a text
/// because clap's text is already printed.
fn misuse(error: &clap::Error) -> Failure {
    let text = error.render();
    streams::complain_styled(&match load::color() {
        true => text.ansi().to_string(),
        false => text.to_string(),
    });
    let mut failure = usage_failure(&error.render().to_string());
    failure.message.clear();
    failure
}

/// Converts the text of a clap error to a failure. The first paragraph is the error, the others are advice.
fn usage_failure(text: &str) -> Failure {
    let on_one_line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.trim().split("\n\n").map(on_one_line);
    let message = paragraphs.next().unwrap_or_default();
    let failure = Failure::usage(message.strip_prefix("error: ").unwrap_or(&message));
    paragraphs.fold(failure, Failure::help)
}
