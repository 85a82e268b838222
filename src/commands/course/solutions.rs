//! `reviver course solutions`: writes the files that only teachers get.

use super::copied::{Copied, check_folder};
use crate::cli::CourseSolutions;
use crate::course::place::CourseFolder;
use crate::course::set::exercises;
use crate::failure::{Fallible, counted};
use crate::{read, streams};

pub fn run(options: &CourseSolutions, json: bool) -> Fallible {
    let exercises = exercises()?;
    check_folder(&options.teacher)?;
    let folder = CourseFolder { path: options.teacher.clone() };
    let mut copied = Copied::default();
    for exercise in exercises {
        for (name, bytes) in exercise.for_teachers() {
            copied.write(&folder.file(exercise, name), bytes)?;
        }
    }
    let place = read::shown(&folder.path);
    if json {
        return copied.print(&place, exercises);
    }
    let kept = match copied.kept {
        0 => String::new(),
        kept => format!("; {} existing files stay unchanged", counted(kept, "file")),
    };
    streams::print(&format!(
        "the solutions, expectations and hints of {} are in {place}{kept}\n",
        counted(exercises.len(), "exercise")
    ))
}
