//! The update rows: what an instruction does with its cells, and which update undoes it.
//!
//! An instruction is an update applied to a function; structural instructions (control, moves,
//! marks) are updates that take no function. A row states its byte, its spelling, its inverse, the
//! shape of its operands and the numbers over which it is legal. The table knows no function row
//! and no machine. The first byte of an instruction is the row's byte; bytes are frozen.

use crate::mutants;

/// The operands that an update takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A target cell, then the sources of a function.
    Accumulate,
    /// One target cell.
    Single,
    /// Two target cells.
    Exchange,
    /// Two real target cells and a real source, the angle.
    Rotate,
    /// The sources of a comparison.
    Condition,
    /// A partner and the sources of a comparison.
    Branch,
    /// The first or the last instruction of a procedure; never written in source text.
    Boundary,
    /// A procedure and its arguments.
    Call,
    /// An integer cell that holds a procedure's number, and arguments.
    CallVia,
    /// Several procedures with their arguments.
    Parallel,
    /// One cell or immediate that is only read.
    Show,
    /// No operands.
    Switch,
}

impl Shape {
    /// How many of the operands, the first ones, are targets.
    pub fn targets(self) -> usize {
        match self {
            Shape::Accumulate | Shape::Single => 1,
            Shape::Exchange | Shape::Rotate => 2,
            _ => 0,
        }
    }
}

/// The numbers over which an update of data is a bijection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    Integers,
    /// Reals whose group operation is addition: f64, f32, fixed point.
    AdditiveReals,
    /// Reals whose group operation is multiplication: log and tropical numbers.
    MultiplicativeReals,
    /// Complex reals.
    ComplexReals,
}

macro_rules! updates {
    ($(
        $(#[doc = $doc:literal])+
        $Name:ident = $byte:literal $text:literal $shape:ident inverse $Inverse:ident
        over [$($over:ident)*] means $meaning:literal adjoint $adjoint:literal
    )+) => {
        /// What an instruction does; its first byte.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Update { $( $(#[doc = $doc])+ $Name = $byte, )+ }

        impl Update {
            /// Every row, in byte order.
            pub const ALL: &'static [Update] = &[ $( Update::$Name, )+ ];

            /// The row with this byte.
            pub fn from_byte(byte: u8) -> Option<Update> {
                match byte { $( $byte => Some(Update::$Name), )+ _ => None }
            }

            /// The mnemonic.
            pub fn name(self) -> &'static str {
                match self { $( Update::$Name => $text, )+ }
            }

            /// The row's description, one or more sentences.
            pub fn doc(self) -> &'static str {
                match self { $( Update::$Name => concat!($($doc, "\n"),+), )+ }
            }

            /// The update that undoes this one. `overwrite` and `erase` name themselves: they have
            /// no inverse (see [`Update::is_reversible`]).
            pub fn inverse(self) -> Update {
                mutants::inverse(self, match self { $( Update::$Name => Update::$Inverse, )+ })
            }

            /// The operands it takes.
            pub fn shape(self) -> Shape {
                match self { $( Update::$Name => Shape::$shape, )+ }
            }

            /// The numbers over which it is legal.
            pub fn over(self) -> &'static [Over] {
                match self { $( Update::$Name => &[$(Over::$over),*], )+ }
            }

            /// Its effect as a formula, `f` standing for the function applied to the sources.
            pub fn meaning(self) -> &'static str {
                match self { $( Update::$Name => $meaning, )+ }
            }

            /// What it does to the adjoints while gradient mode is on, one thing after the other: an adjoint
            /// is the one that the clauses before have left. `x_old` and `x_new` are the value of a target
            /// before and after the instruction.
            pub fn adjoint(self) -> &'static str {
                match self { $( Update::$Name => $adjoint, )+ }
            }
        }
    };
}

impl Update {
    /// The row with this mnemonic.
    pub fn from_name(name: &str) -> Option<Update> {
        Update::ALL.iter().copied().find(|u| u.name() == name)
    }

    /// The byte that names the row in an image.
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// False for the two instructions that throw information away.
    pub fn is_reversible(self) -> bool {
        !matches!(self, Update::Overwrite | Update::Erase)
    }

    /// Whether it moves a value to or from a stack or a tape: what changes a single cell and nothing else
    /// is its own inverse.
    pub fn moves_values(self) -> bool {
        self.shape() == Shape::Single && self.inverse() != self
    }

    /// What the machine still lacks to carry it out: until then it can be assembled, not run.
    pub fn awaits(self) -> Option<&'static str> {
        match self {
            Update::CallVia | Update::UncallVia => Some("an indirect call"),
            Update::Par | Update::Unpar => Some("a parallel call"),
            _ => None,
        }
    }

    /// Whether a function byte other than `copy` may follow.
    pub fn takes_function(self) -> bool {
        matches!(self.shape(), Shape::Accumulate | Shape::Condition | Shape::Branch)
    }
}

updates! {
    /// Adds the function's value to the target.
    Add = 0x01 "add" Accumulate inverse Sub over [Integers AdditiveReals]
        means "y ← y + f" adjoint "a' ← a' - y'·∂f/∂a"
    /// Subtracts the function's value from the target.
    Sub = 0x02 "sub" Accumulate inverse Add over [Integers AdditiveReals]
        means "y ← y - f" adjoint "a' ← a' + y'·∂f/∂a"
    /// Flips the target's bits where the function's value has a 1.
    Xor = 0x03 "xor" Accumulate inverse Xor over [Integers]
        means "y ← y xor f" adjoint ""
    /// Multiplies the target by the function's value.
    Mul = 0x04 "mul" Accumulate inverse Div over [MultiplicativeReals]
        means "y ← y · f" adjoint "y' ← y' / f, then a' ← a' - y'·y_old·∂f/∂a"
    /// Divides the target by the function's value.
    Div = 0x05 "div" Accumulate inverse Mul over [MultiplicativeReals]
        means "y ← y / f" adjoint "y' ← y' · f, then a' ← a' + y'·y_new·∂f/∂a / f"
    /// Rotates the target's bits left by the function's value, modulo the width.
    Rol = 0x06 "rol" Accumulate inverse Ror over [Integers]
        means "y ← y rotated left by f bits" adjoint ""
    /// Rotates the target's bits right by the function's value, modulo the width.
    Ror = 0x07 "ror" Accumulate inverse Rol over [Integers]
        means "y ← y rotated right by f bits" adjoint ""

    /// Exchanges two cells of one class. Naming one cell twice is a legal no-op.
    Swap = 0x10 "swap" Exchange inverse Swap over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "x, y ← y, x" adjoint "x', y' ← y', x'"
    /// Negates the target. The integer MIN stays MIN; in fixed point it traps.
    Neg = 0x11 "neg" Single inverse Neg over [Integers AdditiveReals]
        means "y ← -y" adjoint "y' ← -y'"
    /// Flips all bits of the target.
    Not = 0x12 "not" Single inverse Not over [Integers]
        means "y ← not y" adjoint ""
    /// Conjugates a complex target.
    Conj = 0x13 "conj" Single inverse Conj over [ComplexReals]
        means "y ← conj y" adjoint "y' ← conj y'"
    /// Rotates the point (x, y) by an angle in radians: a Givens rotation.
    Rot = 0x14 "rot" Rotate inverse Irot over [AdditiveReals]
        means "x, y ← x·cos θ - y·sin θ, x·sin θ + y·cos θ"
        adjoint "θ' ← θ' - (x_old·y' - y_old·x'), then x', y' ← x'·cos θ - y'·sin θ, x'·sin θ + y'·cos θ"
    /// Rotates the point (x, y) by the negated angle.
    Irot = 0x15 "irot" Rotate inverse Rot over [AdditiveReals]
        means "x, y ← x·cos θ + y·sin θ, y·cos θ - x·sin θ"
        adjoint "x', y' ← x'·cos θ + y'·sin θ, y'·cos θ - x'·sin θ, then θ' ← θ' + (x_new·y' - y_new·x')"

    /// Traps unless the condition holds.
    Assert = 0x20 "assert" Condition inverse Assert over []
        means "traps unless f" adjoint ""
    /// Jumps past its partner `from` where the condition holds; both conditions must agree.
    Br = 0x21 "br" Branch inverse From over []
        means "jumps behind its partner if f" adjoint ""
    /// Joins two ways: the condition holds if and only if the partner `br` was taken.
    From = 0x22 "from" Branch inverse Br over []
        means "when fallen into, traps if f" adjoint ""
    /// The beginning of a procedure.
    Enter = 0x23 "enter" Boundary inverse Exit over []
        means "the procedure begins" adjoint ""
    /// The end of a procedure: its frame must be vacant again.
    Exit = 0x24 "exit" Boundary inverse Enter over []
        means "the procedure ends" adjoint ""
    /// Runs a procedure forward. The references are resolved here and checked again at its exit.
    Call = 0x25 "call" Call inverse Uncall over []
        means "runs the procedure forward" adjoint "carried by the procedure's body"
    /// Runs a procedure backward.
    Uncall = 0x26 "uncall" Call inverse Call over []
        means "runs the procedure backward" adjoint "carried by the procedure's body"
    /// Runs the procedure whose number a cell holds forward; the cell must be unchanged at its exit.
    CallVia = 0x27 "callvia" CallVia inverse UncallVia over []
        means "runs the chosen procedure forward" adjoint "carried by the procedure's body"
    /// Runs the procedure whose number a cell holds backward.
    UncallVia = 0x28 "uncallvia" CallVia inverse CallVia over []
        means "runs the chosen procedure backward" adjoint "carried by the procedure's body"
    /// Runs procedures that write disjoint cells: as if one after the other, in any order.
    Par = 0x29 "par" Parallel inverse Unpar over []
        means "runs the procedures forward, independently" adjoint "shared reads join in a fixed order"
    /// Runs procedures that write disjoint cells backward.
    Unpar = 0x2a "unpar" Parallel inverse Par over []
        means "runs the procedures backward, independently" adjoint "shared reads join in a fixed order"

    /// Moves a cell onto the stack of its class and leaves it 0.
    Push = 0x30 "push" Single inverse Pop over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "the stack gains y; y ← 0" adjoint "the stack gains y' too; y' ← 0"
    /// Moves the top of the stack of its class into a vacant cell.
    Pop = 0x31 "pop" Single inverse Push over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "the stack loses its top; y ← the top" adjoint "y' ← the adjoint of the top"
    /// Moves the next value of the input tape into a vacant cell of its class.
    Read = 0x32 "read" Single inverse Unread over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "y ← the next value of the input tape" adjoint "y' ← the adjoint of that value"
    /// Moves a cell back to the input tape and leaves it 0.
    Unread = 0x33 "unread" Single inverse Read over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "the input tape regains y; y ← 0" adjoint "the input tape regains y' too; y' ← 0"
    /// Moves a cell onto the output tape and leaves it 0.
    Write = 0x34 "write" Single inverse Unwrite over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "the output tape gains y; y ← 0" adjoint "the output tape gains y' too; y' ← 0"
    /// Moves the last value of the output tape back into a vacant cell of its class.
    Unwrite = 0x35 "unwrite" Single inverse Write over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "y ← the last value of the output tape" adjoint "y' ← the adjoint of that value"
    /// Traps unless the cell is vacant; a float within the tolerance becomes exactly 0.
    Vacate = 0x36 "vacate" Single inverse Vacate over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "traps unless y is vacant; y ← 0" adjoint "y' is dropped; y' ← 0"
    /// Prints a value. It changes nothing, and prints only on a forward step never made before.
    Show = 0x37 "show" Show inverse Show over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "prints y" adjoint ""

    /// Replaces the target by the function's value: irreversible, its old bits are erased.
    Overwrite = 0x40 "overwrite" Accumulate inverse Overwrite over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "y ← f; the old y is lost" adjoint "a' ← a' + y'·∂f/∂a, then y' ← 0 (backward only)"
    /// Sets the target to 0: irreversible, its old bits are erased.
    Erase = 0x41 "erase" Single inverse Erase over [Integers AdditiveReals MultiplicativeReals ComplexReals]
        means "y ← 0; the old y is lost" adjoint "y' ← 0 (backward only)"

    /// Switches gradient mode on; traps where it is on.
    GradOn = 0x50 "grad.on" Switch inverse GradOff over []
        means "mode ← 1" adjoint ""
    /// Switches gradient mode off; traps where it is off.
    GradOff = 0x51 "grad.off" Switch inverse GradOn over []
        means "mode ← 0" adjoint ""
}
