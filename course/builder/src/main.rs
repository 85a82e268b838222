//! Command that builds the book, or acts as a preprocessor of mdBook. The library does all the work.

use std::io::{Write, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mdbook_preprocessor::errors::Result;
use mdbook_preprocessor::{Preprocessor, parse_input};
use reviver_book::build;
use reviver_book::listings::Listings;

/// Builds the book of the course, with its programs highlighted. The pages need no network.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    /// Read the book from this folder
    #[arg(default_value = "course/book")]
    book: PathBuf,
    /// Write the pages to this folder, which must be new, empty, or the output of an earlier build
    #[arg(long, short, value_name = "DIR", default_value = "target/book")]
    out: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Highlight the chapters that `mdbook build` passes on standard input; run after mdBook's preprocessor `links`
    Preprocess {
        #[command(subcommand)]
        question: Option<Question>,
    },
}

#[derive(Debug, Subcommand)]
enum Question {
    /// Exit with 0 if pages of this renderer are highlighted, otherwise with 1
    Supports { renderer: String },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.task {
        None => built(&arguments),
        Some(Task::Preprocess { question: None }) => preprocessed(),
        Some(Task::Preprocess { question: Some(Question::Supports { renderer }) }) => {
            match Listings.supports_renderer(&renderer) {
                Ok(true) => Ok(()),
                _ => return ExitCode::FAILURE,
            }
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn built(arguments: &Arguments) -> Result<()> {
    build(&arguments.book, &arguments.out)?;
    writeln!(stdout(), "{}", arguments.out.join("index.html").display())?;
    Ok(())
}

fn preprocessed() -> Result<()> {
    let (context, book) = parse_input(stdin().lock())?;
    let book = Listings.run(&context, book)?;
    serde_json::to_writer(stdout().lock(), &book)?;
    Ok(())
}
