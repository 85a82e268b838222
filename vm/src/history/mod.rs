//! Histories: records from which a lossy step can be undone bit for bit.
//!
//! Steps are numbered in two *tracks*, each with its own stack of records: the program's own steps, and the steps in
//! derivative rules. A step that leads away from step 0 of its track *records*. A step that leads toward step 0
//! *restores*. So one stack serves forward and backward runs, and is empty at step 0. Derivative rules have their own
//! track because only gradient mode executes them. So a step outside of rules has the same number with gradient mode on
//! and off, and the reverse sweep (mode on) finds the records of the forward sweep (mode off). Integer and fixed-point
//! programs without irreversible instructions never record anything.

pub(crate) mod journal;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::allocation::{self, AllocationPurpose, OutOfMemory};
use crate::state::lanes::Lanes;
use crate::state::{Counters, MODE, State};
use crate::trap::Cause;
use crate::travel::{Interval, Track};

/// Maximum number of records of an instruction on cells: the values of two targets, and the adjoints of all operands.
pub(crate) const RECORDS_OF_A_STEP: usize = 8;

/// The interface between the interpreter and a history.
pub trait History<B>: Sized {
    /// False if nothing is ever recorded. The interpreter is then compiled without any history code.
    const ACTIVE: bool;

    /// Returns a history of this type that records nothing. Callers that need no history can pass it, so that the
    /// interpreter's loop isn't compiled for another type.
    fn nothing() -> Self;

    /// Reserves memory for `records` records of a step, before the step changes anything. `interval` is the
    /// interval that the step crosses.
    ///
    /// # Errors
    /// Fails if there is no memory.
    fn reserve_memory(&mut self, interval: Interval, records: usize) -> Result<(), Cause>;

    /// Records the content of a cell before a step changes the cell. `interval` is the interval that the step
    /// crosses.
    fn record(&mut self, interval: Interval, cell: Kept<B>);

    /// Returns the latest record of the interval's track if it belongs to this interval.
    fn latest(&self, interval: Interval) -> Option<Kept<B>>;

    /// Removes and returns the record that [`History::latest`] returns.
    fn take(&mut self, interval: Interval) -> Option<Kept<B>>;

    /// Returns true if all changes of a step are recorded, including those that its inverse undoes exactly.
    fn tapes(&self) -> bool {
        false
    }

    /// Returns the values that an earlier run lost in the step over this interval, the last recorded value last; see
    /// [`Past`].
    fn inherited(&self, _interval: Interval) -> &[(i64, Kept<B>)] {
        &[]
    }
}

/// The kinds of cells whose content a record can hold. [`Kept::cell`] is the number of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeptSlot {
    /// The content of an integer cell.
    Int,
    /// The content of a real cell.
    Real,
    /// The adjoint of a real cell.
    Adjoint,
    /// The deferred adjoint of a real cell: the adjoint from before a task, set aside while the task accumulated its
    /// own share.
    Deferred,
    /// The adjoint of a value on a stack or a tape. The step took only the value, and discarded the adjoint. Undoing
    /// the step puts the value back together with this adjoint.
    Entry,
}

/// A record: the old content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept<B = u64> {
    /// The kind of the cell, which determines the meaning of `cell`.
    pub slot: KeptSlot,
    /// The number of the cell in its class; 0 and unused for [`KeptSlot::Entry`].
    pub cell: u32,
    /// The old content; for an integer, its two's complement.
    pub bits: B,
    /// True if the step was executed in gradient mode. Then the step's records hold every adjoint that the step
    /// changed.
    pub gradient: bool,
    /// The counter increments that the loss of the content caused. Restoring the content subtracts them.
    pub cost: Cost,
}

/// The counter increments caused by losing a cell's content. In a record made by `Kept::replaced` they are negative,
/// because the restoration of the lost content has subtracted them. Undoing the restoration adds them again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Number of bits that the program erased explicitly.
    pub erased: i32,
    /// Number of bits of a float that was vacated within the tolerance.
    pub discarded: i32,
    /// Number of dropped adjoints: 0 or 1.
    pub drops: i32,
}

impl Cost {
    /// Adds the cost to the counters. The sums saturate, because records from a file may claim any cost.
    pub fn charge(self, counters: &mut Counters) {
        let add = |count: &mut u64, cost: i32| *count = count.saturating_add_signed(cost.into());
        add(&mut counters.erased_bits, self.erased);
        add(&mut counters.discarded_bits, self.discarded);
        add(&mut counters.drops, self.drops);
    }

    /// Subtracts the cost from the counters.
    pub fn refund(self, counters: &mut Counters) {
        self.reversed().charge(counters);
    }

    /// Returns the negated cost.
    fn reversed(self) -> Cost {
        let [erased, discarded, drops] = [self.erased, self.discarded, self.drops].map(i32::saturating_neg);
        Cost { erased, discarded, drops }
    }
}

/// The cells of a state that instructions on cells may change.
pub(crate) struct Cells<'a, B> {
    pub ints: &'a mut [i64],
    pub reals: &'a mut [B],
    /// The adjoints, one for each real, or empty if no step needs adjoints.
    pub adjoints: &'a mut [B],
}

impl<B> Cells<'_, B> {
    /// Reborrows the same cells for a shorter lifetime.
    pub fn reborrow(&mut self) -> Cells<'_, B> {
        Cells { ints: self.ints, reals: self.reals, adjoints: self.adjoints }
    }
}

impl<B: Lanes> Kept<B> {
    /// Returns a record of the current content of the cell, from which the restoration of the old content can be undone.
    /// Callers make this record before the restoration.
    pub(crate) fn replaced(&self, cells: &Cells<B>, gradient: bool) -> Kept<B> {
        let cell = self.cell as usize;
        let bits = match self.slot {
            KeptSlot::Int => cells.ints.get(cell).map(|&int| B::of_word(int as u64)),
            KeptSlot::Real => cells.reals.get(cell).copied(),
            KeptSlot::Adjoint | KeptSlot::Deferred | KeptSlot::Entry => None,
        };
        Kept { bits: bits.unwrap_or_default(), gradient, cost: self.cost.reversed(), ..*self }
    }

    /// Restores the old content of the cell, and subtracts the record's cost from the counters.
    pub(crate) fn restore(&self, cells: &mut Cells<B>, counters: &mut Counters) {
        let (cell, bits) = (self.cell as usize, self.bits);
        match self.slot {
            // No step changes the mode bit, so a record from a file that claims otherwise is ignored.
            KeptSlot::Int if cell == MODE => {}
            KeptSlot::Int => cells.ints.get_mut(cell).into_iter().for_each(|int| *int = bits.word() as i64),
            KeptSlot::Real => cells.reals.get_mut(cell).into_iter().for_each(|real| *real = bits),
            KeptSlot::Adjoint => cells.adjoints.get_mut(cell).into_iter().for_each(|adjoint| *adjoint = bits),
            // The steps that undo moves and calls remove these records themselves. So a record of this kind that
            // reaches this line comes from a file with wrong contents, and is ignored.
            KeptSlot::Entry | KeptSlot::Deferred => {}
        }
        self.cost.refund(counters);
    }
}

impl<B: Lanes> State<B> {
    /// Borrows the cells and the counters separately.
    pub(crate) fn cells(&mut self) -> (Cells<'_, B>, &mut Counters) {
        let State { ints, reals, adjoints, counters, .. } = self;
        let adjoints = adjoints.as_mut().map_or(&mut [][..], |adjoints| &mut adjoints.cells);
        (Cells { ints, reals, adjoints }, counters)
    }
}

/// A history that records nothing: going backward only executes inverse steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHistory;

impl<B> History<B> for NoHistory {
    const ACTIVE: bool = false;

    fn nothing() -> Self {
        NoHistory
    }

    fn reserve_memory(&mut self, _interval: Interval, _records: usize) -> Result<(), Cause> {
        Ok(())
    }

    fn record(&mut self, _interval: Interval, _cell: Kept<B>) {}

    fn latest(&self, _interval: Interval) -> Option<Kept<B>> {
        None
    }

    fn take(&mut self, _interval: Interval) -> Option<Kept<B>> {
        None
    }
}

/// Records of lossy steps: residues of float updates and vacated cells, old values of erased cells, and dropped
/// adjoints. The records may fill most of the memory, so that copying can fail. Therefore there is no `Clone`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Residues<B = u64> {
    /// Records of the program's own steps, with the numbers of their intervals, the latest last.
    program: Vec<(i64, Kept<B>)>,
    /// Records of steps in derivative rules.
    rules: Vec<(i64, Kept<B>)>,
    #[serde(skip)]
    past: Option<Past<B>>,
    /// True if all changes of steps are recorded, instead of only their losses.
    #[serde(skip)]
    tapes: bool,
}

/// The values that an earlier run lost before it reached a state. A later run that starts with the same
/// values and undoes the same steps takes lost values from here. Adjoints may differ between the runs, so
/// only values are taken. Cloning is cheap.
#[derive(Clone, Debug, PartialEq)]
pub struct Past<B = u64> {
    /// The records by interval number; those of one interval are in the order of recording.
    records: Arc<Vec<(i64, Kept<B>)>>,
    /// The number of an interval in the earlier run, minus the number of the same interval in the later run.
    offset: i64,
}

impl<B> Past<B> {
    /// Creates the past from the records of an earlier run. At the state where the later run starts,
    /// [`State::own_steps`] was greater by `offset` in the earlier run.
    pub fn new(earlier: Residues<B>, offset: i64) -> Past<B> {
        let mut records = earlier.program;
        // A backward run records the greatest number first. The records of one step keep their order.
        if !records.is_sorted_by_key(|&(number, _)| number) {
            records.reverse();
            records.chunk_by_mut(|(a, _), (b, _)| a == b).for_each(<[_]>::reverse);
        }
        Past { records: Arc::new(records), offset }
    }

    /// Returns the memory use of the records, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.records.as_slice())
    }
}

impl<B> Default for Residues<B> {
    fn default() -> Self {
        Residues { program: Vec::new(), rules: Vec::new(), past: None, tapes: false }
    }
}

impl<B: Copy> Residues<B> {
    /// Returns the records of the steps with these numbers.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub(crate) fn part(&self, numbers: Range<i64>) -> Result<Residues<B>, OutOfMemory> {
        let start = self.begin_of(&numbers);
        let rest = self.program.get(start..).unwrap_or_default();
        let end = rest.partition_point(|(number, _)| numbers.contains(number));
        let program = allocation::copied(rest.get(..end).unwrap_or_default())?;
        Ok(Residues { program, ..self.anew() })
    }

    /// Appends the records of another history, with interval numbers increased by `offset`.
    pub(crate) fn append(&mut self, others: &Residues<B>, offset: i64) {
        self.program.extend(others.program.iter().map(|&(number, kept)| (number + offset, kept)));
    }

    /// Returns a copy of the history.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub fn try_clone(&self) -> Result<Residues<B>, OutOfMemory> {
        let (program, rules) = (allocation::copied(&self.program)?, allocation::copied(&self.rules)?);
        Ok(Residues { program, rules, past: self.past.clone(), tapes: self.tapes })
    }
}

impl<B> Residues<B> {
    /// Returns the memory use of the records, in bytes.
    pub fn bytes(&self) -> usize {
        self.len() * size_of::<(i64, Kept<B>)>()
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.program.len() + self.rules.len()
    }

    /// Returns true if there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the values that an earlier run lost. A step that leads away from the start of this run, and undoes a
    /// step of the earlier run, takes the lost values from `past`.
    pub fn inherit(&mut self, past: Past<B>) {
        self.past = Some(past);
    }

    /// Returns an empty history that records all changes of steps.
    pub fn taping() -> Residues<B> {
        Residues { tapes: true, ..Residues::default() }
    }

    /// Makes later steps record all their changes.
    pub(crate) fn tape(&mut self) {
        self.tapes = true;
    }

    /// Returns true if the records can be split by step number alone ([`Residues::part`]): there are no records of
    /// rules and no values of an earlier run.
    pub(crate) fn can_be_parted(&self) -> bool {
        self.past.is_none() && self.rules.is_empty()
    }

    /// Returns an empty history that records the same kind of changes.
    pub(crate) fn anew(&self) -> Residues<B> {
        Residues { program: Vec::new(), rules: Vec::new(), past: None, tapes: self.tapes }
    }

    /// Reserves memory for further records.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub(crate) fn reserve(&mut self, records: usize) -> Result<(), OutOfMemory> {
        allocation::more(&mut self.program, records)
    }

    /// Deletes the records of the steps between the states with the step numbers `earliest` and `latest`. `latest` is
    /// the end of the history, and is further from the start than `earliest`.
    pub(crate) fn forget_between(&mut self, latest: i64, earliest: i64) {
        self.program.truncate(self.begin_of(&(latest.min(earliest)..latest.max(earliest))));
    }

    /// Returns the index of the first record with one of these numbers. Records before it belong to steps
    /// nearer to the start.
    fn begin_of(&self, numbers: &Range<i64>) -> usize {
        let is_ascending = self.program.first().is_none_or(|(first, _)| *first >= 0);
        let is_before =
            |number: i64| if is_ascending { number < numbers.start } else { number >= numbers.end };
        self.program.partition_point(|(number, _)| is_before(*number))
    }

    fn of(&self, track: Track) -> &Vec<(i64, Kept<B>)> {
        match track {
            Track::Program => &self.program,
            Track::Rules => &self.rules,
        }
    }

    /// Returns the records of a track, the latest last.
    pub(crate) fn records(&self, track: Track) -> &[(i64, Kept<B>)] {
        self.of(track)
    }

    fn of_mut(&mut self, track: Track) -> &mut Vec<(i64, Kept<B>)> {
        match track {
            Track::Program => &mut self.program,
            Track::Rules => &mut self.rules,
        }
    }
}

impl<B: Copy> Residues<B> {
    pub(crate) fn reserve_memory(&mut self, interval: Interval, records: usize) -> Result<(), Cause> {
        // Each record of an earlier run is replaced by one record when it is restored.
        let records = records + self.inherited(interval).len();
        let list = self.of_mut(interval.track);
        allocation::more(list, records).map_err(|_| Cause::NoMemory(AllocationPurpose::History))
    }

    pub(crate) fn record(&mut self, interval: Interval, cell: Kept<B>) {
        let list = self.of_mut(interval.track);
        debug_assert!(list.len() < list.capacity(), "a step makes more records than it said");
        list.push((interval.number, cell));
    }

    pub(crate) fn latest(&self, interval: Interval) -> Option<Kept<B>> {
        let latest = self.of(interval.track).last();
        latest.filter(|(number, _)| *number == interval.number).map(|(_, cell)| *cell)
    }

    pub(crate) fn take(&mut self, interval: Interval) -> Option<Kept<B>> {
        let latest = self.latest(interval)?;
        self.of_mut(interval.track).pop();
        Some(latest)
    }

    pub(crate) fn tapes(&self) -> bool {
        self.tapes
    }

    pub(crate) fn inherited(&self, interval: Interval) -> &[(i64, Kept<B>)] {
        let Some(past) = self.past.as_ref().filter(|_| interval.track == Track::Program) else { return &[] };
        let number = interval.number + past.offset;
        let rest = &past.records[past.records.partition_point(|(recorded, _)| *recorded < number)..];
        let records = &rest[..rest.partition_point(|(recorded, _)| *recorded == number)];
        // A step that changed an adjoint with gradient mode off isn't restored from its record, but executed again,
        // because the adjoint may differ now.
        let concerns_adjoints = |kept: &Kept<B>| kept.slot == KeptSlot::Adjoint && !kept.gradient;
        if records.iter().any(|(_, kept)| concerns_adjoints(kept)) { &[] } else { records }
    }
}

/// An optional history. The check at run time whether there is a history is cheap compared with the arithmetic.
impl<B: Copy> History<B> for Option<&mut Residues<B>> {
    const ACTIVE: bool = true;

    fn nothing() -> Self {
        None
    }

    fn reserve_memory(&mut self, interval: Interval, records: usize) -> Result<(), Cause> {
        self.as_mut().map_or(Ok(()), |residues| residues.reserve_memory(interval, records))
    }

    fn record(&mut self, interval: Interval, cell: Kept<B>) {
        if let Some(residues) = self {
            residues.record(interval, cell);
        }
    }

    fn latest(&self, interval: Interval) -> Option<Kept<B>> {
        self.as_ref().and_then(|residues| residues.latest(interval))
    }

    fn take(&mut self, interval: Interval) -> Option<Kept<B>> {
        self.as_mut().and_then(|residues| residues.take(interval))
    }

    fn tapes(&self) -> bool {
        self.as_ref().is_some_and(|residues| residues.tapes())
    }

    fn inherited(&self, interval: Interval) -> &[(i64, Kept<B>)] {
        self.as_ref().map_or(&[], |residues| residues.inherited(interval))
    }
}
