//! `reviver course start`: a fresh set of exercises, and the book's programs if they are asked for, beside which everything stays that is
//! there already.

use std::fs;
use std::path::Path;

use reviver_files::{Replaces, WriteError};
use serde_json::Value as Json;

use crate::cli::CourseStart;
use crate::course::book;
use crate::course::place::CourseFolder;
use crate::course::set::{Exercise, SOLUTION, exercises};
use crate::failure::{Failure, Fallible, counted};
use crate::output::told::Object;
use crate::{output, read, streams};

pub fn run(options: &CourseStart, json: bool) -> Fallible {
    let exercises = exercises()?;
    if options.folder == Path::new("-") {
        let failure = Failure::usage("`-` is no folder: everywhere else it is a stream");
        return Err(failure.help("a folder of that name is `./-`"));
    }
    let folder = CourseFolder { path: options.folder.clone() };
    let mut copied = Copied::default();
    for exercise in exercises {
        make_folder(&folder.file(exercise, ""))?;
        for (name, bytes) in exercise.copied(!options.no_solutions) {
            write(&folder.file(exercise, name), bytes, &mut copied)?;
        }
    }
    for (path, bytes) in book::programs().filter(|_| options.programs) {
        let path = folder.path.join(path);
        path.parent().map_or(Ok(()), make_folder)?;
        write(&path, bytes, &mut copied)?;
    }
    let solved = exercises.iter().filter(|exercise| folder.file(exercise, SOLUTION).exists()).count();
    if options.no_solutions && solved > 0 {
        streams::complain(&format!(
            "note: {} has solutions of {} already, and they stay; for a class begin another folder, or remove each `{SOLUTION}`\n",
            read::shown(&folder.path),
            counted(solved, "exercise")
        ));
    }
    if json {
        let mut members = Object::default();
        members.insert("folder", read::shown(&folder.path));
        members.insert("exercises", exercises.iter().map(|exercise| exercise.name.clone()).collect::<Json>());
        members.insert("written", copied.written);
        members.insert("kept", copied.kept);
        return streams::print_with(|out| output::object(members, &Ok(()), out));
    }
    streams::print(&told(&folder, exercises, options.programs, copied))
}

/// What became of files.
#[derive(Default)]
struct Copied {
    written: usize,
    /// They were there already.
    kept: usize,
}

fn make_folder(path: &Path) -> Fallible {
    fs::create_dir_all(path)
        .map_err(|error| Failure::load(format_args!("can't make the folder {}: {error}", read::shown(path))))
}

fn write(path: &Path, bytes: &[u8], copied: &mut Copied) -> Fallible {
    match read::files().output(path, Replaces::Nothing) {
        Ok(output) => {
            output.commit(bytes).map_err(Failure::load)?;
            copied.written += 1;
        }
        Err(WriteError::Kept { .. }) => copied.kept += 1,
        Err(error) => return Err(Failure::load(error)),
    }
    Ok(())
}

fn told(
    folder: &CourseFolder,
    exercises: &[Exercise],
    with_programs: bool,
    Copied { written, kept }: Copied,
) -> String {
    let place = read::shown(&folder.path);
    let programs = if with_programs { " and the book's programs" } else { "" };
    let mut text = match (written, kept) {
        (0, _) => format!("everything is in {place} already, and stays as it is\n"),
        (_, 0) => format!("{}{programs} in {place}\n", counted(exercises.len(), "exercise")),
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
            "\nBegin with the first one:\n  cd {}\n  read {task}\n  edit {start}\n  reviver course check {number}\n",
            read::typed(&folder.path)
        ));
    }
    text
}
