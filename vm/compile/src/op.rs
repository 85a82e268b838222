//! The operations of a form, and the one table of what is known of each: how many operands it has, what it gives, and
//! whether it may fail. Knows no block and no engine.

use arrayvec::ArrayVec;
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

/// The number of a value: what an operation gives, or a parameter of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SsaValue(pub u32);

/// A memory that cells lie in, side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    Ints,
    Reals,
    /// The adjoint of each real, at its address.
    Adjoints,
    /// Records of the calls that are open ([`crate::form::FormCall`]), and what they pass: of each argument the first cell, the
    /// number of cells, and the distance of neighbours.
    References,
    /// Integers as they are at the start of a call. No code changes them.
    StartInts,
    /// Reals as they are at the start of a call. No code changes them.
    StartReals,
    /// Reals at the turning point that the caller asks for: one word for each.
    Results,
}

impl Space {
    /// The class of what its cells hold.
    pub fn class(self) -> Class {
        match self {
            Space::Ints | Space::References | Space::StartInts => Class::Int,
            Space::Reals | Space::Adjoints | Space::StartReals | Space::Results => Class::Real,
        }
    }
}

/// What a form is given by the call that it runs in: an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Where the frame's cells of a class begin.
    Frame(Class),
    /// Where the records of open calls end, among [`Space::References`].
    Records,
    /// No record begins there or behind: there is no room.
    RecordsEnd,
}

/// A coordinate of a point in the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    X,
    Y,
}

/// What an operation does. Integers are sign-extended words of the program, which results are wrapped to; addresses
/// and lengths are integers of 64 bits that aren't.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// A literal.
    Int(i64),
    /// The literal of these bits.
    Real(u64),
    Input(Input),

    // As the methods of `Arith` of these names.
    IntAdd,
    IntSub,
    IntNeg,
    IntMul,
    IntDiv,
    IntRem,
    IntPow,
    IntAnd,
    IntOr,
    IntXor,
    IntNot,
    IntRol,
    IntRor,
    IntShl,
    IntShr,
    IntSar,
    IntTest(Order),
    IntChoose,
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Pow,
    Powi,
    Atan2,
    Hypot,
    Elementary(Elementary),
    /// A float or its opposite, whichever isn't negative; -0 stays -0.
    Magnitude,
    /// A coordinate of the point (x, y) turned by an angle, or by the negated angle.
    Turn {
        back: bool,
        axis: Coordinate,
    },
    Test(Order),
    Choose,
    RealOf,
    IntOf,

    /// An index into an array: an integer plus this offset, which must be at least 0 and below a length.
    Index {
        offset: i64,
    },
    /// The address base + index·stride.
    Place,
    /// What a cell holds.
    Load(Space),
    /// Changes what a cell holds.
    Store(Space),

    /// A number that grows by 1 with each step that is made: those of blocks that have ended, and so many of this one.
    Clock {
        here: u32,
    },

    /// Fails unless a real may stand in a cell.
    RequireAdmitted,
    /// Fails unless a real is vacant.
    RequireVacant,
    /// Fails unless an integer isn't 0.
    RequireTrue,
    /// Fails where two integers are equal.
    RequireApart,

    /// So many bits are erased.
    CountErased(u32),
    /// The bits of a real are discarded, if it isn't 0.
    CountDiscarded,
    /// An adjoint is dropped, if it isn't 0.
    CountDropped,
    /// A branch that rounding may lead elsewhere was taken by the last step that was counted: whoever watches is told.
    Jumped,
    /// The turning point of a gradient: at most as many steps follow as were made before, and `slack` more; marks of branches count down.
    Turned {
        slack: u32,
    },
    /// Records the magnitude of a real in [`SweepEvidence::largest`](reviver_vm::differentiate::evidence::SweepEvidence::largest).
    Largest,
    /// Compares a real at the start with the same cell after the reverse sweep, whose adjoint is the third operand. Records a
    /// difference as evidence; fails where rounding doesn't explain it.
    Missed {
        /// The row whose adjoint it is.
        row: u32,
    },
    /// The step of an instruction frees a real with an adjoint: if it isn't 0, whoever watches is told.
    Freed {
        at: u32,
        /// The row whose adjoint the second operand is.
        row: u32,
    },
}

/// What is known of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The classes of its operands.
    pub operands: &'static [Class],
    /// The class of what it gives, if it gives anything.
    pub gives: Option<Class>,
    pub fails: Fails,
    /// Whether it reads what stores change, or is there for what it changes or checks: then its place counts.
    pub is_placed: bool,
}

/// Whether an operation may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    Never,
    /// Where the number system has no such number: floats have one for everything.
    Fixed,
    Maybe,
}

impl OpKind {
    /// What is known of it.
    pub fn facts(self) -> Facts {
        use Class::{Int, Real};
        let gives = |class, operands, fails| Facts { operands, gives: Some(class), fails, is_placed: false };
        let acts = |operands, fails| Facts { operands, gives: None, fails, is_placed: true };
        match self {
            OpKind::Int(_) | OpKind::Input(_) => gives(Int, &[], Fails::Never),
            OpKind::Real(_) => gives(Real, &[], Fails::Never),
            OpKind::IntNeg | OpKind::IntNot => gives(Int, &[Int], Fails::Never),
            OpKind::IntAdd
            | OpKind::IntSub
            | OpKind::IntMul
            | OpKind::IntAnd
            | OpKind::IntOr
            | OpKind::IntXor
            | OpKind::IntRol
            | OpKind::IntRor
            | OpKind::IntShl
            | OpKind::IntShr
            | OpKind::IntSar
            | OpKind::IntTest(_) => gives(Int, &[Int, Int], Fails::Never),
            OpKind::IntDiv | OpKind::IntRem | OpKind::IntPow => gives(Int, &[Int, Int], Fails::Maybe),
            OpKind::IntChoose | OpKind::Place => gives(Int, &[Int, Int, Int], Fails::Never),
            OpKind::Magnitude => gives(Real, &[Real], Fails::Never),
            OpKind::Neg | OpKind::Elementary(_) => gives(Real, &[Real], Fails::Fixed),
            OpKind::Add
            | OpKind::Sub
            | OpKind::Mul
            | OpKind::Div
            | OpKind::Pow
            | OpKind::Atan2
            | OpKind::Hypot => gives(Real, &[Real, Real], Fails::Fixed),
            OpKind::Powi => gives(Real, &[Real, Int], Fails::Fixed),
            OpKind::Turn { .. } => gives(Real, &[Real, Real, Real], Fails::Fixed),
            OpKind::Test(_) => gives(Int, &[Real, Real], Fails::Never),
            OpKind::Choose => gives(Real, &[Int, Real, Real], Fails::Never),
            OpKind::RealOf => gives(Real, &[Int], Fails::Fixed),
            OpKind::IntOf => gives(Int, &[Real], Fails::Maybe),
            OpKind::Index { .. } => gives(Int, &[Int, Int], Fails::Maybe),
            OpKind::Load(space) => Facts { is_placed: true, ..gives(space.class(), &[Int], Fails::Never) },
            OpKind::Clock { .. } => Facts { is_placed: true, ..gives(Int, &[], Fails::Never) },
            OpKind::Store(space) => match space.class() {
                Int => acts(&[Int, Int], Fails::Never),
                Real => acts(&[Int, Real], Fails::Never),
            },
            OpKind::RequireAdmitted | OpKind::RequireVacant => acts(&[Real], Fails::Maybe),
            OpKind::RequireTrue => acts(&[Int], Fails::Maybe),
            OpKind::RequireApart => acts(&[Int, Int], Fails::Maybe),
            OpKind::CountErased(_) | OpKind::Jumped | OpKind::Turned { .. } => acts(&[], Fails::Never),
            OpKind::Largest => acts(&[Real], Fails::Never),
            OpKind::Missed { .. } => acts(&[Real, Real, Real], Fails::Maybe),
            OpKind::Freed { .. } => acts(&[Real, Real], Fails::Never),
            OpKind::CountDiscarded | OpKind::CountDropped => acts(&[Real], Fails::Never),
        }
    }

    /// Whether it may fail over a number system.
    pub fn may_fail(self, system: RealSystem) -> bool {
        match self.facts().fails {
            Fails::Never => false,
            Fails::Fixed => matches!(system, RealSystem::Fixed(_)),
            Fails::Maybe => true,
        }
    }
}

/// An operation on values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SsaOp {
    pub kind: OpKind,
    pub operands: ArrayVec<SsaValue, 3>,
    /// Of one that may fail: where this integer is 0 it doesn't, and what it then gives is used nowhere.
    pub guard: Option<SsaValue>,
}
