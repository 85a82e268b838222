//! Plan: a program with resolved names, in its original structure, for the walk. It has neither positions nor jumps,
//! except flat branches within one list.

use num_bigint::BigInt;
use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, RealSystem, Role};
use reviver_isa::update::Update;

use crate::store::Cell;
use crate::value::Value;

/// Plan of a whole program.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) numbers: Numbers,
    /// Limit of open calls; `stack` and `tape` limit the entries of each stack and tape.
    pub(crate) depth: usize,
    pub(crate) stack: usize,
    pub(crate) tape: usize,
    pub(crate) globals: Vec<Global>,
    /// Procedures, starting with main.
    pub(crate) procedures: Vec<Procedure>,
    /// True if the program switches gradient mode itself.
    pub(crate) switches: bool,
}

/// Number formats of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// Width of integers in bits.
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
    /// Initial value of each cell.
    pub(crate) initial: Vec<Value>,
    pub(crate) default: Option<Vec<Value>>,
}

#[derive(Debug, Default)]
pub(crate) struct Procedure {
    /// Passing mode of each parameter.
    pub(crate) parameters: Vec<Passing>,
    /// Index of the procedure that replaces its adjoint.
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

/// Statements in execution order.
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
    /// Branch; `partner` is an index in the same list.
    Br {
        partner: usize,
        condition: Condition,
    },
    From {
        partner: usize,
        condition: Condition,
    },
    Call(Call),
    /// Tasks, in the order of a single thread. None touches a cell that another changes.
    Tasks(Vec<Call>),
    /// Tasks of a `par for`, one for each iteration.
    TaskRounds(For),
    /// Call of the procedure with the number in a cell, among some procedures.
    CallVia {
        cell: Place,
        calls: Vec<Call>,
    },
    Show(Source),
    /// The statement `grad.on` or `grad.off`.
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
    /// A `local` or `delocal`: the cell gets its value from 0, or returns to 0.
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
    /// Start or end of a local array, with all cells 0.
    Vacant(Variable),
    /// Body of a macro, or its inverse, between the computation and uncomputation of its arguments.
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
    /// True if other tasks may run at the same time.
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
    /// Condition of a join that forgets, which no backward run can determine.
    Forgotten,
    Compare(Order, Source, Source),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// Returns true for conditions with `and`, `or`, or an expression, which are evaluated into a flag.
    pub(crate) fn is_compound(&self) -> bool {
        match self {
            Condition::Always | Condition::Forgotten => false,
            Condition::Compare(_, a, b) => a.is_computed() || b.is_computed(),
            Condition::Not(inner) => inner.is_compound(),
            Condition::And(..) | Condition::Or(..) => true,
        }
    }
}

/// Count of a variable's cells, and how they are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    Vector(usize),
    Matrix(usize, usize),
    /// Slice with its length known at the call.
    Slice,
    /// Matrix with its dimensions known at the call.
    PassedMatrix,
    /// Stack of a class, which has no cells.
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

/// Cells that a name refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) home: Home,
    pub(crate) class: Class,
    pub(crate) shape: Shape,
}

/// Storage of a variable, with its index there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    Global(usize),
    Frame(usize),
    Parameter(usize),
}

/// Reference to one cell.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) variable: Variable,
    pub(crate) index: Vec<Term>,
    /// True for the adjoint of the cell instead of the cell.
    pub(crate) adjoint: bool,
}

impl Place {
    pub(crate) fn scalar(variable: Variable) -> Place {
        Place { variable, index: Vec::new(), adjoint: false }
    }
}

/// Index or bound: an integer scalar or expression, if any, plus a constant.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) scalar: Option<Variable>,
    pub(crate) offset: BigInt,
    /// Further summand, an integer expression.
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
    /// Value of an expression, held in a cell during a statement.
    Held(Cell),
}

impl Source {
    /// Returns true if the source contains a computation.
    pub(crate) fn is_computed(&self) -> bool {
        match self {
            Source::Constant(_) | Source::Mode | Source::Held(_) | Source::Length(_) => false,
            Source::Place(place) => place.index.iter().any(|term| term.expression.is_some()),
            Source::Computed(_) => true,
        }
    }
}

/// Length known at the call: of a slice, or of a dimension of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) array: Variable,
    pub(crate) dimension: usize,
}

/// Function application to sources.
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

/// Selection of an array's elements as an argument.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Whole,
    Span { from: Term, to: Term, step: usize },
    Row(Term),
    Column(Term),
}
