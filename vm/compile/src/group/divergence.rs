//! Divergence analysis of a call function for SIMD groups: finds the values that are the same in all lanes. All lanes
//! of a group take the same branches. So a value differs between lanes only if it depends on reals, or on integers
//! among the lanes' inputs.

use std::collections::BTreeSet;

use reviver_isa::module::RealSystem;

use crate::function::{SsaBlock, SsaEnd, SsaFunction};
use crate::op::{OpKind, Space, SsaOp, SsaValue};
use crate::order::reached;

/// The variation of a value between lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uniformity {
    /// All lanes have the same value.
    #[default]
    Uniform,
    /// Each lane has its own value.
    Varying,
}

/// Integers in memory that may differ between lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct VaryingInts {
    cells: BTreeSet<u32>,
    /// True if cells at unknown addresses may differ, so that any cell may.
    anywhere: bool,
}

impl VaryingInts {
    /// Returns true if the cell at an address may differ between lanes. For an unknown address (`None`), returns true
    /// if at least one cell may differ.
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

/// A call function with its divergence analysis.
#[derive(Clone, Debug)]
pub struct GroupFunction {
    function: SsaFunction,
    uniformities: Vec<Uniformity>,
    /// Integer cells among the lanes' inputs. The field `ints` has all integer cells that may differ at any point of
    /// the function.
    inputs: VaryingInts,
    ints: VaryingInts,
    /// For each block, true if a group executes it. A group doesn't execute unreachable blocks. It is abandoned at each
    /// exit other than the function's end.
    is_followed: Vec<bool>,
}

impl GroupFunction {
    /// Analyzes a call function; `end` is the number of the exit at its end, and `ints` are the integers among the
    /// lanes' inputs. Returns `None` if a group can't execute the function.
    pub(crate) fn new(
        function: SsaFunction,
        end: u32,
        ints: impl IntoIterator<Item = u32>,
    ) -> Option<GroupFunction> {
        if function.numbers.system != RealSystem::F64 || !function.is_plain() {
            return None;
        }
        let inputs = VaryingInts { cells: ints.into_iter().collect(), anywhere: false };
        let uniformities = vec![Uniformity::Uniform; function.definitions.len()];
        let is_followed = followed(&function, end);
        let mut group = GroupFunction { function, uniformities, ints: inputs.clone(), inputs, is_followed };
        while group.spread_further() {}
        group.is_possible().then_some(group)
    }

    /// Returns the call function.
    pub fn function(&self) -> &SsaFunction {
        &self.function
    }

    /// Returns true if a group executes a block. A group that reaches another block is abandoned.
    pub fn is_followed(&self, block: u32) -> bool {
        self.is_followed.get(block as usize) == Some(&true)
    }

    /// Returns the variation of a value between lanes.
    pub fn uniformity(&self, value: SsaValue) -> Uniformity {
        self.uniformities.get(value.0 as usize).copied().unwrap_or_default()
    }

    /// Returns the variation of an operation between lanes.
    pub fn uniformity_of(&self, op: &SsaOp) -> Uniformity {
        let used = op.operands.iter().chain(&op.guard).map(|&value| self.uniformity(value)).max();
        let used = used.unwrap_or_default();
        match op.kind {
            OpKind::Load(Space::Adjoints | Space::Reals | Space::StartReals | Space::Results) => {
                Uniformity::Varying
            }
            OpKind::Load(Space::Ints) if self.ints.may_differ(self.cell(op)) => Uniformity::Varying,
            OpKind::Load(Space::StartInts) if self.inputs.may_differ(self.cell(op)) => Uniformity::Varying,
            _ => used,
        }
    }

    /// Returns the cell of a load or store, if its address is a literal.
    fn cell(&self, op: &SsaOp) -> Option<u32> {
        match self.function.op(*op.operands.first()?)?.kind {
            OpKind::Int(cell) => u32::try_from(cell).ok(),
            _ => None,
        }
    }

    fn followed_blocks(&self) -> impl Iterator<Item = &SsaBlock> {
        let blocks = self.function.blocks.iter().zip(&self.is_followed);
        blocks.filter(|(_, is_followed)| **is_followed).map(|(block, _)| block)
    }

    /// Propagates the variation of values through each block once. Returns true if it found another value that may
    /// differ between lanes.
    fn spread_further(&mut self) -> bool {
        let mut found: Vec<(SsaValue, Uniformity)> = Vec::new();
        let mut ints = self.ints.clone();
        for block in self.followed_blocks() {
            for (value, op) in block.ops.iter().filter_map(|&value| Some((value, self.function.op(value)?))) {
                let uniformity = self.uniformity_of(op);
                found.push((value, uniformity));
                if op.kind == OpKind::Store(Space::Ints) && uniformity > Uniformity::Uniform {
                    ints.add(self.cell(op));
                }
            }
            for jump in block.end.jumps() {
                let parameters =
                    self.function.blocks.get(jump.to as usize).map_or(&[][..], |to| &to.parameters);
                let passed = parameters.iter().zip(&jump.arguments);
                found.extend(passed.map(|(&parameter, &argument)| (parameter, self.uniformity(argument))));
            }
        }
        let mut is_further = ints != self.ints;
        self.ints = ints;
        for (value, uniformity) in found {
            if let Some(known) =
                self.uniformities.get_mut(value.0 as usize).filter(|known| **known < uniformity)
            {
                (*known, is_further) = (uniformity, true);
            }
        }
        is_further
    }

    /// Returns true if a group can execute the function: all lanes skip the same number of steps, and there are no
    /// out-of-line calls.
    fn is_possible(&self) -> bool {
        let fits = |op: &SsaOp| {
            !matches!(
                op.kind,
                OpKind::Input(_) | OpKind::Load(Space::References) | OpKind::Store(Space::References)
            )
        };
        let leads_on = |end: &SsaEnd| match end {
            SsaEnd::Safepoint { skipped, .. } => {
                skipped.is_none_or(|skipped| self.uniformity(skipped) == Uniformity::Uniform)
            }
            SsaEnd::Branch { .. } | SsaEnd::Jump(_) | SsaEnd::Exit { .. } => true,
        };
        self.followed_blocks().all(|block| {
            leads_on(&block.end) && block.ops.iter().filter_map(|&value| self.function.op(value)).all(fits)
        })
    }
}

/// Returns for each block whether a group executes it.
fn followed(function: &SsaFunction, end: u32) -> Vec<bool> {
    let mut is_followed = vec![false; function.blocks.len()];
    for number in reached(function) {
        let Some(block) = function.blocks.get(number as usize) else { continue };
        let follows = match block.end {
            SsaEnd::Exit { exit } => exit == end,
            SsaEnd::Jump(_) | SsaEnd::Branch { .. } | SsaEnd::Safepoint { .. } => true,
        };
        is_followed.get_mut(number as usize).into_iter().for_each(|own| *own = follows);
    }
    is_followed
}
