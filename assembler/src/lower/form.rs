//! Selects the form of a function that takes given sources. Knows classes only.

use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::Class;

/// The classes as which a source may be used.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceKind {
    /// The class that the source has by itself.
    pub(super) class: Class,
    /// True if the source may be used as a real, too.
    pub(super) stands_for_real: bool,
}

/// Returns the form of a function for these sources. A form that takes literals and lengths as integers comes before
/// one that takes them as reals.
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
