//! Ops: the steps of the flow in the interpreter's encoding, in the direction of execution. An operand is an address,
//! or an index into the window of the procedure. Ops contain no names.

use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::step::Operation;
use reviver_isa::update::Update;

/// The steps on cells that are so frequent that the loop has an arm for each, with their update, function and
/// signature. The instruction table defines the meaning of these steps, as of all other steps.
macro_rules! for_frequent_steps {
    ($each:ident $($more:tt)*) => {
        $each! {
            $($more)*
            AddIntCopy: Add Copy Int,
            SubIntCopy: Sub Copy Int,
            XorIntCopy: Xor Copy Int,
            AddIntMul: Add Mul Int,
            SubIntMul: Sub Mul Int,
            AddRealCopy: Add Copy Real,
            SubRealCopy: Sub Copy Real,
            AddRealSum: Add Sum Real,
            SubRealSum: Sub Sum Real,
            AddRealDiff: Add Diff Real,
            SubRealDiff: Sub Diff Real,
            AddRealMul: Add Mul Real,
            SubRealMul: Sub Mul Real,
            AddRealSquare: Add Square Real,
            SubRealSquare: Sub Square Real,
            AddRealDiv: Add Div Real,
            SubRealDiv: Sub Div Real,
            SwapInt: Swap Copy Int,
            SwapReal: Swap Copy Real,
            VacateInt: Vacate Copy Int,
            VacateReal: Vacate Copy Real,
        }
    };
}
pub(crate) use for_frequent_steps;

/// The kinds of steps that change more than cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structural {
    /// A call or uncall of a procedure.
    Call,
    Leave,
    Bound,
    /// A move between a stack or tape and an integer or real cell.
    Move(Class),
    /// A move between a stack or tape and an adjoint.
    MoveAdjoint,
    Show,
    /// The start or the end of a task region.
    Tasks,
    Switch {
        on: bool,
    },
    Stop,
}

macro_rules! kinds {
    ($($Frequent:ident: $update:ident $function:ident $signature:ident,)+) => {
        /// The kind of an op, which selects the arm of the interpreter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            /// A `br` that is always taken.
            Jump,
            /// A `br` that is always taken and whose partner compares integers. The op has the operands and the
            /// condition of the partner.
            JumpOntoInts,
            BrInt,
            BrReal,
            FromInt,
            FromReal,
            /// A branch half that compares an adjoint.
            BrOnAdjoints,
            FromOnAdjoints,
            /// A step that names an adjoint, and has the same effect in either mode.
            OnAdjoints,
            // Steps on cells.
            $( $Frequent, )+
            /// Any other step on cells, by its signature.
            Ints,
            RealsToInt,
            Reals,
            RealInt,
            IntsToReal,
            /// The inverse of an irreversible step, by its signature.
            BackOverInts,
            BackOverRealsToInt,
            BackOverReals,
            BackOverRealInt,
            BackOverIntsToReal,
            // The remaining kinds change more than cells, and leave the hot loop.
            Call,
            Uncall,
            /// The end of a procedure in the direction of execution, reached from within the procedure.
            Leave,
            /// The entry or exit at which a call enters a procedure. The call continues after this op, so this op is
            /// never executed.
            Bound,
            /// A move between a cell and a stack or tape.
            MoveInt,
            MoveReal,
            MoveAdjoint,
            Show,
            /// The start or the end of a task region.
            Tasks,
            GradOn,
            GradOff,
            /// A breakpoint: the run stops before the instruction that this op replaces ([`crate::stops`]).
            Stop,
        }

        impl Kind {
            /// Returns the kind of a step on cells.
            pub fn of(operation: Operation) -> Kind {
                match (operation.update, operation.function, operation.signature) {
                    $( (Update::$update, Function::$function, Signature::$signature) => Kind::$Frequent, )+
                    (_, _, signature) if operation.undoes => match signature {
                        Signature::Int => Kind::BackOverInts,
                        Signature::RealsToInt => Kind::BackOverRealsToInt,
                        Signature::Real => Kind::BackOverReals,
                        Signature::RealInt => Kind::BackOverRealInt,
                        Signature::IntsToReal => Kind::BackOverIntsToReal,
                    },
                    (_, _, signature) => match signature {
                        Signature::Int => Kind::Ints,
                        Signature::RealsToInt => Kind::RealsToInt,
                        Signature::Real => Kind::Reals,
                        Signature::RealInt => Kind::RealInt,
                        Signature::IntsToReal => Kind::IntsToReal,
                    },
                }
            }

            /// Returns the kind of a step that changes more than cells; `None` for the steps of the hot loop.
            pub fn structural(self) -> Option<Structural> {
                Some(match self {
                    Kind::Call | Kind::Uncall => Structural::Call,
                    Kind::Leave => Structural::Leave,
                    Kind::Bound => Structural::Bound,
                    Kind::MoveInt => Structural::Move(Class::Int),
                    Kind::MoveReal => Structural::Move(Class::Real),
                    Kind::MoveAdjoint => Structural::MoveAdjoint,
                    Kind::Show => Structural::Show,
                    Kind::Tasks => Structural::Tasks,
                    Kind::GradOn => Structural::Switch { on: true },
                    Kind::GradOff => Structural::Switch { on: false },
                    Kind::Stop => Structural::Stop,
                    $( Kind::$Frequent )|+
                    | Kind::Jump
                    | Kind::JumpOntoInts
                    | Kind::BrInt
                    | Kind::BrReal
                    | Kind::FromInt
                    | Kind::FromReal
                    | Kind::BrOnAdjoints
                    | Kind::FromOnAdjoints
                    | Kind::OnAdjoints
                    | Kind::Ints
                    | Kind::RealsToInt
                    | Kind::Reals
                    | Kind::RealInt
                    | Kind::IntsToReal
                    | Kind::BackOverInts
                    | Kind::BackOverRealsToInt
                    | Kind::BackOverReals
                    | Kind::BackOverRealInt
                    | Kind::BackOverIntsToReal => return None,
                })
            }

            /// Returns the signature of a step on cells, and a flag that is true if it inverts an irreversible
            /// step.
            #[inline(always)]
            fn signature(self) -> Option<(Signature, bool)> {
                Some(match self {
                    $( Kind::$Frequent => (Signature::$signature, false), )+
                    Kind::Ints => (Signature::Int, false),
                    Kind::RealsToInt => (Signature::RealsToInt, false),
                    Kind::Reals => (Signature::Real, false),
                    Kind::RealInt => (Signature::RealInt, false),
                    Kind::IntsToReal => (Signature::IntsToReal, false),
                    Kind::BackOverInts => (Signature::Int, true),
                    Kind::BackOverRealsToInt => (Signature::RealsToInt, true),
                    Kind::BackOverReals => (Signature::Real, true),
                    Kind::BackOverRealInt => (Signature::RealInt, true),
                    Kind::BackOverIntsToReal => (Signature::IntsToReal, true),
                    Kind::Jump
                    | Kind::JumpOntoInts
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
                    | Kind::MoveAdjoint
                    | Kind::Show
                    | Kind::Tasks
                    | Kind::GradOn
                    | Kind::GradOff
                    | Kind::Stop => return None,
                })
            }
        }
    };
}
for_frequent_steps!(kinds);

impl Op {
    /// Returns the operand fields of the op.
    #[inline(always)]
    pub fn operands(&self) -> [usize; 3] {
        [self.a as usize, self.b as usize, self.c as usize]
    }

    /// Returns the operation of a step on cells; `None` for other steps.
    #[inline(always)]
    pub fn operation(&self) -> Option<Operation> {
        let (signature, undoes) = self.kind.signature()?;
        Some(Operation { update: self.update, function: self.function, signature, undoes })
    }

    /// Returns true if the condition holds for sources with this ordering: 0 less, 1 equal, 2 greater.
    #[inline(always)]
    pub fn holds(&self, ordering: u8) -> bool {
        u32::from(self.flags) >> (ORDERINGS + ordering) & 1 != 0
    }
}

/// `Op::flags`: the operands are indices into the window of the procedure.
pub const WINDOWED: u8 = 1;
/// `Op::flags`: the operands are in the window, and a [`Lookup`] must first locate elements or check alias
/// guards.
///
/// [`Lookup`]: crate::interp::window::Lookup
pub const LOOKED_UP: u8 = 2;
/// `Op::flags` of a jumping branch half: the two bits that encode how the partner's condition is evaluated.
pub const LANDING: u8 = 12;
/// The partner compares reals at known addresses.
pub const LANDS_ON_REALS: u8 = 4;
/// The partner compares integers at known addresses.
pub const LANDS_ON_INTS: u8 = 8;
/// The partner's condition is always true.
pub const LANDS_ALWAYS: u8 = 12;
/// `Op::flags` of a jumping branch half: the jump contributes a mark to the watch ([`Flow::may_diverge`]).
///
/// [`Flow::may_diverge`]: reviver_flow::Flow::may_diverge
pub const IS_MARKED: u8 = 16;
/// `Op::flags` of a step on reals: the flag at index 1 or 2 says that this operand is a source that receives no
/// adjoint ([`Activity`]).
///
/// [`Activity`]: reviver_flow::Activity
pub const IS_PASSIVE: [u8; 3] = [0, 4, 8];
/// `Op::flags` of a step on reals: a source may lose a derivative if the target's adjoint is 0
/// ([`StepActivity::may_lose`]).
///
/// [`StepActivity::may_lose`]: reviver_flow::StepActivity::may_lose
pub const MAY_LOSE: u8 = 16;
/// All flags that encode the activity of a step on reals.
pub const ACTIVITY: u8 = IS_PASSIVE[1] | IS_PASSIVE[2] | MAY_LOSE;
/// The position of the first of three flag bits, one each for the orderings less, equal and greater. A bit is
/// set if the condition is true for this ordering.
pub const ORDERINGS: u8 = 5;

/// One step in the interpreter's encoding.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub kind: Kind,
    pub function: Function,
    /// The update to execute, which already takes the direction of the code into account.
    pub update: Update,
    pub flags: u8,
    /// A target or a source; for a call, the number of its call site in the flow.
    pub a: u32,
    pub b: u32,
    /// A source; for a branch, the jump target, which is the op after the partner.
    pub c: u32,
}
