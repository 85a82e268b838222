//! Key files: a preset, and changes to its bindings. For example:
//!
//! ```toml
//! preset = "vi"
//!
//! [keys]
//! F2 = "continue"          # a command
//! Shift-F2 = "goto 50%"    # with arguments
//! F3 = "watch @"           # of the selected cell
//! s = "none"               # nothing
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use reviver_files::{Content, UsedFiles};
use reviver_isa::names::printable;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Key, KeyMap, Preset};
use crate::command::screen::ScreenAction;
use crate::command::{CommandError, named};

/// Error for a key file that can't be used, with the position of the mistake.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{}: {message}", printable(&path.display().to_string()), line.map_or(String::new(), |line| format!(":{line}")))]
pub struct KeyFileError {
    /// The path of the key file.
    pub path: PathBuf,
    /// The line, counted from 1; `None` if the file can't be read at all.
    pub line: Option<usize>,
    /// The reason, without path and line.
    pub message: String,
}

/// Error message and its byte offset in the text.
type Mistake = (usize, String);

/// Returns the default path of the user's key file: `reviver/keys.toml` in the platform's folder for user
/// configuration.
pub fn usual_path() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    Some(folders.config_dir().join("reviver").join("keys.toml"))
}

/// Loads the key map from a file. If `path` is `None`, uses the file at the default path if it exists, otherwise
/// the default preset. `preset` overrides the preset that the file names. The file is registered in `files`, so
/// that the session never overwrites it.
///
/// # Errors
/// The file can't be read or parsed.
pub fn load(files: &UsedFiles, path: Option<&Path>, preset: Option<Preset>) -> Result<KeyMap, KeyFileError> {
    let usual = usual_path().filter(|usual| path.is_none() && usual.exists());
    let Some(path) = path.or(usual.as_deref()) else { return Ok(KeyMap::new(preset.unwrap_or_default())) };
    let error = |line, message| KeyFileError { path: path.to_owned(), line, message };
    let bytes = files.read(path, Content::Text).map_err(|failure| error(None, failure.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| error(None, "it is not UTF-8 text".to_owned()))?;
    read(&text, preset).map_err(|(at, message)| error(Some(line_of(&text, at)), message))
}

/// Parses a text as a key map.
fn read(text: &str, preset: Option<Preset>) -> Result<KeyMap, Mistake> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, error.message().to_owned())
    })?;
    let (mut named, mut keys) = (None, None);
    for (name, value) in table.get_ref() {
        match name.get_ref().as_ref() {
            "preset" => named = Some(read_preset(value)?),
            "keys" => keys = Some(table_of(value)?),
            other => {
                let message = format!("`{other}` is not known in a key file: write `preset` or `[keys]`");
                return Err((name.span().start, message));
            }
        }
    }
    let mut map = KeyMap::new(preset.or(named).unwrap_or_default());
    keys.map_or(Ok(()), |keys| change(&mut map, keys))?;
    Ok(map)
}

fn read_preset(value: &Spanned<DeValue<'_>>) -> Result<Preset, Mistake> {
    let name = string(value)?;
    Preset::named(name).ok_or_else(|| {
        let names = Preset::ALL.map(Preset::name).join(", ");
        (value.span().start, format!("there is no preset `{name}`: there are {names}"))
    })
}

fn table_of<'a, 'i>(value: &'a Spanned<DeValue<'i>>) -> Result<&'a DeTable<'i>, Mistake> {
    value
        .get_ref()
        .as_table()
        .ok_or_else(|| (value.span().start, "`keys` is a table: write `[keys]`".to_owned()))
}

fn string<'a>(value: &'a Spanned<DeValue<'_>>) -> Result<&'a str, Mistake> {
    let text = value.get_ref().as_str();
    text.ok_or_else(|| (value.span().start, "write a text in quotes".to_owned()))
}

/// Applies the bindings of a file to a key map. If a key is bound twice, also with different names such as `S` and
/// `Shift-s`, that is an error.
fn change(map: &mut KeyMap, keys: &DeTable<'_>) -> Result<(), Mistake> {
    let mut seen: BTreeMap<Key, usize> = BTreeMap::new();
    for (name, value) in keys {
        let at = name.span().start;
        let key: Key = name.get_ref().parse().map_err(|error| (at, format!("{error}")))?;
        if let Some(first) = seen.insert(key, at) {
            return Err((at.max(first), format!("{key} is bound twice: delete one of the two lines")));
        }
        match string(value)? {
            "none" => map.unbind(key),
            text => map.bind(key, binding(text).map_err(|message| (value.span().start, message))?),
        }
    }
    Ok(())
}

/// Parses the line to which a key is bound, with or without a leading colon. An unknown command is an error.
/// Arguments of screen commands are checked now, those of other commands when the line is executed.
fn binding(text: &str) -> Result<String, String> {
    let line = text.strip_prefix(':').unwrap_or(text).trim();
    if line.is_empty() {
        return Err("write a command, or `none`".to_owned());
    }
    let reported = |error: CommandError| match error.help() {
        Some(help) => format!("{error}: {help}"),
        None => error.to_string(),
    };
    named(line).map_err(reported)?;
    ScreenAction::of(line).transpose().map_err(reported)?;
    Ok(line.to_owned())
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_a_preset() {
        let text = "preset = \"vi\"\n[keys]\nF2 = \"continue\"\nShift-F2 = \":goto 50%\"\ns = \"none\"\n\"/\" = \"print @ + 1\"\n";
        let map = read(text, None).unwrap();
        assert_eq!(map.get(Key::char('o')), Some("next"));
        assert_eq!(map.get("F2".parse().unwrap()), Some("continue"));
        assert_eq!(map.get("Shift-F2".parse().unwrap()), Some("goto 50%"));
        assert_eq!(map.get(Key::char('s')), None);
        assert_eq!(map.get(Key::char('/')), Some("print @ + 1"));
        assert_eq!(read(text, Some(Preset::Gdb)).unwrap().get(Key::char('o')), None);
    }

    #[test]
    fn mistakes_have_a_line() {
        let cases = [
            ("preset = \"vim\"", 1, "there is no preset `vim`"),
            ("\nkeys = 3", 2, "`keys` is a table"),
            ("[keys]\n\"s\" = \"stap\"", 2, "did you mean `step`?"),
            ("[keys]\nx = \"focus\"", 2, "`focus` takes a pane"),
            ("[keys]\nx = \"\"", 2, "write a command"),
            ("[keys]\ns = \"step\"\nss = \"next\"", 3, "`ss` is not a key"),
            ("[keys]\nS = \"step\"\nx = \"step\"\nShift-s = \"next\"", 4, "S is bound twice"),
            ("[keys]\n\n\"Ctrl-I\" = \"step\"", 3, "can't tell it from Tab"),
            ("[keys]\nx = 3", 2, "write a text in quotes"),
            ("[keys]\nx = \"step\"\nx = \"next\"", 3, "duplicate key"),
            ("[keys]\nx == 3", 2, ""),
            ("[colours]", 1, "`colours` is not known"),
        ];
        for (text, line, message) in cases {
            let (at, found) = read(text, None).unwrap_err();
            assert_eq!(line_of(text, at), line, "{text}: {found}");
            assert!(found.contains(message), "{text}: {found}");
        }
    }

    #[test]
    fn a_missing_key_file_is_named() {
        let error = load(&UsedFiles::default(), Some(Path::new("/nowhere/keys.toml")), None).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/keys.toml: "), "{error}");
    }
}
