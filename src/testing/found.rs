//! Expansion of arguments to files: a file, a folder with everything below it, or a glob pattern. Reads no files.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use crate::failure::{Failure, Fallible};
use crate::read::shown;

/// A file whose expectations are tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub path: PathBuf,
    /// True if an argument names the file; false if a folder or a pattern contains it.
    pub is_named: bool,
}

/// Returns the files that the arguments mean, each once, in argument order; files of a folder are sorted by name.
///
/// # Errors
/// No file matches a pattern, or a folder can't be read.
pub fn files(arguments: &[PathBuf]) -> Fallible<Vec<FoundFile>> {
    let mut found: Vec<FoundFile> = Vec::new();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    for argument in arguments {
        for path in matching(argument)? {
            let is_named = path == *argument;
            let new = if path.is_dir() { below(&path)? } else { vec![FoundFile { path, is_named }] };
            for file in new {
                // Different paths may refer to one file.
                let own = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
                if seen.insert(own) {
                    found.push(file);
                }
            }
        }
    }
    Ok(found)
}

/// Expands a glob pattern to paths. An argument that is the name of an existing file isn't a pattern.
fn matching(argument: &Path) -> Fallible<Vec<PathBuf>> {
    let pattern =
        argument.to_str().filter(|text| text.contains(['*', '?', '['])).filter(|_| !argument.exists());
    let Some(pattern) = pattern else { return Ok(vec![argument.to_owned()]) };
    let paths = glob::glob(pattern).map_err(|error| {
        Failure::usage(format_args!("{}: this pattern is invalid: {error}", shown(argument)))
    })?;
    let paths: Vec<PathBuf> = paths.filter_map(Result::ok).filter(|path| !is_hidden(path, pattern)).collect();
    if paths.is_empty() {
        return Err(Failure::usage(format_args!("no file matches {}", shown(argument))));
    }
    Ok(paths)
}

/// Returns true if a path component begins with a dot where the pattern has none; shells don't match such names either.
/// The `glob` library has an option for this, but the option assumes that all names are UTF-8.
fn is_hidden(path: &Path, pattern: &str) -> bool {
    let dotted = pattern.split('/').filter(|part| part.starts_with('.'));
    let dotted: Vec<Pattern> = dotted.filter_map(|part| Pattern::new(part).ok()).collect();
    path.components().any(|part| match part {
        Component::Normal(name) => {
            let name = name.to_string_lossy();
            name.starts_with('.') && !dotted.iter().any(|dotted| dotted.matches(&name))
        }
        _ => false,
    })
}

/// Returns the program texts below a folder. Links aren't followed, and hidden folders are skipped.
fn below(folder: &Path) -> Fallible<Vec<FoundFile>> {
    let unreadable = |path: &Path, error: std::io::Error| {
        Failure::load(format_args!("can't read the folder {}: {error}", shown(path)))
    };
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| unreadable(&folder, error))? {
            let entry = entry.map_err(|error| unreadable(&folder, error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&folder, error))?;
            let path = entry.path();
            if kind.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rasm") {
                found.push(FoundFile { path, is_named: false });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
