//! Signed-zero analysis: finds floats that are never -0 on any path. For these, 0 + x is x. This module infers no
//! other fact.
//!
//! A sum rounded to nearest is -0 only if both operands are -0; a difference is -0 only for (-0) - (+0) (IEEE
//! 754-2019, section 6.3).

use reviver_isa::arith::Elementary;
use reviver_isa::instruction::Class;

use crate::function::{SsaBlock, SsaFunction, is_negative_zero};
use crate::op::{OpKind, Space, SsaOp, SsaValue};
use crate::order::postorder;

/// Returns for each value whether it is a float that is never -0.
pub(super) fn never_negative_zero(function: &SsaFunction) -> Vec<bool> {
    let is_real = |number: u32| function.class(SsaValue(number)) == Some(Class::Real);
    // Optimistic fixed point: the analysis first assumes the property for all values, and withdraws it if -0 is
    // possible. It must begin with this assumption, because each iteration of a loop depends on the previous one.
    let mut signs = FloatSigns {
        function,
        is_never: (0..function.definitions.len() as u32).map(is_real).collect(),
        no_adjoint_is: function.specialization.zeros.no_adjoint_is_negative,
        has_changed: true,
    };
    let order = postorder(function, |_| true);
    while std::mem::replace(&mut signs.has_changed, false) {
        // Reverse postorder keeps the number of iterations small.
        order
            .iter()
            .rev()
            .filter_map(|&number| function.blocks.get(number as usize))
            .for_each(|block| signs.block(block));
    }
    signs.is_never
}

struct FloatSigns<'f> {
    function: &'f SsaFunction,
    is_never: Vec<bool>,
    /// True while the analysis assumes that no cell ever has an adjoint of -0.
    no_adjoint_is: bool,
    has_changed: bool,
}

impl FloatSigns<'_> {
    fn block(&mut self, block: &SsaBlock) {
        for &value in &block.ops {
            let Some(op) = self.function.op(value) else { continue };
            match (op.kind, op.operands.as_slice()) {
                (OpKind::Store(Space::Adjoints), &[_, stored])
                    if self.no_adjoint_is && !self.holds(stored) =>
                {
                    (self.no_adjoint_is, self.has_changed) = (false, true);
                }
                _ if !self.holds_of(op) => self.deny(value),
                _ => {}
            }
        }
        for jump in block.end.jumps() {
            let parameters =
                self.function.blocks.get(jump.to as usize).into_iter().flat_map(|to| &to.parameters);
            for (&parameter, &argument) in parameters.zip(&jump.arguments) {
                if !self.holds(argument) {
                    self.deny(parameter);
                }
            }
        }
    }

    fn deny(&mut self, value: SsaValue) {
        if let Some(slot @ true) = self.is_never.get_mut(value.0 as usize) {
            (*slot, self.has_changed) = (false, true);
        }
    }

    fn holds(&self, value: SsaValue) -> bool {
        self.is_never.get(value.0 as usize).copied().unwrap_or(false)
    }

    /// Returns true if an operation can't give -0, given the present assumptions about its operands.
    fn holds_of(&self, op: &SsaOp) -> bool {
        match (op.kind, op.operands.as_slice()) {
            (OpKind::Real(bits), _) => !is_negative_zero(self.function.numbers.system, bits),
            (OpKind::Add, &[a, b]) => self.holds(a) || self.holds(b),
            (OpKind::Sub, &[a, _]) => self.holds(a),
            (OpKind::Mul, &[a, b]) => a == b,
            (OpKind::Magnitude, &[a]) => self.holds(a),
            (OpKind::Choose, &[_, yes, no]) => self.holds(yes) && self.holds(no),
            (OpKind::Load(Space::Adjoints), _) => self.no_adjoint_is,
            (OpKind::RealOf, _) => true,
            (OpKind::Elementary(Elementary::Exp | Elementary::Cosh | Elementary::Cos), _) => true,
            _ => false,
        }
    }
}
