//! Resolved instructions: what the interpreter's loop reads.
//!
//! A name has become an offset into the cells of its class wherever that is known at load;
//! otherwise it is the number of a [`Place`] that is resolved at each step. Knows no names.

use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::Class;
use reviver_isa::step::Operation;
use reviver_isa::update::Update;

use crate::distinct::Distinct;

/// The steps on cells that are so frequent that the loop is compiled for each: their names, and their update,
/// function and form. What they do is said by the rows, as of all others.
macro_rules! for_frequent_steps {
    ($each:ident $($more:tt)*) => {
        $each! {
            $($more)*
            AddIntCopy: Add Copy Int,
            SubIntCopy: Sub Copy Int,
            XorIntCopy: Xor Copy Int,
            AddRealCopy: Add Copy Real,
            SubRealCopy: Sub Copy Real,
            AddRealMul: Add Mul Real,
            SubRealMul: Sub Mul Real,
            SwapInt: Swap Copy Int,
            SwapReal: Swap Copy Real,
            VacateInt: Vacate Copy Int,
            VacateReal: Vacate Copy Real,
        }
    };
}
pub(crate) use for_frequent_steps;

macro_rules! kinds {
    ($($Frequent:ident: $update:ident $function:ident $form:ident,)+) => {
        /// What a resolved instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            /// A `br` that is always taken.
            Jump,
            BrInt,
            BrReal,
            FromInt,
            FromReal,
            /// A branch half that compares an adjoint.
            BrOnAdjoints,
            FromOnAdjoints,
            /// A step that names an adjoint, and acts plainly in either mode: number `a` of
            /// `Program::on_adjoints`.
            OnAdjoints,
            // Steps on cells.
            $( $Frequent, )+
            /// Any other, by its form.
            Ints,
            RealsToInt,
            Reals,
            RealInt,
            IntsToReal,
            /// The way back over an irreversible one.
            BackOverInts,
            BackOverRealsToInt,
            BackOverReals,
            BackOverRealInt,
            BackOverIntsToReal,
            // The rest changes more than cells, and leaves the inner loop.
            Call,
            Uncall,
            /// The bound of a procedure that is reached from within.
            Leave,
            /// The bound of a procedure that is passed when it is called; never executed.
            Bound,
            /// A value moves onto a stack or a tape, or from there.
            MoveInt,
            MoveReal,
            ShowInt,
            ShowReal,
            GradOn,
            GradOff,
            /// A run is to stop before what stands here ([`crate::stops`]).
            Stop,
        }

        impl Kind {
            /// The kind of a step on cells.
            pub fn of(operation: Operation) -> Kind {
                match (operation.update, operation.function, operation.form) {
                    $( (Update::$update, Function::$function, Form::$form) => Kind::$Frequent, )+
                    (_, _, form) if operation.undoes => match form {
                        Form::Int => Kind::BackOverInts,
                        Form::RealsToInt => Kind::BackOverRealsToInt,
                        Form::Real => Kind::BackOverReals,
                        Form::RealInt => Kind::BackOverRealInt,
                        Form::IntsToReal => Kind::BackOverIntsToReal,
                    },
                    (_, _, form) => match form {
                        Form::Int => Kind::Ints,
                        Form::RealsToInt => Kind::RealsToInt,
                        Form::Real => Kind::Reals,
                        Form::RealInt => Kind::RealInt,
                        Form::IntsToReal => Kind::IntsToReal,
                    },
                }
            }

            /// The form of a step on cells, and whether it leads back over an irreversible one.
            #[inline(always)]
            fn form(self) -> Option<(Form, bool)> {
                Some(match self {
                    $( Kind::$Frequent => (Form::$form, false), )+
                    Kind::Ints => (Form::Int, false),
                    Kind::RealsToInt => (Form::RealsToInt, false),
                    Kind::Reals => (Form::Real, false),
                    Kind::RealInt => (Form::RealInt, false),
                    Kind::IntsToReal => (Form::IntsToReal, false),
                    Kind::BackOverInts => (Form::Int, true),
                    Kind::BackOverRealsToInt => (Form::RealsToInt, true),
                    Kind::BackOverReals => (Form::Real, true),
                    Kind::BackOverRealInt => (Form::RealInt, true),
                    Kind::BackOverIntsToReal => (Form::IntsToReal, true),
                    Kind::Jump
                    | Kind::BrInt
                    | Kind::BrReal
                    | Kind::FromInt
                    | Kind::FromReal
                    | Kind::BrOnAdjoints
                    | Kind::FromOnAdjoints
                    | Kind::OnAdjoints
                    | Kind::Call
                    | Kind::Uncall
                    | Kind::Leave
                    | Kind::Bound
                    | Kind::MoveInt
                    | Kind::MoveReal
                    | Kind::ShowInt
                    | Kind::ShowReal
                    | Kind::GradOn
                    | Kind::GradOff
                    | Kind::Stop => return None,
                })
            }
        }
    };
}
for_frequent_steps!(kinds);

impl Place {
    /// The indices.
    pub fn terms(&self) -> impl Iterator<Item = Term> + use<> {
        let terms = match *self {
            Place::Scalar(_) | Place::AdjointOf(_) => [None, None],
            Place::Vector { term, .. } => [Some(term), None],
            Place::Matrix { row, column, .. } => [Some(row), Some(column)],
        };
        terms.into_iter().flatten()
    }
}

impl Op {
    /// The cells of operands that aren't dynamic.
    #[inline(always)]
    pub fn cells(&self) -> [usize; 3] {
        [self.a as usize, self.b as usize, self.c as usize]
    }

    /// What a step on cells does; none where it is another.
    #[inline(always)]
    pub fn operation(&self) -> Option<Operation> {
        let (form, undoes) = self.kind.form()?;
        Some(Operation { update: self.update, function: self.function, form, undoes })
    }

    /// Whether it is a step on cells.
    pub fn is_on_cells(&self) -> bool {
        self.kind.form().is_some()
    }

    /// Whether a condition holds for sources of this ordering: 0 below, 1 equal, 2 above.
    #[inline(always)]
    pub fn holds(&self, ordering: u8) -> bool {
        self.flags >> ORDERINGS >> ordering & 1 != 0
    }
}

/// `Op::flags`: operand `a`, `b`, `c` is the number of a [`Place`].
pub const DYNAMIC: [u8; 3] = [1, 2, 4];
/// Any operand is.
pub const ANY_DYNAMIC: u8 = 7;
/// `Op::guards`: `a` must not be the cell `b`; `a` not `c`; `b` not `c`.
pub const DISTINCT_AB: u8 = 1;
pub const DISTINCT_AC: u8 = 2;
pub const DISTINCT_BC: u8 = 4;
/// `a` (or `b`) is an integer target, and must not be an index cell of any operand.
pub const NO_INDEX_A: u8 = 8;
pub const NO_INDEX_B: u8 = 16;

/// `Op::flags` of a branch half that jumps: its partner compares integers whose addresses are known.
pub const LANDS_ON_INTS: u8 = 8;
/// The same of reals.
pub const LANDS_ON_REALS: u8 = 4;
/// On a branch half that jumps: its partner's condition always holds.
pub const LANDS_ALWAYS: u8 = 16;
/// Where the three orderings lie under which the condition holds: below, equal, above.
pub const ORDERINGS: u8 = 5;

/// One resolved instruction.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub kind: Kind,
    pub function: Function,
    /// As it is executed, in the direction of the code.
    pub update: Update,
    /// Which operands are dynamic; of a branch half the orderings under which its condition holds.
    pub flags: u8,
    /// Which operands must be told apart once they are found.
    pub guards: u8,
    pub a: u32,
    pub b: u32,
    /// A source; of a branch where it lands: behind its partner.
    pub c: u32,
    /// [`DIRECT`], or the operands are numbers of the procedure's window, and this says which indexings find
    /// elements first: see [`crate::window::find`].
    pub indices: u32,
}

/// [`Op::indices`] where the operands are addresses.
pub const DIRECT: u32 = u32::MAX;

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
