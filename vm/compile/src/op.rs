//! Operations of SSA functions, and the only table of their properties: operands, result, and when an operation may
//! fail. This module is independent of blocks and engines.

use arrayvec::ArrayVec;
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

/// Number of a value: the result of an operation, or a block parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SsaValue(pub u32);

/// Address space of consecutive cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Integer cells: globals, frames of open calls, and constants.
    Ints,
    /// Real cells, as bits of the program's number system.
    Reals,
    /// Adjoints of reals, for one loss or for several. An adjoint of the first loss has the address of its real.
    Adjoints,
    /// Call records ([`crate::function::OutOfLineCall`]), and the arguments of open inlined calls. An argument has
    /// three words: its first cell, its number of cells, and the distance between neighbouring cells.
    References,
    /// Integers at the start of a call. Code doesn't change them.
    StartInts,
    /// Reals at the start of a call. Code doesn't change them.
    StartReals,
    /// Buffer for the results of a call function: the values of the seeded reals at the turning point, one word each.
    Results,
}

impl Space {
    /// Returns the class of the numbers in the cells of this space.
    pub fn class(self) -> Class {
        match self {
            Space::Ints | Space::References | Space::StartInts => Class::Int,
            Space::Reals | Space::Adjoints | Space::StartReals | Space::Results => Class::Real,
        }
    }
}

/// Input of an SSA function: an address that the caller supplies at entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Address of the first cell of the frame, in a class.
    Frame(Class),
    /// End of the call records that are open at entry, in [`Space::References`].
    Records,
    /// End of the space for call records. No record may begin at or after this address.
    RecordsEnd,
}

/// Coordinate of a point in the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// First coordinate. For a rotated point, it is x·cos - y·sin.
    X,
    /// Second coordinate. For a rotated point, it is x·sin + y·cos.
    Y,
}

/// Kind of an operation. Integers are sign-extended words of the program, and operations wrap their results to words.
/// Addresses and lengths are 64-bit integers that aren't wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// Literal of this integer value.
    Int(i64),
    /// Literal real with these bits.
    Real(u64),
    /// Address that the caller supplies at entry.
    Input(Input),

    // Operations as defined by the methods of `Arith` with these names.
    /// Wrapping sum of two integers.
    IntAdd,
    /// Wrapping difference: the first integer minus the second.
    IntSub,
    /// Wrapping negation of an integer. The negation of the smallest integer is the smallest integer.
    IntNeg,
    /// Wrapping product of two integers.
    IntMul,
    /// Quotient, rounded toward zero. Fails if the second integer is 0.
    IntDiv,
    /// Remainder with the dividend's sign. Fails if the second integer is 0.
    IntRem,
    /// Wrapping power of an integer. Fails if the exponent, the second operand, is negative.
    IntPow,
    /// Bitwise and of two integers.
    IntAnd,
    /// Bitwise or of two integers.
    IntOr,
    /// Bitwise exclusive or of two integers.
    IntXor,
    /// Bitwise complement of an integer.
    IntNot,
    /// Left rotation of a word by the second operand modulo the word's width.
    IntRol,
    /// Right rotation of a word by the second operand modulo the word's width.
    IntRor,
    /// Left shift by the second operand. The result is 0 if the second operand isn't in 0..width.
    IntShl,
    /// Logical right shift by the second operand. The result is 0 if the second operand isn't in 0..width.
    IntShr,
    /// Arithmetic right shift by the second operand. If the second operand isn't in 0..width, the result is 0, or -1
    /// for a negative word.
    IntSar,
    /// Comparison of two integers: 1 if the ordering holds, otherwise 0.
    IntTest(Order),
    /// Integer select: the second operand if the first isn't 0, otherwise the third.
    IntChoose,
    /// Sum of two reals, rounded in the number system.
    Add,
    /// Difference: the first real minus the second.
    Sub,
    /// Product of two reals, rounded in the number system.
    Mul,
    /// Quotient of two reals. In fixed point, fails if the divisor is 0.
    Div,
    /// Negation of a real. In fixed point, fails for the smallest number.
    Neg,
    /// Power of two reals; the second operand is the exponent.
    Pow,
    /// Power of a real. The second operand is the exponent, an integer.
    Powi,
    /// Angle of the point (x, y) in radians. The operands are y and x, in this order.
    Atan2,
    /// Length of the vector whose coordinates are the two operands.
    Hypot,
    /// Elementary function of one real, such as a logarithm.
    Elementary(Elementary),
    /// Magnitude of a float, except that -0 stays -0.
    Magnitude,
    /// One coordinate of the point (x, y) after a rotation by an angle. The operands are x, y and the angle. If `back`
    /// is true, the angle is negated.
    Turn {
        /// True to rotate by the negated angle.
        back: bool,
        /// Coordinate of the rotated point that is the result.
        axis: Coordinate,
    },
    /// Comparison of two reals: the integer 1 if the ordering holds, otherwise 0.
    Test(Order),
    /// Real select: the second operand if the first, an integer, isn't 0; otherwise the third.
    Choose,
    /// Real that is nearest to an integer.
    RealOf,
    /// Real converted to an integer by rounding toward zero. Fails if the result is outside of the integers' range.
    IntOf,

    /// Array index: the first operand plus this offset. Fails unless the sum is at least 0 and less than the second
    /// operand, a length.
    Index {
        /// Constant that is added to the first operand before the check.
        offset: i64,
    },
    /// Address of an array element: base + index·stride.
    Place,
    /// Reads the cell at an address.
    Load(Space),
    /// Writes a value to the cell at an address.
    Store(Space),

    /// Step counter: the number of steps of finished blocks, plus `here` steps of the current block. The counter's
    /// start value is arbitrary, so only the difference of two readings is meaningful.
    Clock {
        /// Number of steps of the current block before this operation.
        here: u32,
    },

    /// Fails unless a cell may hold the operand, a real. Cells hold only finite floats.
    RequireAdmitted,
    /// Fails unless the operand, a real, is vacant: its magnitude must be at most the program's tolerance.
    RequireVacant,
    /// Fails if an integer is 0.
    RequireTrue,
    /// Fails if two integers are equal.
    RequireApart,

    /// Adds this number of bits to the count of erased bits.
    CountErased(u32),
    /// Adds the width of a real, in bits, to the count of discarded bits, unless all bits of the real are 0.
    CountDiscarded,
    /// Increments the count of dropped adjoints, unless the adjoint is 0.
    CountDropped,
    /// Records for verification ([`reviver_vm::watch`]) that the last counted step took a branch. Emitted only for
    /// branches whose direction rounding may change.
    Jumped,
    /// Turning point of a gradient. Sets the step budget of the reverse sweep to the number of steps of the primal
    /// sweep plus `slack`. After this operation, the watcher treats jumps as those of the reverse sweep.
    Turned {
        /// Upper bound on the steps of the reverse sweep beyond those of the primal sweep.
        slack: u32,
    },
    /// End of a gradient's reverse sweep. Only verification follows.
    Arrived,
    /// Records the magnitude of a real in
    /// [`SweepEvidence::largest`](reviver_vm::differentiate::evidence::SweepEvidence::largest).
    Largest,
    /// Compares the real in a cell at the start (first operand) with the real in the same cell after the reverse sweep
    /// (second operand). A difference becomes evidence, together with the cell's adjoint (third operand). Fails if
    /// rounding doesn't explain the difference.
    Missed {
        /// Row of adjoints to which the third operand belongs.
        row: u32,
    },
    /// Reports a freed real (first operand) and its adjoint (second operand) to the watcher, unless the real is 0. In
    /// rows other than the first, the operation records the rounding error as evidence instead.
    Freed {
        /// Index of the instruction.
        at: u32,
        /// Row of adjoints to which the second operand belongs.
        row: u32,
    },
}

/// Properties of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Classes of the operands, in order.
    pub operands: &'static [Class],
    /// Class of the result, if there is one.
    pub result: Option<Class>,
    /// Condition under which the operation may fail, derived from the kind alone.
    pub fails: Fails,
    /// True if the position of the operation matters, because it reads memory that stores change, has an effect, or is
    /// a check.
    pub is_placed: bool,
}

/// Condition under which an operation may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// The operation succeeds for all operands, in every number system.
    Never,
    /// The operation fails only in fixed point, if the result isn't representable. In floats it always has a result.
    Fixed,
    /// Failure is possible in every number system, depending on the operands.
    Maybe,
}

impl OpKind {
    /// Returns the properties of the operation.
    pub fn facts(self) -> Facts {
        use Class::{Int, Real};
        let result =
            |class, operands, fails| Facts { operands, result: Some(class), fails, is_placed: false };
        let has_effect = |operands, fails| Facts { operands, result: None, fails, is_placed: true };
        match self {
            OpKind::Int(_) | OpKind::Input(_) => result(Int, &[], Fails::Never),
            OpKind::Real(_) => result(Real, &[], Fails::Never),
            OpKind::IntNeg | OpKind::IntNot => result(Int, &[Int], Fails::Never),
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
            | OpKind::IntTest(_) => result(Int, &[Int, Int], Fails::Never),
            OpKind::IntDiv | OpKind::IntRem | OpKind::IntPow => result(Int, &[Int, Int], Fails::Maybe),
            OpKind::IntChoose | OpKind::Place => result(Int, &[Int, Int, Int], Fails::Never),
            OpKind::Magnitude => result(Real, &[Real], Fails::Never),
            OpKind::Neg | OpKind::Elementary(_) => result(Real, &[Real], Fails::Fixed),
            OpKind::Add
            | OpKind::Sub
            | OpKind::Mul
            | OpKind::Div
            | OpKind::Pow
            | OpKind::Atan2
            | OpKind::Hypot => result(Real, &[Real, Real], Fails::Fixed),
            OpKind::Powi => result(Real, &[Real, Int], Fails::Fixed),
            OpKind::Turn { .. } => result(Real, &[Real, Real, Real], Fails::Fixed),
            OpKind::Test(_) => result(Int, &[Real, Real], Fails::Never),
            OpKind::Choose => result(Real, &[Int, Real, Real], Fails::Never),
            OpKind::RealOf => result(Real, &[Int], Fails::Fixed),
            OpKind::IntOf => result(Int, &[Real], Fails::Maybe),
            OpKind::Index { .. } => result(Int, &[Int, Int], Fails::Maybe),
            OpKind::Load(space) => Facts { is_placed: true, ..result(space.class(), &[Int], Fails::Never) },
            OpKind::Clock { .. } => Facts { is_placed: true, ..result(Int, &[], Fails::Never) },
            OpKind::Store(space) => match space.class() {
                Int => has_effect(&[Int, Int], Fails::Never),
                Real => has_effect(&[Int, Real], Fails::Never),
            },
            OpKind::RequireAdmitted | OpKind::RequireVacant => has_effect(&[Real], Fails::Maybe),
            OpKind::RequireTrue => has_effect(&[Int], Fails::Maybe),
            OpKind::RequireApart => has_effect(&[Int, Int], Fails::Maybe),
            OpKind::CountErased(_) | OpKind::Jumped | OpKind::Turned { .. } | OpKind::Arrived => {
                has_effect(&[], Fails::Never)
            }
            OpKind::Largest => has_effect(&[Real], Fails::Never),
            OpKind::Missed { .. } => has_effect(&[Real, Real, Real], Fails::Maybe),
            OpKind::Freed { .. } => has_effect(&[Real, Real], Fails::Never),
            OpKind::CountDiscarded | OpKind::CountDropped => has_effect(&[Real], Fails::Never),
        }
    }

    /// Returns true if the operation may fail in a number system.
    pub fn may_fail(self, system: RealSystem) -> bool {
        match self.facts().fails {
            Fails::Never => false,
            Fails::Fixed => matches!(system, RealSystem::Fixed(_)),
            Fails::Maybe => true,
        }
    }
}

/// Operation with its operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SsaOp {
    /// Kind of the operation, which determines its [`Facts`].
    pub kind: OpKind,
    /// Operands, with the classes in [`Facts::operands`].
    pub operands: ArrayVec<SsaValue, 3>,
    /// Integer that guards an operation that may fail. If it is 0, the operation doesn't fail, and its result isn't
    /// used.
    pub guard: Option<SsaValue>,
}
