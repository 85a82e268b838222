//! Order of a block's operations, and the number of executions of each: once for all lanes, for each vector separately,
//! or for all vectors together. This module is independent of the meaning of operations.

use cranelift_codegen::ir::InstBuilder;
use reviver_compile::group::divergence::Uniformity;
use reviver_compile::op::{OpKind, SsaOp, SsaValue};

use super::{GroupTranslation, VECTORS, put};

/// Manner in which an operation is executed: how often, and in which order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Execution {
    /// Not at its position in the block, because its result isn't needed, or because it is executed at its first use.
    Deferred,
    /// Once for all lanes, because its operands are the same for all lanes.
    Once,
    /// For each vector separately. A sequence of adjacent operations of this kind is executed for one vector, and then
    /// for the next vector.
    EachVector,
    /// For all vectors, before any later operation is executed.
    AllVectors,
}

impl GroupTranslation<'_> {
    /// Translates a block's operations. A sequence of adjacent operations with [`Execution::EachVector`] is executed
    /// for the first vector, and then for each other vector, so that fewer values are live at once.
    pub(super) fn ops(&mut self, ops: &[SsaValue]) -> Option<()> {
        let mut waiting: Vec<usize> = Vec::new();
        for (place, &value) in ops.iter().enumerate() {
            let op = self.group.function().op(value)?;
            match self.execution(value, op) {
                Execution::Deferred => {}
                Execution::Once => {
                    if let Some(made) = self.lane.op(op)? {
                        self.lane.define(value, made);
                    }
                }
                Execution::EachVector => waiting.push(place),
                Execution::AllVectors => {
                    self.apart(ops, &waiting)?;
                    waiting.clear();
                    self.together(value, op)?;
                }
            }
        }
        self.apart(ops, &waiting)
    }

    /// Returns how an operation is executed.
    fn execution(&self, value: SsaValue, op: &SsaOp) -> Execution {
        let is_common = self.group.uniformity_of(op) == Uniformity::Uniform;
        match op.kind {
            // Groups don't report these counts.
            OpKind::CountErased(_) | OpKind::CountDiscarded | OpKind::CountDropped => Execution::Deferred,
            OpKind::Arrived => Execution::Deferred,
            OpKind::Load(_) if self.steady.contains(&value) => Execution::Deferred,
            OpKind::Store(space) if self.unchanged.contains(&space) => Execution::EachVector,
            OpKind::Load(_) | OpKind::Store(_) => Execution::AllVectors,
            OpKind::Freed { .. } | OpKind::Missed { .. } | OpKind::Largest => Execution::EachVector,
            _ if is_common => Execution::Once,
            OpKind::RequireTrue | OpKind::RequireApart | OpKind::Powi => Execution::AllVectors,
            _ => Execution::EachVector,
        }
    }

    /// Translates the operations at the indices `places` for the first vector, and then for each other vector.
    fn apart(&mut self, ops: &[SsaValue], places: &[usize]) -> Option<()> {
        for n in 0..VECTORS {
            for &place in places {
                let value = *ops.get(place)?;
                let op = self.group.function().op(value)?;
                if n >= self.vectors_of(op) {
                    continue;
                }
                if let OpKind::Store(space) = op.kind {
                    self.load_before_store(space, ops.get(place..)?, n)?;
                }
                self.vector_op(value, op, n)?;
            }
        }
        Some(())
    }

    /// Returns the number of vectors for which an operation is executed.
    pub(super) fn vectors_of(&self, op: &SsaOp) -> usize {
        match op.kind {
            OpKind::Store(_) | OpKind::Freed { .. } | OpKind::Missed { .. } | OpKind::Largest => VECTORS,
            _ => self.count(self.group.uniformity_of(op)).unwrap_or(0),
        }
    }

    /// Translates an operation for vector `n`.
    fn vector_op(&mut self, value: SsaValue, op: &SsaOp, n: usize) -> Option<()> {
        match op.kind {
            OpKind::Store(space) => self.store(op, space, n)?,
            OpKind::Freed { row, .. } => self.freed(op, row, n)?,
            OpKind::Missed { row } => self.missed(op, row, n)?,
            OpKind::Largest => self.record_largest(op, n)?,
            OpKind::RequireAdmitted | OpKind::RequireVacant => self.require(op, n)?,
            OpKind::Test(_) | OpKind::IntTest(_) => {
                let mask = self.test(op, n)?;
                let number = self.lane.builder.ins().ushr_imm(mask, 63);
                self.define(value, n, number);
                put(&mut self.masks, value, n, mask);
            }
            _ => {
                let made = self.made(op, n)?;
                self.define(value, n, made);
            }
        }
        Some(())
    }

    /// Translates an operation for all vectors.
    fn together(&mut self, value: SsaValue, op: &SsaOp) -> Option<()> {
        let count = self.count(self.group.uniformity_of(op));
        match (op.kind, count) {
            (OpKind::Load(space), _) => self.load(value, op, space),
            (OpKind::Store(space), _) => (0..self.vectors_of(op)).try_for_each(|n| self.store(op, space, n)),
            (OpKind::RequireTrue | OpKind::RequireApart, Some(count)) => self.require_at_once(op, count),
            (OpKind::Powi, Some(count)) => {
                let made = self.powers(op, count)?;
                (0..).zip(made).for_each(|(n, made)| self.define(value, n, made));
                Some(())
            }
            _ => None,
        }
    }
}
