//! Initial content of cells, and the choice of cells that have a word in a lane's memory. A cell has a word if a
//! computed address may refer to the cell, or if code stores the cell before the last block of the run. All other cells
//! are SSA values.
//!
//! Cells that no store changes need no word, even if computed addresses refer to them. A load that may refer to only a
//! few of these cells selects among their SSA values. Other loads of these cells read inputs and constants. Memory
//! words that no computed address reaches become variables of the shader, if they are only a few. This module is
//! independent of shader text.

use std::collections::{BTreeMap, BTreeSet};

use reviver_compile::bounded::BoundedCalls;
use reviver_compile::emit_plan::EmitPlan;
use reviver_compile::function::{SsaEnd, SsaFunction};
use reviver_compile::op::{OpKind, Space, SsaOp, SsaValue};
use reviver_compile::passes::range_at_uses;
use reviver_compile::range::IntRange;
use reviver_compile::rows::AdjointRows;
use reviver_isa::instruction::Class;
use reviver_vm::{Program, State};

/// A cell: its space, and its address in that space.
pub(crate) type SpacedCell = (Space, u32);

/// The initial content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartWord {
    /// The content is the lane's input word with this number.
    Input(u32),
    /// The content has these bits in each lane.
    Same(u64),
}

/// The initial content of all cells. Inputs and seeds differ from `state`; all other cells have their content in
/// `state`.
#[derive(Debug)]
pub(crate) struct StartCells<'s> {
    pub state: &'s State,
    /// The number of the input word of each input cell, counted from 0.
    pub inputs: BTreeMap<SpacedCell, u32>,
    /// The seeds of a gradient: the address and the bits of each adjoint that may differ from 0 at the turning point.
    pub seeds: BTreeMap<u32, u64>,
    /// The number of coefficients of each real. Coefficient k of real c has the address c·lanes + k.
    pub lanes: u32,
    /// The number of the input word of each real's component of the direction. All other components are 0.
    pub direction: BTreeMap<u32, u32>,
}

impl StartCells<'_> {
    /// Returns the content of the cell at an address of the lane's memory.
    pub fn word(&self, (space, address): SpacedCell) -> StartWord {
        if self.lanes == 1 || space.class() == Class::Int {
            return self.coefficient_0((space, address));
        }
        let (cell, order) = (address / self.lanes, address % self.lanes);
        match (order, space) {
            (0, _) => self.coefficient_0((space, cell)),
            (1, Space::Reals | Space::StartReals) => {
                self.direction.get(&cell).map_or(StartWord::Same(0), |&word| StartWord::Input(word))
            }
            _ => StartWord::Same(0),
        }
    }

    fn coefficient_0(&self, (space, address): SpacedCell) -> StartWord {
        if let Some(&word) = self.inputs.get(&(space, address)) {
            return StartWord::Input(word);
        }
        let at = address as usize;
        // Cells that the state doesn't have, such as those of calls, are 0.
        StartWord::Same(match space {
            Space::Ints | Space::StartInts => self.state.ints.get(at).map_or(0, |&value| value as u64),
            Space::Reals | Space::StartReals => self.state.reals.get(at).copied().unwrap_or(0),
            Space::Adjoints => {
                let seed = self.seeds.get(&address);
                let adjoints = self.state.adjoints.as_ref();
                seed.or_else(|| adjoints?.cells.get(at)).copied().unwrap_or(0)
            }
            Space::References | Space::Results => 0,
        })
    }
}

/// Consecutive cells that have words in a lane's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryRun {
    pub space: Space,
    /// The range of addresses: `first` inclusive, `end` exclusive.
    pub first: u32,
    pub end: u32,
    /// The number of the memory word that holds the first cell.
    pub word: u32,
}

impl MemoryRun {
    pub fn cells(&self) -> u32 {
        self.end - self.first
    }
}

/// Upper bound on the number of cells of each space in a lane, including the cells of open calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellCounts {
    pub ints: u32,
    pub reals: u32,
    /// The number of adjoints in all output rows.
    pub adjoints: u32,
    pub references: u32,
}

impl CellCounts {
    /// Counts the cells of a program and of its calls that aren't inlined. Each real has `lanes` coefficients, and an
    /// adjoint in each row.
    pub fn of(program: &Program, calls: BoundedCalls, rows: Option<AdjointRows>, lanes: u32) -> CellCounts {
        let (ints, reals) = program.flow().layout().static_cells();
        let own = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let reals = own(reals).saturating_add(calls.reals).saturating_mul(lanes);
        CellCounts {
            ints: own(ints).saturating_add(calls.ints),
            reals,
            adjoints: reals.saturating_mul(rows.map_or(1, |rows| rows.count)),
            references: calls.references,
        }
    }

    /// Clips a range of addresses to the cells of a space. Returns the first address and the end (exclusive), or `None`
    /// if no address remains.
    pub fn clipped(self, space: Space, range: IntRange) -> Option<(u32, u32)> {
        let cells = match space {
            Space::Ints | Space::StartInts => self.ints,
            Space::Reals | Space::StartReals => self.reals,
            Space::Adjoints => self.adjoints,
            Space::References => self.references,
            Space::Results => 0,
        };
        let first = range.low.clamp(0, cells.into());
        let end = range.high.saturating_add(1).clamp(0, cells.into());
        let (first, end) = (u32::try_from(first).ok()?, u32::try_from(end).ok()?);
        (first < end).then_some((first, end))
    }
}

/// The cells that have words in each lane's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneMemory {
    /// The number of cells in each space, with or without a word.
    pub counts: CellCounts,
    /// Runs of cells, ordered by space and address.
    pub runs: Vec<MemoryRun>,
    /// The number of words in all runs.
    pub words: u64,
    /// Words that no computed address reaches; empty if there are more than [`MOST_VARIABLES`]. A shader holds these
    /// words in variables, and stores them in memory only while a lane is suspended.
    pub variables: BTreeSet<u32>,
}

impl LaneMemory {
    /// Chooses the cells that need a word, from the accesses of the SSA function that lanes execute.
    pub fn of(function: &SsaFunction, counts: CellCounts) -> LaneMemory {
        let mut memory = LaneMemory { counts, ..LaneMemory::default() };
        let accesses = in_memory(accesses(function, counts));
        for &CellAccess { space, first, end, .. } in &accesses {
            match memory.runs.last_mut().filter(|run| run.space == space && first <= run.end) {
                Some(run) => run.end = run.end.max(end),
                None => memory.runs.push(MemoryRun { space, first, end, word: 0 }),
            }
        }
        for run in &mut memory.runs {
            run.word = u32::try_from(memory.words).unwrap_or(u32::MAX);
            memory.words += u64::from(run.cells());
        }
        memory.variables = memory.unreached(&accesses).take(MOST_VARIABLES + 1).collect();
        if memory.variables.len() > MOST_VARIABLES {
            memory.variables.clear();
        }
        memory
    }

    /// Returns the words that no computed address reaches, in ascending order.
    fn unreached(&self, accesses: &[CellAccess]) -> impl Iterator<Item = u32> {
        let computed = accesses.iter().filter(|access| access.of != AccessKind::KnownStore);
        let parts = computed.flat_map(|access| self.parts(access.space, access.first, access.end));
        let end_of = |part: &MemoryRun| part.word.saturating_add(part.cells());
        let mut reached: Vec<(u32, u32)> = parts.map(|part| (part.word, end_of(&part))).collect();
        let words = u32::try_from(self.words).unwrap_or(u32::MAX);
        reached.push((words, words));
        reached.sort_unstable();
        let mut begin = 0;
        reached.into_iter().flat_map(move |(first, end)| {
            let unreached = begin..first;
            begin = begin.max(end);
            unreached
        })
    }

    /// Returns the word of a cell; `None` if the cell has no word.
    pub fn word(&self, (space, address): SpacedCell) -> Option<u32> {
        let run =
            self.runs.iter().find(|run| run.space == space && (run.first..run.end).contains(&address))?;
        Some(run.word + (address - run.first))
    }

    /// Returns the parts of a range of cells that have words.
    pub fn parts(&self, space: Space, first: u32, end: u32) -> Vec<MemoryRun> {
        let own = self.runs.iter().filter(|run| run.space == space && run.first < end && first < run.end);
        let clipped = own.map(|run| {
            let (from, to) = (run.first.max(first), run.end.min(end));
            MemoryRun { first: from, end: to, word: run.word + (from - run.first), ..*run }
        });
        clipped.collect()
    }

    /// Returns the cells among which a load with an address in `range` selects. Returns `None` if there are more than
    /// [`MOST_CHOSEN`] such cells, or if one of them has a word.
    pub fn chosen(&self, space: Space, range: IntRange) -> Option<std::ops::Range<u32>> {
        let (first, end) = self.counts.clipped(space, range)?;
        let is_chosen = end - first <= MOST_CHOSEN && self.parts(space, first, end).is_empty();
        is_chosen.then_some(first..end)
    }

    /// Returns the cells to which an address in `range` may refer, with their words. Returns `None` unless all of these
    /// cells have words.
    pub fn within(&self, space: Space, range: IntRange) -> Option<MemoryRun> {
        let (first, end) = self.counts.clipped(space, range)?;
        let run = self.runs.iter().find(|run| run.space == space && run.first <= first && end <= run.end)?;
        Some(MemoryRun { first, end, word: run.word + (first - run.first), ..*run })
    }
}

/// Replaces a load at a computed address by a load of a start value, if no store changes a cell that the load may read.
/// Arrays that only such loads read need no memory.
pub(crate) fn read_start(function: &mut SsaFunction, counts: CellCounts) {
    // A set, because many loads may access the same few arrays.
    let all: BTreeSet<CellAccess> = accesses(function, counts).into_iter().collect();
    let (loads, stores): (Vec<_>, Vec<_>) = all.into_iter().partition(|access| access.of == AccessKind::Load);
    let is_changed = |load: &CellAccess| stores.iter().any(|store| store.meets(load));
    let unchanged: BTreeSet<(Space, u32, u32)> = loads
        .iter()
        .filter(|load| !is_changed(load))
        .map(|load| (load.space, load.first, load.end))
        .collect();
    let values =
        function.blocks.iter().flat_map(|block| block.ops.iter().copied()).collect::<Vec<SsaValue>>();
    for value in values {
        let Some(op) = function.op(value) else { continue };
        let OpKind::Load(space) = op.kind else { continue };
        let (None, Some(&address)) = (literal(function, op), op.operands.first()) else { continue };
        let cells = counts.clipped(space, range_at_uses(function, address));
        if cells.is_some_and(|(first, end)| unchanged.contains(&(space, first, end))) {
            function.read_start(value);
        }
    }
}

/// Returns the space whose cells have the values of a start space at the start of a lane. Returns other spaces
/// unchanged.
pub(crate) fn own_space(space: Space) -> Space {
    match space {
        Space::StartInts => Space::Ints,
        Space::StartReals => Space::Reals,
        own => own,
    }
}

/// Returns the address of a load or store; `None` if the address is computed.
pub(crate) fn literal(function: &SsaFunction, op: &SsaOp) -> Option<u32> {
    match function.op(*op.operands.first()?)?.kind {
        OpKind::Int(address) => u32::try_from(address).ok(),
        _ => None,
    }
}

/// Maximum number of memory words that are variables of the shader. The bound exists because each variable adds lines
/// to the text at every place where all words are initialized or saved.
const MOST_VARIABLES: usize = 128;
/// Maximum number of cells that a load selects among by comparisons. For more cells, a load from memory is faster.
const MOST_CHOSEN: u32 = 8;

/// The cells that an operation may load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CellAccess {
    space: Space,
    first: u32,
    end: u32,
    of: AccessKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AccessKind {
    /// A load at a computed address.
    Load,
    /// A store at a computed address.
    Store,
    /// A store at a known address before the end of the run.
    KnownStore,
    /// A store at a known address in the last block of the run.
    LastStore,
}

impl CellAccess {
    fn meets(&self, other: &CellAccess) -> bool {
        self.space == other.space && self.first < other.end && other.first < self.end
    }

    /// Returns true if this access is a load that selects among few cells, so that it doesn't require words for them.
    fn may_choose(&self) -> bool {
        self.of == AccessKind::Load && self.end - self.first <= MOST_CHOSEN
    }
}

/// Returns the accesses whose cells need words, in ascending order. Omits stores in the last block. Also omits a load
/// that may select among few cells, unless another access needs a word for one of these cells.
fn in_memory(accesses: Vec<CellAccess>) -> Vec<CellAccess> {
    let (mut choosing, mut others): (Vec<_>, Vec<_>) = accesses.into_iter().partition(CellAccess::may_choose);
    loop {
        let (met, left): (Vec<_>, Vec<_>) =
            choosing.into_iter().partition(|access| others.iter().any(|other| other.meets(access)));
        choosing = left;
        if met.is_empty() {
            break;
        }
        others.extend(met);
    }
    others.retain(|access| access.of != AccessKind::LastStore);
    others.sort_unstable();
    others.dedup();
    others
}

/// Collects all stores, and the loads at computed addresses.
fn accesses(function: &SsaFunction, counts: CellCounts) -> Vec<CellAccess> {
    let mut found = Vec::new();
    for &number in &EmitPlan::of(function).order {
        let Some(block) = function.blocks.get(number as usize) else { continue };
        let is_last = matches!(block.end, SsaEnd::Exit { .. });
        for op in block.ops.iter().filter_map(|&value| function.op(value)) {
            let (OpKind::Load(space) | OpKind::Store(space)) = op.kind else { continue };
            // Start values are read from inputs and constants, and results are output words.
            if matches!(space, Space::StartInts | Space::StartReals | Space::Results) {
                continue;
            }
            let is_store = matches!(op.kind, OpKind::Store(_));
            match (literal(function, op), op.operands.first()) {
                (Some(first), _) if is_store => {
                    let of = if is_last { AccessKind::LastStore } else { AccessKind::KnownStore };
                    found.push(CellAccess { space, first, end: first + 1, of });
                }
                (None, Some(&address)) => {
                    let of = if is_store { AccessKind::Store } else { AccessKind::Load };
                    let range = range_at_uses(function, address);
                    let cells = counts.clipped(space, range);
                    found.extend(cells.map(|(first, end)| CellAccess { space, first, end, of }));
                }
                (Some(_) | None, _) => {}
            }
        }
    }
    found
}
