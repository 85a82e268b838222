//! Selection of a function's signature for given sources, based on classes only.

use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;

/// The classes in which a source can be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceKind {
    /// The source's own class.
    pub(crate) class: Class,
    /// True if the source can be used as a real, too.
    pub(crate) stands_for_real: bool,
}

/// Returns the signature of a function for these sources. If several signatures fit, prefers one that takes
/// literals and lengths as integers to one that takes them as reals.
pub(crate) fn signature(
    function: Function,
    result: Option<Class>,
    sources: impl Iterator<Item = SourceKind> + Clone,
) -> Option<Signature> {
    let fits = |signature: &Signature, promote: bool| {
        result.is_none_or(|class| signature.result() == class)
            && sources.clone().enumerate().all(|(n, source)| {
                source.class == signature.source(n)
                    || promote && source.stands_for_real && signature.source(n) == Class::Real
            })
    };
    function.signatures().find(|f| fits(f, false)).or_else(|| function.signatures().find(|f| fits(f, true)))
}
