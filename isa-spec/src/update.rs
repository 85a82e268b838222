//! The update rows: the effect of an instruction on its cells, and the inverse of each update.
//!
//! A row states its byte, its spelling, its [`Action`], its inverse and its meaning. The meaning consists of pure
//! functions from old values to new ones over the [`Arith`] trait, and of the effect on the target's cotangent. A row
//! never loads or stores, and is independent of addresses; the templates of [`crate::step`] implement everything that
//! all rows of an action share. The table is independent of function rows and of the machine. The row's byte is the
//! first byte of an instruction; bytes are frozen.

use crate::arith::Arith;
use crate::fault::{Eval, Fault};

/// The part of a cell that is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Erasure {
    /// All bits of the cell.
    Cell,
    /// The lowest bit of the cell, for flags that are 0 or 1: their other bits are always 0.
    Bit,
}

impl Erasure {
    /// Returns the number of erased bits, given the cell's width in bits.
    pub const fn bits(self, width: u32) -> u32 {
        match self {
            Erasure::Cell => width,
            Erasure::Bit => 1,
        }
    }
}

/// The kind of step that an update performs. All updates of one action are executed by the same code: a
/// template of [`crate::step`], or one place in each engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Assigns y a value computed from y and from the function's value f: y ← y ∘ f, for example y + f.
    Accumulate,
    /// Assigns f to y; the old value is lost.
    Replace,
    /// Sets y or its lowest bit to 0; the old value is lost.
    Erase(Erasure),
    /// Assigns y a value computed from y alone, for example -y.
    Map,
    /// Exchanges x and y.
    Exchange,
    /// Rotates the point (x, y) by an angle.
    Rotate,
    /// Traps unless y is vacant, and sets y to 0.
    Clear,
    /// Moves y to the end of a store and leaves 0.
    Put(Store),
    /// Moves the end of a store into y, which must be vacant.
    Take(Store),
    /// Traps unless a condition holds.
    Test,
    /// Jumps to the instruction after the partner (an [`Action::Join`]) if the condition holds.
    Jump,
    /// Traps unless the condition is true after a jump from the partner, and false otherwise.
    Join,
    /// Begins a procedure: its first instruction.
    Begin,
    /// Ends a procedure: its last instruction.
    End,
    /// Runs a procedure, in the caller's direction or in the opposite one.
    Call(Direction),
    /// Begins or ends a region in which calls are tasks: no task accesses a cell that another one changes.
    Tasks(TaskBound),
    /// Prints a value of a cell.
    Show,
    /// Switches gradient mode on (true) or off (false).
    Switch(bool),
}

/// A place outside of cells to which values are moved and from which they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// The stack of the cell's class.
    Stack,
    /// The input tape; each entry has the class of the cell that it fits.
    Input,
    /// The output tape, with entries of both classes.
    Output,
}

/// The direction in which a procedure runs, relative to its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The direction of the caller: `call`.
    Forward,
    /// The opposite of the caller's direction: `uncall`.
    Backward,
}

/// The bounds of a region of calls that may run concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskBound {
    /// The first bound of the region in the direction of execution: `fork`.
    Opens,
    /// The last bound of the region in the direction of execution: `join`.
    Closes,
}

/// The sign of the sources' adjoint contributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sense {
    /// Contributions are subtracted from the sources' adjoints. For example, the executed step is y += f. In a reverse
    /// sweep, this step undoes y -= f, so a' -= y'·∂f/∂a.
    Takes,
    /// Contributions are added to the sources' adjoints. For example, the executed step is y -= f. In a reverse sweep,
    /// this step undoes y += f, so a' += y'·∂f/∂a.
    Gives,
}

impl Sense {
    /// Returns the sign for the inverse update: [`Sense::Gives`] for [`Sense::Takes`], and vice versa.
    pub fn opposite(self) -> Sense {
        match self {
            Sense::Takes => Sense::Gives,
            Sense::Gives => Sense::Takes,
        }
    }
}

/// The operands that an update takes in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandShape {
    /// A target cell, followed by the sources of a function.
    Accumulate,
    /// One operand, which is a target cell.
    Single,
    /// Two operands, both target cells.
    Exchange,
    /// Two real target cells and a real source, the angle.
    Rotate,
    /// The sources of a comparison.
    Condition,
    /// The label of the partner, and the sources of a comparison.
    Branch,
    /// The first or the last instruction of a procedure; never written in source text.
    Boundary,
    /// A procedure and its arguments.
    Call,
    /// One cell or immediate that is only read.
    Show,
    /// No operands; the instruction bounds a region of tasks.
    Tasks,
    /// No operands; the instruction switches gradient mode.
    Switch,
}

impl Action {
    /// Returns the operands of the action's rows.
    pub const fn shape(self) -> OperandShape {
        match self {
            Action::Accumulate | Action::Replace => OperandShape::Accumulate,
            Action::Map | Action::Clear | Action::Erase(_) | Action::Put(_) | Action::Take(_) => {
                OperandShape::Single
            }
            Action::Exchange => OperandShape::Exchange,
            Action::Rotate => OperandShape::Rotate,
            Action::Test => OperandShape::Condition,
            Action::Jump | Action::Join => OperandShape::Branch,
            Action::Begin | Action::End => OperandShape::Boundary,
            Action::Call(_) => OperandShape::Call,
            Action::Show => OperandShape::Show,
            Action::Tasks(_) => OperandShape::Tasks,
            Action::Switch(_) => OperandShape::Switch,
        }
    }

    /// Returns false if the action loses information.
    pub const fn is_reversible(self) -> bool {
        !matches!(self, Action::Replace | Action::Erase(_))
    }

    /// Returns true if the target may also be a source; the sources are read before the target is written.
    /// Only actions that lose the target's old value allow that. For other actions the inverse step needs the
    /// sources unchanged.
    pub const fn may_read_target(self) -> bool {
        matches!(self, Action::Replace)
    }
}

impl OperandShape {
    /// Returns the number of targets; targets are the first operands.
    pub fn targets(self) -> usize {
        match self {
            OperandShape::Accumulate | OperandShape::Single => 1,
            OperandShape::Exchange | OperandShape::Rotate => 2,
            OperandShape::Condition
            | OperandShape::Branch
            | OperandShape::Boundary
            | OperandShape::Call
            | OperandShape::Show
            | OperandShape::Tasks
            | OperandShape::Switch => 0,
        }
    }
}

/// The number systems over which an update is a bijection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// Integers of every width; sums and rotations wrap.
    Integers,
    /// Reals with addition as the group operation: f64, f32, fixed point.
    AdditiveReals,
    /// Reals with multiplication as the group operation: log and tropical numbers.
    MultiplicativeReals,
    /// Pairs of reals. No number system has them: the assembler replaces statements with complex cells by statements with
    /// their parts.
    ComplexReals,
}

/// A point of the plane, (x, y).
pub type PlanePoint<R> = (R, R);

/// The methods that evaluate an update row. The default methods return [`Fault::NoSignature`] for a value, and
/// `bar` unchanged for the cotangent and for the weight.
trait UpdateRow {
    const PARTS: &'static [RowMeaning];
    const SENSE: Option<Sense> = sense(Self::PARTS);

    fn int<S: Arith>(_s: &S, _y: S::Int, _f: S::Int) -> Eval<S::Int> {
        Err(Fault::NoSignature)
    }
    fn real<S: Arith>(_s: &S, _y: S::Real, _f: S::Real) -> Eval<S::Real> {
        Err(Fault::NoSignature)
    }
    fn turn<S: Arith>(_s: &S, _p: PlanePoint<S::Real>, _angle: S::Real) -> Eval<PlanePoint<S::Real>> {
        Err(Fault::NoSignature)
    }
    fn cotangent<S: Arith>(_s: &S, bar: S::Real, _f: S::Real) -> Eval<S::Real> {
        Ok(bar)
    }
    fn weight<S: Arith>(_s: &S, bar: S::Real, _y: (S::Real, S::Real), _f: S::Real) -> Eval<S::Real> {
        Ok(bar)
    }
}

/// The lines of a row: the methods of [`UpdateRow`] that the row defines, and the sign of its adjoint
/// contributions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowMeaning {
    /// The line `int`: the new value of an integer target.
    Int,
    /// The line `real`: the new value of a real target.
    Real,
    /// The line `turn`: the new point of a rotation.
    Turn,
    /// The line `cotangent`: the new cotangent of the target, if the step changes it.
    Cotangent,
    /// The line `weight`: the factor of f's partial derivatives, if the factor isn't the target's cotangent.
    Weight,
    Takes,
    Gives,
}

/// Generates one method of an [`UpdateRow`] from one line of a row.
macro_rules! method {
    (int ($s:ident, $y:ident) $body:expr) => { method!(int ($s, $y, _f) $body); };
    (int ($s:ident, $y:ident, $f:ident) $body:expr) => {
        #[inline(always)]
        fn int<S: Arith>($s: &S, $y: S::Int, $f: S::Int) -> Eval<S::Int> { $body }
    };
    (real ($s:ident, $y:ident) $body:expr) => { method!(real ($s, $y, _f) $body); };
    (real ($s:ident, $y:ident, $f:ident) $body:expr) => {
        #[inline(always)]
        fn real<S: Arith>($s: &S, $y: S::Real, $f: S::Real) -> Eval<S::Real> { $body }
    };
    (turn ($s:ident, $p:ident, $angle:ident) $body:expr) => {
        #[inline(always)]
        fn turn<S: Arith>($s: &S, $p: PlanePoint<S::Real>, $angle: S::Real) -> Eval<PlanePoint<S::Real>> { $body }
    };
    (cotangent ($s:ident, $bar:ident, $f:ident) $body:expr) => {
        #[inline(always)]
        fn cotangent<S: Arith>($s: &S, $bar: S::Real, $f: S::Real) -> Eval<S::Real> { $body }
    };
    (weight ($s:ident, $bar:ident, $y:tt, $f:ident) $body:expr) => {
        #[inline(always)]
        fn weight<S: Arith>($s: &S, $bar: S::Real, $y: (S::Real, S::Real), $f: S::Real) -> Eval<S::Real> {
            $body
        }
    };
    (takes) => {};
    (gives) => {};
}

macro_rules! part {
    (int) => {
        RowMeaning::Int
    };
    (real) => {
        RowMeaning::Real
    };
    (turn) => {
        RowMeaning::Turn
    };
    (cotangent) => {
        RowMeaning::Cotangent
    };
    (weight) => {
        RowMeaning::Weight
    };
    (takes) => {
        RowMeaning::Takes
    };
    (gives) => {
        RowMeaning::Gives
    };
}

const fn has(parts: &[RowMeaning], wanted: RowMeaning) -> bool {
    let mut n = 0;
    while n < parts.len() {
        if parts[n] as u8 == wanted as u8 {
            return true;
        }
        n += 1;
    }
    false
}

const fn sense(parts: &[RowMeaning]) -> Option<Sense> {
    match (has(parts, RowMeaning::Takes), has(parts, RowMeaning::Gives)) {
        (true, false) => Some(Sense::Takes),
        (false, true) => Some(Sense::Gives),
        _ => None,
    }
}

/// Returns true if a row has exactly the lines that its action and its number systems require; a constant
/// asserts that. Complex reals are ignored, because no number system implements them.
#[allow(dead_code)] // the oldest supported compiler doesn't see that constants use it
const fn is_whole(action: Action, over: &[Over], parts: &[RowMeaning]) -> bool {
    let (mut ints, mut reals) = (false, false);
    let mut n = 0;
    while n < over.len() {
        match over[n] {
            Over::Integers => ints = true,
            Over::AdditiveReals | Over::MultiplicativeReals => reals = true,
            Over::ComplexReals => {}
        }
        n += 1;
    }
    let computes = matches!(action, Action::Accumulate | Action::Replace | Action::Map);
    let turns = matches!(action, Action::Rotate);
    let carries = reals && matches!(action, Action::Accumulate | Action::Replace | Action::Rotate);
    has(parts, RowMeaning::Int) == (computes && ints)
        && has(parts, RowMeaning::Real) == (computes && reals)
        && has(parts, RowMeaning::Turn) == (turns && reals)
        && sense(parts).is_some() == carries
        && (carries || !has(parts, RowMeaning::Cotangent) && !has(parts, RowMeaning::Weight))
}

macro_rules! updates {
    ($(
        $(#[doc = $doc:literal])+
        $Name:ident = $byte:literal $text:literal $action:ident $(($argument:expr))? inverse $Inverse:ident
        over [$($over:ident)*] { $( $part:ident $(($($argument_of:tt),*) : $body:expr)? ; )* }
    )+) => {
        /// The effect of an instruction; its first byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Update { $( $(#[doc = $doc])+ $Name = $byte, )+ }

        mod rows {
            $( pub(super) struct $Name; )+
        }
        $(
            impl UpdateRow for rows::$Name {
                const PARTS: &'static [RowMeaning] = &[ $( part!($part) ),* ];
                $( method! { $part $(($($argument_of),*) $body)? } )*
            }
            const _: () = assert!(
                is_whole(
                    Action::$action $(($argument))?, &[ $( Over::$over ),* ], <rows::$Name as UpdateRow>::PARTS
                ),
                concat!("the row of `", $text, "` doesn't say what it does over each of its numbers")
            );
        )+

        impl Update {
            /// Every row, in byte order.
            pub const ALL: &'static [Update] = &[ $( Update::$Name, )+ ];

            /// Returns the row with this byte.
            pub fn from_byte(byte: u8) -> Option<Update> {
                match byte { $( $byte => Some(Update::$Name), )+ _ => None }
            }

            /// Returns the mnemonic, as in source text.
            pub fn name(self) -> &'static str {
                match self { $( Update::$Name => $text, )+ }
            }

            /// Returns the row's description, one or more sentences.
            pub fn doc(self) -> &'static str {
                match self { $( Update::$Name => concat!($($doc, "\n"),+), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_inverse(self) -> Update {
                match self { $( Update::$Name => Update::$Inverse, )+ }
            }

            /// Returns the kind of step that the update performs.
            #[inline(always)]
            pub const fn action(self) -> Action {
                match self { $( Update::$Name => Action::$action $(($argument))?, )+ }
            }

            /// Returns the number systems over which the update is legal.
            pub fn over(self) -> &'static [Over] {
                match self { $( Update::$Name => &[$(Over::$over),*], )+ }
            }

            #[inline(always)]
            pub(crate) fn row_int<S: Arith>(self, s: &S, y: S::Int, f: S::Int) -> Eval<S::Int> {
                match self { $( Update::$Name => rows::$Name::int(s, y, f), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_real<S: Arith>(self, s: &S, y: S::Real, f: S::Real) -> Eval<S::Real> {
                match self { $( Update::$Name => rows::$Name::real(s, y, f), )+ }
            }

            #[inline(always)]
            pub(crate) fn row_turn<S: Arith>(self, s: &S, p: PlanePoint<S::Real>, angle: S::Real) -> Eval<PlanePoint<S::Real>> {
                match self { $( Update::$Name => rows::$Name::turn(s, p, angle), )+ }
            }

            /// Returns true if the step changes the adjoint of its target, too. The result is true for `mul`
            /// and `div`, which scale the target, and scale the adjoint of the target inversely.
            #[inline(always)]
            pub const fn moves_cotangent(self) -> bool {
                match self { $( Update::$Name => has(<rows::$Name as UpdateRow>::PARTS, RowMeaning::Cotangent), )+ }
            }

            /// Returns the cotangent of the target after the step. `bar` is the cotangent before the step,
            /// and `f` the function's value.
            ///
            /// # Errors
            /// Returns a fault if the number system can't represent the result.
            #[inline(always)]
            pub fn cotangent<S: Arith>(self, s: &S, bar: S::Real, f: S::Real) -> Eval<S::Real> {
                match self { $( Update::$Name => rows::$Name::cotangent(s, bar, f), )+ }
            }

            /// Returns the factor by which f's partial derivatives are multiplied in the adjoint
            /// contributions to the sources. `bar` is the target's cotangent after the step, `y` the target's
            /// values before and after the step, and `f` the function's value.
            ///
            /// # Errors
            /// Returns a fault if the number system can't represent the result.
            #[inline(always)]
            pub fn weight<S: Arith>(
                self, s: &S, bar: S::Real, y: (S::Real, S::Real), f: S::Real
            ) -> Eval<S::Real> {
                match self { $( Update::$Name => rows::$Name::weight(s, bar, y, f), )+ }
            }

            /// Returns the sign of the adjoint contributions to the sources, or `None` if the update makes
            /// none.
            #[inline(always)]
            pub const fn sense(self) -> Option<Sense> {
                match self { $( Update::$Name => <rows::$Name as UpdateRow>::SENSE, )+ }
            }
        }
    };
}

impl Update {
    /// Returns the row with this mnemonic.
    pub fn from_name(name: &str) -> Option<Update> {
        Update::ALL.iter().copied().find(|u| u.name() == name)
    }

    /// Returns the byte that identifies the row in an image.
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// Returns the operands that the update takes.
    #[inline(always)]
    pub const fn shape(self) -> OperandShape {
        self.action().shape()
    }

    /// Returns false if the update loses information.
    pub const fn is_reversible(self) -> bool {
        self.action().is_reversible()
    }

    /// Returns true if the update moves a value from a cell to a stack or a tape, or back.
    pub const fn moves_values(self) -> bool {
        matches!(self.action(), Action::Put(_) | Action::Take(_))
    }

    /// Returns true if the update can be applied to functions other than `copy`.
    pub const fn takes_function(self) -> bool {
        matches!(self.shape(), OperandShape::Accumulate | OperandShape::Condition | OperandShape::Branch)
    }
}

updates! {
    /// Adds the function's value to the target.
    Add = 0x01 "add" Accumulate inverse Sub over [Integers AdditiveReals] {
        int(s, y, f): Ok(s.int_add(y, f));
        real(s, y, f): s.add(y, f);
        takes;
    }
    /// Subtracts the function's value from the target.
    Sub = 0x02 "sub" Accumulate inverse Add over [Integers AdditiveReals] {
        int(s, y, f): Ok(s.int_sub(y, f));
        real(s, y, f): s.sub(y, f);
        gives;
    }
    /// Flips the target's bits where the function's value has a 1.
    Xor = 0x03 "xor" Accumulate inverse Xor over [Integers] {
        int(s, y, f): Ok(s.int_xor(y, f));
    }
    /// Multiplies the target by the function's value.
    Mul = 0x04 "mul" Accumulate inverse Div over [MultiplicativeReals] {
        real(s, y, f): s.mul(y, f);
        cotangent(s, bar, f): s.div(bar, f);
        weight(s, bar, (old, _), _f): s.mul(bar, old);
        takes;
    }
    /// Divides the target by the function's value.
    Div = 0x05 "div" Accumulate inverse Mul over [MultiplicativeReals] {
        real(s, y, f): s.div(y, f);
        cotangent(s, bar, f): s.mul(bar, f);
        weight(s, bar, (_, new), f): s.div(s.mul(bar, new)?, f);
        gives;
    }
    /// Rotates the target's bits left by the function's value, modulo the width.
    Rol = 0x06 "rol" Accumulate inverse Ror over [Integers] {
        int(s, y, f): Ok(s.int_rol(y, f));
    }
    /// Rotates the target's bits right by the function's value, modulo the width.
    Ror = 0x07 "ror" Accumulate inverse Rol over [Integers] {
        int(s, y, f): Ok(s.int_ror(y, f));
    }

    /// Exchanges two cells of one class. If both operands are the same cell, nothing changes.
    Swap = 0x10 "swap" Exchange inverse Swap
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Negates the target. The integer MIN stays MIN; the least number of fixed point traps.
    Neg = 0x11 "neg" Map inverse Neg over [Integers AdditiveReals] {
        int(s, y): Ok(s.int_neg(y));
        real(s, y): s.neg(y);
    }
    /// Flips all bits of the target.
    Not = 0x12 "not" Map inverse Not over [Integers] {
        int(s, y): Ok(s.int_not(y));
    }
    /// Conjugates a complex target.
    Conj = 0x13 "conj" Map inverse Conj over [ComplexReals] {}
    /// Rotates the point (x, y) by an angle in radians: a Givens rotation.
    Rot = 0x14 "rot" Rotate inverse Irot over [AdditiveReals] {
        turn(s, p, angle): s.rotate(p, angle);
        takes;
    }
    /// Rotates the point (x, y) by the negated angle.
    Irot = 0x15 "irot" Rotate inverse Rot over [AdditiveReals] {
        turn(s, p, angle): s.rotate_back(p, angle);
        gives;
    }

    /// Traps unless the condition holds.
    Assert = 0x20 "assert" Test inverse Assert over [] {}
    /// Jumps past its partner `from` where the condition holds; both conditions must agree.
    Br = 0x21 "br" Jump inverse From over [] {}
    /// Joins two paths: the condition holds if and only if the partner `br` jumped.
    From = 0x22 "from" Join inverse Br over [] {}
    /// The beginning of a procedure.
    Enter = 0x23 "enter" Begin inverse Exit over [] {}
    /// The end of a procedure: its frame must be vacant again.
    Exit = 0x24 "exit" End inverse Enter over [] {}
    /// Runs a procedure forward. Arguments are resolved to cells at the call, and checked again at the exit.
    Call = 0x25 "call" Call(Direction::Forward) inverse Uncall over [] {}
    /// Runs a procedure backward.
    Uncall = 0x26 "uncall" Call(Direction::Backward) inverse Call over [] {}
    /// The calls up to the next `join` are tasks, which may run at the same time. No task may access a cell that
    /// another task changes: the `fork` traps if arguments of two tasks share such a cell.
    Fork = 0x2b "fork" Tasks(TaskBound::Opens) inverse Join over [] {}
    /// All tasks since the `fork` have ended. In a backward run, the `join` begins the tasks.
    Join = 0x2c "join" Tasks(TaskBound::Closes) inverse Fork over [] {}

    /// Moves the value of a cell onto the stack of its class, and leaves 0 in the cell.
    Push = 0x30 "push" Put(Store::Stack) inverse Pop
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Moves the top of the stack of its class into a vacant cell.
    Pop = 0x31 "pop" Take(Store::Stack) inverse Push
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Moves the next value of the input tape into a vacant cell of its class.
    Read = 0x32 "read" Take(Store::Input) inverse Unread
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Moves the value of a cell back to the input tape, and leaves 0 in the cell.
    Unread = 0x33 "unread" Put(Store::Input) inverse Read
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Moves the value of a cell onto the output tape, and leaves 0 in the cell.
    Write = 0x34 "write" Put(Store::Output) inverse Unwrite
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Moves the last value of the output tape back into a vacant cell of its class.
    Unwrite = 0x35 "unwrite" Take(Store::Output) inverse Write
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Traps unless the cell is vacant; a float within the tolerance becomes exactly 0.
    Vacate = 0x36 "vacate" Clear inverse Vacate
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Prints a value, and changes nothing. A forward step prints. A backward step prints only in a derivative rule, in
    /// gradient mode. A step that is repeated doesn't print again.
    Show = 0x37 "show" Show inverse Show
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}

    /// Replaces the target by the function's value: irreversible, its old bits are erased. The target may be one of the
    /// sources, which are read first.
    Overwrite = 0x40 "overwrite" Replace inverse Overwrite
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {
        int(_s, _y, f): Ok(f);
        real(_s, _y, f): Ok(f);
        gives;
    }
    /// Sets the target to 0: irreversible, its old bits are erased.
    Erase = 0x41 "erase" Erase(Erasure::Cell) inverse Erase
        over [Integers AdditiveReals MultiplicativeReals ComplexReals] {}
    /// Sets the target's lowest bit to 0: irreversible, one bit is erased.
    Forget = 0x42 "forget" Erase(Erasure::Bit) inverse Forget over [Integers] {}

    /// Switches gradient mode on; traps if it is already on. The assembler replaces `grad.on 2`, of a greater depth, by
    /// statements.
    GradOn = 0x50 "grad.on" Switch(true) inverse GradOff over [] {}
    /// Switches gradient mode off; traps if it is already off. The assembler replaces `grad.off 2` by statements.
    GradOff = 0x51 "grad.off" Switch(false) inverse GradOn over [] {}
}
