//! What native code is given, and where it leaves its answer: its one argument. Knows no operation.

use std::mem::offset_of;
use std::ptr::{null, null_mut};

use reviver_isa::module::RealSystem;
use reviver_vm::differentiate::evidence::{MOST_ROWS, RowErrors, SweepEvidence};
use reviver_vm::differentiate::group::GroupEvidence;
use reviver_vm::watch::{FreedSoFar, Rounding, Watcher};

/// The memory that native code works on. Its fields are found by their offsets.
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
    /// What the form asks for, in its order.
    pub inputs: *const u32,
    // No two counts lie side by side: both would be read at once that code has just written one by one, and processors wait for that.
    pub erased_bits: u64,
    /// The number of the interval that the last step that might be made would cross: by this, and by the next such field, a jump is marked.
    pub last_interval: i64,
    pub discarded_bits: u64,
    /// What is added to that for each step that is left.
    pub per_step_left: i64,
    pub drops: u64,
    /// The sum of the marks of jumps.
    pub marks: u64,
    /// Steps that entered a call or left one.
    pub calls: u64,
    /// Steps that may still be made.
    pub left: u64,
    /// Steps that might be made at first, or after the turning point.
    pub budget: u64,
    /// Steps before the turning point.
    pub primal_steps: u64,
    /// Bits behind the point of a fixed-point number.
    pub fraction_bits: u32,
    /// The number of the exit by which the form was left.
    pub exit: u32,
    /// Whether the last function that was called had no value: 0 or 1.
    pub has_failed: u64,
    /// What the watcher remembers of freed cells.
    pub freed: FreedSoFar,
    /// Evidence of a verified gradient, and the bounds on rounding for it.
    pub evidence: SweepEvidence,
    pub rounding: Rounding,
    /// Who is told of what is freed, unless it is small and changes the error only.
    pub watcher: Option<&'c mut Watcher<'w>>,
}

impl CodeContext<'_, '_> {
    /// The context of a run that may make so many steps, whose jumps somebody may watch: it has no memory yet, nothing is counted, and nobody is told of what
    /// is freed.
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

/// A field of the context, by its offset.
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
    /// The error of what is freed in a row that isn't the first.
    pub fn freed_in_row(row: u32) -> Option<ContextField> {
        let row = usize::try_from(row).ok().filter(|row| *row < MOST_ROWS)?;
        let place = offset_of!(CodeContext, evidence.errors) + row * size_of::<RowErrors>();
        Some(ContextField((place + offset_of!(RowErrors, freed)) as i32))
    }
}

/// What code for a group is given: its one argument.
#[repr(C)]
#[derive(Debug)]
pub struct GroupContext<'c, 'w> {
    /// What code for one lane is given, where that finds it. A cell's numbers lie side by side there.
    pub lane: CodeContext<'c, 'w>,
    /// Evidence for verification.
    pub evidence: GroupEvidence,
    /// Where a branch parts lanes a bit for each lane, the first one's last, that says which way it takes; else 0.
    pub ways: u64,
}

/// Fields of the context that only groups have.
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
    pub const WAYS: ContextField = ContextField(offset_of!(GroupContext, ways) as i32);
}
