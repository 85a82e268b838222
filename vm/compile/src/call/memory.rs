//! Decides for each cell of a call function whether it is an SSA value or in memory. A cell is in memory if a computed
//! address may reach it, or if a sweep stores it before the end of the sweep; all other cells are SSA values. If no
//! sweep changes a cell in memory, code reads the cell from the start state.

use std::collections::BTreeSet;
use std::ops::Range;

use reviver_isa::instruction::Class;
use reviver_vm::Program;

use crate::function::{SsaEnd, SsaFunction};
use crate::op::{OpKind, Space, SsaOp};
use crate::order::reached;
use crate::passes::range_at_uses;
use crate::range::IntRange;
use crate::rows::AdjointRows;

/// A cell, by its space and address.
pub(super) type SpacedCell = (Space, u32);

/// Range of adjacent cells of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MemoryRun {
    space: Space,
    cells: Range<u32>,
    is_changed: bool,
}

/// The location of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellHome {
    /// An SSA value: the cell isn't in memory.
    Value,
    /// Working memory, in the cell's space.
    Working,
    /// The memory of the start state, because no sweep changes the cell.
    Start,
}

/// The cells of a call function that are in memory.
#[derive(Debug)]
pub(super) struct MemoryCells {
    /// Ranges of cells in memory, which neither overlap nor touch each other.
    runs: Vec<MemoryRun>,
    /// Numbers of the program's own integers and reals: all cells that exist without open calls.
    own: [u32; 2],
    /// Ranges of cells that computed addresses reach, disjoint and in ascending order. If a computed address reaches
    /// the adjoint of a real, the ranges also include the real.
    computed: Vec<MemoryRun>,
}

impl MemoryCells {
    /// Decides which cells of a program's sweeps are in memory.
    pub fn of(
        sweeps: &[&SsaFunction],
        program: &Program,
        (rows, frames): (AdjointRows, Option<[u32; 2]>),
    ) -> MemoryCells {
        let own = own_cells(program);
        let (found, wide) = all_accesses(sweeps, own, (rows, frames));
        let in_memory = found.iter().filter(|access| access.kind != AccessKind::LastStore);
        let mut runs = joined(in_memory.map(|access| (access.space, access.cells.clone())).collect());
        for run in &mut runs {
            let meets = |access: &&MemoryAccess| {
                access.space == run.space
                    && access.cells.start < run.cells.end
                    && run.cells.start < access.cells.end
            };
            let is_stored = found.iter().filter(meets).any(|access| access.kind != AccessKind::Load);
            let is_own = match run.space {
                Space::Ints => run.cells.end <= own[0],
                Space::Reals => run.cells.end <= own[1],
                _ => false,
            };
            run.is_changed = is_stored || !is_own;
        }
        change_together(&mut runs, &wide);
        // If a changed real is in memory, its adjoint must also be in memory, because verification loads the adjoint at
        // the real's address.
        let changed = runs.iter().filter(|run| run.is_changed && run.space == Space::Reals);
        let of_row = |row: u32, cells: &Range<u32>| {
            // Verification reads the program's own cells only.
            let end = if rows.count > 1 { cells.end.min(rows.stride) } else { cells.end };
            rows.adjoint(row, cells.start.min(end))..rows.adjoint(row, end)
        };
        let beside = changed
            .flat_map(|run| (0..rows.count).map(move |row| (Space::Adjoints, of_row(row, &run.cells))));
        let adjoints = runs.iter().filter(|run| run.space == Space::Adjoints);
        let adjoints =
            joined(beside.chain(adjoints.map(|run| (Space::Adjoints, run.cells.clone()))).collect());
        runs.retain(|run| run.space != Space::Adjoints);
        runs.extend(adjoints.into_iter().map(|run| MemoryRun { is_changed: true, ..run }));
        MemoryCells { runs, own, computed: computed(&found, rows) }
    }

    /// Returns the location of a cell.
    pub fn home(&self, (space, cell): SpacedCell) -> CellHome {
        match self.runs.iter().find(|run| run.space == space && run.cells.contains(&cell)) {
            Some(run) if run.is_changed => CellHome::Working,
            Some(_) => CellHome::Start,
            None => CellHome::Value,
        }
    }

    /// Returns the location of the cells that a computed address may reach, given the range of the address.
    pub fn home_of(&self, space: Space, range: IntRange) -> CellHome {
        let meets = |run: &&MemoryRun| {
            run.space == space
                && i64::from(run.cells.start) <= range.high
                && range.low < i64::from(run.cells.end)
        };
        // All these ranges are changed, or none of them is.
        match self.runs.iter().find(meets) {
            Some(run) if !run.is_changed => CellHome::Start,
            Some(_) | None => CellHome::Working,
        }
    }

    /// Splits a range of cells into parts. A part's flag is true if computed addresses reach its cells, and false if
    /// only literal addresses reach them.
    pub fn parts(&self, space: Space, cells: Range<u32>) -> Vec<(Range<u32>, bool)> {
        let mut parts = Vec::new();
        let mut next = cells.start;
        for run in self.computed.iter().filter(|run| run.space == space) {
            let reached = run.cells.start.clamp(next, cells.end.max(next))
                ..run.cells.end.clamp(next, cells.end.max(next));
            if !reached.is_empty() {
                parts.push((next..reached.start, false));
                parts.push((reached.clone(), true));
                next = reached.end;
            }
        }
        parts.push((next..cells.end, false));
        parts.retain(|(cells, _)| !cells.is_empty());
        parts
    }

    /// Returns the number of the program's own cells of a class.
    pub fn own(&self, class: Class) -> u32 {
        match class {
            Class::Int => self.own[0],
            Class::Real => self.own[1],
        }
    }

    /// Returns the ranges of working memory: integers and reals.
    pub fn working(&self) -> impl Iterator<Item = (Class, Range<u32>)> + '_ {
        let changed = self.runs.iter().filter(|run| run.is_changed);
        changed.filter_map(|run| match run.space {
            Space::Ints => Some((Class::Int, run.cells.clone())),
            Space::Reals => Some((Class::Real, run.cells.clone())),
            _ => None,
        })
    }

    /// Returns the ranges of reals in working memory.
    pub fn working_reals(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.working().filter(|(class, _)| *class == Class::Real).map(|(_, cells)| cells)
    }

    /// Returns the ranges of adjoints in memory.
    pub fn adjoints(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.runs.iter().filter(|run| run.space == Space::Adjoints).map(|run| run.cells.clone())
    }
}

/// Returns the number of a program's own integers and reals.
fn own_cells(program: &Program) -> [u32; 2] {
    let (ints, reals) = program.flow().layout().static_cells();
    [ints, reals].map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns the reals that can be promoted: a sweep stores them before its end, and no sweep accesses them at a computed
/// address.
pub(super) fn promotable(
    sweeps: &[&SsaFunction],
    program: &Program,
    bounds: (AdjointRows, Option<[u32; 2]>),
) -> Vec<SpacedCell> {
    let (found, _) = all_accesses(sweeps, own_cells(program), bounds);
    let (early, others): (Vec<&MemoryAccess>, Vec<&MemoryAccess>) =
        found.iter().partition(|access| access.kind == AccessKind::EarlyStore);
    let computed = others.iter().filter(|access| access.kind != AccessKind::LastStore);
    let runs = joined(computed.map(|access| (access.space, access.cells.clone())).collect());
    let reals = early.into_iter().filter(|access| access.space == Space::Reals);
    let mut cells: Vec<SpacedCell> = reals.map(|access| (access.space, access.cells.start)).collect();
    cells.sort_unstable();
    cells.dedup();
    cells.retain(|&(space, cell)| !runs.iter().any(|run| run.space == space && run.cells.contains(&cell)));
    cells
}

/// If one access may reach several ranges of cells, and some of them are changed, then the others count as changed,
/// too: the access must find all of them in working memory. `runs` are in ascending order.
fn change_together(runs: &mut [MemoryRun], wide: &BTreeSet<(Space, u32, u32)>) {
    // An access that meets two runs also meets all runs between them. So runs that accesses connect, directly or by
    // other runs, are neighbours. The sum of the links up to a run is the number of accesses that meet it and the next.
    let mut links = vec![0_i64; runs.len()];
    for &(space, first, end) in wide {
        let low = runs.partition_point(|run| (run.space, run.cells.end) <= (space, first));
        let high = runs.partition_point(|run| (run.space, run.cells.start) < (space, end));
        if low + 1 < high {
            links[low] += 1;
            links[high - 1] -= 1;
        }
    }
    let (mut first, mut linked) = (0, 0);
    for (number, link) in links.into_iter().enumerate() {
        linked += link;
        if linked == 0 {
            let connected = &mut runs[first..=number];
            let is_changed = connected.iter().any(|run| run.is_changed);
            connected.iter_mut().for_each(|run| run.is_changed = is_changed);
            first = number + 1;
        }
    }
}

/// Returns the accesses of sweeps to memory, except loads at literal addresses. The second result has the ranges of all
/// accesses at computed addresses. The program has `own` integers and reals.
fn all_accesses(
    sweeps: &[&SsaFunction],
    own: [u32; 2],
    (rows, frames): (AdjointRows, Option<[u32; 2]>),
) -> (Vec<MemoryAccess>, BTreeSet<(Space, u32, u32)>) {
    // Out-of-line calls may open any number of frames, unless the caller bounds the number of frames.
    let demanded = |of: fn(&SsaFunction) -> u32| {
        let cells = |function: &&SsaFunction| if function.calls.is_empty() { of(function) } else { u32::MAX };
        sweeps.iter().map(cells).max().unwrap_or(0)
    };
    let frames = frames.unwrap_or([
        demanded(|function| function.demands.frame_ints),
        demanded(|function| function.demands.frame_reals),
    ]);
    let [ints, reals] = [0, 1].map(|class| own[class].saturating_add(frames[class]));
    let adjoints = if rows.count > 1 { rows.count.saturating_mul(rows.stride) } else { reals };
    let mut wide = BTreeSet::new();
    let mut found = Vec::new();
    for function in sweeps {
        let own = accesses(function, [ints, reals, adjoints]);
        let computed = own.iter().filter(|access| access.kind.is_computed());
        wide.extend(computed.map(|access| (access.space, access.cells.start, access.cells.end)));
        found.extend(confined(own, function, rows));
    }
    (found, wide)
}

/// Returns the cells that computed addresses reach. If a computed address reaches an adjoint of a real, in any row, the
/// result also includes the real.
fn computed(accesses: &[MemoryAccess], rows: AdjointRows) -> Vec<MemoryRun> {
    let mut found: Vec<(Space, Range<u32>)> = accesses
        .iter()
        .filter(|access| access.kind.is_computed())
        .map(|access| (access.space, access.cells.clone()))
        .collect();
    let adjoints = found.iter().filter(|(space, _)| *space == Space::Adjoints);
    let reals: Vec<(Space, Range<u32>)> = adjoints
        .flat_map(|(_, cells)| (0..rows.count).map(move |row| (row, cells.clone())))
        .map(|(row, cells)| {
            let first = rows.adjoint(row, 0);
            let last = if rows.count > 1 { rows.adjoint(row + 1, 0) } else { u32::MAX };
            (cells.start.clamp(first, last) - first, cells.end.clamp(first, last) - first)
        })
        .map(|(first, end)| (Space::Reals, first..end))
        .collect();
    found.extend(reals);
    found.retain(|(_, cells)| !cells.is_empty());
    joined(found)
}

/// Merges ranges of cells that overlap or touch.
fn joined(mut cells: Vec<(Space, Range<u32>)>) -> Vec<MemoryRun> {
    cells.sort_by_key(|(space, cells)| (*space, cells.start));
    let mut runs: Vec<MemoryRun> = Vec::new();
    for (space, cells) in cells {
        match runs.last_mut().filter(|run| run.space == space && cells.start <= run.cells.end) {
            Some(run) => run.cells.end = run.cells.end.max(cells.end),
            None => runs.push(MemoryRun { space, cells, is_changed: false }),
        }
    }
    runs
}

/// Cells that an operation may load or store.
struct MemoryAccess {
    space: Space,
    cells: Range<u32>,
    kind: AccessKind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AccessKind {
    /// A load at a computed address.
    Load,
    /// A store at a computed address.
    Store,
    /// A store at a known address before the end of a sweep.
    EarlyStore,
    /// A store at a known address where a sweep ends.
    LastStore,
}

impl AccessKind {
    /// Returns true if the address is computed.
    fn is_computed(self) -> bool {
        matches!(self, AccessKind::Load | AccessKind::Store)
    }
}

fn accesses(function: &SsaFunction, [ints, reals, adjoints]: [u32; 3]) -> Vec<MemoryAccess> {
    let mut found = Vec::new();
    for number in reached(function) {
        let Some(block) = function.blocks.get(number as usize) else { continue };
        let is_last = matches!(block.end, SsaEnd::Exit { .. });
        for op in block.ops.iter().filter_map(|&value| function.op(value)) {
            let (space, is_store) = match op.kind {
                OpKind::Load(space) => (space, false),
                OpKind::Store(space) => (space, true),
                _ => continue,
            };
            let count = match space {
                Space::Ints => ints,
                Space::Reals => reals,
                Space::Adjoints => adjoints,
                Space::References | Space::StartInts | Space::StartReals | Space::Results => continue,
            };
            let (cells, kind) = match (literal_address(function, op), op.operands.first()) {
                (Some(_), _) if !is_store => continue,
                (Some(cell), _) if is_last => (cell..cell.saturating_add(1), AccessKind::LastStore),
                (Some(cell), _) => (cell..cell.saturating_add(1), AccessKind::EarlyStore),
                (None, Some(&address)) => {
                    let kind = if is_store { AccessKind::Store } else { AccessKind::Load };
                    (clipped(range_at_uses(function, address), count), kind)
                }
                (None, None) => continue,
            };
            found.push(MemoryAccess { space, cells, kind });
        }
    }
    found
}

/// Confines the accesses at computed addresses to the cells that such addresses may reach.
fn confined(accesses: Vec<MemoryAccess>, function: &SsaFunction, rows: AdjointRows) -> Vec<MemoryAccess> {
    let Some(reached) = &function.reached else { return accesses };
    let of_row = |row: u32| {
        let cells =
            reached.reals.iter().map(move |&(first, end)| (rows.adjoint(row, first), rows.adjoint(row, end)));
        cells.collect::<Vec<(u32, u32)>>()
    };
    let adjoints: Vec<(u32, u32)> = (0..rows.count).flat_map(of_row).collect();
    let (computed, mut found): (Vec<MemoryAccess>, Vec<MemoryAccess>) =
        accesses.into_iter().partition(|access| access.kind.is_computed());
    // Many operations access the same ranges.
    let computed: BTreeSet<(Space, AccessKind, u32, u32)> = computed
        .into_iter()
        .map(|access| (access.space, access.kind, access.cells.start, access.cells.end))
        .collect();
    for (space, kind, first, end) in computed {
        let reached = match space {
            Space::Ints => &reached.ints,
            Space::Reals => &reached.reals,
            _ => &adjoints,
        };
        let within = reached.iter().map(|&(start, stop)| start.max(first)..stop.min(end));
        let within = within.filter(|cells| !cells.is_empty());
        found.extend(within.map(|cells| MemoryAccess { space, cells, kind }));
    }
    found
}

/// Clips the range of an address to the addresses from 0 up to `count` (exclusive).
fn clipped(range: IntRange, count: u32) -> Range<u32> {
    let within = |end: i64| u32::try_from(end.clamp(0, count.into())).unwrap_or(count);
    let (first, end) = (within(range.low), within(range.high.saturating_add(1)));
    first..end.max(first)
}

/// Returns the address of a load or store, if it is a literal.
pub(super) fn literal_address(function: &SsaFunction, op: &SsaOp) -> Option<u32> {
    match function.op(*op.operands.first()?)?.kind {
        OpKind::Int(address) => u32::try_from(address).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns for each run of reals whether it counts as changed. `runs` has the cells of each run, and whether a
    /// store changes them.
    fn changed(runs: &[(Range<u32>, bool)], wide: &[(Space, u32, u32)]) -> Vec<bool> {
        let run = |(cells, is_changed): &(Range<u32>, bool)| MemoryRun {
            space: Space::Reals,
            cells: cells.clone(),
            is_changed: *is_changed,
        };
        let mut runs: Vec<MemoryRun> = runs.iter().map(run).collect();
        change_together(&mut runs, &wide.iter().copied().collect());
        runs.iter().map(|run| run.is_changed).collect()
    }

    #[test]
    fn runs_that_accesses_connect_change_together() {
        let runs = [(0..2, false), (4..6, false), (8..9, true), (12..13, false)];
        let reals = Space::Reals;
        assert_eq!(changed(&runs, &[]), [false, false, true, false]);
        // The end of an access is exclusive, and an access between two runs meets none.
        assert_eq!(
            changed(&runs, &[(reals, 4, 8), (reals, 9, 12), (reals, 2, 4)]),
            [false, false, true, false]
        );
        assert_eq!(changed(&runs, &[(reals, 5, 9)]), [false, true, true, false]);
        assert_eq!(changed(&runs, &[(reals, 1, 5), (reals, 5, 9)]), [true, true, true, false]);
        assert_eq!(changed(&runs, &[(reals, 0, 20)]), [true; 4]);
        // Accesses of other spaces don't count, nor do those beyond all runs.
        let others = [(Space::Ints, 0, 20), (Space::Adjoints, 0, 20), (reals, 13, 20)];
        assert_eq!(changed(&runs, &others), [false, false, true, false]);
        assert_eq!(changed(&[], &others), [false; 0]);
    }
}
