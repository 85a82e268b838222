//! Output: files that appear whole or not at all, and text for the two standard streams.

use std::io::{Error, ErrorKind, Write as _};
use std::path::Path;

use reviver_debugger::files;

use crate::failure::{Exit, Failure, Outcome};

/// Replaces a file's content. After a crash the file has its old content or the new one.
pub fn whole(path: &Path, bytes: &[u8]) -> Outcome {
    if path == Path::new("-") {
        return print_bytes(bytes);
    }
    files::replace(path, bytes).map_err(|error| unwritable(path, &error))
}

/// The error names the temporary file, which means nothing to anyone.
fn unwritable(path: &Path, error: &Error) -> Failure {
    let (path, folder) = (path.display(), files::folder(path).display());
    match error.kind() {
        ErrorKind::NotFound => Failure::load(format_args!("can't write {path}: there is no folder {folder}")),
        ErrorKind::NotADirectory => Failure::load(format_args!("can't write {path}: {folder} is no folder")),
        ErrorKind::PermissionDenied => Failure::load(format_args!("can't write {path}: permission denied")),
        ErrorKind::IsADirectory => Failure::load(format_args!("can't write {path}: it is a folder")),
        _ => Failure::load(format_args!("can't write {path}: {error}")),
    }
}

/// Writes text to a file, or prints it where there is none.
pub fn text(path: Option<&Path>, text: &str) -> Outcome {
    whole(path.unwrap_or(Path::new("-")), text.as_bytes())
}

/// Prints to standard output.
pub fn print(text: &str) -> Outcome {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Outcome {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| unprintable(&error))
}

/// What printing failed with. A reader that has gone away (`| head`) ends the command without a word.
pub fn unprintable(error: &Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::spelled(Exit::Unread, "", ""),
        _ => Failure::load(format_args!("can't write to standard output: {error}")),
    }
}

/// Prints to standard error. If that can't be written, there is nobody left to tell.
pub fn complain(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).ok();
}
