//! What cells hold where lanes begin, and which of them stay in memory: those that computed addresses reach, or that are changed before the way's
//! end. All others are values. Knows no text.

use std::collections::{BTreeMap, HashSet};

use reviver_compile::bounded::BoundedCalls;
use reviver_compile::form::{SsaEnd, SsaForm};
use reviver_compile::op::{OpKind, Space, SsaOp};
use reviver_compile::passes::range_where_it_counts;
use reviver_compile::range::IntRange;
use reviver_compile::written::TextPlan;
use reviver_vm::{Program, State};

/// A cell, by its space and address.
pub(crate) type SpacedCell = (Space, u32);

/// What is in a cell where lanes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartWord {
    /// What each lane is given as its word of this number.
    Given(u32),
    /// The same bits in each lane.
    Same(u64),
}

/// What all cells hold where lanes begin.
#[derive(Debug)]
pub(crate) struct StartCells<'s> {
    pub state: &'s State,
    /// By cell the number of the word.
    pub given: BTreeMap<SpacedCell, u32>,
}

impl StartCells<'_> {
    pub fn word(&self, (space, address): SpacedCell) -> StartWord {
        if let Some(&word) = self.given.get(&(space, address)) {
            return StartWord::Given(word);
        }
        let at = address as usize;
        // What lies behind the cells of the program is 0.
        StartWord::Same(match space {
            Space::Ints => self.state.ints.get(at).map_or(0, |&value| value as u64),
            Space::Reals => self.state.reals.get(at).copied().unwrap_or(0),
            Space::Adjoints => {
                let adjoints = self.state.adjoints.as_ref();
                adjoints.and_then(|adjoints| adjoints.cells.get(at)).copied().unwrap_or(0)
            }
            Space::References => 0,
        })
    }
}

/// Cells that follow each other in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryRun {
    pub space: Space,
    /// From the first cell to behind the last.
    pub first: u32,
    pub end: u32,
    /// The word of a lane in which the first one lies.
    pub word: u32,
}

impl MemoryRun {
    pub fn cells(&self) -> u32 {
        self.end - self.first
    }
}

/// How many cells of each space a lane may have, whatever calls are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellCounts {
    pub ints: u32,
    pub reals: u32,
    pub references: u32,
}

impl CellCounts {
    /// Those of a program, and of calls on either of a lane's ways.
    pub fn of(program: &Program, calls: &[BoundedCalls]) -> CellCounts {
        let (ints, reals) = program.flow().layout().static_cells();
        let own = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let most = |of: fn(&BoundedCalls) -> u32| calls.iter().map(of).max().unwrap_or(0);
        CellCounts {
            ints: own(ints).saturating_add(most(|calls| calls.ints)),
            reals: own(reals).saturating_add(most(|calls| calls.reals)),
            references: most(|calls| calls.references),
        }
    }

    /// The cells of a space that an address may be.
    fn clipped(self, space: Space, range: IntRange) -> Option<(u32, u32)> {
        let cells = match space {
            Space::Ints => self.ints,
            Space::Reals | Space::Adjoints => self.reals,
            Space::References => self.references,
        };
        let first = range.low.clamp(0, cells.into());
        let end = range.high.saturating_add(1).clamp(0, cells.into());
        let (first, end) = (u32::try_from(first).ok()?, u32::try_from(end).ok()?);
        (first < end).then_some((first, end))
    }
}

/// The cells that stay in memory: words of each lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneMemory {
    /// How many cells there are, in memory or not.
    pub counts: CellCounts,
    /// In order.
    pub runs: Vec<MemoryRun>,
    /// How many words there are.
    pub words: u64,
}

impl LaneMemory {
    /// Those of the forms that lanes go through.
    pub fn of(forms: &[Option<&SsaForm>], counts: CellCounts) -> LaneMemory {
        let mut ranges: Vec<_> = forms.iter().flatten().flat_map(|form| reached(form, counts)).collect();
        ranges.sort_unstable();
        let mut memory = LaneMemory { counts, ..LaneMemory::default() };
        for (space, first, end) in ranges {
            match memory.runs.last_mut().filter(|run| run.space == space && first <= run.end) {
                Some(run) => run.end = run.end.max(end),
                None => memory.runs.push(MemoryRun { space, first, end, word: 0 }),
            }
        }
        for run in &mut memory.runs {
            run.word = u32::try_from(memory.words).unwrap_or(u32::MAX);
            memory.words += u64::from(run.cells());
        }
        memory
    }

    /// The word of a cell, if it is in memory.
    pub fn word(&self, (space, address): SpacedCell) -> Option<u32> {
        let run =
            self.runs.iter().find(|run| run.space == space && (run.first..run.end).contains(&address))?;
        Some(run.word + (address - run.first))
    }

    /// What is in memory of some cells that follow each other.
    pub fn parts(&self, space: Space, first: u32, end: u32) -> Vec<MemoryRun> {
        let own = self.runs.iter().filter(|run| run.space == space && run.first < end && first < run.end);
        let clipped = own.map(|run| {
            let (from, to) = (run.first.max(first), run.end.min(end));
            MemoryRun { first: from, end: to, word: run.word + (from - run.first), ..*run }
        });
        clipped.collect()
    }

    /// The cells that an address may lie in, of which only this is known.
    pub fn within(&self, space: Space, range: IntRange) -> Option<MemoryRun> {
        let (first, end) = self.counts.clipped(space, range)?;
        let run = self.runs.iter().find(|run| run.space == space && run.first <= first && end <= run.end)?;
        Some(MemoryRun { first, end, word: run.word + (first - run.first), ..*run })
    }
}

/// The address that a value is, if it is known.
pub(crate) fn literal(form: &SsaForm, op: &SsaOp) -> Option<u32> {
    match form.op(*op.operands.first()?)?.kind {
        OpKind::Int(address) => u32::try_from(address).ok(),
        _ => None,
    }
}

/// Cells that are loaded or stored otherwise than at the beginning and the end of a form.
fn reached(form: &SsaForm, counts: CellCounts) -> HashSet<(Space, u32, u32)> {
    let mut found = HashSet::new();
    for &number in &TextPlan::of(form).order {
        let Some(block) = form.blocks.get(number as usize) else { continue };
        let is_last = matches!(block.end, SsaEnd::Exit { .. });
        for op in block.ops.iter().filter_map(|&value| form.op(value)) {
            let (OpKind::Load(space) | OpKind::Store(space)) = op.kind else { continue };
            match (literal(form, op), op.operands.first()) {
                (Some(address), _) => {
                    if matches!(op.kind, OpKind::Store(_)) && !is_last {
                        found.insert((space, address, address + 1));
                    }
                }
                (None, Some(&address)) => {
                    let range = range_where_it_counts(form, address);
                    found.extend(counts.clipped(space, range).map(|(first, end)| (space, first, end)));
                }
                (None, None) => {}
            }
        }
    }
    found
}
