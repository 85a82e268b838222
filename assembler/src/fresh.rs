//! Names that a program doesn't use yet: those of adjoints or tangents, and of the helper cells of a derived program.

use std::collections::{HashMap, HashSet};

use compact_str::{CompactString, format_compact};

use reviver_isa::names::register_class;

use crate::build;
use crate::tree::{Expression, ExpressionKind};

/// The names of a program, and the names that were added to it.
#[derive(Debug, Default)]
pub(crate) struct FreshNames {
    used: HashSet<CompactString>,
    suffix: CompactString,
    /// The names of helper cells without the suffix. The statements of a program share the names.
    helpers: Vec<CompactString>,
    arguments: Vec<CompactString>,
    counters: Vec<CompactString>,
    /// The parameters of the current procedure whose adjoints are those of other parameters.
    shared: HashMap<CompactString, CompactString>,
}

impl FreshNames {
    /// Reads the words of texts, and chooses the suffix of adjoints or tangents: `wanted`, such as `_bar`, or `_bar2` and
    /// so on if a word ends with it.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>, wanted: &str) -> FreshNames {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let words = texts.flat_map(|text| text.split(move |c| !is_part(c)));
        let used: HashSet<CompactString> = words.filter(|word| !word.is_empty()).map(Into::into).collect();
        let is_free = |suffix: &str| !used.iter().any(|word| word.ends_with(suffix));
        let suffixes = (1u32..).map(|n| if n == 1 { wanted.into() } else { format_compact!("{wanted}{n}") });
        let suffix = suffixes.into_iter().find(|suffix| is_free(suffix)).unwrap_or_default();
        FreshNames { used, suffix, ..FreshNames::default() }
    }

    /// Returns the name of the adjoint or the tangent of a name.
    pub fn adjoint(&self, name: &str) -> CompactString {
        let name = self.shared.get(name).map_or(name, CompactString::as_str);
        format_compact!("{name}{}", self.suffix)
    }

    /// Sets the parameters of the next procedure whose adjoints are those of other parameters.
    pub fn share(&mut self, shared: &[(CompactString, CompactString)]) {
        self.shared = shared.iter().cloned().collect();
    }

    /// Returns `wanted`, or with a number behind it if the name is used.
    pub fn fresh(&mut self, wanted: &str) -> CompactString {
        unused(&mut self.used, wanted)
    }

    /// Returns the name of the helper cell `n` of a statement. A `local` with this name must not contain another
    /// statement of the program.
    pub fn helper(&mut self, n: usize) -> CompactString {
        // The suffix is added to an unused name, because the adjoint of a cell `part` has the name `part_bar`.
        let name = numbered(&mut self.helpers, &mut self.used, "part", n);
        format_compact!("{name}{}", self.suffix)
    }

    /// Returns the name of the local for argument `n` of a call.
    pub fn argument(&mut self, n: usize) -> CompactString {
        numbered(&mut self.arguments, &mut self.used, "argument", n)
    }

    /// Returns the name of the counter of a loop over dimension `n` of an array.
    pub fn counter(&mut self, n: usize) -> CompactString {
        numbered(&mut self.counters, &mut self.used, "index", n)
    }
}

/// Returns the name of index `n` in a list, which is extended by unused names.
fn numbered(
    list: &mut Vec<CompactString>,
    used: &mut HashSet<CompactString>,
    wanted: &str,
    n: usize,
) -> CompactString {
    while list.len() <= n {
        list.push(unused(used, wanted));
    }
    list.get(n).cloned().unwrap_or_default()
}

fn unused(used: &mut HashSet<CompactString>, wanted: &str) -> CompactString {
    // With a number behind it, the name of a register would denote another register.
    let wanted =
        &*if register_class(wanted).is_some() { format_compact!("{wanted}_") } else { wanted.into() };
    let mut names = (1u32..).map(|n| if n == 1 { wanted.into() } else { format_compact!("{wanted}{n}") });
    let name = names.find(|name| !used.contains(name)).unwrap_or_default();
    used.insert(name.clone());
    name
}

/// Returns the adjoint or the tangent of a cell or an array.
pub(crate) fn adjoint_of(fresh: &FreshNames, cell: &Expression) -> Expression {
    match &cell.kind {
        ExpressionKind::Name { name, .. } => build::cell(&fresh.adjoint(name)),
        ExpressionKind::Element(element) => {
            build::element(&fresh.adjoint(&element.name), element.subscripts.clone())
        }
        _ => cell.clone(),
    }
}
