//! Names that hide no others. Knows which are taken, and no meaning of any.

use std::collections::HashSet;

use compact_str::{CompactString, format_compact};

/// The names of a text.
#[derive(Clone, Debug, Default)]
pub struct FreshNames {
    taken: HashSet<CompactString>,
}

impl FreshNames {
    pub fn take(&mut self, name: &str) {
        self.taken.insert(name.into());
    }

    pub fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    /// This name if it is free, else the first of `name_2`, `name_3`, … that is; from now on it is taken.
    pub fn fresh(&mut self, name: &str) -> CompactString {
        let numbered = (2u64..).map(|number| format_compact!("{name}_{number}"));
        let free =
            std::iter::once(CompactString::from(name)).chain(numbered).find(|name| !self.is_taken(name));
        let free = free.unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }

    /// A beginning of names that are numbered: `part`, or `part_2_` if there is a `part1` already.
    pub fn stem(&self, name: &str) -> CompactString {
        let is_free = |stem: &CompactString| {
            !self.taken.iter().filter_map(|name| name.strip_prefix(stem.as_str())).any(is_number)
        };
        let numbered = (2u64..).map(|number| format_compact!("{name}_{number}_"));
        std::iter::once(CompactString::from(name)).chain(numbered).find(is_free).unwrap_or_default()
    }
}

fn is_number(rest: &str) -> bool {
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
}
