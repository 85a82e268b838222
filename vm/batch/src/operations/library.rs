//! The helper functions of a shader: the functions that operations call, directly or indirectly. This module finds the
//! module that writes a function by the function's name.

use std::collections::BTreeMap;

use super::tables::Tables;
use super::{fixed, fixed_functions, float_functions, floats, integers, wide};

/// The texts of helper functions, by their names.
#[derive(Debug, Default)]
pub(super) struct Library {
    texts: BTreeMap<String, String>,
    tables: Tables,
}

impl Library {
    /// Adds all helper functions that a text calls, directly or indirectly.
    pub fn need(&mut self, text: &str) {
        let mut names: Vec<String> = names(text).map(str::to_owned).collect();
        while let Some(name) = names.pop() {
            if self.texts.contains_key(&name) {
                continue;
            }
            if let Some(text) = text_of(&name, &self.tables) {
                names.extend(self::names(&text).filter(|&other| other != name).map(str::to_owned));
                self.texts.insert(name, text);
            }
        }
    }

    /// Returns the texts of all added functions. WGSL accepts functions in any order.
    pub fn text(&self) -> String {
        self.texts.values().map(String::as_str).collect()
    }

    pub fn tables(&self) -> Vec<u64> {
        self.tables.words()
    }
}

/// Returns the words in a text that may be names of helper functions.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
        .filter(|name| name.starts_with("rv_"))
}

fn text_of(name: &str, tables: &Tables) -> Option<String> {
    integers::text(name)
        .or_else(|| floats::text(name))
        .or_else(|| wide::text(name))
        .or_else(|| fixed::text(name))
        .or_else(|| float_functions::text(name, tables))
        .or_else(|| fixed_functions::text(name, tables))
}
