//! The key map, as data: which key does what, where that comes from, and what the help says about it.
//! Knows no terminal and carries nothing out.

pub mod action;
pub mod file;
pub mod help;
pub mod key;
pub mod presets;

use std::collections::BTreeMap;

pub use action::{HelpGroup, KeyAction};
pub use file::KeyFileError;
pub use key::{BareKey, Key};
pub use presets::Preset;

/// What a key does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyBinding {
    KeyAction(KeyAction),
    /// A line for the command line.
    Command(String),
}

/// Which key does what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMap {
    bindings: BTreeMap<Key, KeyBinding>,
}

impl KeyMap {
    pub fn new(preset: Preset) -> KeyMap {
        let bind = |(key, action)| (key, KeyBinding::KeyAction(action));
        KeyMap { bindings: preset.bindings().map(bind).collect() }
    }

    pub fn get(&self, key: Key) -> Option<&KeyBinding> {
        self.bindings.get(&key)
    }

    pub fn bind(&mut self, key: Key, binding: KeyBinding) {
        self.bindings.insert(key, binding);
    }

    pub fn unbind(&mut self, key: Key) {
        self.bindings.remove(&key);
    }

    /// The keys of an action: letters first.
    pub fn keys(&self, action: KeyAction) -> impl Iterator<Item = Key> + '_ {
        let bound =
            self.bindings.iter().filter(move |(_, binding)| **binding == KeyBinding::KeyAction(action));
        bound.map(|(key, _)| *key)
    }

    /// The keys that run a command line.
    pub fn commands(&self) -> impl Iterator<Item = (Key, &str)> + '_ {
        self.bindings.iter().filter_map(|(key, binding)| match binding {
            KeyBinding::Command(command) => Some((*key, command.as_str())),
            KeyBinding::KeyAction(_) => None,
        })
    }
}

impl Default for KeyMap {
    fn default() -> KeyMap {
        KeyMap::new(Preset::default())
    }
}
