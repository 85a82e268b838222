//! Options of `reviver course`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};

use super::counts::{count, count_from_1};
use super::strategy::parse_bytes;
use super::{Force, TestRunning};

/// Learn reversible computing by exercises that grade themselves.
///
/// Without a subcommand, lists the exercises, and marks those that are passed in the current folder.
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
    Similar(CourseSimilar),
    Solutions(CourseSolutions),
    #[command(hide = true)]
    Grade(CourseGrade),
}

/// Copy the exercises and the programs of the book into a folder. Existing files stay unchanged.
#[derive(Debug, Args)]
pub struct CourseStart {
    /// The folder, which is created if it doesn't exist
    pub folder: PathBuf,
}

/// Grade one exercise or all of them, and print a hint for what fails.
#[derive(Debug, Args)]
pub struct CourseCheck {
    /// The exercise's number, name or folder [default: the exercise of the current folder, or all exercises]
    #[arg(value_name = "NN")]
    pub exercise: Option<String>,
    /// The folder with the exercises
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Also print where the problem is; given twice, also print which chapter to read
    #[arg(short, long, action = ArgAction::Count)]
    pub more: u8,
    #[command(flatten)]
    pub running: TestRunning,
}

/// Print a chapter of the book as Markdown, with pictures described in words.
#[derive(Debug, Args)]
pub struct CourseRead {
    /// The chapter's number or name; without this argument, all chapters are listed
    #[arg(value_name = "CHAPTER")]
    pub chapter: Option<String>,
    /// Wrap paragraphs at N columns, at most 100 [default: the width of the terminal; no wrapping in a file or pipe]
    #[arg(long, value_name = "N", value_parser = count_from_1::<NonZeroUsize>)]
    pub columns: Option<NonZeroUsize>,
}

/// Grade the folders of a class, and print a CSV with a row for each exercise of each folder.
///
/// Each folder is graded in a separate process, and its rows are written when the process has ended. A program that
/// takes too much time, memory or output fails its exercise and no other. Arguments that are files, archives or
/// unreadable folders are skipped with a note (exit code 1).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  reviver course report class/* -o grades.csv
  reviver course report class/* --hidden tests --moodle -o moodle.csv
  reviver course report --classroom -o .github/classroom/autograding.json")]
pub struct CourseReport {
    /// Folders created by `reviver course start`
    #[arg(required_unless_present = "classroom", value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Write to a file instead of printing
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Write a table for import into Moodle. It has a row for each folder: its points, remarks on failed exercises, and
    /// the points of each exercise
    #[arg(long)]
    pub moodle: bool,
    /// Write a file for GitHub Classroom (`autograding.json`): a test for each exercise, with its points. If a folder
    /// is named, each test also has the status, the score and the message of this folder
    #[arg(long, conflicts_with = "moodle")]
    pub classroom: bool,
    #[command(flatten)]
    pub force: Force,
    #[command(flatten)]
    pub grading_options: GradingOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// The expectations by which exercises of a class are graded.
#[derive(Debug, Args)]
pub struct GradingOptions {
    /// Also grade by hidden expectations, which are in this folder: a file `NAME.txt` or `NAME/expect.txt` for an
    /// exercise, where NAME is the name or number of the exercise
    #[arg(long, value_name = "DIR")]
    pub hidden: Option<PathBuf>,
    #[command(flatten)]
    pub running: TestRunning,
}

/// Limits of the process that grades a folder.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitOptions {
    /// Limit the time of each exercise, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = count_from_1::<NonZeroU32>)]
    pub limit_time: NonZeroU32,
    /// Limit the memory of the grading process, in bytes: 512M, 1G, … The limit includes the memory for assembling
    /// programs
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = parse_bytes)]
    pub limit_memory: u64,
    /// Limit the output of the grading process for each exercise, in bytes: 64K, 16M, …
    #[arg(long, value_name = "BYTES", default_value = "16M", value_parser = parse_bytes)]
    pub limit_output: u64,
    /// Limit the number of instructions that macros expand to
    #[arg(long, value_name = "N", default_value = "100000", value_parser = count::<u32>)]
    pub limit_instructions: u32,
}

/// Grade a folder in this process, which is a child of `report`. Prints a JSON object for each exercise, one per line.
#[derive(Debug, Args)]
pub struct CourseGrade {
    pub folder: PathBuf,
    /// The index of the first exercise to grade
    #[arg(long, default_value_t = 0)]
    pub from: usize,
    #[command(flatten)]
    pub grading_options: GradingOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// List pairs of folders whose programs are equal up to names and layout.
#[derive(Debug, Args)]
pub struct CourseSimilar {
    /// The folders with exercises to compare
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Skip programs that add fewer than N words to the start program, because short programs may be equal by chance
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = count::<usize>)]
    pub at_least: usize,
}

/// Copy the solutions, expectations and hints into a folder, for a teacher. Existing files stay unchanged.
#[derive(Debug, Args)]
pub struct CourseSolutions {
    /// Copy into this folder, which is created if it doesn't exist
    #[arg(long, value_name = "DIR")]
    pub teacher: PathBuf,
}
