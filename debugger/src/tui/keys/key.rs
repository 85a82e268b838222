//! Keys and their names. Keys that a terminal can't distinguish from others are rejected. This module doesn't
//! depend on the terminal library.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A key without its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each variant is named after its key")]
pub enum BareKey {
    /// A typed character. A capital letter is a separate character, not a small letter with Shift.
    Char(char),
    /// A function key by its number, such as 5 for F5.
    F(u8),
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Insert,
    Delete,
    Backspace,
    Enter,
    Tab,
    Esc,
}

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The key without its modifiers.
    pub code: BareKey,
    /// True if Ctrl is held. With Ctrl, letters are lower-case.
    pub ctrl: bool,
    /// True if Alt is held.
    pub alt: bool,
    /// True if Shift is held. Always false for characters, because Shift with a character gives another character.
    pub shift: bool,
}

/// The reason why a text names no key that can be bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum KeyError {
    #[error("`{0}` is not a key (examples: s, S, F5, Shift-F5, Ctrl-L, Alt-Left, Space)")]
    Unknown(String),
    #[error("{key} can't be bound: {why}")]
    Reserved { key: Key, why: &'static str },
}

const NAMES: &[(&str, BareKey)] = &[
    ("Left", BareKey::Left),
    ("Right", BareKey::Right),
    ("Up", BareKey::Up),
    ("Down", BareKey::Down),
    ("Home", BareKey::Home),
    ("End", BareKey::End),
    ("PageUp", BareKey::PageUp),
    ("PageDown", BareKey::PageDown),
    ("Insert", BareKey::Insert),
    ("Delete", BareKey::Delete),
    ("Backspace", BareKey::Backspace),
    ("Enter", BareKey::Enter),
    ("Tab", BareKey::Tab),
    ("Esc", BareKey::Esc),
    ("Space", BareKey::Char(' ')),
];

impl Key {
    /// Creates a key in its canonical form: characters have no Shift, and letters with Ctrl are lower-case.
    pub fn new(code: BareKey, ctrl: bool, alt: bool, shift: bool) -> Key {
        match code {
            BareKey::Char(c) if ctrl => Key { code: BareKey::Char(lower(c)), ctrl, alt, shift: false },
            BareKey::Char(' ') => Key { code, ctrl, alt, shift },
            BareKey::Char(c) if shift => Key { code: BareKey::Char(upper(c)), ctrl, alt, shift: false },
            _ => Key { code, ctrl, alt, shift },
        }
    }

    /// Returns a key without modifiers.
    pub fn plain(code: BareKey) -> Key {
        Key { code, ctrl: false, alt: false, shift: false }
    }

    /// Returns the key that types a character.
    pub fn char(c: char) -> Key {
        Key::plain(BareKey::Char(c))
    }

    /// Returns Ctrl with a letter.
    pub fn ctrl(c: char) -> Key {
        Key::new(BareKey::Char(c), true, false, false)
    }

    /// Returns the reason why the key can't be bound: a terminal can't distinguish the key from another one, or the
    /// key has a fixed meaning. Returns `None` if the key can be bound.
    pub fn reserved(self) -> Option<&'static str> {
        match self.code {
            BareKey::Char('c') if self.ctrl => Some("it always interrupts"),
            BareKey::Char('i') if self.ctrl => Some("terminals can't tell it from Tab"),
            BareKey::Char('m' | 'j') if self.ctrl => Some("terminals can't tell it from Enter"),
            BareKey::Char('h') if self.ctrl => Some("terminals can't tell it from Backspace"),
            BareKey::Char('[') if self.ctrl => Some("terminals can't tell it from Esc"),
            BareKey::Enter if self.shift || self.ctrl => Some("terminals can't tell it from Enter"),
            BareKey::Char(' ') if self.shift => Some("terminals can't tell it from Space"),
            _ => None,
        }
    }
}

fn upper(c: char) -> char {
    c.to_uppercase().next().unwrap_or(c)
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (is_held, name) in [(self.ctrl, "Ctrl-"), (self.alt, "Alt-"), (self.shift, "Shift-")] {
            f.write_str(if is_held { name } else { "" })?;
        }
        let named = NAMES.iter().find(|(_, code)| *code == self.code);
        match (named, self.code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, BareKey::F(n)) => write!(f, "F{n}"),
            (None, BareKey::Char(c)) if self.ctrl => write!(f, "{}", upper(c)),
            (None, BareKey::Char(c)) => write!(f, "{c}"),
            (None, code) => write!(f, "{code:?}"),
        }
    }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Parses the format of [`Display`](fmt::Display). Names of keys and modifiers are case-insensitive, but
    /// letters are case-sensitive.
    fn from_str(text: &str) -> Result<Key, KeyError> {
        let (mut rest, mut ctrl, mut alt, mut shift) = (text, false, false, false);
        // A modifier is followed by a key, so a `-` at the end is itself the key.
        while let Some((modifier, key)) =
            rest.split_once('-').filter(|(before, after)| !before.is_empty() && !after.is_empty())
        {
            match modifier.to_ascii_lowercase().as_str() {
                "ctrl" => ctrl = true,
                "alt" => alt = true,
                "shift" => shift = true,
                _ => return Err(KeyError::Unknown(text.to_owned())),
            }
            rest = key;
        }
        let code = code(rest).ok_or_else(|| KeyError::Unknown(text.to_owned()))?;
        let key = Key::new(code, ctrl, alt, shift);
        match key.reserved() {
            Some(why) => Err(KeyError::Reserved { key, why }),
            None => Ok(key),
        }
    }
}

fn code(text: &str) -> Option<BareKey> {
    let mut characters = text.chars();
    if let (Some(c), None) = (characters.next(), characters.next()) {
        return (!c.is_control() && !c.is_whitespace()).then_some(BareKey::Char(c));
    }
    if let Some((_, code)) = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Some(*code);
    }
    let number = text.strip_prefix(['F', 'f'])?.parse().ok()?;
    (1..=24).contains(&number).then_some(BareKey::F(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_keys_are_parsed() {
        for text in [
            "s",
            "S",
            "-",
            "Alt--",
            "F5",
            "Shift-F12",
            "Ctrl-L",
            "Alt-Left",
            "Shift-Tab",
            "Space",
            "Ctrl-Space",
        ] {
            assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
        }
        assert_eq!("shift-s".parse::<Key>().unwrap(), Key::char('S'));
        assert_eq!("ctrl-l".parse::<Key>().unwrap(), Key::ctrl('L'));
    }

    #[test]
    fn keys_that_terminals_cannot_distinguish_are_refused() {
        for text in ["Ctrl-I", "ctrl-i", "Shift-Enter", "Shift-Space", "Ctrl-M", "Ctrl-[", "Ctrl-C"] {
            assert!(matches!(text.parse::<Key>(), Err(KeyError::Reserved { .. })), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_keys() {
        for text in ["", " ", "ss", "F0", "F25", "Hyper-x", "Ctrl-", "-x", "Ctrl-Ctrl", "\u{7}"] {
            assert!(matches!(text.parse::<Key>(), Err(KeyError::Unknown(_))), "{text:?}");
        }
    }
}
