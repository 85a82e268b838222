//! The module: a whole program as data, as the assembler makes it and an image stores it.
//!
//! A module is not yet trusted: [`crate::verify`] says whether it is a program. It holds no
//! addresses and no source text.

use serde::{Deserialize, Serialize};

use crate::instruction::{Base, Class, Instruction};
use crate::names::LENGTH_PARAMETER;
pub use crate::structure::Structure;

/// The width of integers in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Word {
    W8,
    W16,
    W32,
    W64,
}

impl Word {
    pub const ALL: [Word; 4] = [Word::W8, Word::W16, Word::W32, Word::W64];

    pub fn bits(self) -> u32 {
        match self {
            Word::W8 => 8,
            Word::W16 => 16,
            Word::W32 => 32,
            Word::W64 => 64,
        }
    }

    /// The bits of an integer of this width, as a number that is never negative.
    pub fn pattern(self, value: i64) -> u64 {
        value as u64 & (u64::MAX >> (64 - self.bits()))
    }

    /// The integer of this width that has these bits.
    pub fn signed(self, pattern: u64) -> i64 {
        let unused = 64 - self.bits();
        (pattern << unused) as i64 >> unused
    }

    pub fn from_bits(bits: u32) -> Option<Word> {
        Word::ALL.into_iter().find(|w| w.bits() == bits)
    }

    /// The least and the greatest integer of this width.
    pub fn range(self) -> std::ops::RangeInclusive<i64> {
        let shift = 64 - self.bits();
        (i64::MIN >> shift)..=(i64::MAX >> shift)
    }
}

/// What the reals of a module are: all of them are of one system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RealSystem {
    F64,
    F32,
    /// Fixed point in 64 bits with this many fraction bits, 16 to 56.
    Fixed(u8),
}

impl RealSystem {
    /// Fraction bits of `fixed` where none are given, as in NiLang's Fixed43.
    pub const DEFAULT_FRACTION_BITS: u8 = 43;
    /// The fraction bits that `fixed` accepts.
    pub const FRACTION_BITS: std::ops::RangeInclusive<u8> = 16..=56;

    /// Below which magnitude a cell counts as vacant where the module sets no tolerance.
    pub fn default_tolerance(self) -> f64 {
        match self {
            RealSystem::F64 => 1e-9,
            RealSystem::F32 => 1e-4,
            RealSystem::Fixed(_) => 0.0,
        }
    }

    /// Bits of a real.
    pub fn width(self) -> u32 {
        match self {
            RealSystem::F32 => 32,
            RealSystem::F64 | RealSystem::Fixed(_) => 64,
        }
    }

    /// Whether sums are exact, so that every program restores its start bit for bit.
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

/// Capacities that belong to the program, not to an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    /// Calls that may be open at a time.
    pub depth: u32,
    /// Entries of each stack.
    pub stack: u32,
    /// Entries of each tape.
    pub tape: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 100_000, stack: 1 << 24, tape: 1 << 24 }
    }
}

/// What a global cell is to those who run the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Starts and ends at its initial value.
    Private,
    /// Given at the start; back at its initial value at the end.
    In,
    /// Starts at its initial value; a result at the end.
    Out,
    /// Given at the start, a result at the end.
    InOut,
    /// Starts at its initial value; declared garbage at the end.
    Garbage,
}

impl Role {
    pub const ALL: [Role; 5] = [Role::Private, Role::In, Role::Out, Role::InOut, Role::Garbage];

    /// The directive that declares it.
    pub fn directive(self) -> &'static str {
        match self {
            Role::Private => ".var",
            Role::In => ".in",
            Role::Out => ".out",
            Role::InOut => ".inout",
            Role::Garbage => ".garbage",
        }
    }

    /// Given by the user at the start of a forward run.
    pub fn is_given(self) -> bool {
        matches!(self, Role::In | Role::InOut)
    }

    /// Free to differ from its initial value at the end of a forward run.
    pub fn is_result(self) -> bool {
        matches!(self, Role::Out | Role::InOut | Role::Garbage)
    }

    /// The role of the same cell in the inverse program: inputs and outputs change places.
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
    Scalar,
    Vector(u32),
    /// Rows, columns; stored row after row.
    Matrix(u32, u32),
    /// The whole stack of its class: as many values as lie on it, the bottom first. It has no cells, and no
    /// operand names it: `push` and `pop` alone reach it.
    Stack,
}

impl Shape {
    /// How many cells it takes: 1, a length, or rows times columns.
    pub fn cells(self) -> u64 {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => u64::from(n),
            Shape::Matrix(rows, columns) => u64::from(rows) * u64::from(columns),
            Shape::Stack => 0,
        }
    }
}

/// Initial values: one for each cell, or none where all are 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Values {
    Ints(Vec<i64>),
    /// As written, before they are rounded into the number system.
    Reals(Vec<f64>),
}

impl Values {
    /// The values of what is declared without any: every cell begins as 0.
    pub fn zero(class: Class) -> Values {
        match class {
            Class::Int => Values::Ints(Vec::new()),
            Class::Real => Values::Reals(Vec::new()),
        }
    }

    pub fn class(&self) -> Class {
        match self {
            Values::Ints(_) => Class::Int,
            Values::Reals(_) => Class::Real,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Values::Ints(v) => v.len(),
            Values::Reals(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A named scalar, register or array that lives as long as the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Global {
    pub name: String,
    pub class: Class,
    pub role: Role,
    pub shape: Shape,
    /// The value at the start of a forward run, and (unless it is a result) at the end.
    pub initial: Values,
    /// What a given cell holds at the start where the user gives nothing.
    pub default: Option<Values>,
    /// Whether all lanes of a batch are given the same, so that there is one derivative by it: the sum of the lanes'.
    pub is_shared: bool,
}

/// Whether a procedure may change what it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Passing {
    /// Never a target.
    In,
    InOut,
}

/// What a parameter takes, told by how many indices its elements have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rank {
    /// One cell.
    Scalar,
    /// A vector of any length.
    Vector,
    /// A matrix of any size.
    Matrix,
}

impl Rank {
    /// What stands behind the name of a parameter in source text.
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
    pub name: String,
    pub class: Class,
    pub passing: Passing,
    pub rank: Rank,
}

impl Parameter {
    pub fn extent(&self) -> Extent {
        match self.rank {
            Rank::Scalar => Extent::Cells(Shape::Scalar),
            Rank::Vector => Extent::Slice,
            Rank::Matrix => Extent::Matrix,
        }
    }

    /// Whether lowering made it: it brings the length of another one, which people ask for by `len(a)`.
    pub fn is_length(&self) -> bool {
        self.name.starts_with(LENGTH_PARAMETER)
    }
}

/// An ancilla of a procedure: vacant at its entry and at its exit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameVariable {
    pub name: String,
    pub class: Class,
    pub shape: Shape,
}

/// One entry, one exit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Procedure {
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub frame: Vec<FrameVariable>,
    /// Index of its `enter` in `Module::code`.
    pub entry: u32,
    /// Where its `exit` stands in [`Module::code`].
    pub exit: u32,
    /// The procedure that stands in for its adjoint, a number in `Module::procedures`.
    pub rule: Option<u32>,
}

/// A whole program, not yet verified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Module {
    pub word: Word,
    pub real: RealSystem,
    pub limits: Limits,
    /// Below which magnitude a float counts as vacant, where it isn't the number system's default.
    pub tolerance: Option<f64>,
    /// Whether the program says of itself, by `.inverse`, that it is the inverse of another. Then it is
    /// to be given every input, and its tapes are told in the other program's order.
    pub inverse: bool,
    pub globals: Vec<Global>,
    /// The first is main.
    pub procedures: Vec<Procedure>,
    pub code: Vec<Instruction>,
    pub structure: Structure,
}

/// The facts of a declaration that a place can start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Cells(Shape),
    /// A vector parameter: its length is known at the call.
    Slice,
    /// A matrix parameter: its rows and columns are known at the call.
    Matrix,
}

impl Extent {
    /// Whether elements have two indices.
    pub fn is_matrix(self) -> bool {
        matches!(self, Extent::Cells(Shape::Matrix(..)) | Extent::Matrix)
    }
}

/// What a [`Base`] stands for.
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'a> {
    pub name: &'a str,
    pub class: Class,
    pub extent: Extent,
    /// Whether an instruction may change it.
    pub writable: bool,
}

impl Module {
    /// The declaration behind a base in a procedure, or `None` where there is none.
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

    /// The stack of a class, where it is declared, and its number among the globals.
    pub fn stack(&self, class: Class) -> Option<(usize, &Global)> {
        let mut globals = self.globals.iter().enumerate();
        globals.find(|(_, global)| global.shape == Shape::Stack && global.class == class)
    }

    /// Which of the procedures one is, found by its entry.
    pub fn number_of(&self, procedure: &Procedure) -> u32 {
        self.procedures.partition_point(|p| p.entry < procedure.entry) as u32
    }

    /// What counts as 0 where a float is vacated: as the module says, or as its system has it.
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(self.real.default_tolerance())
    }
}

impl RealSystem {
    /// Whether a literal has a finite value here once it is rounded.
    pub fn represents(self, value: f64) -> bool {
        match self {
            RealSystem::F64 => value.is_finite(),
            RealSystem::F32 => (value as f32).is_finite(),
            RealSystem::Fixed(bits) => crate::number::fixed::from_f64(value, u32::from(bits)).is_ok(),
        }
    }
}
