//! Optimization passes. Each pass is a file. A function that a pass has transformed gives the same state, steps and
//! counts. It fails nowhere that it didn't fail before, with two exceptions: where the interpreter traps anyway, and
//! (`choices.rs`) where an unneeded partial derivative overflows. This module knows no engine.

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
mod zero_adjoints;

use crate::form::SsaForm;
use crate::op::SsaValue;
use crate::range::IntRange;

/// Optimization pass: its name, and the function that transforms an SSA function.
pub type FormPass = (&'static str, fn(&mut SsaForm));

/// Passes in order of execution. `exits` relies on an entry block that only loads variables, so it must precede
/// `straighten`.
pub const PASSES: [FormPass; 19] = [
    ("parameters", parameters::drop_trivial),
    ("numbering", numbering::number),
    ("invariant", invariant::drop_invariant),
    ("memory", memory::forward),
    ("parameters again", parameters::drop_trivial),
    ("choices", choices::drop_needless),
    ("numbering again", numbering::number),
    ("memory again", memory::forward),
    ("zero adjoints", zero_adjoints::fold),
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

/// Applies passes to a function, in order.
#[must_use]
pub fn improved(mut form: SsaForm, passes: &[FormPass]) -> SsaForm {
    for (_, pass) in passes {
        pass(&mut form);
    }
    form
}

/// Returns the range of an integer at all places where its value is used. The value of a guarded operation is used
/// only if its check doesn't fail. Facts of dropped checks are lost, so ranges are tightest before the last pass.
pub fn range_where_it_counts(form: &SsaForm, value: SsaValue) -> IntRange {
    ranges::KnownRanges::range(&ranges::CountingRanges(form), value)
}
