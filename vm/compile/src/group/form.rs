//! Which values of a form are the same for all lanes of a group. Lanes take the same branches, so a value differs only where it is made of something that
//! does: reals, and integers that lanes are given. Adjoints differ by loss, too. Knows no engine.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use reviver_isa::module::RealSystem;

use crate::form::{SsaBlock, SsaEnd, SsaForm};
use crate::known::KnownCells;
use crate::op::{OpKind, Space, SsaOp, SsaValue};
use crate::order::reached;

/// For whom a value is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spread {
    /// For all lanes.
    #[default]
    Common,
    /// For all losses of a lane.
    ByLane,
    /// For nobody.
    ByRow,
}

/// Integers in memory that may differ between lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpreadInts {
    cells: BTreeSet<u32>,
    /// Whether any other cell may, too.
    anywhere: bool,
}

impl SpreadInts {
    /// Whether the cell at an address may; of an address that isn't known whether any may.
    fn may_differ(&self, cell: Option<u32>) -> bool {
        self.anywhere || cell.map_or(!self.cells.is_empty(), |cell| self.cells.contains(&cell))
    }

    fn add(&mut self, cell: Option<u32>) {
        match cell {
            Some(cell) => _ = self.cells.insert(cell),
            None => self.anywhere = true,
        }
    }
}

impl FromIterator<u32> for SpreadInts {
    fn from_iter<I: IntoIterator<Item = u32>>(cells: I) -> SpreadInts {
        SpreadInts { cells: cells.into_iter().collect(), anywhere: false }
    }
}

/// What a group begins a form with, and what nobody asks for behind it.
#[derive(Clone, Debug)]
pub(crate) struct GroupStart<'g> {
    /// The cells that are seeded, a list for each row: no other real has an adjoint.
    pub rows: &'g [Vec<usize>],
    /// Integers that may differ between lanes.
    pub ints: SpreadInts,
    /// What nobody reads in memory where the form has arrived.
    pub settled: KnownCells,
}

/// Adjoints that a form may make others than 0.
#[derive(Clone, Debug)]
enum WrittenAdjoints {
    Cells(BTreeSet<u32>),
    Anywhere,
}

/// A form that a group goes through.
#[derive(Clone, Debug)]
pub struct GroupForm {
    form: SsaForm,
    /// How many losses are differentiated at once.
    rows: usize,
    spreads: Vec<Spread>,
    /// Integers that may differ where it begins, or anywhere in it.
    ints: SpreadInts,
    adjoints: WrittenAdjoints,
    /// Stores that nobody reads.
    unread: BTreeSet<SsaValue>,
    /// By block whether it is gone through: something leads there, and it isn't an exit elsewhere than where the form is to arrive, which a group is
    /// given up at.
    is_followed: Vec<bool>,
}

impl GroupForm {
    /// Of a form that is to arrive at a position. None where a group can't go through it.
    pub(crate) fn new(form: SsaForm, to: u32, begun: GroupStart<'_>) -> Option<GroupForm> {
        if form.numbers.system != RealSystem::F64 || !form.is_plain() {
            return None;
        }
        let spreads = vec![Spread::Common; form.definitions.len()];
        let is_followed = followed(&form, to);
        let GroupStart { rows: seeded, ints, settled } = begun;
        let (rows, adjoints, unread) = (seeded.len(), WrittenAdjoints::Anywhere, BTreeSet::new());
        let mut group = GroupForm { form, rows, spreads, ints, adjoints, unread, is_followed };
        while group.spread_further() {}
        group.adjoints = group.written_adjoints(seeded.iter().flatten());
        group.unread = group.unread_stores(&settled);
        group.is_possible().then_some(group)
    }

    /// The form.
    pub fn form(&self) -> &SsaForm {
        &self.form
    }

    /// How many losses are differentiated at once.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Integers that may differ where it has arrived.
    pub fn ints(&self) -> &SpreadInts {
        &self.ints
    }

    /// Whether a block is gone through; if not, a group is given up there.
    pub fn is_followed(&self, block: u32) -> bool {
        self.is_followed.get(block as usize) == Some(&true)
    }

    /// The adjoints that may be others than 0 where it has arrived, or was given up: from a first cell to a last one, and those between them.
    pub fn adjoints(&self) -> Option<RangeInclusive<u32>> {
        match &self.adjoints {
            WrittenAdjoints::Cells(cells) => Some(*cells.first()?..=*cells.last()?),
            WrittenAdjoints::Anywhere => Some(0..=u32::MAX),
        }
    }

    /// Whether a store can be left out: it is the 0 of an adjoint that is 0 all the time, or nobody reads it.
    pub fn is_idle(&self, value: SsaValue) -> bool {
        let Some(op) = self.form.op(value).filter(|_| !self.unread.contains(&value)) else { return true };
        match (&self.adjoints, op.kind) {
            (WrittenAdjoints::Cells(cells), OpKind::Store(Space::Adjoints)) => {
                self.cell(op).is_some_and(|cell| !cells.contains(&cell))
            }
            _ => false,
        }
    }

    /// Stores to settled cells in the blocks where the form arrives, if these load nothing afterwards.
    fn unread_stores(&self, settled: &KnownCells) -> BTreeSet<SsaValue> {
        let mut unread = BTreeSet::new();
        for block in self.followed_blocks().filter(|block| matches!(block.end, SsaEnd::Exit { .. })) {
            let ops = block.ops.iter().rev().filter_map(|&value| Some((value, self.form.op(value)?)));
            for (value, op) in ops.take_while(|(_, op)| !matches!(op.kind, OpKind::Load(_))) {
                if let OpKind::Store(space @ (Space::Ints | Space::Reals)) = op.kind
                    && self.cell(op).is_some_and(|cell| settled.bits(space.class(), cell).is_some())
                {
                    unread.insert(value);
                }
            }
        }
        unread
    }

    /// The adjoints that a store makes others than 0, or that are others at first.
    fn written_adjoints<'c>(&self, seeded: impl Iterator<Item = &'c usize>) -> WrittenAdjoints {
        let ops =
            self.followed_blocks().flat_map(|block| &block.ops).filter_map(|&value| self.form.op(value));
        let mut cells: BTreeSet<u32> = seeded.map(|&cell| cell as u32).collect();
        for op in ops.filter(|op| op.kind == OpKind::Store(Space::Adjoints)) {
            let value = op.operands.get(1).and_then(|&value| self.form.op(value));
            match self.cell(op) {
                None => return WrittenAdjoints::Anywhere,
                Some(_) if value.is_some_and(|value| value.kind == OpKind::Real(0)) => {}
                Some(cell) => _ = cells.insert(cell),
            }
        }
        WrittenAdjoints::Cells(cells)
    }

    /// For whom a value is the same.
    pub fn spread(&self, value: SsaValue) -> Spread {
        self.spreads.get(value.0 as usize).copied().unwrap_or_default()
    }

    /// For whom an operation does the same.
    pub fn spread_of(&self, op: &SsaOp) -> Spread {
        let used = op.operands.iter().chain(&op.guard).map(|&value| self.spread(value)).max();
        let used = used.unwrap_or_default();
        match op.kind {
            OpKind::Load(Space::Adjoints) if self.rows > 1 => Spread::ByRow,
            OpKind::Load(Space::Adjoints | Space::Reals) => used.max(Spread::ByLane),
            OpKind::Load(Space::Ints) if self.ints.may_differ(self.cell(op)) => used.max(Spread::ByLane),
            _ => used,
        }
    }

    /// The cell that a load or a store names, if its address is a literal.
    fn cell(&self, op: &SsaOp) -> Option<u32> {
        match self.form.op(*op.operands.first()?)?.kind {
            OpKind::Int(cell) => u32::try_from(cell).ok(),
            _ => None,
        }
    }

    fn followed_blocks(&self) -> impl Iterator<Item = &SsaBlock> {
        let blocks = self.form.blocks.iter().zip(&self.is_followed);
        blocks.filter(|(_, is_followed)| **is_followed).map(|(block, _)| block)
    }

    /// Looks at each block once more; whether more was found to differ.
    fn spread_further(&mut self) -> bool {
        let mut found: Vec<(SsaValue, Spread)> = Vec::new();
        let mut ints = self.ints.clone();
        for block in self.followed_blocks() {
            for (value, op) in block.ops.iter().filter_map(|&value| Some((value, self.form.op(value)?))) {
                let spread = self.spread_of(op);
                found.push((value, spread));
                if op.kind == OpKind::Store(Space::Ints) && spread > Spread::Common {
                    ints.add(self.cell(op));
                }
            }
            for jump in block.end.jumps() {
                let parameters = self.form.blocks.get(jump.to as usize).map_or(&[][..], |to| &to.parameters);
                let passed = parameters.iter().zip(&jump.arguments);
                found.extend(passed.map(|(&parameter, &argument)| (parameter, self.spread(argument))));
            }
        }
        let mut is_further = ints != self.ints;
        self.ints = ints;
        for (value, spread) in found {
            if let Some(known) = self.spreads.get_mut(value.0 as usize).filter(|known| **known < spread) {
                (*known, is_further) = (spread, true);
            }
        }
        is_further
    }

    /// Whether cells and jumps are the same for all losses, and nothing is asked of calls.
    fn is_possible(&self) -> bool {
        let is_of_lanes = |value: &SsaValue| self.spread(*value) < Spread::ByRow;
        let fits = |op: &SsaOp| match op.kind {
            OpKind::Input(_) | OpKind::Load(Space::References) | OpKind::Store(Space::References) => false,
            OpKind::Load(_) | OpKind::Store(Space::Adjoints) | OpKind::Freed { .. } => {
                op.operands.first().is_some_and(is_of_lanes)
            }
            OpKind::Store(Space::Ints | Space::Reals) => op.operands.iter().all(is_of_lanes),
            _ => true,
        };
        let leads_on = |end: &SsaEnd| match end {
            SsaEnd::Branch { condition, .. } => is_of_lanes(condition),
            SsaEnd::Pause { skipped, .. } => {
                skipped.is_none_or(|skipped| self.spread(skipped) == Spread::Common)
            }
            SsaEnd::Go(_) | SsaEnd::Exit { .. } => true,
        };
        self.followed_blocks().all(|block| {
            leads_on(&block.end) && block.ops.iter().filter_map(|&value| self.form.op(value)).all(fits)
        })
    }
}

/// By block whether a group goes through it.
fn followed(form: &SsaForm, to: u32) -> Vec<bool> {
    let arrivals = form.arrivals();
    let arrives = |exit: u32| {
        form.exits.get(exit as usize).is_some_and(|exit| exit.position == to && exit.calls.is_empty())
    };
    let mut is_followed = vec![false; form.blocks.len()];
    for number in reached(form) {
        let Some(block) = form.blocks.get(number as usize) else { continue };
        let follows = match block.end {
            SsaEnd::Exit { exit } => arrivals.contains(&number) && arrives(exit),
            SsaEnd::Go(_) | SsaEnd::Branch { .. } | SsaEnd::Pause { .. } => true,
        };
        is_followed.get_mut(number as usize).into_iter().for_each(|own| *own = follows);
    }
    is_followed
}
