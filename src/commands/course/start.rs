//! `reviver course start`: a fresh set of exercises, beside which everything stays that is there already.

use std::fs;
use std::path::Path;

use reviver_files::{Replaces, WriteError};
use serde_json::Value as Json;

use crate::cli::CourseStart;
use crate::course::place::CourseFolder;
use crate::course::set::{Exercise, exercises};
use crate::failure::{Failure, Fallible, counted};
use crate::output::told::Object;
use crate::{output, read, streams};

pub fn run(options: &CourseStart, json: bool) -> Fallible {
    let exercises = exercises()?;
    let folder = CourseFolder { path: options.folder.clone() };
    let (mut written, mut kept) = (0, 0);
    for exercise in exercises {
        make_folder(&folder.file(exercise, ""))?;
        for (name, bytes) in exercise.copied(!options.no_solutions) {
            match write(&folder.file(exercise, name), bytes)? {
                Copied::New => written += 1,
                Copied::Kept => kept += 1,
            }
        }
    }
    if json {
        let mut members = Object::default();
        members.insert("folder", read::shown(&folder.path));
        members.insert("exercises", exercises.iter().map(|exercise| exercise.name.clone()).collect::<Json>());
        members.insert("written", written);
        members.insert("kept", kept);
        return streams::print_with(|out| output::object(members, &Ok(()), out));
    }
    streams::print(&told(&folder, exercises, written, kept))
}

/// What became of a file.
enum Copied {
    New,
    /// It was there already.
    Kept,
}

fn make_folder(path: &Path) -> Fallible {
    fs::create_dir_all(path)
        .map_err(|error| Failure::load(format_args!("can't make the folder {}: {error}", read::shown(path))))
}

fn write(path: &Path, bytes: &[u8]) -> Fallible<Copied> {
    match read::files().output(path, Replaces::Nothing) {
        Ok(output) => output.commit(bytes).map(|()| Copied::New).map_err(Failure::load),
        Err(WriteError::Kept { .. }) => Ok(Copied::Kept),
        Err(error) => Err(Failure::load(error)),
    }
}

fn told(folder: &CourseFolder, exercises: &[Exercise], written: usize, kept: usize) -> String {
    let place = read::shown(&folder.path);
    let mut text = match (written, kept) {
        (0, _) => format!("everything is in {place} already, and stays as it is\n"),
        (_, 0) => format!("{} in {place}\n", counted(exercises.len(), "exercise")),
        _ => format!(
            "{} written into {place}; {kept} were there and stay as they are\n",
            counted(written, "file")
        ),
    };
    if written == 0 {
        text.push_str("`reviver course` in that folder lists what is passed, and what comes next\n");
    } else if let Some(first) = exercises.first() {
        let file = |name: &str| Path::new(&first.name).join(name).display().to_string();
        let (task, start, number) = (file("task.md"), file("start.rasm"), first.number);
        text.push_str(&format!(
            "\nBegin with the first one:\n  cd {place}\n  read {task}\n  edit {start}\n  reviver course check {number}\n"
        ));
    }
    text
}
