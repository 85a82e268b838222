//! Vectors of values: a number for each lane, or copies of a number that is the same for all lanes. This module also
//! has vectors of constants, masks, and operations on bits.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::immediates::V128Imm;
use cranelift_codegen::ir::{self, ConstantData, InstBuilder, MemFlags, types};
use reviver_compile::group::divergence::Uniformity;
use reviver_compile::op::{OpKind, SsaOp, SsaValue};

use super::{GroupTranslation, IN_VECTOR, vector_type};

/// Key of a vector that is emitted at most once in a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SharedVector {
    /// The same bits in each lane.
    Constant(ir::Type, u64),
    /// Copies of a value that is the same for all lanes.
    Copies(SsaValue),
    /// Vector of a steady load: the loaded value, and the number of the vector.
    Load(SsaValue, usize),
}

impl GroupTranslation<'_> {
    /// Returns vector `n` of a value, or copies of a value that is the same for all lanes.
    pub(super) fn vector(&mut self, value: SsaValue, n: usize) -> Option<ir::Value> {
        let own = match self.group.uniformity(value) {
            Uniformity::Uniform => return self.copies(value),
            Uniformity::Varying => n,
        };
        match self.vectors.get(value.0 as usize)?.get(own).copied().flatten() {
            Some(vector) => Some(vector),
            None => self.loaded(value, own),
        }
    }

    fn copies(&mut self, value: SsaValue) -> Option<ir::Value> {
        match self.group.function().op(value).map(|op| op.kind) {
            Some(OpKind::Real(bits)) => Some(self.constant(types::F64X2, bits)),
            Some(OpKind::Int(value)) => Some(self.constant(types::I64X2, value as u64)),
            _ => {
                if let Some(&known) = self.known.get(&SharedVector::Copies(value)) {
                    return Some(known);
                }
                let type_ = vector_type(self.group.function().class(value)?);
                let number = self.lane.value(value)?;
                let made = self.lane.builder.ins().splat(type_, number);
                self.known.insert(SharedVector::Copies(value), made);
                Some(made)
            }
        }
    }

    /// Returns a vector with the same bits in each lane.
    pub(super) fn constant(&mut self, type_: ir::Type, bits: u64) -> ir::Value {
        if let Some(&known) = self.known.get(&SharedVector::Constant(type_, bits)) {
            return known;
        }
        let bytes: Vec<u8> = [bits.to_le_bytes(); IN_VECTOR].concat();
        let data = ConstantData::from(V128Imm::from(bytes.as_slice()).to_vec());
        let handle = self.lane.builder.func.dfg.constants.insert(data);
        let made = self.lane.builder.ins().vconst(type_, handle);
        self.known.insert(SharedVector::Constant(type_, bits), made);
        made
    }

    pub(super) fn vectors<const N: usize>(&mut self, op: &SsaOp, n: usize) -> Option<[ir::Value; N]> {
        let mut found = [ir::Value::from_u32(0); N];
        for (found, &operand) in found.iter_mut().zip(&op.operands) {
            *found = self.vector(operand, n)?;
        }
        (op.operands.len() == N).then_some(found)
    }

    /// Returns a mask in which all bits of a lane are 1 if the lane's integer isn't 0, otherwise 0.
    pub(super) fn mask(&mut self, value: SsaValue, n: usize) -> Option<ir::Value> {
        if let Some(mask) = self.masks.get(value.0 as usize)?.get(n).copied().flatten() {
            return Some(mask);
        }
        let (vector, zero) = (self.vector(value, n)?, self.constant(types::I64X2, 0));
        Some(self.lane.builder.ins().icmp(IntCC::NotEqual, vector, zero))
    }

    /// Returns `yes` in the lanes of a mask, and `no` in the others.
    pub(super) fn chosen(
        &mut self,
        mask: ir::Value,
        [yes, no]: [ir::Value; 2],
        type_: ir::Type,
    ) -> ir::Value {
        let mask = if type_ == types::I64X2 { mask } else { self.bits(type_, mask) };
        self.lane.builder.ins().bitselect(mask, yes, no)
    }

    /// Reinterprets the bits of a vector as another type.
    pub(super) fn bits(&mut self, type_: ir::Type, vector: ir::Value) -> ir::Value {
        self.lane.builder.ins().bitcast(type_, MemFlags::new(), vector)
    }

    /// Returns the magnitudes of floats. The mask of the sign bits is emitted once in a block; Cranelift's `fabs` would
    /// emit it each time.
    pub(super) fn magnitude(&mut self, a: ir::Value) -> ir::Value {
        let mask = self.constant(types::F64X2, !(-0.0_f64).to_bits());
        self.lane.builder.ins().band(a, mask)
    }

    /// Returns floats with the opposite signs.
    pub(super) fn opposite(&mut self, a: ir::Value) -> ir::Value {
        let mask = self.constant(types::F64X2, (-0.0_f64).to_bits());
        self.lane.builder.ins().bxor(a, mask)
    }
}
