//! Output: files that appear whole or not at all, and text for the two standard streams.

use std::fs::File;
use std::io::{Error, ErrorKind, Write as _};
use std::path::Path;

use crate::failure::{Exit, Failure, Outcome};

/// Replaces a file's content. After a crash the file has its old content or the new one.
pub fn whole(path: &Path, bytes: &[u8]) -> Outcome {
    if path == Path::new("-") {
        return print_bytes(bytes);
    }
    try_whole(path, bytes).map_err(|error| unwritable(path, &error))
}

/// Temporary file, fsync, rename.
fn try_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let old = std::fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        // A device or a pipe can't be replaced, only written to; a folder refuses.
        return std::fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    // What a link leads to is replaced, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = folder(&target);
    let mut file = tempfile::Builder::new().prefix(".reviver-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    match old {
        Some(old) => file.as_file().set_permissions(old.permissions())?,
        None => readable_by_others(file.as_file())?,
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    // The rename itself is durable once the folder is.
    if let Ok(folder) = File::open(folder) {
        folder.sync_all().ok();
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Temporary files are private; a new output file is an ordinary one.
#[cfg(unix)]
fn readable_by_others(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_others(_file: &File) -> std::io::Result<()> {
    Ok(())
}

/// The error names the temporary file, which means nothing to anyone.
fn unwritable(path: &Path, error: &Error) -> Failure {
    let (path, folder) = (path.display(), folder(path).display());
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
        ErrorKind::BrokenPipe => Failure { exit: Exit::Unread, message: String::new() },
        _ => Failure::load(format_args!("can't write to standard output: {error}")),
    }
}

/// Prints to standard error. If that can't be written, there is nobody left to tell.
pub fn complain(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).ok();
}
