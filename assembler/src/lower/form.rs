//! Selection of a function's form for given sources, based on classes only.

use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::Class;

/// The classes that a source is valid as.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceKind {
    /// The source's own class.
    pub(super) class: Class,
    /// True if the source is also valid as a real.
    pub(super) stands_for_real: bool,
}

/// Returns the form of a function for these sources. A form that takes literals and lengths as integers comes
/// before one that takes them as reals.
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
