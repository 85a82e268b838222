//! Optimization passes. Each pass is a file. A pass preserves the function's state, steps and counts. The transformed
//! function fails in no additional runs, with two exceptions: runs in which the interpreter traps anyway, and runs in
//! which an unneeded partial derivative overflows (`select_folding.rs`). This module is independent of engines.

mod array_finiteness;
mod bounds_checks;
mod dead_code;
mod dead_stores;
mod exit_liveness;
mod finiteness_checks;
mod load_forwarding;
mod loop_invariants;
mod ranges;
pub(crate) mod replacements;
mod scalar_promotion;
mod select_folding;
mod signed_zeros;
mod simplification;
mod simplify_cfg;
mod small_loop;
pub(crate) mod trivial_phis;
mod unchanged_cells;
mod value_numbering;
mod zero_adjoints;

use crate::function::SsaFunction;
use crate::op::SsaValue;
use crate::range::IntRange;

/// Optimization pass: its name, and the function that transforms an SSA function.
pub type Pass = (&'static str, fn(&mut SsaFunction));

/// Passes in order of execution. `unchanged_cells` relies on an entry block that only loads variables, so it must
/// precede `simplify_cfg`.
pub const PASSES: [Pass; 19] = [
    ("trivial phis", trivial_phis::drop_trivial),
    ("value numbering", value_numbering::number),
    ("loop invariants", loop_invariants::drop_invariant),
    ("load forwarding", load_forwarding::forward),
    ("trivial phis again", trivial_phis::drop_trivial),
    ("select folding", select_folding::drop_needless),
    ("value numbering again", value_numbering::number),
    ("load forwarding again", load_forwarding::forward),
    ("zero adjoints", zero_adjoints::fold),
    ("value numbering a third time", value_numbering::number),
    ("unchanged cells", unchanged_cells::drop_unchanged),
    ("dead code", dead_code::eliminate),
    ("CFG simplification", simplify_cfg::merge_blocks),
    ("dead stores", dead_stores::eliminate),
    ("scalar promotion", scalar_promotion::promote),
    ("dead code again", dead_code::eliminate),
    ("finiteness checks", finiteness_checks::drop_implied),
    ("array finiteness", array_finiteness::drop_repeated),
    ("bounds checks", bounds_checks::hoist),
];

/// All passes except bounds-check hoisting. The checks show which array an index belongs to. Transformations and engines
/// that need to know this apply these passes.
pub const PASSES_KEEPING_BOUNDS: &[Pass] = PASSES.split_at(PASSES.len() - 1).0;

/// Applies passes to a function, in order.
#[must_use]
pub fn optimized(mut function: SsaFunction, passes: &[Pass]) -> SsaFunction {
    for (_, pass) in passes {
        pass(&mut function);
    }
    function
}

/// Returns the range of an integer at all its uses. The result of a guarded operation is used only if the operation's
/// check doesn't fail. A dropped check implies no range, so this function returns the narrowest ranges before the last
/// pass.
pub fn range_at_uses(function: &SsaFunction, value: SsaValue) -> IntRange {
    ranges::KnownRanges::range(&ranges::CountingRanges(function), value)
}
