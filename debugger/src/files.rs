//! Files that are written appear whole or not at all. Knows paths and bytes, and judges no content.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces a file's content. After a crash the file has its old content or the new one. A device or a pipe
/// is only written to.
///
/// # Errors
/// What the platform says.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    // What a link leads to is replaced, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
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

/// The folder that a file is in.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Temporary files are private; a new output file is an ordinary one.
#[cfg(unix)]
fn readable_by_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_others(_file: &File) -> io::Result<()> {
    Ok(())
}
