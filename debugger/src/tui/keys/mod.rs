//! The key map, as data: which key stands for which command line, where that comes from, and what the help says
//! about it. Knows no terminal and carries nothing out.

pub mod file;
pub mod help;
pub mod key;
pub mod presets;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use file::KeyFileError;
pub use key::{BareKey, Key};
pub use presets::Preset;

/// Which key stands for which line. In a line `@` stands for what is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMap {
    bindings: BTreeMap<Key, Cow<'static, str>>,
}

impl KeyMap {
    pub fn new(preset: Preset) -> KeyMap {
        KeyMap { bindings: preset.bindings().map(|(key, line)| (key, Cow::Borrowed(line))).collect() }
    }

    /// The line that a key stands for.
    pub fn get(&self, key: Key) -> Option<&str> {
        self.bindings.get(&key).map(Cow::as_ref)
    }

    pub fn bind(&mut self, key: Key, line: String) {
        self.bindings.insert(key, Cow::Owned(line));
    }

    pub fn unbind(&mut self, key: Key) {
        self.bindings.remove(&key);
    }

    /// The keys of a line: letters first.
    pub fn keys<'a>(&'a self, line: &'a str) -> impl Iterator<Item = Key> + 'a {
        self.bindings.iter().filter(move |(_, bound)| bound.as_ref() == line).map(|(key, _)| *key)
    }

    /// How to do what a line does: its first key, or else to type it.
    pub fn way_to(&self, line: &str) -> String {
        self.keys(line).next().map_or_else(|| format!(":{line}"), |key| key.to_string())
    }

    /// All keys that stand for something, and what.
    pub fn bound(&self) -> impl Iterator<Item = (Key, &str)> {
        self.bindings.iter().map(|(key, line)| (*key, line.as_ref()))
    }
}

impl Default for KeyMap {
    fn default() -> KeyMap {
        KeyMap::new(Preset::default())
    }
}
