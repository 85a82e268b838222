//! Copies embedded files into a folder, and keeps files that already exist.

use std::fs;
use std::path::Path;

use reviver_files::{Replaces, WriteError};
use serde_json::Value as Json;

use crate::course::set::Exercise;
use crate::failure::{Failure, Fallible};
use crate::output::json_values::Object;
use crate::{output, read, streams};

/// Number of files that were copied, and number of existing files that were kept.
#[derive(Default)]
pub struct Copied {
    pub written: usize,
    /// Number of files that already existed.
    pub kept: usize,
}

/// Refuses `-` as the name of the target folder.
///
/// # Errors
/// The name is `-`, which denotes a standard stream in other commands.
pub fn check_folder(folder: &Path) -> Fallible {
    if folder == Path::new("-") {
        let failure = Failure::usage("`-` isn't a folder: in other commands, it is a standard stream");
        return Err(failure.help("write `./-` for a folder with the name `-`"));
    }
    Ok(())
}

fn make_folder(path: &Path) -> Fallible {
    fs::create_dir_all(path).map_err(|error| {
        Failure::load(format_args!("can't create the folder {}: {error}", read::shown(path)))
    })
}

impl Copied {
    /// Writes a file, and creates its folders.
    ///
    /// # Errors
    /// The file can't be written, or its folder can't be created.
    pub fn write(&mut self, path: &Path, bytes: &[u8]) -> Fallible {
        path.parent().map_or(Ok(()), make_folder)?;
        match read::files().output(path, Replaces::Nothing) {
            Ok(output) => {
                output.commit(bytes).map_err(Failure::load)?;
                self.written += 1;
            }
            Err(WriteError::Kept { .. }) => self.kept += 1,
            Err(error) => return Err(Failure::load(error)),
        }
        Ok(())
    }

    /// Prints the counts as a JSON object, with the folder and its exercises.
    pub fn print(&self, place: &str, exercises: &[Exercise]) -> Fallible {
        let mut members = Object::default();
        members.insert("folder", place);
        members.insert("exercises", exercises.iter().map(|exercise| exercise.name.clone()).collect::<Json>());
        members.insert("written", self.written);
        members.insert("kept", self.kept);
        streams::print_with(|out| output::object(members, &Ok(()), out))
    }
}
