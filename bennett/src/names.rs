//! Names that hide no others. Knows which are taken, and no meaning of any.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use compact_str::{CompactString, format_compact};

/// The names of a text.
#[derive(Clone, Debug, Default)]
pub struct FreshNames {
    /// Names that all copies share.
    shared: Rc<HashSet<CompactString>>,
    own: HashSet<CompactString>,
    /// The first number that may be free, by the name that is numbered. Names stay taken, so smaller ones never are.
    next: HashMap<CompactString, u64>,
}

impl FreshNames {
    pub fn take(&mut self, name: &str) {
        self.own.insert(name.into());
    }

    pub fn is_taken(&self, name: &str) -> bool {
        self.shared.contains(name) || self.own.contains(name)
    }

    /// Makes copies cheap: all names become shared.
    #[must_use]
    pub fn into_shared(self) -> FreshNames {
        let mut shared = Rc::unwrap_or_clone(self.shared);
        shared.extend(self.own);
        FreshNames { shared: Rc::new(shared), own: HashSet::new(), next: self.next }
    }

    /// This name if it is free, else the first of `name_2`, `name_3`, … that is; from now on it is taken.
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

    /// A beginning of names that are numbered: `part`, or `part_2_` if there is a `part1` already.
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
    fn numbers_go_on_where_names_are_taken() {
        let mut names = FreshNames::default();
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
