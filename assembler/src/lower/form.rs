//! Which form of a function takes given sources. Knows classes only.

use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::Class;

/// What a source may be taken as.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceKind {
    /// The class it has where nothing else is wanted.
    pub(super) class: Class,
    /// Whether it stands for a real, too, where one is wanted.
    pub(super) stands_for_real: bool,
}

/// The form of a function for these sources: one that takes literals and lengths as the integers that they are,
/// else one that takes them as reals.
pub(super) fn form(
    function: Function,
    result: Option<Class>,
    sources: impl Iterator<Item = SourceKind> + Clone,
) -> Option<Form> {
    let fits = |form: &Form, promote: bool| {
        result.is_none_or(|class| form.result() == class)
            && sources.clone().enumerate().all(|(n, source)| {
                source.class == form.source(n)
                    || promote && source.stands_for_real && form.source(n) == Class::Real
            })
    };
    function.forms().find(|f| fits(f, false)).or_else(|| function.forms().find(|f| fits(f, true)))
}
