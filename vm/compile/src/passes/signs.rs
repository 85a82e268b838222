//! Which floats are never -0, wherever their operands come from: 0 + x is x for these. Knows no other fact.
//!
//! A sum that is rounded to the nearest is -0 only where both summands are, and a difference only where -0 is diminished by
//! +0 (IEEE 754-2019, section 6.3).

use reviver_isa::arith::Elementary;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use crate::form::SsaForm;
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::order::postorder;

/// By value whether it is a float that never is -0.
pub(super) fn never_negative_zero(form: &SsaForm) -> Vec<bool> {
    let is_real = |number: u32| form.class(SsaValue(number)) == Some(Class::Real);
    let mut is_never: Vec<bool> = (0..form.definitions.len() as u32).map(is_real).collect();
    // Taken for granted at first and taken back where something may be -0: a round of a loop begins with what another one has made.
    let order = postorder(form, |_| true);
    let mut has_changed = true;
    while std::mem::replace(&mut has_changed, false) {
        let mut deny = |is_never: &mut Vec<bool>, value: SsaValue| {
            if let Some(slot @ true) = is_never.get_mut(value.0 as usize) {
                *slot = false;
                has_changed = true;
            }
        };
        // In this order few rounds are needed.
        for block in order.iter().rev().filter_map(|&number| form.blocks.get(number as usize)) {
            for &value in &block.ops {
                if form.op(value).is_some_and(|op| !holds_of(form, op, &is_never)) {
                    deny(&mut is_never, value);
                }
            }
            for jump in block.end.jumps() {
                let parameters = form.blocks.get(jump.to as usize).into_iter().flat_map(|to| &to.parameters);
                for (&parameter, &argument) in parameters.zip(&jump.arguments) {
                    if !holds(&is_never, argument) {
                        deny(&mut is_never, parameter);
                    }
                }
            }
        }
    }
    is_never
}

fn holds(is_never: &[bool], value: SsaValue) -> bool {
    is_never.get(value.0 as usize).copied().unwrap_or(false)
}

/// Whether an operation gives no -0, if that holds of its operands as far as it is noted.
fn holds_of(form: &SsaForm, op: &SsaOp, is_never: &[bool]) -> bool {
    let holds = |value: SsaValue| holds(is_never, value);
    match (op.kind, op.operands.as_slice()) {
        (OpKind::Real(bits), _) => !is_negative_zero(form.numbers.system, bits),
        (OpKind::Add, &[a, b]) => holds(a) || holds(b),
        (OpKind::Sub, &[a, _]) => holds(a),
        (OpKind::Mul, &[a, b]) => a == b,
        (OpKind::Magnitude, &[a]) => holds(a),
        (OpKind::Choose, &[_, yes, no]) => holds(yes) && holds(no),
        (OpKind::RealOf, _) => true,
        (OpKind::Elementary(Elementary::Exp | Elementary::Cosh | Elementary::Cos), _) => true,
        _ => false,
    }
}

fn is_negative_zero(system: RealSystem, bits: u64) -> bool {
    match system {
        RealSystem::F64 => bits == (-0.0_f64).to_bits(),
        RealSystem::F32 => bits == u64::from((-0.0_f32).to_bits()),
        RealSystem::Fixed(_) => false,
    }
}
