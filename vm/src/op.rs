//! Resolved instructions: what the interpreter's loop reads.
//!
//! A name has become an offset into the cells of its class wherever that is known at load;
//! otherwise it is the number of a [`Place`] that is resolved at each step. Knows no names.

use reviver_isa::Function;
use reviver_isa::instruction::Class;

use crate::distinct::Distinct;

/// What a resolved instruction does. The class of its target is part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A `br` that is always taken.
    Jump,
    BrInt,
    BrReal,
    FromInt,
    FromReal,
    /// A branch half whose sources are found at each step; `extra` says of which class.
    BrDynamic,
    FromDynamic,
    /// A data instruction whose cells are found at each step: number `a` of `Program::dynamic`.
    Dynamic,
    /// The same, and it names an adjoint: it acts plainly, in either mode.
    OnAdjoints,
    // Data, the most frequent first. Accumulations are told apart by the form of `f` and have their
    // update in `extra`.
    AddIntCopy,
    SubIntCopy,
    XorIntCopy,
    AddRealCopy,
    SubRealCopy,
    AddRealMul,
    SubRealMul,
    SwapInt,
    SwapReal,
    IntFromInts,
    IntFromReals,
    RealFromReals,
    RealFromRealInt,
    RealFromInts,
    NegInt,
    NegReal,
    NotInt,
    Rotate,
    RotateBack,
    AssertInt,
    AssertReal,
    VacateInt,
    VacateReal,
    EraseInt,
    EraseReal,
    /// The way back over an irreversible instruction whose target is an integer.
    Restore,
    /// Over one that left a real with a value that depends on no real.
    RestoreReal,
    /// Over the overwriting of a real by a function of reals, and of a real and an integer.
    RestoreFromReals,
    RestoreFromRealInt,
    // The rest changes more than cells, and leaves the inner loop.
    Call,
    Uncall,
    /// The bound of a procedure that is reached from within.
    Leave,
    /// The bound of a procedure that is passed when it is called; never executed.
    Bound,
    PushInt,
    PushReal,
    PopInt,
    PopReal,
    ReadInt,
    ReadReal,
    UnreadInt,
    UnreadReal,
    WriteInt,
    WriteReal,
    UnwriteInt,
    UnwriteReal,
    ShowInt,
    ShowReal,
    GradOn,
    GradOff,
    /// A run is to stop before what stands here ([`crate::stops`]).
    Stop,
}

impl Kind {
    /// Whether a step changes cells only, or nothing, and goes on to the next instruction.
    #[inline(always)]
    pub fn is_data(self) -> bool {
        (Kind::AddIntCopy as u8..Kind::Call as u8).contains(&(self as u8))
    }

    /// Which operands of a data instruction or a branch are reals.
    pub fn real_operands(self) -> [bool; 3] {
        use Kind::*;
        match self {
            IntFromReals => [false, true, true],
            RealFromRealInt | RestoreFromRealInt => [true, true, false],
            RealFromInts => [true, false, false],
            AddIntCopy | SubIntCopy | XorIntCopy | SwapInt | IntFromInts | NegInt | NotInt | AssertInt
            | VacateInt | EraseInt | Restore => [false; 3],
            _ => [true; 3],
        }
    }
}

impl Op {
    /// The cells of operands that aren't dynamic.
    #[inline(always)]
    pub fn cells(&self) -> [usize; 3] {
        [self.a as usize, self.b as usize, self.c as usize]
    }

    /// Whether a condition holds for sources of this ordering: 0 below, 1 equal, 2 above.
    #[inline(always)]
    pub fn holds(&self, ordering: u8) -> bool {
        self.extra >> ordering & 1 != 0
    }
}

/// `Op::flags`: operand `a`, `b`, `c` is the number of a [`Place`].
pub const DYNAMIC: [u8; 3] = [1, 2, 4];
/// Any operand is.
pub const ANY_DYNAMIC: u8 = 7;
/// `a` must not be the cell `b`; `a` not `c`; `b` not `c`.
pub const DISTINCT_AB: u8 = 8;
pub const DISTINCT_AC: u8 = 16;
pub const DISTINCT_BC: u8 = 32;
/// `a` (or `b`) is an integer target, and must not be an index cell of any operand.
pub const NO_INDEX_A: u8 = 64;
pub const NO_INDEX_B: u8 = 128;

/// In `Op::extra` of a branch half with dynamic sources: they are reals.
pub const OF_REALS: u8 = 8;

/// On a branch half that jumps: its partner compares integers whose addresses are known.
pub const LANDS_ON_INTS: u8 = 8;
/// On a branch half that jumps: its partner's condition always holds.
pub const LANDS_ALWAYS: u8 = 16;

/// The orderings of a condition, in `Op::extra`: bit 0 below, bit 1 equal, bit 2 above.
pub const BELOW: u8 = 1;
pub const EQUAL: u8 = 2;
pub const ABOVE: u8 = 4;

/// One resolved instruction.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub kind: Kind,
    pub function: Function,
    /// Which operands are dynamic, and which must be told apart once they are resolved.
    pub flags: u8,
    /// The orderings under which a condition holds, or the byte of a rarer update.
    pub extra: u8,
    pub a: u32,
    pub b: u32,
    /// A source; of a branch where it lands: behind its partner.
    pub c: u32,
}

/// A scalar whose address is relative to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// An offset into all cells of the class.
    Absolute(u32),
    /// An offset from the current frame's first cell of the class.
    Frame(Class, u32),
    /// A parameter of the current call.
    Parameter(u32),
}

/// An index: an integer scalar, if any, plus a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    pub cell: Option<Spot>,
    pub offset: i64,
}

/// A cell whose address is found at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Scalar(Spot),
    /// `A[t]`; the base is the first cell, or a slice parameter.
    Vector {
        base: Spot,
        length: u32,
        term: Term,
    },
    Matrix {
        base: Spot,
        rows: u32,
        columns: u32,
        row: Term,
        column: Term,
    },
    /// The adjoint of the cell at the place of this number.
    AdjointOf(u32),
}

/// A call's argument before it is resolved.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    Cell(Place),
    /// All elements; of a parameter its whole slice.
    Whole {
        base: Spot,
        length: u32,
    },
    Span {
        base: Spot,
        length: u32,
        from: Term,
        to: Term,
        step: u32,
    },
    Row {
        base: Spot,
        rows: u32,
        columns: u32,
        row: Term,
    },
    Column {
        base: Spot,
        rows: u32,
        columns: u32,
        column: Term,
    },
}

/// What a `call` or `uncall` needs, resolved.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// Number of the callee.
    pub procedure: u32,
    /// Number of the callee's rule, if it has one.
    pub rule: Option<u32>,
    pub arguments: Vec<Argument>,
    pub distinct: Distinct,
}
