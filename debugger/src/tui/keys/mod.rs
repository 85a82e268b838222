//! The key map as data: the command line of each key, key files, and the generated help. This module doesn't
//! depend on the terminal, and doesn't execute the command lines.

pub mod file;
pub mod help;
pub mod key;
pub mod presets;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use file::KeyFileError;
pub use key::{BareKey, Key};
pub use presets::Preset;

/// The mapping from keys to lines. In a line, `@` is replaced by the selected item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMap {
    bindings: BTreeMap<Key, Cow<'static, str>>,
}

impl KeyMap {
    /// Creates the key map of a preset.
    pub fn new(preset: Preset) -> KeyMap {
        KeyMap { bindings: preset.bindings().map(|(key, line)| (key, Cow::Borrowed(line))).collect() }
    }

    /// Returns the line that a key is bound to.
    pub fn get(&self, key: Key) -> Option<&str> {
        self.bindings.get(&key).map(Cow::as_ref)
    }

    /// Binds a key to a line, which replaces the key's earlier line.
    pub fn bind(&mut self, key: Key, line: String) {
        self.bindings.insert(key, Cow::Owned(line));
    }

    /// Removes the binding of a key, if the key has one.
    pub fn unbind(&mut self, key: Key) {
        self.bindings.remove(&key);
    }

    /// Returns the keys of a line, letters first.
    pub fn keys<'a>(&'a self, line: &'a str) -> impl Iterator<Item = Key> + 'a {
        self.bindings.iter().filter(move |(_, bound)| bound.as_ref() == line).map(|(key, _)| *key)
    }

    /// Returns the user's input that executes a line: the line's first key or, if it has no key, the line as a
    /// command at the prompt.
    pub fn input_for(&self, line: &str) -> String {
        self.keys(line).next().map_or_else(|| format!(":{line}"), |key| key.to_string())
    }

    /// Returns all bound keys with their lines.
    pub fn bound(&self) -> impl Iterator<Item = (Key, &str)> {
        self.bindings.iter().map(|(key, line)| (*key, line.as_ref()))
    }
}

impl Default for KeyMap {
    fn default() -> KeyMap {
        KeyMap::new(Preset::default())
    }
}
