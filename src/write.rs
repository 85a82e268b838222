//! Output files that appear whole or not at all: temporary file, fsync, rename.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use crate::failure::{Exit, Failure, Outcome};

/// Replaces a file's content. After a crash the file has its old content or the new one.
pub fn whole(path: &Path, bytes: &[u8]) -> Outcome {
    try_whole(path, bytes)
        .map_err(|error| Failure::new(Exit::Load, format_args!("can't write {}: {error}", path.display())))
}

fn try_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().prefix(".reviver-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Ok(metadata) = std::fs::metadata(path) {
        file.as_file().set_permissions(metadata.permissions())?;
    } else {
        readable_by_others(file.as_file())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // The rename itself is durable once the folder is.
    if let Ok(folder) = File::open(folder) {
        folder.sync_all().ok();
    }
    Ok(())
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

/// Writes text to a file, or prints it where there is none.
pub fn text(path: Option<&Path>, text: &str) -> Outcome {
    match path {
        Some(path) => whole(path, text.as_bytes()),
        None => print(text),
    }
}

/// Prints to standard output. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Load, format_args!("can't write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
