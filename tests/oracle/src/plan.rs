//! Plan: a program with resolved names, in its original structure, ready to be executed. It has no positions and no
//! jumps, except branches between labels of one list of statements.

use num_bigint::BigInt;
use reviver_assembler::tree::KeptStrategy;
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
    /// Maximum number of open calls.
    pub(crate) depth: usize,
    /// Maximum number of entries on each stack.
    pub(crate) stack: usize,
    /// Maximum number of entries on each tape.
    pub(crate) tape: usize,
    pub(crate) globals: Vec<Global>,
    /// Procedures, starting with main.
    pub(crate) procedures: Vec<Procedure>,
    /// True if the program switches gradient mode itself.
    pub(crate) switches: bool,
}

/// Word width, number system and tolerance of a run.
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
    /// Initial values of the cells, one for each.
    pub(crate) initial: Vec<Value>,
    pub(crate) default: Option<Vec<Value>>,
}

impl Plan {
    /// Returns true if a procedure has a strategy.
    pub(crate) fn keeps(&self) -> bool {
        self.procedures.iter().any(|procedure| procedure.strategy.is_some())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Procedure {
    /// Passing mode of each parameter.
    pub(crate) parameters: Vec<Passing>,
    /// Index of the procedure that computes adjoints instead of this one in gradient mode.
    pub(crate) rule: Option<usize>,
    /// Strategy by which the procedure keeps the values that it discards.
    pub(crate) strategy: Option<KeptStrategy>,
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
    /// Branch to a label in the same list; `partner` is the index of its `from` in the list.
    Br {
        partner: usize,
        condition: Condition,
    },
    From {
        partner: usize,
        condition: Condition,
    },
    Call(Call),
    /// Tasks, which run in this order. None touches a cell that another task changes.
    Tasks(Vec<Call>),
    /// Loop with a task in each iteration (`par for`).
    TaskRounds(For),
    /// Call of the procedure whose number a cell holds. `calls` has one call for each possible procedure.
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
    /// A `local`: the cell must be 0, and gets the value.
    Local {
        cell: Place,
        function: Function,
        sources: Vec<Source>,
    },
    /// A `delocal`: the cell must hold the value, and becomes 0.
    Delocal {
        cell: Place,
        function: Function,
        sources: Vec<Source>,
    },
    /// Start or end of a local array. All of its cells must be 0.
    Vacant(Variable),
    /// Use of a macro, or of its inverse if `undo` is true. The values of its arguments are computed before and
    /// uncomputed after the body.
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
    /// Condition `forgotten` of a join that doesn't record which path was taken. A backward run traps at the join.
    Forgotten,
    Compare(Order, Source, Source),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// Returns true for a condition with `and`, `or`, or an expression. The machine evaluates such a condition to a
    /// flag.
    pub(crate) fn is_compound(&self) -> bool {
        match self {
            Condition::Always | Condition::Forgotten => false,
            Condition::Compare(_, a, b) => a.is_computed() || b.is_computed(),
            Condition::Not(inner) => inner.is_compound(),
            Condition::And(..) | Condition::Or(..) => true,
        }
    }
}

/// Shape of a variable: its dimensions, or the kind of parameter whose dimensions each call determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    Vector(usize),
    Matrix(usize, usize),
    /// Slice whose length each call determines.
    Slice,
    /// Matrix parameter whose dimensions each call determines.
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

/// Reference to the cells of a name: a scalar or a whole array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) home: Home,
    pub(crate) class: Class,
    pub(crate) shape: Shape,
}

/// Kind of storage of a variable, with the variable's index in this storage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    Global(usize),
    Frame(usize),
    Parameter(usize),
}

/// Reference to one cell, which may have index expressions.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) variable: Variable,
    pub(crate) index: Vec<Term>,
    /// True if the reference is to the adjoint of the cell.
    pub(crate) adjoint: bool,
}

impl Place {
    pub(crate) fn scalar(variable: Variable) -> Place {
        Place { variable, index: Vec::new(), adjoint: false }
    }
}

/// Index or bound: the sum of an integer scalar, an integer expression, and a constant. Scalar and expression are
/// optional.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) scalar: Option<Variable>,
    pub(crate) offset: BigInt,
    /// Integer expression that is added.
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
    /// Cell in which the value of an expression is held while a statement runs.
    Held(Cell),
}

impl Source {
    /// Returns true if the source contains an expression to compute.
    pub(crate) fn is_computed(&self) -> bool {
        match self {
            Source::Constant(_) | Source::Mode | Source::Held(_) | Source::Length(_) => false,
            Source::Place(place) => place.index.iter().any(|term| term.expression.is_some()),
            Source::Computed(_) => true,
        }
    }
}

/// Length that each call determines: of a slice, or of one dimension of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) array: Variable,
    pub(crate) dimension: usize,
}

/// Function applied to sources, as part of an expression.
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

/// Elements of an array that an argument passes.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Whole,
    Span { from: Term, to: Term, step: usize },
    Row(Term),
    Column(Term),
}
