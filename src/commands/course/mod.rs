//! `reviver course`: exercises that grade themselves.

mod check;
mod copied;
mod folders;
mod grade;
mod list;
mod read;
mod report;
mod similar;
mod solutions;
mod start;

use crate::cli::{CourseCommand, CourseOptions};
use crate::failure::Fallible;

pub fn run(options: &CourseOptions) -> Fallible {
    match &options.command {
        None => list::run(options.json),
        Some(CourseCommand::Start(start)) => start::run(start, options.json),
        Some(CourseCommand::Check(check)) => check::run(check, options.json),
        Some(CourseCommand::Read(read)) => read::run(read, options.json),
        Some(CourseCommand::Report(report)) => report::run(report, options.json),
        Some(CourseCommand::Similar(similar)) => similar::run(similar, options.json),
        Some(CourseCommand::Solutions(solutions)) => solutions::run(solutions, options.json),
        Some(CourseCommand::Grade(grade)) => grade::run(grade),
    }
}
