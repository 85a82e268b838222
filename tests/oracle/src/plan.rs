//! A program with its names resolved, still structured as its author wrote it: what the walk
//! walks. There are no positions in it and no jumps, but for the flat branches of one list.

use num_bigint::BigInt;
use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, RealSystem, Role};
use reviver_isa::update::Update;

use crate::store::Cell;
use crate::value::Value;

/// A whole program.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) numbers: Numbers,
    /// Calls that may be open at a time, and entries of each stack and of each tape.
    pub(crate) depth: usize,
    pub(crate) stack: usize,
    pub(crate) tape: usize,
    pub(crate) globals: Vec<Global>,
    /// The first is main.
    pub(crate) procedures: Vec<Procedure>,
    /// Whether the program switches gradient mode itself.
    pub(crate) switches: bool,
}

/// The numbers that a program computes with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// The width of integers.
    pub(crate) bits: u32,
    pub(crate) system: RealSystem,
    pub(crate) tolerance: f64,
}

#[derive(Debug)]
pub(crate) struct Global {
    pub(crate) name: String,
    pub(crate) class: Class,
    pub(crate) role: Role,
    pub(crate) shape: Shape,
    /// One value a cell.
    pub(crate) initial: Vec<Value>,
    pub(crate) default: Option<Vec<Value>>,
}

#[derive(Debug, Default)]
pub(crate) struct Procedure {
    /// How each parameter is passed.
    pub(crate) parameters: Vec<Passing>,
    /// The procedure that stands in for its adjoint.
    pub(crate) rule: Option<usize>,
    pub(crate) frame: Vec<FrameVariable>,
    pub(crate) body: Block,
}

#[derive(Debug)]
pub(crate) struct FrameVariable {
    pub(crate) name: String,
    pub(crate) class: Class,
    pub(crate) cells: usize,
}

/// Statements one after the other.
pub(crate) type Block = Vec<Statement>;

#[derive(Debug)]
pub(crate) enum Statement {
    Accumulate {
        update: Update,
        function: Function,
        target: Place,
        sources: Vec<Source>,
    },
    Single {
        update: Update,
        target: Place,
    },
    Swap(Place, Place),
    Rotate {
        back: bool,
        x: Place,
        y: Place,
        angle: Source,
    },
    Assert(Condition),
    /// The partner is a number in the same list.
    Br {
        partner: usize,
        condition: Condition,
    },
    From {
        partner: usize,
        condition: Condition,
    },
    Call(Call),
    /// Calls none of which touches what another one changes, in the order of one thread.
    Tasks(Vec<Call>),
    /// The same of the rounds of a loop.
    TaskRounds(For),
    /// A call of the procedure whose number a cell holds, among some.
    CallVia {
        cell: Place,
        calls: Vec<Call>,
    },
    Show(Source),
    /// `grad.on` or `grad.off`
    Switch {
        on: bool,
    },
    If {
        entry: Condition,
        then: Block,
        otherwise: Block,
        exit: Condition,
    },
    Loop {
        entry: Condition,
        first: Block,
        again: Block,
        exit: Condition,
    },
    For(For),
    Compute {
        body: Block,
        apply: Block,
    },
    /// `local` and `delocal`: the cell comes from 0, or goes back to it.
    Local {
        cell: Place,
        function: Function,
        sources: Vec<Source>,
    },
    Delocal {
        cell: Place,
        function: Function,
        sources: Vec<Source>,
    },
    /// A local array that begins or ends: its cells are 0.
    Vacant(Variable),
    /// The body of a macro, or its inverse, between the making and unmaking of what it is given.
    Macro {
        undo: bool,
        values: Vec<(Place, Computed)>,
        body: Block,
    },
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) undo: bool,
    pub(crate) procedure: usize,
    pub(crate) arguments: Vec<Argument>,
    /// Whether others may be made at the same time.
    pub(crate) is_task: bool,
}

#[derive(Debug)]
pub(crate) struct For {
    pub(crate) counter: Place,
    pub(crate) low: Source,
    pub(crate) high: Source,
    pub(crate) step: BigInt,
    pub(crate) reversed: bool,
    pub(crate) body: Block,
}

#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Always,
    /// Of a join; no way back finds it.
    Forgotten,
    Compare(Order, Source, Source),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// Whether `and` or `or` takes part, or an expression: then a flag stands for the condition.
    pub(crate) fn is_compound(&self) -> bool {
        match self {
            Condition::Always | Condition::Forgotten => false,
            Condition::Compare(_, a, b) => a.is_computed() || b.is_computed(),
            Condition::Not(inner) => inner.is_compound(),
            Condition::And(..) | Condition::Or(..) => true,
        }
    }
}

/// How many cells a name stands for, and how they are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    Vector(usize),
    Matrix(usize, usize),
    /// The length is known at the call.
    Slice,
    /// Rows and columns are known at the call.
    PassedMatrix,
    /// The stack of its class, which has no cells.
    Stack,
}

impl Shape {
    pub(crate) fn cells(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(n) => n,
            Shape::Matrix(rows, columns) => rows * columns,
            Shape::Slice | Shape::PassedMatrix | Shape::Stack => 0,
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) home: Home,
    pub(crate) class: Class,
    pub(crate) shape: Shape,
}

/// Where a variable's cells are, by its number there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    Global(usize),
    Frame(usize),
    Parameter(usize),
}

/// One cell.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) variable: Variable,
    pub(crate) index: Vec<Term>,
    /// The adjoint of the cell instead of the cell.
    pub(crate) adjoint: bool,
}

impl Place {
    pub(crate) fn scalar(variable: Variable) -> Place {
        Place { variable, index: Vec::new(), adjoint: false }
    }
}

/// An index or a bound: an integer scalar, or an expression, if any, plus a constant.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) scalar: Option<Variable>,
    pub(crate) offset: BigInt,
    /// Another integer that is added.
    pub(crate) expression: Option<Box<Source>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Source {
    Constant(Value),
    /// The gradient mode bit.
    Mode,
    Place(Place),
    Computed(Box<Computed>),
    Length(Measured),
    /// The value of an expression while a statement takes it.
    Held(Cell),
}

impl Source {
    /// Whether something is to be computed for it.
    pub(crate) fn is_computed(&self) -> bool {
        match self {
            Source::Constant(_) | Source::Mode | Source::Held(_) | Source::Length(_) => false,
            Source::Place(place) => place.index.iter().any(|term| term.expression.is_some()),
            Source::Computed(_) => true,
        }
    }
}

/// A length that is known at the call: of a slice, or of a dimension of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) array: Variable,
    pub(crate) dimension: usize,
}

/// A function of sources.
#[derive(Clone, Debug)]
pub(crate) struct Computed {
    pub(crate) function: Function,
    pub(crate) class: Class,
    pub(crate) sources: Vec<Source>,
}

#[derive(Clone, Debug)]
pub(crate) enum Argument {
    One(Source),
    Many { array: Variable, part: Part },
}

/// Which elements of an array are passed.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Whole,
    Span { from: Term, to: Term, step: usize },
    Row(Term),
    Column(Term),
}
