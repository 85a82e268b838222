//! Operations on the text of paths, without system calls.

use std::path::Path;

/// Returns the folder of a file: `.` for a bare name.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
