//! Names that shadow no others. This module tracks names in use, independently of their meanings.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use compact_str::{CompactString, format_compact};

/// All names in use in a text, from which new names must differ.
#[derive(Clone, Debug, Default)]
pub struct UnusedNames {
    /// The names shared by all clones.
    shared: Rc<HashSet<CompactString>>,
    own: HashSet<CompactString>,
    /// For each name: the lowest number that may be free as its suffix. Names are never released, so lower numbers
    /// stay in use.
    next: HashMap<CompactString, u64>,
}

impl UnusedNames {
    /// Marks a name as used.
    pub fn take(&mut self, name: &str) {
        self.own.insert(name.into());
    }

    /// Returns true if a name is used.
    pub fn is_taken(&self, name: &str) -> bool {
        self.shared.contains(name) || self.own.contains(name)
    }

    /// Moves all names into the shared set, so that clones are cheap.
    #[must_use]
    pub fn into_shared(self) -> UnusedNames {
        let mut shared = Rc::unwrap_or_clone(self.shared);
        shared.extend(self.own);
        UnusedNames { shared: Rc::new(shared), own: HashSet::new(), next: self.next }
    }

    /// Returns this name if it is free, otherwise the first free one of `name_2`, `name_3`, …, and marks it
    /// as used.
    pub fn fresh(&mut self, name: &str) -> CompactString {
        let mut free = CompactString::from(name);
        if self.is_taken(name) {
            let first = self.next.get(name).copied().unwrap_or(2);
            let mut numbered = (first..).map(|number| (number, format_compact!("{name}_{number}")));
            let found = numbered.find(|(_, name)| !self.is_taken(name));
            let (number, numbered) = found.unwrap_or_default();
            self.next.insert(free, number + 1);
            free = numbered;
        }
        self.own.insert(free.clone());
        free
    }

    /// Returns a prefix for numbered names: the name itself, such as `part`. If a name such as `part1` is in use,
    /// returns `part_2_`.
    pub fn stem(&self, name: &str) -> CompactString {
        let is_free = |stem: &CompactString| {
            !self
                .shared
                .iter()
                .chain(&self.own)
                .filter_map(|name| name.strip_prefix(stem.as_str()))
                .any(is_number)
        };
        let numbered = (2u64..).map(|number| format_compact!("{name}_{number}_"));
        std::iter::once(CompactString::from(name)).chain(numbered).find(is_free).unwrap_or_default()
    }
}

fn is_number(rest: &str) -> bool {
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_names_skip_taken_numbers() {
        let mut names = UnusedNames::default();
        names.take("x_3");
        let mut names = names.into_shared();
        assert_eq!(
            ["x", "x", "x", "x_2", "x"].map(|name| names.fresh(name)),
            ["x", "x_2", "x_4", "x_2_2", "x_5"]
        );
        let mut copy = names.clone();
        assert_eq!((copy.fresh("x"), names.fresh("x")), ("x_6".into(), "x_6".into()));
        assert_eq!((names.stem("part"), names.stem("x_")), ("part".into(), "x__2_".into()));
    }
}
