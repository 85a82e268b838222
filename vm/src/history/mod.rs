//! Histories: what is kept so that a lossy step can be undone bit for bit.
//!
//! Steps that lie away from step 0 in the direction of travel *record*; steps toward it *restore*.
//! So one stack serves forward runs and backward ones, and it is empty at step 0. Steps in rules of
//! procedures are numbered apart and have a stack of their own, because gradient mode alone makes them:
//! what a run recorded with the mode off is found by the way back with the mode on. Integer and
//! fixed-point programs without irreversible instructions never record anything.

pub(crate) mod journal;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::room::{self, OutOfMemory, Room};
use crate::state::lanes::Lanes;
use crate::state::{Counters, MODE, State};
use crate::trap::Cause;
use crate::travel::{Interval, Track};

/// The most records that an instruction on cells makes: of two targets the values, and of all that it
/// names the adjoints.
pub(crate) const RECORDS_OF_A_STEP: usize = 8;

/// The interface between the interpreter and a history.
pub trait History<B>: Sized {
    /// False where nothing is ever recorded: the interpreter then omits all asking.
    const ACTIVE: bool;

    /// A history that keeps nothing, of a type that the interpreter's loop is compiled for anyway.
    fn nothing() -> Self;

    /// Finds memory for so many records of a step over an interval, before the step changes anything.
    ///
    /// # Errors
    /// There is none.
    fn make_room(&mut self, interval: Interval, records: usize) -> Result<(), Cause>;

    /// Records what a cell held before the step over an interval changed it.
    fn record(&mut self, interval: Interval, cell: Kept<B>);

    /// The latest record of the interval's track if it belongs to this interval.
    fn latest(&self, interval: Interval) -> Option<Kept<B>>;

    /// Takes what [`History::latest`] gives.
    fn take(&mut self, interval: Interval) -> Option<Kept<B>>;

    /// Whether what a step changes is recorded also where its inverse finds it again.
    fn tapes(&self) -> bool {
        false
    }

    /// What an earlier run lost of values on a step over this interval, the latest last; see [`Past`].
    fn inherited(&self, _interval: Interval) -> &[(i64, Kept<B>)] {
        &[]
    }
}

/// The kinds of cells whose content can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KeptSlot {
    Int,
    Real,
    /// The adjoint of the real cell of this number.
    Adjoint,
    /// What waited while a task added up its share of the adjoint of the real cell of this number.
    Aside,
    /// The adjoint of the entry of a stack or tape that undoing the step puts back.
    Entry,
}

/// The old content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept<B = u64> {
    pub slot: KeptSlot,
    pub cell: u32,
    pub bits: B,
    /// Whether the step was made in gradient mode: its records then hold every adjoint that it changed.
    pub gradient: bool,
    pub cost: Cost,
}

/// What losing a cell's content was counted as; less than 0 where finding it again was what was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Bits erased on purpose.
    pub erased: i32,
    /// Bits of a float that was vacated within the tolerance.
    pub discarded: i32,
    /// Adjoints dropped: 0 or 1.
    pub drops: i32,
}

impl Cost {
    /// Counts it. Records can come from a file, so what they claim may be more than there is.
    pub fn charge(self, counters: &mut Counters) {
        let add = |count: &mut u64, cost: i32| *count = count.saturating_add_signed(cost.into());
        add(&mut counters.erased_bits, self.erased);
        add(&mut counters.discarded_bits, self.discarded);
        add(&mut counters.drops, self.drops);
    }

    /// Takes back what was counted.
    pub fn refund(self, counters: &mut Counters) {
        self.reversed().charge(counters);
    }

    /// What taking it back is counted as.
    fn reversed(self) -> Cost {
        let [erased, discarded, drops] = [self.erased, self.discarded, self.drops].map(i32::saturating_neg);
        Cost { erased, discarded, drops }
    }
}

/// The cells of a state, as instructions on cells change them.
pub(crate) struct Cells<'a, B> {
    pub ints: &'a mut [i64],
    pub reals: &'a mut [B],
    /// As many as there are reals, or none where nothing needs them.
    pub adjoints: &'a mut [B],
}

impl<B> Cells<'_, B> {
    /// The same cells, lent on.
    pub fn reborrow(&mut self) -> Cells<'_, B> {
        Cells { ints: self.ints, reals: self.reals, adjoints: self.adjoints }
    }
}

impl<B: Lanes> Kept<B> {
    /// What has to be recorded before this is restored, so that the step can be made again.
    pub(crate) fn replaced(&self, cells: &Cells<B>, gradient: bool) -> Kept<B> {
        let cell = self.cell as usize;
        let bits = match self.slot {
            KeptSlot::Int => cells.ints.get(cell).map(|&int| B::of_word(int as u64)),
            KeptSlot::Real => cells.reals.get(cell).copied(),
            KeptSlot::Adjoint | KeptSlot::Aside | KeptSlot::Entry => None,
        };
        Kept { bits: bits.unwrap_or_default(), gradient, cost: self.cost.reversed(), ..*self }
    }

    /// Puts the old content back and takes back what was counted.
    pub(crate) fn restore(&self, cells: &mut Cells<B>, counters: &mut Counters) {
        let (cell, bits) = (self.cell as usize, self.bits);
        match self.slot {
            // No step changes the mode bit, whatever a record that comes from a file says.
            KeptSlot::Int if cell == MODE => {}
            KeptSlot::Int => cells.ints.get_mut(cell).into_iter().for_each(|int| *int = bits.word() as i64),
            KeptSlot::Real => cells.reals.get_mut(cell).into_iter().for_each(|real| *real = bits),
            KeptSlot::Adjoint => cells.adjoints.get_mut(cell).into_iter().for_each(|adjoint| *adjoint = bits),
            // Taken by the move, or by the call, itself; a record that comes from elsewhere changes nothing.
            KeptSlot::Entry | KeptSlot::Aside => {}
        }
        self.cost.refund(counters);
    }
}

impl<B: Lanes> State<B> {
    /// The cells beside what is counted.
    pub(crate) fn cells(&mut self) -> (Cells<'_, B>, &mut Counters) {
        let State { ints, reals, adjoints, counters, .. } = self;
        let adjoints = adjoints.as_mut().map_or(&mut [][..], |adjoints| &mut adjoints.cells);
        (Cells { ints, reals, adjoints }, counters)
    }
}

/// Keeps nothing: going back is only ever the execution of inverses.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHistory;

impl<B> History<B> for NoHistory {
    const ACTIVE: bool = false;

    fn nothing() -> Self {
        NoHistory
    }

    fn make_room(&mut self, _interval: Interval, _records: usize) -> Result<(), Cause> {
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

/// Residues of float updates and vacancies, the old values of erased cells, and dropped adjoints. They may
/// take most of what memory there is: a copy can fail, so there is no `Clone`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Residues<B = u64> {
    /// Records of the program's own steps by the numbers of their intervals, the latest last.
    program: Vec<(i64, Kept<B>)>,
    /// Records of steps in rules.
    rules: Vec<(i64, Kept<B>)>,
    #[serde(skip)]
    past: Option<Past<B>>,
    /// Whether all that steps change is recorded, and not just what they lose.
    #[serde(skip)]
    tapes: bool,
}

/// What an earlier run lost on its way to a state. A run that begins with the same values and leads back
/// over that way finds here what it can't know by itself. Adjoints may be others, so only values are
/// taken. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Past<B = u64> {
    /// By number; those of one interval in the order in which they were recorded.
    records: Arc<Vec<(i64, Kept<B>)>>,
    /// What the number of an interval was in the earlier run, less what it is in the later one.
    offset: i64,
}

impl<B> Past<B> {
    /// What `earlier` has recorded. At the later run's start [`State::own_steps`] was greater by `offset`
    /// than it is now.
    pub fn new(earlier: Residues<B>, offset: i64) -> Past<B> {
        let mut records = earlier.program;
        // A run that led backward has recorded the greatest number first. What one step has recorded stays
        // in its order.
        if !records.is_sorted_by_key(|&(number, _)| number) {
            records.reverse();
            records.chunk_by_mut(|(a, _), (b, _)| a == b).for_each(<[_]>::reverse);
        }
        Past { records: Arc::new(records), offset }
    }

    /// Memory that it takes.
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
    /// What the steps between some numbers have recorded.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn part(&self, numbers: Range<i64>) -> Result<Residues<B>, OutOfMemory> {
        let start = self.begin_of(&numbers);
        let rest = self.program.get(start..).unwrap_or_default();
        let end = rest.partition_point(|(number, _)| numbers.contains(number));
        let program = room::copied(rest.get(..end).unwrap_or_default())?;
        Ok(Residues { program, ..self.anew() })
    }

    /// Adds what others have recorded, whose numbers are greater by `offset` here.
    pub(crate) fn append(&mut self, others: &Residues<B>, offset: i64) {
        self.program.extend(others.program.iter().map(|&(number, kept)| (number + offset, kept)));
    }

    /// A copy.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn try_clone(&self) -> Result<Residues<B>, OutOfMemory> {
        let (program, rules) = (room::copied(&self.program)?, room::copied(&self.rules)?);
        Ok(Residues { program, rules, past: self.past.clone(), tapes: self.tapes })
    }
}

impl<B> Residues<B> {
    /// Memory that the records take.
    pub fn bytes(&self) -> usize {
        self.len() * size_of::<(i64, Kept<B>)>()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.program.len() + self.rules.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From now on, steps that lead away from the start find lost values there.
    pub fn inherit(&mut self, past: Past<B>) {
        self.past = Some(past);
    }

    /// One that records all that steps change.
    pub fn taping() -> Residues<B> {
        Residues { tapes: true, ..Residues::default() }
    }

    /// From now on all that steps change is recorded.
    pub(crate) fn tape(&mut self) {
        self.tapes = true;
    }

    /// Whether each step's records are found by its number alone, and say only what the step lost.
    pub(crate) fn can_be_parted(&self) -> bool {
        self.past.is_none() && self.rules.is_empty()
    }

    /// One that records the same of steps, and has recorded nothing.
    pub(crate) fn anew(&self) -> Residues<B> {
        Residues { program: Vec::new(), rules: Vec::new(), past: None, tapes: self.tapes }
    }

    /// Finds memory for so many more records.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn reserve(&mut self, records: usize) -> Result<(), OutOfMemory> {
        room::more(&mut self.program, records)
    }

    /// Forgets what the steps recorded between two numbers of which the first is that of the latest step.
    pub(crate) fn forget_between(&mut self, latest: i64, earliest: i64) {
        self.program.truncate(self.begin_of(&(latest.min(earliest)..latest.max(earliest))));
    }

    /// Where the records begin of steps with these numbers; those before them are of steps that lie nearer to the start.
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

    /// The records of a track, the latest last.
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
    pub(crate) fn make_room(&mut self, interval: Interval, records: usize) -> Result<(), Cause> {
        // What an earlier run has recorded is replaced one by one.
        let records = records + self.inherited(interval).len();
        let list = self.of_mut(interval.track);
        room::more(list, records).map_err(|_| Cause::NoMemory(Room::History))
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
        // A plain step that changed an adjoint is made anew: the adjoint may be another now.
        let concerns_adjoints = |kept: &Kept<B>| kept.slot == KeptSlot::Adjoint && !kept.gradient;
        if records.iter().any(|(_, kept)| concerns_adjoints(kept)) { &[] } else { records }
    }
}

/// A history that may be missing, where asking costs little compared with the arithmetic.
impl<B: Copy> History<B> for Option<&mut Residues<B>> {
    const ACTIVE: bool = true;

    fn nothing() -> Self {
        None
    }

    fn make_room(&mut self, interval: Interval, records: usize) -> Result<(), Cause> {
        self.as_mut().map_or(Ok(()), |residues| residues.make_room(interval, records))
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
