//! `reviver course start`: writes a fresh set of exercises, and the programs that the book runs.

use std::path::Path;

use super::copied::{Copied, check_folder};
use crate::cli::CourseStart;
use crate::course::book;
use crate::course::place::CourseFolder;
use crate::course::set::{Exercise, SOLUTION, exercises};
use crate::failure::{Fallible, counted};
use crate::{read, streams};

pub fn run(options: &CourseStart, json: bool) -> Fallible {
    let exercises = exercises()?;
    check_folder(&options.folder)?;
    let folder = CourseFolder { path: options.folder.clone() };
    let mut copied = Copied::default();
    for exercise in exercises {
        for (name, bytes) in exercise.for_students() {
            copied.write(&folder.file(exercise, name), bytes)?;
        }
    }
    for (path, bytes) in book::programs() {
        copied.write(&folder.path.join(path), bytes)?;
    }
    let solved = exercises.iter().filter(|exercise| folder.file(exercise, SOLUTION).exists()).count();
    if solved > 0 {
        streams::complain(&format!(
            "note: {} already has solutions of {}, which stay unchanged; for a class, use another folder, or remove each `{SOLUTION}`\n",
            read::shown(&folder.path),
            counted(solved, "exercise")
        ));
    }
    if json {
        return copied.print(&read::shown(&folder.path), exercises);
    }
    streams::print(&reported(&folder, exercises, copied))
}

fn reported(folder: &CourseFolder, exercises: &[Exercise], Copied { written, kept }: Copied) -> String {
    let place = read::shown(&folder.path);
    let mut text = match (written, kept) {
        (0, _) => format!("all files are in {place} already, and stay unchanged\n"),
        (_, 0) => {
            format!("{} and the programs of the book are in {place}\n", counted(exercises.len(), "exercise"))
        }
        _ => format!(
            "{} written into {place}; {kept} existing files stay unchanged\n",
            counted(written, "file")
        ),
    };
    if written == 0 {
        text.push_str("in that folder, `reviver course` lists the passed exercises and the next one\n");
    } else if let Some(first) = exercises.first() {
        let file = |name: &str| Path::new(&first.name).join(name).display().to_string();
        let (task, start, number) = (file("task.md"), file("start.rasm"), first.number);
        text.push_str(&format!(
            "\nBegin with the first chapter of the book, and with the first exercise:\n  cd {}\n  reviver course read 1\n  read {task}\n  edit {start}\n  reviver course check {number}\n",
            read::typed(&folder.path)
        ));
    }
    text
}
