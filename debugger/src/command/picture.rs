//! `picture`: the screen as a file. Who draws it is the console's to know.

use reviver_files::FileKind;

use super::arguments::split_word;
use super::console::{CommandResult, CommandRow, Console};
use super::scripts;

/// The first line of a picture, which tells it from other files.
pub const DRAWN: &str = "<!-- a picture of the reviver debugger -->";

/// Pictures among other files.
pub static PICTURE: FileKind =
    FileKind { name: "a picture of the debugger", is: |bytes| bytes.starts_with(DRAWN.as_bytes()) };

pub fn picture(console: &mut Console, row: CommandRow, rest: &str) -> CommandResult {
    let (path, options) = split_word(row.something(rest, "a file")?);
    let picture = console.painter.picture(console, row, options)?;
    scripts::write(console, path, &picture, &PICTURE)
}
