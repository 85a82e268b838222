//! Frames of the calls that compiled code opens. Before a run, this module reserves space for the frames in a machine's
//! state; at an exit, it rebuilds the machine's call stack. A call that is open at entry becomes a call record if the
//! code contains its call site, so that compiled code can return from the call.

use std::ops::Range;

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_isa::verify::MAX_CELLS;
use reviver_memory::{OutOfMemory, ask};
use reviver_vm::Program;
use reviver_vm::state::{CallRecord, Frame, Part, Reference, State};

use crate::function::{
    Demands, FIRST_RECORD, OpenedCall, OutOfLineCall, REFERENCE_WORDS, SsaExit, TOP_WORD, ZerosAtEntry,
    is_negative_zero,
};

/// Returns the number of out-of-line calls that may be open at once: `wanted`, or fewer if the program's limits demand
/// it. Returns `None` if the limits leave no space for the inlined calls.
pub(crate) fn levels(program: &Program, state: &State, demands: Demands, wanted: u32) -> Option<u32> {
    let calls = u64::from(program.module().limits.depth).checked_sub(state.calls.len() as u64)?;
    let budgets = [
        (calls, demands.depth, demands.level.depth),
        (MAX_CELLS.checked_sub(state.ints.len() as u64)?, demands.frame_ints, demands.level.ints),
        (MAX_CELLS.checked_sub(state.reals.len() as u64)?, demands.frame_reals, demands.level.reals),
    ];
    let mut levels = u64::from(wanted);
    for (budget, in_place, level) in budgets {
        let budget = budget.checked_sub(in_place.into())?;
        levels = levels.min(budget.checked_div(level.into()).unwrap_or(levels));
    }
    Some(levels as u32)
}

/// Upper bound on the cells of main's frame that are checked for zeros. Specialization for zeros pays only for small
/// frames.
const MOST_CHECKED_CELLS: usize = 1 << 10;

/// Returns true if main's frame is small enough to be checked for zeros.
pub(crate) fn are_few(program: &Program) -> bool {
    let layout = program.flow().layout();
    [Class::Int, Class::Real].iter().all(|&class| layout.main_frame(class).len() <= MOST_CHECKED_CELLS)
}

/// Returns the known zeros of a state at entry. Main's frame is checked only if no call is open.
pub(crate) fn zeros(program: &Program, state: &State) -> ZerosAtEntry {
    let no_adjoint_is_negative = no_adjoint_is_negative(program, state);
    if !state.calls.is_empty() || !are_few(program) {
        return ZerosAtEntry { no_adjoint_is_negative, ..ZerosAtEntry::default() };
    }
    let (cells, adjoints) = (cells_are_zero(program, state), adjoints_are_zero(program, state));
    ZerosAtEntry { no_adjoint_is_negative, cells, adjoints }
}

/// Returns true if a state has at least the zeros that `wanted` lists. Checks no other cells.
pub(crate) fn are_known(program: &Program, state: &State, wanted: ZerosAtEntry) -> bool {
    let looks_at_frame = wanted.cells || wanted.adjoints;
    (!looks_at_frame || state.calls.is_empty() && are_few(program))
        && (!wanted.cells || cells_are_zero(program, state))
        && (!wanted.adjoints || adjoints_are_zero(program, state))
        && (!wanted.no_adjoint_is_negative || no_adjoint_is_negative(program, state))
}

fn cells_are_zero(program: &Program, state: &State) -> bool {
    let ints = main_frame(program, Class::Int, &state.ints);
    let reals = main_frame(program, Class::Real, &state.reals);
    // All cells are combined by `or` before the test, which is faster than a test of each cell.
    let ints_are_zero = ints.is_some_and(|own| own.iter().fold(0, |all, value| all | value) == 0);
    ints_are_zero && reals.is_some_and(|own| joined(own) == 0)
}

fn adjoints_are_zero(program: &Program, state: &State) -> bool {
    let own = carried(state).and_then(|adjoints| main_frame(program, Class::Real, adjoints));
    own.is_some_and(|own| joined(own) == 0)
}

fn no_adjoint_is_negative(program: &Program, state: &State) -> bool {
    let system = program.module().real;
    let Some(adjoints) = carried(state) else { return false };
    // Without any sign bit there is no -0.
    joined(adjoints) & (-0.0_f64).to_bits() == 0 && system == RealSystem::F64
        || !adjoints.iter().any(|&bits| is_negative_zero(system, bits))
}

/// Returns the adjoints if the state is in gradient mode.
fn carried(state: &State) -> Option<&[u64]> {
    state.adjoints.as_ref().filter(|_| state.mode()).map(|adjoints| adjoints.cells.as_slice())
}

/// Returns the part of a class's cells that is main's frame.
fn main_frame<'c, T>(program: &Program, class: Class, cells: &'c [T]) -> Option<&'c [T]> {
    let Range { start, end } = program.flow().layout().main_frame(class);
    cells.get(start as usize..end as usize)
}

/// Returns the bitwise or of some words.
fn joined(words: &[u64]) -> u64 {
    words.iter().fold(0, |all, bits| all | bits)
}

/// Out-of-line calls of compiled code, with the memory demands of the code and the limits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionFrames<'f> {
    pub calls: &'f [OutOfLineCall],
    pub demands: Demands,
    /// Upper bound on call records that are written at entry; the bound is at least 1.
    pub entry_records: u32,
    /// Number of out-of-line calls that the code may have open at once.
    pub levels: u32,
    /// Depth limit of the program.
    pub most_calls: u32,
}

/// Upper bound on the cells of each class that a run reserves for calls that open after recorded calls have returned.
const MOST_LEFT_CELLS: u64 = 1 << 14;

impl FunctionFrames<'_> {
    /// Returns upper bounds on the call stack and on the cells while the code runs; `None` if the program's limits
    /// don't allow these sizes. The bounds take into account that the code may return from all recorded calls except
    /// the outermost one, and then open calls that need more cells.
    fn most(self, lowest: LowestFrame, entry_records: u32) -> Option<OpenSizes> {
        let Demands { frame_ints, frame_reals, depth, level, .. } = self.demands;
        let left = u64::from(entry_records.saturating_sub(1));
        let functions = u64::from(self.levels) + left;
        let most =
            |here: u64, in_place: u32, level: u32| here + u64::from(in_place) + functions * u64::from(level);
        let calls = most(lowest.calls as u64, depth, level.depth);
        let ints = most(lowest.ints.into(), frame_ints, level.ints);
        let reals = most(lowest.reals.into(), frame_reals, level.reals);
        let is_little = left * u64::from(level.ints.max(level.reals)) <= MOST_LEFT_CELLS;
        let fits = is_little && calls <= u64::from(self.most_calls) && ints.max(reals) <= MAX_CELLS;
        fits.then_some(OpenSizes { calls: calls as usize, ints: ints as usize, reals: reals as usize })
    }
}

/// Numbers of open calls and of cells of each class.
#[derive(Clone, Copy, Debug)]
struct OpenSizes {
    calls: usize,
    ints: usize,
    reals: usize,
}

/// Records of a state's open calls while compiled code runs, with the space that is reserved for further calls.
#[derive(Debug)]
pub(crate) struct OpenFrames<'f> {
    of: FunctionFrames<'f>,
    /// State after a return from all recorded calls except the outermost one.
    lowest: LowestFrame,
    /// End of the records at entry.
    pub top: u32,
    pub end: u32,
    /// Number of records at entry.
    pub entry_records: u32,
}

/// Size of the call stack, and end of the innermost frame, after some of a state's innermost calls have returned.
#[derive(Clone, Copy, Debug)]
struct LowestFrame {
    calls: usize,
    frame: Frame,
    inverted: bool,
    references: usize,
    /// Address of the first integer cell after the frame.
    ints: u32,
    /// Address of the first real cell after the frame.
    reals: u32,
}

impl LowestFrame {
    fn of(state: &State) -> LowestFrame {
        LowestFrame {
            calls: state.calls.len(),
            frame: state.frame,
            inverted: state.inverted,
            references: state.references.len(),
            ints: state.ints.len() as u32,
            reals: state.reals.len() as u32,
        }
    }

    /// Returns the call stack and frame after a return from the innermost `calls` calls.
    fn below(self, state: &State, calls: usize) -> Option<LowestFrame> {
        let first = self.calls.checked_sub(calls)?;
        let record = state.calls.get(first)?;
        let callee = state.calls.get(first + 1).filter(|_| calls > 1).map_or(self.frame, |next| next.frame);
        Some(LowestFrame {
            calls: first,
            frame: record.frame,
            inverted: record.inverted,
            references: callee.references as usize,
            ints: callee.ints,
            reals: callee.reals,
        })
    }
}

impl<'f> OpenFrames<'f> {
    /// Reserves space in a state for code that begins in this state, and writes the records of the state's open calls.
    /// Returns `None` if the program's limits leave no space.
    ///
    /// # Errors
    /// A memory request was refused.
    pub fn new(
        of: FunctionFrames<'f>,
        state: &mut State,
        words: &mut Vec<i64>,
    ) -> Result<Option<OpenFrames<'f>>, OutOfMemory> {
        let mut frames =
            OpenFrames { of, lowest: LowestFrame::of(state), top: FIRST_RECORD, end: 0, entry_records: 0 };
        let mut known = frames.known(state);
        let lowest = |known: &[KnownCall]| known.last().map_or(LowestFrame::of(state), |last| last.frame);
        let mut sizes = of.most(lowest(&known), known.len() as u32);
        // With fewer records, the code can return from fewer calls, and so open fewer other calls afterwards.
        while sizes.is_none() && known.len() > 1 {
            known.truncate(known.len() / 2);
            if let Some(last) = known.last_mut() {
                (last.number, last.calls) = (0, 1);
            }
            sizes = of.most(lowest(&known), known.len() as u32);
        }
        frames.lowest = lowest(&known);
        let record = of.demands.record;
        frames.entry_records = known.len() as u32;
        frames.top += record * frames.entry_records;
        frames.end = frames.top + record * of.levels;
        let wanted = (frames.end + of.demands.references) as usize;
        let missing = wanted.saturating_sub(words.len());
        ask::more(words, missing)?;
        if words.len() < wanted {
            words.resize(wanted, 0);
        }
        // Each record follows the record of its caller.
        if !known.is_empty() {
            let records = words[FIRST_RECORD as usize..].chunks_exact_mut(record.max(1) as usize);
            records.zip(known.iter().rev()).for_each(|(words, known)| known.write(state, words));
        }
        if let Some(sizes) = sizes {
            extend(state, sizes, words.len())?;
        }
        Ok(sizes.map(|_| frames))
    }

    /// Finds the open calls for which records are written, the innermost first.
    fn known(&self, state: &State) -> Vec<KnownCall> {
        let mut known = Vec::new();
        let (mut frame, mut function) = (self.lowest, 0);
        // Main has no caller.
        while frame.calls > 0 && self.of.demands.record > 0 && known.len() < self.of.entry_records as usize {
            let own = KnownCall { number: 0, calls: 1, frame };
            let found = (1..).zip(self.of.calls).find_map(|(number, call)| {
                let below = frame.below(state, call.opened.len())?;
                let is_open =
                    call.callee == function && below.calls > 0 && is_open(state, frame, below, call);
                is_open.then_some((KnownCall { number, calls: call.opened.len(), frame }, call.by, below))
            });
            let Some((call, by, below)) = found else {
                known.push(own);
                break;
            };
            known.push(call);
            (function, frame) = (by, below);
        }
        // The code can't return to the caller of the outermost recorded call, so the record's number becomes 0.
        if let Some(last) = known.last_mut() {
            (last.number, last.calls) = (0, 1);
        }
        known
    }

    /// Moves the state to an exit. Pushes the calls that are open at the exit on the state's call stack. Removes the
    /// cells that were added before the run and aren't in the frames of these calls. Returns the number of records at
    /// the exit.
    pub fn leave(&self, state: &mut State, exit: &SsaExit, words: &[i64]) -> u32 {
        let record = self.of.demands.record;
        let top = words.get(TOP_WORD as usize).filter(|_| record > 0).map_or(FIRST_RECORD, |&top| top as u32);
        let (records, passed) = words.split_at_checked(top as usize).unwrap_or_default();
        let lowest = self.lowest;
        state.calls.truncate(lowest.calls);
        state.references.truncate(lowest.references);
        (state.frame, state.inverted) = (lowest.frame, lowest.inverted);
        let mut next = [lowest.ints, lowest.reals];
        if record > 0 {
            let records = records.get(FIRST_RECORD as usize..).unwrap_or_default();
            records
                .chunks_exact(record as usize)
                .for_each(|words| self.open_recorded(state, words, &mut next));
        }
        open(state, &exit.calls, passed, &mut next);
        state.ints.truncate(next[0] as usize);
        state.reals.truncate(next[1] as usize);
        if let Some(adjoints) = &mut state.adjoints {
            adjoints.cells.truncate(next[1] as usize);
        }
        state.position = exit.position;
        (top - FIRST_RECORD).checked_div(record).unwrap_or(0)
    }

    /// Pushes the call of a record on the state's call stack, after the inlined calls that were open at the call site.
    fn open_recorded(&self, state: &mut State, record: &[i64], next: &mut [u32; 2]) {
        let Some((&number, words)) = record.split_first() else { return };
        let Some(call) = self.of.calls.get((number - 1) as usize) else { return };
        if let Some((own, in_place)) = call.opened.split_last() {
            let (passed, kept) =
                words.split_at_checked((REFERENCE_WORDS * own.references) as usize).unwrap_or_default();
            open(state, in_place, kept, next);
            open(state, std::slice::from_ref(own), passed, next);
        }
    }
}

/// Open call at entry that gets a record.
#[derive(Clone, Copy, Debug)]
struct KnownCall {
    /// Number of the call in the SSA function; 0 if the caller is interpreted.
    number: i64,
    /// Number of calls of the state that the record covers.
    calls: usize,
    /// Call stack and frame while the callee is the innermost call.
    frame: LowestFrame,
}

impl KnownCall {
    /// Writes the record into `words`.
    fn write(&self, state: &State, words: &mut [i64]) {
        let Some((number, others)) = words.split_first_mut() else { return };
        *number = self.number;
        let mut end = self.frame.references;
        let start = |call: usize| {
            let frame = state.calls.get(call).filter(|_| call < self.frame.calls);
            frame.map_or(self.frame.frame, |record| record.frame).references as usize
        };
        // The arguments of the call come first, and the arguments of the inlined calls around its site follow.
        let last = self.frame.calls;
        let first = last + 1 - self.calls;
        let own = state.references.get(start(last)..end).unwrap_or_default();
        end = start(last);
        let in_place = state.references.get(start(first)..end).unwrap_or_default();
        for (words, reference) in
            others.chunks_exact_mut(REFERENCE_WORDS as usize).zip(own.iter().chain(in_place))
        {
            words.copy_from_slice(&[reference.base, reference.length, reference.stride].map(i64::from));
        }
    }
}

/// Returns true if the state's calls between `below` and `frame` are the calls that `call` opens. Their call sites and
/// the distances between their frames must be the same.
fn is_open(state: &State, frame: LowestFrame, below: LowestFrame, call: &OutOfLineCall) -> bool {
    let records = state.calls.get(below.calls..frame.calls).unwrap_or_default();
    let are_same = records.len() == call.opened.len()
        && records
            .iter()
            .zip(&call.opened)
            .all(|(record, opened)| record.site == opened.site && record.part == Part::Whole);
    are_same
        && frame.frame.ints == below.frame.ints + call.int_offset
        && frame.frame.reals == below.frame.reals + call.real_offset
}

/// Pushes calls with adjacent frames on the state's call stack. `passed` has the words of their arguments, and `next`
/// the first free integer cell and real cell.
fn open(state: &mut State, calls: &[OpenedCall], passed: &[i64], next: &mut [u32; 2]) {
    let mut words = passed.chunks_exact(REFERENCE_WORDS as usize);
    for call in calls {
        state.calls.push(CallRecord {
            site: call.site,
            inverted: state.inverted,
            frame: state.frame,
            part: Part::Whole,
        });
        state.frame.references = state.references.len() as u32;
        [state.frame.ints, state.frame.reals] = *next;
        next[0] += call.frame_ints;
        next[1] += call.frame_reals;
        state.inverted ^= call.turns;
        let passed = words.by_ref().take(call.references as usize);
        state.references.extend(passed.filter_map(reference));
    }
}

/// Space in a state for inlined calls of code that begins in main and makes no out-of-line call.
#[derive(Debug)]
pub(crate) struct InlinedCalls {
    /// Addresses of the first integer cell and of the first real cell after the cells of main.
    next: [u32; 2],
}

impl InlinedCalls {
    /// Reserves the space. The caller has checked with [`levels`] that the program's limits allow it.
    ///
    /// # Errors
    /// A memory request was refused.
    pub fn new(
        demands: Demands,
        state: &mut State,
        words: &mut Vec<i64>,
    ) -> Result<InlinedCalls, OutOfMemory> {
        let next = [state.ints.len(), state.reals.len()];
        if demands.depth > 0 {
            let wanted = (FIRST_RECORD + demands.references) as usize;
            more(words, wanted.saturating_sub(words.len()))?;
            let [ints, reals] = next;
            let (ints, reals) = (ints + demands.frame_ints as usize, reals + demands.frame_reals as usize);
            let sizes = OpenSizes { calls: demands.depth as usize, ints, reals };
            extend(state, sizes, words.len())?;
        }
        Ok(InlinedCalls { next: next.map(|cells| cells as u32) })
    }

    /// Moves the state to an exit. Pushes the calls that are open at the exit on the state's call stack. Removes the
    /// cells that were added before the run and aren't in the frames of these calls.
    pub fn leave(self, state: &mut State, exit: &SsaExit, words: &[i64]) {
        let InlinedCalls { mut next } = self;
        open(state, &exit.calls, words.get(FIRST_RECORD as usize..).unwrap_or_default(), &mut next);
        let [ints, reals] = next.map(|cells| cells as usize);
        state.ints.truncate(ints);
        state.reals.truncate(reals);
        if let Some(adjoints) = &mut state.adjoints {
            adjoints.cells.truncate(reals);
        }
        state.position = exit.position;
    }
}

/// Extends the cells of a state and reserves space for its call stack.
fn extend(state: &mut State, sizes: OpenSizes, words: usize) -> Result<(), OutOfMemory> {
    // After this, opening calls at an exit requests no memory.
    let calls = sizes.calls.saturating_sub(state.calls.len());
    ask::more(&mut state.calls, calls)?;
    ask::more(&mut state.references, words / REFERENCE_WORDS as usize)?;
    let (ints, reals) = (state.ints.len(), state.reals.len());
    more(&mut state.ints, sizes.ints.saturating_sub(ints))?;
    more(&mut state.reals, sizes.reals.saturating_sub(reals))?;
    let more_adjoints = |cells: &mut Vec<u64>| more(cells, sizes.reals.saturating_sub(cells.len()));
    state.adjoints.as_mut().map_or(Ok(()), |adjoints| more_adjoints(&mut adjoints.cells))
}

fn more<T: Clone + Default>(cells: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    if count == 0 {
        return Ok(());
    }
    ask::more(cells, count)?;
    cells.resize(cells.len() + count, T::default());
    Ok(())
}

fn reference(words: &[i64]) -> Option<Reference> {
    let &[base, length, stride] = words else { return None };
    Some(Reference { base: base as u32, length: length as u32, stride: stride as u32 })
}
