//! Ops: the steps of the flow as the interpreter's loop reads them, in the direction in which they are made. An
//! operand is an address, or the number of one in the window of the procedure. Knows no names.

use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::Class;
use reviver_isa::step::Operation;
use reviver_isa::update::Update;

/// The steps on cells that are so frequent that the loop is compiled for each: their names, and their update,
/// function and form. What they do is said by the rows, as of all others.
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

/// What a step that changes more than cells does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structural {
    /// A procedure is called or uncalled.
    Call,
    Leave,
    Bound,
    /// A value moves onto a stack or a tape, or from there: of an integer cell, or of a real one.
    Move(Class),
    /// The same of an adjoint.
    MoveAdjoint,
    Show,
    /// Calls are tasks from here on, or were up to here.
    Tasks,
    Switch {
        on: bool,
    },
    Stop,
}

macro_rules! kinds {
    ($($Frequent:ident: $update:ident $function:ident $form:ident,)+) => {
        /// What a resolved instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind {
            /// A `br` that is always taken.
            Jump,
            /// The same onto a join that compares integers: the operands and the condition are the join's.
            JumpOntoInts,
            BrInt,
            BrReal,
            FromInt,
            FromReal,
            /// A branch half that compares an adjoint.
            BrOnAdjoints,
            FromOnAdjoints,
            /// A step that names an adjoint, and acts plainly in either mode.
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
            MoveAdjoint,
            Show,
            /// A bound of tasks.
            Tasks,
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

            /// The step beyond cells that it is; none for those of the inner loop.
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
    /// The operands, as they stand here.
    #[inline(always)]
    pub fn operands(&self) -> [usize; 3] {
        [self.a as usize, self.b as usize, self.c as usize]
    }

    /// What a step on cells does; none where it is another.
    #[inline(always)]
    pub fn operation(&self) -> Option<Operation> {
        let (form, undoes) = self.kind.form()?;
        Some(Operation { update: self.update, function: self.function, form, undoes })
    }

    /// Whether a condition holds for sources of this ordering: 0 below, 1 equal, 2 above.
    #[inline(always)]
    pub fn holds(&self, ordering: u8) -> bool {
        u32::from(self.flags) >> (ORDERINGS + ordering) & 1 != 0
    }
}

/// `Op::flags`: the operands are numbers in the window of the procedure.
pub const WINDOWED: u8 = 1;
/// The same, and a [`Lookup`] says how elements among them are found, or what must be told apart.
///
/// [`Lookup`]: crate::interp::window::Lookup
pub const LOOKED_UP: u8 = 2;
/// `Op::flags` of a branch half that jumps: these two bits say how its partner's condition is found.
pub const LANDING: u8 = 12;
/// It compares reals whose addresses are known.
pub const LANDS_ON_REALS: u8 = 4;
/// The same of integers.
pub const LANDS_ON_INTS: u8 = 8;
/// It always holds.
pub const LANDS_ALWAYS: u8 = 12;
/// On a branch half that jumps: whoever watches is told ([`Flow::may_stray`]).
///
/// [`Flow::may_stray`]: reviver_flow::Flow::may_stray
pub const IS_MARKED: u8 = 16;
/// On a step on reals: its operands 1 and 2, where they are sources that receive no share ([`Activity`]).
///
/// [`Activity`]: reviver_flow::Activity
pub const IS_PASSIVE: [u8; 3] = [0, 4, 8];
/// On a step on reals: where its target's adjoint is 0 a source may lose a derivative ([`StepActivity::may_lose`]).
///
/// [`StepActivity::may_lose`]: reviver_flow::StepActivity::may_lose
pub const MAY_LOSE: u8 = 16;
/// All flags that tell the activity of a step on reals.
pub const ACTIVITY: u8 = IS_PASSIVE[1] | IS_PASSIVE[2] | MAY_LOSE;
/// Where the three orderings lie under which the condition holds: below, equal, above.
pub const ORDERINGS: u8 = 5;

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub kind: Kind,
    pub function: Function,
    /// As it is executed, in the direction of the code.
    pub update: Update,
    pub flags: u8,
    /// A target or a source; of a call its number in the flow.
    pub a: u32,
    pub b: u32,
    /// A source; of a branch where it lands: behind its partner.
    pub c: u32,
}
