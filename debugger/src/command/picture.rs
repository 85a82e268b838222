//! The command `picture`, which saves the screen as a file. The console's painter draws it.

use reviver_files::FileKind;

use super::arguments::split_word;
use super::console::{CommandResult, CommandRow, Console};
use super::scripts;

/// First line of a picture, which identifies the file type.
pub const DRAWN: &str = "<!-- a picture of the reviver debugger -->";

/// File type of pictures, which may be overwritten by other pictures.
pub static PICTURE: FileKind =
    FileKind { name: "a picture of the debugger", is: |bytes| bytes.starts_with(DRAWN.as_bytes()) };

/// Draws the screen into an SVG file: the command `picture`.
///
/// # Errors
/// The options are invalid, the file can't be written, or an existing file isn't such a picture.
pub fn picture(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (path, options) = split_word(row.something(rest, "a file")?);
    let picture = console.painter.picture(console, row, options)?;
    scripts::write(console, path, &picture, &PICTURE)
}
