//! What makes a form better without changing what it comes to: each pass is a file, and a form that has gone through it
//! gives the same state, steps and counts, and fails nowhere where it didn't, but where the interpreter has a trap to show, or (`choices.rs`)
//! where a partial derivative overflows that nobody needs.
//! Knows no engine.

mod admitted;
mod choices;
mod exits;
mod facts;
mod indices;
mod invariant;
mod lasting;
mod memory;
mod numbering;
mod overwritten;
pub(crate) mod parameters;
mod ranges;
pub(crate) mod replacing;
mod seen;
mod signs;
mod small_loop;
mod straighten;
mod sums;
mod unused;

use crate::form::SsaForm;
use crate::op::SsaValue;
use crate::range::IntRange;

/// A pass: what it is called, and what it does to a form.
pub type FormPass = (&'static str, fn(&mut SsaForm));

/// The passes, in the order in which a form goes through them. The one on exits takes for granted that the first block loads
/// variables only, so it comes before blocks are joined.
pub const PASSES: [FormPass; 18] = [
    ("parameters", parameters::drop_trivial),
    ("numbering", numbering::number),
    ("invariant", invariant::drop_invariant),
    ("memory", memory::forward),
    ("parameters again", parameters::drop_trivial),
    ("choices", choices::drop_needless),
    ("numbering again", numbering::number),
    ("memory again", memory::forward),
    ("numbering a third time", numbering::number),
    ("exits", exits::drop_unchanged),
    ("unused", unused::drop_unused),
    ("straighten", straighten::straighten),
    ("overwritten", overwritten::drop_overwritten),
    ("sums", sums::hold),
    ("unused again", unused::drop_unused),
    ("admitted", admitted::drop_implied),
    ("lasting", lasting::drop_repeated),
    ("indices", indices::look_once),
];

/// A form that has gone through some of them.
#[must_use]
pub fn improved(mut form: SsaForm, passes: &[FormPass]) -> SsaForm {
    for (_, pass) in passes {
        pass(&mut form);
    }
    form
}

/// Between which numbers an integer lies wherever it counts: one that is guarded counts only where its operation doesn't fail. Passes that drop
/// checks drop what is known with them, so there is more to be known before the last one.
pub fn range_where_it_counts(form: &SsaForm, value: SsaValue) -> IntRange {
    ranges::KnownRanges::range(&ranges::CountingRanges(form), value)
}
