//! The context of native code: the code's only argument, with its memory, its inputs and its results. This module is
//! independent of operations.

use std::mem::offset_of;
use std::ptr::{null, null_mut};

use reviver_isa::module::RealSystem;
use reviver_vm::differentiate::evidence::{MOST_ROWS, RowErrors, SweepEvidence};
use reviver_vm::differentiate::group::GroupEvidence;
use reviver_vm::watch::{FreedSoFar, Rounding, Watcher};

/// The context of native code for one lane. Native code accesses fields by their offsets ([`ContextField`]).
#[repr(C)]
#[derive(Debug)]
pub struct CodeContext<'c, 'w> {
    pub ints: *mut i64,
    pub reals: *mut u64,
    pub adjoints: *mut u64,
    pub references: *mut i64,
    pub start_ints: *const i64,
    pub start_reals: *const u64,
    pub results: *mut u64,
    /// Inputs of the function, in the order of [`reviver_compile::function::SsaFunction::inputs`].
    pub inputs: *const u32,
    // No two counters of a run's counts are adjacent. The Rust compiler would read adjacent counters by one wide load.
    // The processor would stall at this load, because native code has just written the counters one by one.
    pub erased_bits: u64,
    /// Number of the interval, between two step numbers, that the last step of the budget would cross. A step crosses
    /// the same interval in both directions. The mark of a jump is computed from the number of its interval, which is
    /// `last_interval + left·per_step_left` if `left` steps remain.
    pub last_interval: i64,
    pub discarded_bits: u64,
    /// Change of the interval's number for each step that is left in the budget: -1 in a forward run, 1 in a backward
    /// run, 0 without a watcher.
    pub per_step_left: i64,
    pub drops: u64,
    /// Wrapping sum of the marks of jumps. A turning point negates the sum.
    pub marks: u64,
    /// Number of steps that entered or left a call.
    pub calls: u64,
    /// Number of steps that remain of the budget.
    pub left: u64,
    /// Step budget of the run, or of the reverse sweep after a turning point.
    pub budget: u64,
    /// Number of steps before the turning point; 0 if there was none.
    pub primal_steps: u64,
    /// Number of fraction bits of a fixed-point number.
    pub fraction_bits: u32,
    /// Number of the exit that was taken.
    pub exit: u32,
    /// 1 if the last called fixed-point function had no result, otherwise 0.
    pub has_failed: u64,
    /// Summary of freed cells. Code adds small values to `freed.error` without a call.
    pub freed: FreedSoFar,
    /// Evidence for the verification of a gradient, and the bounds on rounding.
    pub evidence: SweepEvidence,
    pub rounding: &'static Rounding,
    /// Receives freed cells, except those with small values, which only change `freed.error`.
    pub watcher: Option<&'c mut Watcher<'w>>,
}

impl CodeContext<'_, '_> {
    /// Creates the context of a run with a budget of `left` steps. `jumps` is the watcher of the run's jumps, if the
    /// run is watched. In the new context, pointers are null, counts are 0, and no watcher receives freed cells.
    #[inline(always)]
    pub fn begun(left: u64, jumps: Option<&Watcher<'_>>) -> Self {
        let (first, sign) = jumps.map_or((0, 0), |watcher| (watcher.first_interval(), watcher.sign()));
        CodeContext {
            ints: null_mut(),
            reals: null_mut(),
            adjoints: null_mut(),
            references: null_mut(),
            start_ints: null(),
            start_reals: null(),
            results: null_mut(),
            inputs: null(),
            erased_bits: 0,
            last_interval: first.wrapping_add(sign.wrapping_mul(left as i64)).wrapping_sub(sign),
            discarded_bits: 0,
            per_step_left: -sign,
            drops: 0,
            marks: 0,
            calls: 0,
            left,
            budget: left,
            primal_steps: 0,
            fraction_bits: 0,
            exit: 0,
            has_failed: 0,
            freed: FreedSoFar::default(),
            evidence: SweepEvidence::default(),
            rounding: jumps.map_or(Rounding::of(RealSystem::F64), Watcher::rounding),
            watcher: None,
        }
    }
}

/// A field of the context, by its offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContextField(pub i32);

impl ContextField {
    pub const INTS: ContextField = ContextField(offset_of!(CodeContext, ints) as i32);
    pub const REALS: ContextField = ContextField(offset_of!(CodeContext, reals) as i32);
    pub const ADJOINTS: ContextField = ContextField(offset_of!(CodeContext, adjoints) as i32);
    pub const REFERENCES: ContextField = ContextField(offset_of!(CodeContext, references) as i32);
    pub const START_INTS: ContextField = ContextField(offset_of!(CodeContext, start_ints) as i32);
    pub const START_REALS: ContextField = ContextField(offset_of!(CodeContext, start_reals) as i32);
    pub const RESULTS: ContextField = ContextField(offset_of!(CodeContext, results) as i32);
    pub const BUDGET: ContextField = ContextField(offset_of!(CodeContext, budget) as i32);
    pub const PRIMAL_STEPS: ContextField = ContextField(offset_of!(CodeContext, primal_steps) as i32);
    pub const LARGEST: ContextField = ContextField(offset_of!(CodeContext, evidence.largest) as i32);
    pub const INPUTS: ContextField = ContextField(offset_of!(CodeContext, inputs) as i32);
    pub const LAST_INTERVAL: ContextField = ContextField(offset_of!(CodeContext, last_interval) as i32);
    pub const PER_STEP_LEFT: ContextField = ContextField(offset_of!(CodeContext, per_step_left) as i32);
    pub const FREED_LARGEST: ContextField = ContextField(offset_of!(CodeContext, freed.largest) as i32);
    pub const FREED_LONG: ContextField = ContextField(offset_of!(CodeContext, freed.long) as i32);
    pub const FREED_ERROR: ContextField = ContextField(offset_of!(CodeContext, freed.error) as i32);
    pub const MARKS: ContextField = ContextField(offset_of!(CodeContext, marks) as i32);
    pub const LEFT: ContextField = ContextField(offset_of!(CodeContext, left) as i32);
    pub const ERASED_BITS: ContextField = ContextField(offset_of!(CodeContext, erased_bits) as i32);
    pub const DISCARDED_BITS: ContextField = ContextField(offset_of!(CodeContext, discarded_bits) as i32);
    pub const DROPS: ContextField = ContextField(offset_of!(CodeContext, drops) as i32);
    pub const CALLS: ContextField = ContextField(offset_of!(CodeContext, calls) as i32);
    pub const EXIT: ContextField = ContextField(offset_of!(CodeContext, exit) as i32);
    pub const HAS_FAILED: ContextField = ContextField(offset_of!(CodeContext, has_failed) as i32);
}

impl ContextField {
    /// Returns the field with the sum of errors of freed cells for a row other than the first. Returns `None` if the
    /// row's number is too large.
    pub fn freed_in_row(row: u32) -> Option<ContextField> {
        let row = usize::try_from(row).ok().filter(|row| *row < MOST_ROWS)?;
        let place = offset_of!(CodeContext, evidence.errors) + row * size_of::<RowErrors>();
        Some(ContextField((place + offset_of!(RowErrors, freed)) as i32))
    }
}

/// The context of native code for a SIMD group: the code's only argument.
#[repr(C)]
#[derive(Debug)]
pub struct GroupContext<'c, 'w> {
    /// Fields that the context for one lane also has, at the same offsets. In the memory of a group, each cell has one
    /// number for every lane, side by side.
    pub lane: CodeContext<'c, 'w>,
    /// Evidence for the verification of each lane.
    pub evidence: GroupEvidence,
    /// Directions at the branch on which lanes diverged. Bit n is 1 if the branch's condition holds in lane n. All bits
    /// are 0 if lanes didn't diverge.
    pub conditions: u64,
}

/// Fields of [`GroupContext`] that code for one lane doesn't have.
#[derive(Debug)]
pub struct GroupField;

impl GroupField {
    pub const LARGEST: ContextField = ContextField(offset_of!(GroupContext, evidence.largest) as i32);
    pub const FREED: ContextField = ContextField(offset_of!(GroupContext, evidence.freed) as i32);
    pub const MISSED: ContextField = ContextField(offset_of!(GroupContext, evidence.missed) as i32);
    pub const FREED_ERRORS: ContextField =
        ContextField(offset_of!(GroupContext, evidence.freed_errors) as i32);
    pub const MISSED_ERRORS: ContextField =
        ContextField(offset_of!(GroupContext, evidence.missed_errors) as i32);
    pub const CONDITIONS: ContextField = ContextField(offset_of!(GroupContext, conditions) as i32);
}
