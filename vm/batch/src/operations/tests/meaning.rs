//! The expected result of each operation. The CPU computes it with the arithmetic that defines the instruction set.

use reviver_compile::function::NumberKinds;
use reviver_compile::op::{Coordinate, OpKind};
use reviver_isa::arith::Arith;
use reviver_isa::fault::Eval;
use reviver_isa::module::RealSystem;
use reviver_isa::number::{Arithmetic, F32, F64, FixedPoint, Narrow, Reals};

/// The expected result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedMeaning {
    Value(u64),
    Holds,
    Fails,
    /// The result of the operation depends on more than the operands' values, so the operation isn't tested.
    Other,
}

pub fn meaning(numbers: NumberKinds, kind: OpKind, operands: [u64; 3]) -> ExpectedMeaning {
    match numbers.system {
        RealSystem::F64 => of(F64, numbers, kind, operands),
        RealSystem::F32 => of(F32, numbers, kind, operands),
        RealSystem::Fixed(fraction) => of(FixedPoint::new(fraction), numbers, kind, operands),
    }
}

fn of<R: Reals<Bits = u64>>(
    reals: R,
    numbers: NumberKinds,
    kind: OpKind,
    operands: [u64; 3],
) -> ExpectedMeaning {
    let s = Arithmetic { words: Narrow(numbers.word), reals };
    let [a, b, c] = operands.map(|word| word as i64);
    let [x, y, z] = operands.map(|word| reals.of_bits(word));
    let int = |value: i64| ExpectedMeaning::Value(value as u64);
    let evaluated = |value: Eval<i64>| value.map_or(ExpectedMeaning::Fails, int);
    let real = |value: Eval<R::Cell>| {
        value.map_or(ExpectedMeaning::Fails, |value| ExpectedMeaning::Value(reals.to_bits(value)))
    };
    let required = |holds: bool| if holds { ExpectedMeaning::Holds } else { ExpectedMeaning::Fails };
    match kind {
        OpKind::Int(value) => int(value),
        OpKind::Real(bits) => ExpectedMeaning::Value(bits),
        OpKind::IntAdd => int(s.int_add(a, b)),
        OpKind::IntSub => int(s.int_sub(a, b)),
        OpKind::IntNeg => int(s.int_neg(a)),
        OpKind::IntMul => int(s.int_mul(a, b)),
        OpKind::IntDiv => evaluated(s.int_div(a, b)),
        OpKind::IntRem => evaluated(s.int_rem(a, b)),
        OpKind::IntPow => evaluated(s.int_pow(a, b)),
        OpKind::IntAnd => int(s.int_and(a, b)),
        OpKind::IntOr => int(s.int_or(a, b)),
        OpKind::IntXor => int(s.int_xor(a, b)),
        OpKind::IntNot => int(s.int_not(a)),
        OpKind::IntRol => int(s.int_rol(a, b)),
        OpKind::IntRor => int(s.int_ror(a, b)),
        OpKind::IntShl => int(s.int_shl(a, b)),
        OpKind::IntShr => int(s.int_shr(a, b)),
        OpKind::IntSar => int(s.int_sar(a, b)),
        OpKind::IntTest(order) => int(s.int_test(order, a, b)),
        OpKind::IntChoose => int(s.int_choose(a, b, c)),
        OpKind::Add => real(s.add(x, y)),
        OpKind::Sub => real(s.sub(x, y)),
        OpKind::Mul => real(s.mul(x, y)),
        OpKind::Div => real(s.div(x, y)),
        OpKind::Neg => real(s.neg(x)),
        OpKind::Pow => real(s.pow(x, y)),
        OpKind::Powi => real(s.powi(x, b)),
        OpKind::Atan2 => real(s.atan2(x, y)),
        OpKind::Hypot => real(s.hypot(x, y)),
        OpKind::Elementary(function) => real(s.elementary(function, x)),
        OpKind::Magnitude => real(if reals.to_f64(x) < 0.0 { s.neg(x) } else { Ok(x) }),
        OpKind::Turn { back, axis } => {
            let turned = if back { s.rotate_back((x, y), z) } else { s.rotate((x, y), z) };
            real(turned.map(|(x, y)| if axis == Coordinate::X { x } else { y }))
        }
        OpKind::Test(order) => int(s.test(order, x, y)),
        OpKind::Choose => ExpectedMeaning::Value(operands[if a != 0 { 1 } else { 2 }]),
        OpKind::RealOf => real(s.real_of(a)),
        OpKind::IntOf => evaluated(s.int_of(x)),
        OpKind::RequireAdmitted => required(reals.admit(x).is_ok()),
        OpKind::RequireVacant => {
            required(reals.to_f64(x).abs() <= if R::EXACT { 0.0 } else { numbers.tolerance })
        }
        OpKind::RequireTrue => required(a != 0),
        OpKind::RequireApart => required(a != b),
        OpKind::Input(_)
        | OpKind::Index { .. }
        | OpKind::Place
        | OpKind::Load(_)
        | OpKind::Store(_)
        | OpKind::Clock { .. }
        | OpKind::CountErased(_)
        | OpKind::CountDiscarded
        | OpKind::CountDropped
        | OpKind::Jumped
        | OpKind::Turned { .. }
        | OpKind::Arrived
        | OpKind::Largest
        | OpKind::Missed { .. }
        | OpKind::Freed { .. } => ExpectedMeaning::Other,
    }
}
