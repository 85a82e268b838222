//! Helper functions of the C text, selected by name. All names begin with `rv_`. The text contains only the helper
//! functions that are called, each after the functions that it calls.

mod fixed;
mod floats;
mod words;

use std::collections::{HashMap, HashSet};

use crate::identifiers::words;
use crate::{fixed_functions, functions};

/// The helper functions and tables that a text calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct CHelpers {
    known: HashSet<String>,
    /// The names and texts of the added helpers, each after the helpers that it calls.
    order: Vec<(String, String)>,
    tables: HashMap<String, String>,
}

impl CHelpers {
    /// Adds all helpers that a text calls, directly or indirectly.
    pub fn add_for(&mut self, text: &str) {
        for name in names(text) {
            self.add(name);
        }
    }

    fn add(&mut self, name: &str) {
        if self.known.contains(name) {
            return;
        }
        let Some(text) = self.text(name) else { return };
        self.known.insert(name.to_owned());
        self.add_for(&text);
        self.order.push((name.to_owned(), text));
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let known = self.tables.get(name).cloned();
        known
            .or_else(|| words::text(name))
            .or_else(|| floats::text(name))
            .or_else(|| fixed::text(name))
            .or_else(|| {
                let (text, tables) = functions::text(name).or_else(|| fixed_functions::text(name))?;
                self.tables.extend(tables);
                Some(text)
            })
    }

    /// Adds the helpers of another C text.
    pub fn absorb(&mut self, other: &CHelpers) {
        for (name, text) in &other.order {
            if self.known.insert(name.clone()) {
                self.order.push((name.clone(), text.clone()));
            }
        }
    }

    /// Returns the texts of all helpers.
    pub fn written(&self) -> String {
        let texts: Vec<&str> = self.order.iter().map(|(_, text)| text.as_str()).collect();
        texts.join("\n")
    }
}

/// Returns the words in a text that may be names of helpers.
fn names(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| word.starts_with("rv_"))
}
