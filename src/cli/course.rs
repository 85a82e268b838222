//! What `course` is told.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};

use super::counts::count_from_1;
use super::{Force, TestRunning};

/// Learn reversible computing by exercises that grade themselves.
///
/// Without a command, lists the exercises, with what is passed in the present folder.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver course start mine
  cd mine && reviver course check 1
  reviver course read 1 --columns 80 | less
  reviver course report class/* -o grades.csv")]
pub struct CourseOptions {
    #[command(subcommand)]
    pub command: Option<CourseCommand>,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum CourseCommand {
    Start(CourseStart),
    Check(CourseCheck),
    Read(CourseRead),
    Report(CourseReport),
}

/// Copy the exercises into a folder. What is there already stays as it is.
#[derive(Debug, Args)]
pub struct CourseStart {
    /// The folder, which is made if it isn't there
    pub folder: PathBuf,
    /// Leave the solutions out, for a class
    #[arg(long)]
    pub no_solutions: bool,
    /// Copy the programs of the book as well, to where it names them, so that what it types works in the folder
    #[arg(long)]
    pub programs: bool,
}

/// Grade an exercise, or all of them, and give the hint that fits.
#[derive(Debug, Args)]
pub struct CourseCheck {
    /// Its number, its name or its folder; without it, that of the present folder, or all
    #[arg(value_name = "NN")]
    pub exercise: Option<String>,
    /// The folder with the exercises
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Say also where to look; given twice, which lesson to read as well
    #[arg(short, long, action = ArgAction::Count)]
    pub more: u8,
    #[command(flatten)]
    pub running: TestRunning,
}

/// Print a chapter of the book, as Markdown; of its pictures there is what they show, in words.
#[derive(Debug, Args)]
pub struct CourseRead {
    /// Its number or its name; without it, a list of the chapters
    #[arg(value_name = "CHAPTER")]
    pub chapter: Option<String>,
    /// Fold paragraphs to so many columns, 100 at most; without this to those of a terminal, and not at all where it goes elsewhere
    #[arg(long, value_name = "N", value_parser = count_from_1::<NonZeroUsize>)]
    pub columns: Option<NonZeroUsize>,
}

/// Grade folders of exercises, one line of a CSV each.
#[derive(Debug, Args)]
pub struct CourseReport {
    /// Folders that `reviver course start` has made
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Write to a file instead of printing
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub running: TestRunning,
}
