//! `picture`: the screen as a file. The only command that knows the screen; it draws a copy of the session.

use ratatui::layout::Size;
use reviver_files::FileKind;

use super::actions::{Done, Row};
use super::{CommandError, Console, scripts, split_word};
use crate::session::SessionError;
use crate::tui::app::Face;
use crate::tui::picture::{DRAWN, LEAST, MOST};
use crate::tui::theme::{Theme, ThemeName};

/// Pictures among other files.
pub static PICTURE: FileKind =
    FileKind { name: "a picture of the debugger", is: |bytes| bytes.starts_with(DRAWN.as_bytes()) };

pub fn picture(console: &mut Console, row: Row, rest: &str) -> Done {
    let (path, options) = split_word(row.something(rest, "a file")?);
    let mut face = console.face.as_deref().cloned().unwrap_or_default();
    for word in options.split_whitespace() {
        choose(&mut face, row, word)?;
    }
    let picture = face.picture(console).map_err(SessionError::NoMemory)?;
    scripts::write(console, path, &picture, &PICTURE)
}

/// Takes an option: a size, or a theme.
fn choose(face: &mut Face, row: Row, word: &str) -> Result<(), CommandError> {
    if let Some(theme) = ThemeName::ALL.into_iter().find(|theme| theme.name() == word) {
        face.theme = Theme::new(theme);
        return Ok(());
    }
    let Some((width, height)) = word.split_once('x') else {
        let names = ThemeName::ALL.map(ThemeName::name).join(", ");
        return Err(row.wrong(format!("`{word}` is no size, such as 120x40, and none of {names}")));
    };
    let size = Size { width: row.number(width)?, height: row.number(height)? };
    let fits = (LEAST.width..=MOST.width).contains(&size.width)
        && (LEAST.height..=MOST.height).contains(&size.height);
    if !fits {
        return Err(row.wrong(format!("a picture has from {LEAST} to {MOST} cells")));
    }
    face.size = size;
    Ok(())
}
