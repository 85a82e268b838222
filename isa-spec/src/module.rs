//! The module: a whole program as data, as the assembler produces it and an image stores it.
//!
//! A module is not trusted until [`crate::verify`] accepts it. A module contains no addresses and no source
//! text.

use serde::{Deserialize, Serialize};

use crate::instruction::{Base, Class, Instruction};
use crate::names::LENGTH_PARAMETER;
pub use crate::structure::Structure;
use crate::update::OperandShape;

/// The width of integers, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Word {
    /// 8-bit integers, from -128 to 127.
    W8,
    /// 16-bit integers, from -32,768 to 32,767.
    W16,
    /// 32-bit integers, from -2³¹ to 2³¹ - 1.
    W32,
    /// 64-bit integers, the default, from -2⁶³ to 2⁶³ - 1.
    W64,
}

impl Word {
    /// Every width, in ascending order.
    pub const ALL: [Word; 4] = [Word::W8, Word::W16, Word::W32, Word::W64];

    /// Returns the width in bits: 8, 16, 32 or 64.
    pub fn bits(self) -> u32 {
        match self {
            Word::W8 => 8,
            Word::W16 => 16,
            Word::W32 => 32,
            Word::W64 => 64,
        }
    }

    /// Returns the bits of an integer of this width as an unsigned number.
    pub fn pattern(self, value: i64) -> u64 {
        value as u64 & (u64::MAX >> (64 - self.bits()))
    }

    /// Returns the integer of this width with these bits.
    pub fn signed(self, pattern: u64) -> i64 {
        let unused = 64 - self.bits();
        (pattern << unused) as i64 >> unused
    }

    /// Returns the width with this number of bits, or `None` if there is none.
    pub fn from_bits(bits: u32) -> Option<Word> {
        Word::ALL.into_iter().find(|w| w.bits() == bits)
    }

    /// Returns the range from the least to the greatest integer of this width.
    pub fn range(self) -> std::ops::RangeInclusive<i64> {
        let shift = 64 - self.bits();
        (i64::MIN >> shift)..=(i64::MAX >> shift)
    }
}

/// The number system of all reals of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RealSystem {
    /// The binary64 format of IEEE 754 (double precision), the default.
    F64,
    /// The binary32 format of IEEE 754 (single precision).
    F32,
    /// 64-bit fixed point with this many fraction bits, 16 to 56.
    Fixed(u8),
}

impl RealSystem {
    /// The default number of fraction bits of `fixed`, as in NiLang's Fixed43.
    pub const DEFAULT_FRACTION_BITS: u8 = 43;
    /// The numbers of fraction bits that `fixed` accepts.
    pub const FRACTION_BITS: std::ops::RangeInclusive<u8> = 16..=56;

    /// Returns the default tolerance: the greatest magnitude of a cell that counts as vacant.
    pub fn default_tolerance(self) -> f64 {
        match self {
            RealSystem::F64 => 1e-9,
            RealSystem::F32 => 1e-4,
            RealSystem::Fixed(_) => 0.0,
        }
    }

    /// Returns the width of a real in bits.
    pub fn width(self) -> u32 {
        match self {
            RealSystem::F32 => 32,
            RealSystem::F64 | RealSystem::Fixed(_) => 64,
        }
    }

    /// Returns true if sums of reals are exact, as in fixed point. If sums are exact, the inverse of a program
    /// restores the initial state bit for bit, without a history.
    pub fn is_exact(self) -> bool {
        matches!(self, RealSystem::Fixed(_))
    }
}

impl std::fmt::Display for RealSystem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RealSystem::F64 => write!(f, "f64"),
            RealSystem::F32 => write!(f, "f32"),
            RealSystem::Fixed(bits) => write!(f, "fixed {bits}"),
        }
    }
}

/// Capacities that are part of the program, independent of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    /// The maximum number of open calls.
    pub depth: u32,
    /// The maximum number of entries of each stack.
    pub stack: u32,
    /// The maximum number of entries of each tape.
    pub tape: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 100_000, stack: 1 << 24, tape: 1 << 24 }
    }
}

/// The role of a global cell in the program's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Neither input nor result: starts and ends at its initial value.
    Private,
    /// An input: the user gives its value at the start, and it must end at its initial value.
    In,
    /// A result: starts at its initial value.
    Out,
    /// An input and a result: the user gives its value at the start.
    InOut,
    /// An unwanted result, which a backward run needs: starts at its initial value.
    Garbage,
}

impl Role {
    /// Every role, each exactly once.
    pub const ALL: [Role; 5] = [Role::Private, Role::In, Role::Out, Role::InOut, Role::Garbage];

    /// Returns the directive that declares this role.
    pub fn directive(self) -> &'static str {
        match self {
            Role::Private => ".var",
            Role::In => ".in",
            Role::Out => ".out",
            Role::InOut => ".inout",
            Role::Garbage => ".garbage",
        }
    }

    /// Returns true if the user gives the value at the start of a forward run.
    pub fn is_given(self) -> bool {
        matches!(self, Role::In | Role::InOut)
    }

    /// Returns true if the value may differ from its initial value at the end of a forward run.
    pub fn is_result(self) -> bool {
        matches!(self, Role::Out | Role::InOut | Role::Garbage)
    }

    /// Returns the role of the same cell in the inverse program: inputs and outputs are exchanged.
    pub fn inverse(self) -> Role {
        match self {
            Role::In => Role::Out,
            Role::Out | Role::Garbage => Role::In,
            Role::Private | Role::InOut => self,
        }
    }
}

/// The declared shape of a name. Indices start at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// A single cell, named without an index.
    Scalar,
    /// A vector with this number of elements.
    Vector(u32),
    /// Rows and columns; stored in row-major order.
    Matrix(u32, u32),
    /// The stack of its class, with all its values from the bottom to the top. A stack has no cells and can't
    /// be named by an operand: only `push` and `pop` access it.
    Stack,
}

impl Shape {
    /// Returns the number of cells: 1, a length, or rows times columns.
    pub fn cells(self) -> u64 {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => u64::from(n),
            Shape::Matrix(rows, columns) => u64::from(rows) * u64::from(columns),
            Shape::Stack => 0,
        }
    }
}

/// Initial values: one for each cell, or an empty list if all are 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Values {
    /// Integers, in the order of the cells.
    Ints(Vec<i64>),
    /// Reals as written, not yet rounded to the number system.
    Reals(Vec<f64>),
}

impl Values {
    /// Returns the values of a declaration without any: every cell starts at 0.
    pub fn zero(class: Class) -> Values {
        match class {
            Class::Int => Values::Ints(Vec::new()),
            Class::Real => Values::Reals(Vec::new()),
        }
    }

    /// Returns the class of the cells that the values initialize.
    pub fn class(&self) -> Class {
        match self {
            Values::Ints(_) => Class::Int,
            Values::Reals(_) => Class::Real,
        }
    }

    /// Returns the number of listed values; 0 if all cells start at 0.
    pub fn len(&self) -> usize {
        match self {
            Values::Ints(v) => v.len(),
            Values::Reals(v) => v.len(),
        }
    }

    /// Returns true if no values are listed, so that all cells start at 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A named scalar, register or array that lives as long as the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Global {
    /// The name, by which source text, inputs and results refer to the global.
    pub name: String,
    /// The class of all cells of the global.
    pub class: Class,
    /// The role in the program's interface: input, result, both or neither.
    pub role: Role,
    /// The number of cells and their arrangement.
    pub shape: Shape,
    /// The values at the start of a forward run and, unless the global is a result, at the end.
    pub initial: Values,
    /// The values of an input at the start if the user gives none.
    pub default: Option<Values>,
    /// True if all lanes of a batch get the same value. A gradient has one derivative with respect to a shared
    /// global: the sum over the lanes.
    pub is_shared: bool,
}

/// The passing mode of a parameter: whether the procedure may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Passing {
    /// Read only: the parameter is never a target.
    In,
    /// Read and write: the argument must be a cell that the caller may change.
    InOut,
}

/// The rank of a parameter: the number of indices of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rank {
    /// A single cell (scalar).
    Scalar,
    /// A vector of any length.
    Vector,
    /// A matrix of any size.
    Matrix,
}

impl Rank {
    /// Returns the brackets after a parameter's name in source text.
    pub fn brackets(self) -> &'static str {
        match self {
            Rank::Scalar => "",
            Rank::Vector => "[]",
            Rank::Matrix => "[,]",
        }
    }
}

/// A parameter, passed by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name in the procedure's source text; for lengths see [`Parameter::is_length`].
    pub name: String,
    /// The class of the parameter. The cells of an argument must have the same class.
    pub class: Class,
    /// The permission of the procedure: read only, or read and write.
    pub passing: Passing,
    /// The number of indices of an element, which determines the arguments that fit.
    pub rank: Rank,
}

impl Parameter {
    /// Returns the extent: one cell, or an array of a size known at the call.
    pub fn extent(&self) -> Extent {
        match self.rank {
            Rank::Scalar => Extent::Cells(Shape::Scalar),
            Rank::Vector => Extent::Slice,
            Rank::Matrix => Extent::Matrix,
        }
    }

    /// Returns true if lowering added the parameter. Such a parameter passes the length of another parameter,
    /// which source text calls `len(a)`.
    pub fn is_length(&self) -> bool {
        self.name.starts_with(LENGTH_PARAMETER)
    }
}

/// An ancilla of a procedure: vacant at its entry and at its exit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameVariable {
    /// The name within the procedure. The text may use another one: see [`crate::structure::NameScope`].
    pub name: String,
    /// The class of all cells of the variable.
    pub class: Class,
    /// The number of cells and their arrangement.
    pub shape: Shape,
}

/// A procedure, with one entry and one exit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Procedure {
    /// The name that calls in source text use.
    pub name: String,
    /// The parameters, in the order of a call's arguments. [`Base::Parameter`] is an index in this list.
    pub parameters: Vec<Parameter>,
    /// The variables of each call's frame. [`Base::Frame`] is an index in this list.
    pub frame: Vec<FrameVariable>,
    /// The index of the procedure's `enter` in [`Module::code`].
    pub entry: u32,
    /// The index of the procedure's `exit` in [`Module::code`].
    pub exit: u32,
    /// The custom adjoint rule, as an index in `Module::procedures`. In gradient mode, it runs instead of
    /// this procedure's adjoint.
    pub rule: Option<u32>,
}

/// A whole program, not yet verified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// The width of all integers in the program.
    pub word: Word,
    /// The number system of all reals in the program.
    pub real: RealSystem,
    /// The capacities of the call stack, the stacks and the tapes.
    pub limits: Limits,
    /// The greatest magnitude of a float that counts as vacant; `None` for the default of the number system.
    pub tolerance: Option<f64>,
    /// True if the text declares the program as the inverse of another one, by `.inverse`. A run of an inverse
    /// must supply every input, and the tapes of an inverse are displayed in the other program's order.
    pub inverse: bool,
    /// The globals. [`Base::Global`] is an index in this list.
    pub globals: Vec<Global>,
    /// The procedures; the first is main.
    pub procedures: Vec<Procedure>,
    /// The instructions of all procedures, in the order of the procedures.
    pub code: Vec<Instruction>,
    /// Debug information about the source text, not needed to run.
    pub structure: Structure,
}

/// The extent of a declaration: a shape, or an array of a size known only at the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A fixed number of cells in this shape.
    Cells(Shape),
    /// A vector parameter: its length is known at the call.
    Slice,
    /// A matrix parameter: its rows and columns are known at the call.
    Matrix,
}

impl Extent {
    /// Returns true if elements have two indices.
    pub fn is_matrix(self) -> bool {
        matches!(self, Extent::Cells(Shape::Matrix(..)) | Extent::Matrix)
    }
}

/// The declaration that a [`Base`] refers to.
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'a> {
    /// The declared name, for messages.
    pub name: &'a str,
    /// The class of all its cells.
    pub class: Class,
    /// The number of cells and their arrangement, if they are known before a run.
    pub extent: Extent,
    /// True if an instruction may change it.
    pub writable: bool,
}

impl Module {
    /// Returns the declaration of a base in a procedure, or `None` if it doesn't exist.
    pub fn declaration<'a>(&'a self, procedure: &'a Procedure, base: Base) -> Option<Declaration<'a>> {
        match base {
            Base::Global(n) => self.globals.get(n as usize).map(|g| Declaration {
                name: &g.name,
                class: g.class,
                extent: Extent::Cells(g.shape),
                writable: true,
            }),
            Base::Frame(n) => procedure.frame.get(n as usize).map(|v| Declaration {
                name: &v.name,
                class: v.class,
                extent: Extent::Cells(v.shape),
                writable: true,
            }),
            Base::Parameter(n) => procedure.parameters.get(n as usize).map(|p| Declaration {
                name: &p.name,
                class: p.class,
                extent: p.extent(),
                writable: p.passing == Passing::InOut,
            }),
        }
    }

    /// Returns true if the program itself switches gradient mode.
    pub fn switches_mode(&self) -> bool {
        self.code.iter().any(|instruction| instruction.update.shape() == OperandShape::Switch)
    }

    /// Returns the declared stack of a class and its index among the globals.
    pub fn stack(&self, class: Class) -> Option<(usize, &Global)> {
        let mut globals = self.globals.iter().enumerate();
        globals.find(|(_, global)| global.shape == Shape::Stack && global.class == class)
    }

    /// Returns the index of a procedure in [`Module::procedures`], found by its entry.
    pub fn number_of(&self, procedure: &Procedure) -> u32 {
        self.procedures.partition_point(|p| p.entry < procedure.entry) as u32
    }

    /// Returns the tolerance of vacancy checks: the module's own, or the default of the number system.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(self.real.default_tolerance())
    }
}

impl RealSystem {
    /// Returns true if a literal is finite after rounding to the number system.
    pub fn represents(self, value: f64) -> bool {
        match self {
            RealSystem::F64 => value.is_finite(),
            RealSystem::F32 => (value as f32).is_finite(),
            RealSystem::Fixed(bits) => crate::number::fixed::from_f64(value, u32::from(bits)).is_ok(),
        }
    }
}
