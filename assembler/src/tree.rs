//! The syntax tree: a `.rasm` text with its structure, its comments and its blank lines.
//!
//! The parser produces the tree, the formatter prints it, inversion reverses it, and lowering flattens it
//! into a module. Names and classes are resolved in lowering.
//!
//! Most lines of a large text are flat instructions, so their nodes are small (a test checks the sizes).
//! Larger nodes are boxed.

use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, Rank, RealSystem, Role, Word};
pub use reviver_isa::operator::BinaryOperator;
use reviver_isa::structure::TextPlace;
use reviver_isa::update::Update;

use crate::source::Span;

/// An identifier as written in the text.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: CompactString,
    pub span: Span,
}

/// The text after a semicolon.
pub type Comment = Box<str>;

/// One file, or the body of a block, line by line. Consecutive blank lines are merged into one.
pub type Body = Vec<StatementNode>;

/// One source line, or a block of lines.
#[derive(Clone, Debug)]
pub struct StatementNode {
    /// The `label:` before the statement.
    pub label: Option<Box<Name>>,
    pub statement: Statement,
    /// The comment at the end of the line, without its semicolon. In a block it is that of the first line.
    pub comment: Option<Comment>,
    pub span: Span,
}

/// The content of a line, or of a block of lines.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A line without a statement; it may have a comment or a label.
    Empty,
    Directive(Directive),
    Instruction(InstructionNode),
    /// The use of a macro: `name a, b`, or `undo name a, b` for the inverse of its body.
    MacroUse {
        name: Box<Name>,
        arguments: Box<[Expression]>,
        undo: bool,
    },
    If(Box<If>),
    Loop(Box<Loop>),
    For(Box<For>),
    Compute(Box<Compute>),
    Tasks(Box<Tasks>),
    CallVia(Box<CallVia>),
    Local(Box<Local>),
    Delocal(Box<Local>),
    Procedure(Box<ProcedureNode>),
    Macro(Box<Macro>),
}

impl StatementNode {
    /// Returns true if the line is blank.
    pub fn is_blank(&self) -> bool {
        matches!(self.statement, Statement::Empty) && self.comment.is_none() && self.label.is_none()
    }
}

impl Statement {
    /// Returns the direct child bodies, in order of the text.
    pub fn bodies(&self) -> Vec<&Body> {
        match self {
            Statement::If(tree) => std::iter::once(&tree.then).chain(&tree.otherwise).collect(),
            Statement::Loop(tree) => std::iter::once(&tree.first).chain(&tree.again).collect(),
            Statement::For(tree) => vec![&tree.body],
            Statement::Tasks(tree) => tree.rounds().map(|rounds| &rounds.body).into_iter().collect(),
            Statement::Compute(tree) => vec![&tree.body, &tree.apply],
            Statement::Procedure(tree) => vec![&tree.body],
            Statement::Macro(tree) => vec![&tree.body],
            _ => Vec::new(),
        }
    }

    /// Returns the direct child bodies for modification, in order of the text.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        match self {
            Statement::If(tree) => std::iter::once(&mut tree.then).chain(&mut tree.otherwise).collect(),
            Statement::Loop(tree) => std::iter::once(&mut tree.first).chain(&mut tree.again).collect(),
            Statement::For(tree) => vec![&mut tree.body],
            Statement::Tasks(tree) => match &mut tree.kind {
                TaskKind::Calls(_) => Vec::new(),
                TaskKind::Rounds(rounds) => vec![&mut rounds.body],
            },
            Statement::Compute(tree) => vec![&mut tree.body, &mut tree.apply],
            Statement::Procedure(tree) => vec![&mut tree.body],
            Statement::Macro(tree) => vec![&mut tree.body],
            _ => Vec::new(),
        }
    }
}

/// A line that begins with a dot. `.proc` and `.macro` are separate statements.
#[derive(Clone, Debug)]
pub enum Directive {
    /// The directives `.in`, `.out`, `.inout`, `.var` and `.garbage`, which declare globals.
    Globals {
        role: Role,
        declarations: Vec<DeclarationNode>,
    },
    /// The directive `.ancilla`, which declares variables of the current procedure's frame.
    Ancillas(Vec<DeclarationNode>),
    Const {
        name: Box<Name>,
        value: Box<Expression>,
    },
    Real {
        system: RealSystem,
    },
    Word {
        word: Word,
    },
    /// The directive `.inverse`, which marks the program as the inverse of another one.
    Inverse,
    Tolerance {
        value: Box<Expression>,
    },
    Limit {
        what: Limit,
        value: Box<Expression>,
    },
    Include {
        path: Box<str>,
        path_span: Span,
    },
    /// The directive `.lines` of a disassembly: the source line of each instruction. Several of these
    /// directives form one list. An empty list is `.lines none`: no lines are recorded.
    Lines(Vec<u32>),
    /// The directive `.labels none` of a disassembly: the labels of the text are not recorded.
    NoLabels,
    /// The directive `.path "path"` of a disassembly: a file other than the program's own. The first one has
    /// the number 1.
    Path(String),
    /// The directive `.file start number` of a disassembly: the file of the lines from an instruction on.
    File {
        start: u32,
        file: u32,
    },
    /// The directive `.block …` of a disassembly: a statement and its instructions.
    Block(RecordedBlock),
    /// The directive `.scope name variable start..end (place)` of a disassembly: the scope of a name.
    Scope(Box<RecordedScope>),
    /// The directive `.value variable = function(sources)` of a disassembly: the expression of a temporary.
    Value(Box<Local>),
}

/// The content of `.block undone word start..end (place) …, word …`: the seams of a block in order.
#[derive(Clone, Debug)]
pub struct RecordedBlock {
    pub undone: bool,
    pub seams: Box<[RecordedSeam]>,
}

/// A seam `word start..end (line, first, last, file)`, followed by the word's details.
#[derive(Clone, Debug)]
pub struct RecordedSeam {
    pub word: Name,
    pub start: u32,
    pub end: u32,
    pub place: TextPlace,
    pub about: About,
}

/// The details after the place of a seam.
#[derive(Clone, Debug)]
pub enum About {
    Nothing,
    /// The condition of `if`, `fi`, `from` and `until`.
    Condition(Condition),
    /// The counting of `for`: `i in from..to step s reversed`.
    Counting {
        counter: Name,
        bounds: Box<[Expression; 2]>,
        step: u32,
        reversed: bool,
    },
    /// The use of a macro: `name`, or `undo name`.
    Use {
        name: Name,
        undo: bool,
    },
}

/// A name of the original text, and the variable that it denotes.
#[derive(Clone, Debug)]
pub struct RecordedScope {
    pub name: Name,
    pub variable: Name,
    pub start: u32,
    pub end: u32,
    pub place: TextPlace,
}

/// The quantity limited by `.limit`: open calls, entries of each stack, or entries of each tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Depth,
    Stack,
    Tape,
}

/// A declaration `name[shape]: class = initial shared default given`.
#[derive(Clone, Debug)]
pub struct DeclarationNode {
    pub name: Name,
    pub shape: ShapeNode,
    pub class: Option<Class>,
    pub initial: Option<Initial>,
    pub is_shared: bool,
    pub default: Option<Initial>,
}

/// The shape after a declared name.
#[derive(Clone, Debug)]
pub enum ShapeNode {
    /// The lengths: none for a scalar, one or two for an array.
    Lengths(Vec<Expression>),
    /// The brackets `[]`, which declare the stack of its class.
    Stack,
}

impl ShapeNode {
    /// Returns the lengths as written.
    pub fn lengths(&self) -> &[Expression] {
        match self {
            ShapeNode::Lengths(lengths) => lengths,
            ShapeNode::Stack => &[],
        }
    }
}

/// The initial values of a declaration.
#[derive(Clone, Debug)]
pub enum Initial {
    /// One value for all cells.
    Every(Expression),
    /// A list `{a, b, …}` with one value per cell, row after row.
    Each(Vec<Expression>),
}

/// An expression: constants, names, elements, and operations on them. Lowering decides which expressions are
/// valid operands. The span of an operator's expression includes the parentheses around it.
#[derive(Clone, Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

/// The kind of an expression, with its parts.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// An integer literal. `pattern` is true in base 2, 8 or 16, where a literal may denote a bit pattern up
    /// to 2^width - 1.
    Int {
        value: u64,
        pattern: bool,
    },
    /// An integer literal above 2^64 - 1, which is valid as a real or as a part of a constant.
    LongInt {
        value: Box<i128>,
        pattern: bool,
    },
    Real(f64),
    /// A constant, a scalar, a whole array, or a macro parameter. All uses in a file share the text.
    Name {
        name: Rc<CompactString>,
        adjoint: bool,
    },
    Element(Box<Element>),
    Unary(UnaryOperator, Box<Expression>),
    Binary(BinaryOperator, Box<[Expression; 2]>),
    Apply(Box<Application>),
    Length(Box<LengthOf>),
}

/// The length `len(name)`, or `len(name, dimension)` for a matrix.
#[derive(Clone, Debug)]
pub struct LengthOf {
    pub name: Rc<CompactString>,
    pub dimension: Option<Expression>,
}

/// The application `function(sources)` of a function.
#[derive(Clone, Debug)]
pub struct Application {
    pub function: Function,
    pub sources: Vec<Expression>,
}

/// An element or a part of an array: `name[subscripts]`, or `name'[subscripts]` of its adjoints.
#[derive(Clone, Debug)]
pub struct Element {
    pub name: Rc<CompactString>,
    pub adjoint: bool,
    pub subscripts: Vec<Subscript>,
}

/// One dimension between the brackets after a name.
#[derive(Clone, Debug)]
pub enum Subscript {
    At(Expression),
    /// The whole dimension, `..`
    All,
    /// The range `from..to step s`; `to` is exclusive.
    Span {
        from: Expression,
        to: Expression,
        step: Option<Expression>,
    },
}

/// The unary operators, `-` and `~`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    Negate,
    Complement,
}

/// A condition of `if`, `until`, `br` and other statements. The span includes the parentheses of a group.
#[derive(Clone, Debug)]
pub struct Condition {
    pub kind: ConditionKind,
    pub span: Span,
}

/// The kind of a condition, with its parts.
#[derive(Clone, Debug)]
pub enum ConditionKind {
    Always,
    /// A join that doesn't record which branch was taken.
    Forgotten,
    Compare(Order, Box<Expression>, Box<Expression>),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

/// An update with its function and operands, which becomes one instruction.
#[derive(Clone, Debug)]
pub struct InstructionNode {
    pub update: Update,
    pub function: Function,
    pub mnemonic: Span,
    pub operands: Operands,
}

/// The operands after a mnemonic.
#[derive(Clone, Debug)]
pub enum Operands {
    /// The targets, followed by the sources.
    Cells(Box<[Expression]>),
    /// The condition of `assert condition`.
    Condition(Box<Condition>),
    /// The operands of `br partner, condition` and `from partner, condition`.
    Branch { partner: Box<Name>, condition: Box<Condition> },
    /// The call of `call p(…)` or `uncall p(…)`.
    Call(Box<CallNode>),
}

/// The statement `callvia c(…)`, or `uncallvia c(…)`: the cell that holds the procedure's number, and the
/// arguments.
#[derive(Clone, Debug)]
pub struct CallVia {
    pub undo: bool,
    pub cell: Expression,
    pub arguments: Vec<Expression>,
}

/// The statement `par …`, or its inverse `unpar …`.
#[derive(Clone, Debug)]
pub struct Tasks {
    pub undo: bool,
    pub kind: TaskKind,
}

/// Parallel calls; none of them accesses anything that another one changes.
#[derive(Clone, Debug)]
pub enum TaskKind {
    /// The calls of `par p(…), q(…)`, in the order of the text.
    Calls(Box<[CallNode]>),
    /// The loop of `par for i in from..to call p(…)`. It is stored in the form that is executed: an undone
    /// one counts in the opposite direction and uncalls. Its body is the call.
    Rounds(Box<For>),
}

impl Tasks {
    /// Returns the loop, if the tasks are its iterations.
    pub fn rounds(&self) -> Option<&For> {
        match &self.kind {
            TaskKind::Calls(_) => None,
            TaskKind::Rounds(rounds) => Some(rounds),
        }
    }

    /// Returns the tasks as consecutive statements.
    pub fn in_order(&self) -> Body {
        let call = |call: &CallNode| {
            let update = if self.undo { Update::Uncall } else { Update::Call };
            let operands = Operands::Call(Box::new(call.clone()));
            let (function, mnemonic) = (Function::Copy, call.procedure.span);
            let statement = Statement::Instruction(InstructionNode { update, function, mnemonic, operands });
            StatementNode { label: None, statement, comment: None, span: call.span }
        };
        match &self.kind {
            TaskKind::Calls(calls) if self.undo => calls.iter().rev().map(call).collect(),
            TaskKind::Calls(calls) => calls.iter().map(call).collect(),
            TaskKind::Rounds(rounds) => {
                let statement = Statement::For(rounds.clone());
                vec![StatementNode { label: None, statement, comment: None, span: rounds.end }]
            }
        }
    }

    /// Returns the calls as written: the call of all iterations, or several calls.
    pub fn calls(&self) -> impl Iterator<Item = &CallNode> {
        let (several, rounds) = match &self.kind {
            TaskKind::Calls(calls) => (&calls[..], None),
            TaskKind::Rounds(rounds) => (&[][..], Some(&rounds.body)),
        };
        let of_rounds = rounds.into_iter().flatten().filter_map(|node| match &node.statement {
            Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => Some(&**call),
            _ => None,
        });
        several.iter().chain(of_rounds)
    }
}

/// A procedure and its arguments.
#[derive(Clone, Debug)]
pub struct CallNode {
    pub procedure: Name,
    pub arguments: Vec<Expression>,
    /// The span from the name to the closing parenthesis.
    pub span: Span,
}

/// The statement `if entry … else … fi exit`.
#[derive(Clone, Debug)]
pub struct If {
    pub entry: Condition,
    pub then: Body,
    pub otherwise: Option<Body>,
    /// True for `else if`: the second body is an `if` that begins on the line of the `else`.
    pub chained: bool,
    pub exit: Condition,
    pub else_comment: Option<Comment>,
    pub end_comment: Option<Comment>,
    /// The span of the word `else`, or of the word in its place.
    pub middle: Span,
}

impl If {
    /// Returns the `if` on the line of the `else`, and the comments and blank lines after it.
    pub fn chain(&self) -> Option<(&StatementNode, &If, &[StatementNode])> {
        let (first, rest) = self.otherwise.as_ref().filter(|_| self.chained)?.split_first()?;
        let Statement::If(inner) = &first.statement else { return None };
        let is_alone = first.label.is_none()
            && rest.iter().all(|node| matches!(node.statement, Statement::Empty) && node.label.is_none());
        is_alone.then_some((first, inner, rest))
    }
}

/// The statement `from entry … loop … until exit`.
#[derive(Clone, Debug)]
pub struct Loop {
    pub entry: Condition,
    /// The body that runs at least once, before each test of the exit.
    pub first: Body,
    /// The body that runs between two iterations; `None` without `loop`.
    pub again: Option<Body>,
    pub exit: Condition,
    pub loop_comment: Option<Comment>,
    pub end_comment: Option<Comment>,
    /// The span of the word `loop`, or of the word in its place.
    pub middle: Span,
}

/// The statement `for i in from..to step s reversed … rof`.
#[derive(Clone, Debug)]
pub struct For {
    pub counter: Name,
    pub from: Expression,
    pub to: Expression,
    pub step: Option<Expression>,
    pub reversed: bool,
    pub body: Body,
    pub end_comment: Option<Comment>,
    /// The span of the line with `rof`.
    pub end: Span,
}

/// The statement `compute … apply … uncompute`.
#[derive(Clone, Debug)]
pub struct Compute {
    pub body: Body,
    /// The span of the word `apply`, or of the word in its place.
    pub middle: Span,
    pub apply: Body,
    pub apply_comment: Option<Comment>,
    pub end_comment: Option<Comment>,
    /// The span of the line with `uncompute`.
    pub end: Span,
}

/// The statement `local name[shape]: class = function(sources)`, or a `delocal`. The function of a plain
/// value is `copy`. Without a value there are no sources, and the variable is 0.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    /// The lengths: none for a scalar, one or two for an array.
    pub shape: Vec<Expression>,
    pub class: Option<Class>,
    pub function: Function,
    pub sources: Vec<Expression>,
}

/// The definition of a procedure: `.proc name(parameters) rule other … .end`.
#[derive(Clone, Debug)]
pub struct ProcedureNode {
    pub name: Name,
    pub parameters: Vec<ParameterNode>,
    pub rule: Option<Name>,
    pub body: Body,
    pub end_comment: Option<Comment>,
    /// The span of the line with `.end`.
    pub end: Span,
}

/// A parameter `in name: class`, `inout name[]: class` or `in name[,]: class`.
#[derive(Clone, Debug)]
pub struct ParameterNode {
    pub passing: Passing,
    pub name: Name,
    pub rank: Rank,
    pub class: Option<Class>,
}

/// The definition of a macro: `.macro name(parameters) … .endm`.
#[derive(Clone, Debug)]
pub struct Macro {
    pub name: Name,
    pub parameters: Vec<Name>,
    pub body: Body,
    pub end_comment: Option<Comment>,
    /// The span of the line with `.endm`.
    pub end: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of millions of lines has as many nodes, and two or three expressions in each.
    #[test]
    fn what_there_is_many_of_is_small() {
        assert_eq!((size_of::<StatementNode>(), size_of::<Expression>()), (80, 32));
        assert_eq!(size_of::<reviver_isa::instruction::Instruction>(), 104);
    }
}
