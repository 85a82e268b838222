//! `reviver course similar`: lists pairs of folders with programs that are equal except for names and layout.

use crate::cli::CourseSimilar;
use crate::course::set::exercises;
use crate::course::similar::pairs;
use crate::failure::Fallible;
use crate::{output, streams};

use super::folders::Folders;

pub fn run(options: &CourseSimilar, json: bool) -> Fallible {
    let exercises = exercises()?;
    let Folders { folders, skipped } = Folders::of(&options.folders, exercises)?;
    let pairs = pairs(&folders, exercises, options.at_least);
    let verdict = skipped.verdict();
    match json {
        true => streams::print_with(|out| {
            output::object(output::course::similar(&folders, &pairs), &verdict, out)
        })?,
        false => streams::print(&output::course::similar_lines(&folders, &pairs))?,
    }
    verdict
}
