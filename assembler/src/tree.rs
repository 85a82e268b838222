//! The syntax tree: a `.rasm` text as its author structured it, comments and blank lines included.
//!
//! The parser makes it, the formatter prints it, inversion turns it around, lowering flattens it
//! into a module. The tree resolves no names and checks no classes.
//!
//! Most lines of a large text are flat instructions, so these are kept small (a test holds the sizes), and
//! what is larger is boxed.

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

/// An identifier as written.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: CompactString,
    pub span: Span,
}

/// What stands behind a semicolon.
pub type Comment = Box<str>;

/// One file, or the body of a block, line by line. Of blank lines in a row only the first is kept.
pub type Body = Vec<StatementNode>;

/// One source line (or one block of lines).
#[derive(Clone, Debug)]
pub struct StatementNode {
    /// `label:` in front of the statement.
    pub label: Option<Box<Name>>,
    pub statement: Statement,
    /// The comment at the end of the line, without its semicolon. In a block, of its first line.
    pub comment: Option<Comment>,
    pub span: Span,
}

/// What a line, or a block of lines, says.
#[derive(Clone, Debug)]
pub enum Statement {
    /// Nothing but, perhaps, a comment or a label.
    Empty,
    Directive(Directive),
    Instruction(InstructionNode),
    /// `name a, b`, or `undo name a, b` for the inverse of the macro's body.
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
    /// Whether it is a line with nothing on it.
    pub fn is_blank(&self) -> bool {
        matches!(self.statement, Statement::Empty) && self.comment.is_none() && self.label.is_none()
    }
}

impl Statement {
    /// The bodies inside of it, in order of the text.
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

    /// The same, to change them.
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

/// What a line that begins with a dot says; `.proc` and `.macro` are statements of their own.
#[derive(Clone, Debug)]
pub enum Directive {
    /// `.in`, `.out`, `.inout`, `.var`, `.garbage`
    Globals {
        role: Role,
        declarations: Vec<DeclarationNode>,
    },
    /// `.ancilla`: variables of the current procedure's frame.
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
    /// The program is the inverse of another.
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
    /// `.lines`: the source line of each instruction, as the disassembler records it. Several of
    /// these directives make one list. An empty one is `.lines none`: no lines are recorded.
    Lines(Vec<u32>),
    /// `.labels none`, as the disassembler records it: the labels of the text are not recorded.
    NoLabels,
    /// `.path "path"`, as the disassembler records it: a file besides the program's own. The first one
    /// has the number 1.
    Path(String),
    /// `.file start number`, as the disassembler records it: the file that the lines are of from an
    /// instruction on.
    File {
        start: u32,
        file: u32,
    },
    /// `.block …`, as the disassembler records it: a statement and the instructions that it became.
    Block(RecordedBlock),
    /// `.scope name variable start..end (place)`, as the disassembler records it.
    Scope(Box<RecordedScope>),
    /// `.value variable = function(sources)`, as the disassembler records it.
    Value(Box<Local>),
}

/// `.block undone word start..end (place) …, word …`: the seams of a block in order.
#[derive(Clone, Debug)]
pub struct RecordedBlock {
    pub undone: bool,
    pub seams: Box<[RecordedSeam]>,
}

/// `word start..end (line, first, last, file)`, and what the word is about.
#[derive(Clone, Debug)]
pub struct RecordedSeam {
    pub word: Name,
    pub start: u32,
    pub end: u32,
    pub place: TextPlace,
    pub about: About,
}

/// What follows the place of a seam.
#[derive(Clone, Debug)]
pub enum About {
    Nothing,
    /// Of `if`, `fi`, `from` and `until`.
    Condition(Condition),
    /// Of `for`: `i in from..to step s reversed`.
    Counting {
        counter: Name,
        bounds: Box<[Expression; 2]>,
        step: u32,
        reversed: bool,
    },
    /// Of `macro`: `name`, or `undo name`.
    Use {
        name: Name,
        undo: bool,
    },
}

/// A name of the text that was written, and the variable that it means.
#[derive(Clone, Debug)]
pub struct RecordedScope {
    pub name: Name,
    pub variable: Name,
    pub start: u32,
    pub end: u32,
    pub place: TextPlace,
}

/// What `.limit` limits: open calls, entries of each stack, or entries of each tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Depth,
    Stack,
    Tape,
}

/// `name[shape]: class = initial shared default given`
#[derive(Clone, Debug)]
pub struct DeclarationNode {
    pub name: Name,
    pub shape: ShapeNode,
    pub class: Option<Class>,
    pub initial: Option<Initial>,
    pub is_shared: bool,
    pub default: Option<Initial>,
}

/// What stands behind a declared name.
#[derive(Clone, Debug)]
pub enum ShapeNode {
    /// None for a scalar; one or two lengths for an array.
    Lengths(Vec<Expression>),
    /// `[]`: the stack of its class.
    Stack,
}

impl ShapeNode {
    /// The lengths that are written.
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
    /// One value for every cell.
    Every(Expression),
    /// `{a, b, …}`: one value a cell, row after row.
    Each(Vec<Expression>),
}

/// Constants, names, elements, and what is computed of them; what an operand may be is decided in lowering. The
/// span of an
/// operator's expression covers the parentheses that its author wrote around it.
#[derive(Clone, Debug)]
pub struct Expression {
    pub kind: ExpressionKind,
    pub span: Span,
}

/// What an expression is made of.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// `pattern`: written in base 2, 8 or 16, so that it may name a bit pattern up to 2^width - 1.
    Int {
        value: u64,
        pattern: bool,
    },
    /// The same, above 2^64 - 1: what a real may be, or a part of a constant.
    LongInt {
        value: Box<i128>,
        pattern: bool,
    },
    Real(f64),
    /// A constant, a scalar, an array as a whole, or a macro parameter. All uses in a file share the text.
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

/// `len(name)`, or `len(name, dimension)`
#[derive(Clone, Debug)]
pub struct LengthOf {
    pub name: Rc<CompactString>,
    pub dimension: Option<Expression>,
}

/// `function(sources)`
#[derive(Clone, Debug)]
pub struct Application {
    pub function: Function,
    pub sources: Vec<Expression>,
}

/// `name[subscripts]`, or `name'[subscripts]`
#[derive(Clone, Debug)]
pub struct Element {
    pub name: Rc<CompactString>,
    pub adjoint: bool,
    pub subscripts: Vec<Subscript>,
}

/// One dimension between the brackets behind a name.
#[derive(Clone, Debug)]
pub enum Subscript {
    At(Expression),
    /// `..`
    All,
    /// `from..to step s`
    Span {
        from: Expression,
        to: Expression,
        step: Option<Expression>,
    },
}

/// `-` and `~`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    Negate,
    Complement,
}

/// What `if`, `until`, `br` and others test. In a group, the span covers the parentheses.
#[derive(Clone, Debug)]
pub struct Condition {
    pub kind: ConditionKind,
    pub span: Span,
}

/// What a condition is made of.
#[derive(Clone, Debug)]
pub enum ConditionKind {
    Always,
    /// Of a join: which way led there isn't found again.
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

/// What follows a mnemonic.
#[derive(Clone, Debug)]
pub enum Operands {
    /// Targets, then sources.
    Cells(Box<[Expression]>),
    /// `assert condition`
    Condition(Box<Condition>),
    /// `br partner, condition` and `from partner, condition`
    Branch { partner: Box<Name>, condition: Box<Condition> },
    /// `call p(…)`
    Call(Box<CallNode>),
}

/// `callvia c(…)`, or `uncallvia c(…)`: the cell that holds the procedure's number, and the arguments.
#[derive(Clone, Debug)]
pub struct CallVia {
    pub undo: bool,
    pub cell: Expression,
    pub arguments: Vec<Expression>,
}

/// `par …`, or `unpar …`, which undoes it.
#[derive(Clone, Debug)]
pub struct Tasks {
    pub undo: bool,
    pub kind: TaskKind,
}

/// Calls that touch nothing that another one of them changes.
#[derive(Clone, Debug)]
pub enum TaskKind {
    /// `p(…), q(…)`, in the order in which they are written.
    Calls(Box<[CallNode]>),
    /// `for i in from..to call p(…)`. The loop as it runs, so that one that is undone counts the other way and uncalls; its body is the call.
    Rounds(Box<For>),
}

impl Tasks {
    /// The loop, if the tasks are its rounds.
    pub fn rounds(&self) -> Option<&For> {
        match &self.kind {
            TaskKind::Calls(_) => None,
            TaskKind::Rounds(rounds) => Some(rounds),
        }
    }

    /// The tasks as statements, one after the other.
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

    /// The calls as they are written: the one that all rounds make, or several.
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
    /// From the name to the parenthesis behind the arguments.
    pub span: Span,
}

/// `if entry … else … fi exit`
#[derive(Clone, Debug)]
pub struct If {
    pub entry: Condition,
    pub then: Body,
    pub otherwise: Option<Body>,
    /// `else if` is written: the second body is an `if`, which begins on the line of the `else`.
    pub chained: bool,
    pub exit: Condition,
    pub else_comment: Option<Comment>,
    pub end_comment: Option<Comment>,
    /// Of the word `else`, or of what stands where it would.
    pub middle: Span,
}

impl If {
    /// The `if` that can stand on the line of the `else`, and the comments and blank lines behind it.
    pub fn chain(&self) -> Option<(&StatementNode, &If, &[StatementNode])> {
        let (first, rest) = self.otherwise.as_ref().filter(|_| self.chained)?.split_first()?;
        let Statement::If(inner) = &first.statement else { return None };
        let is_alone = first.label.is_none()
            && rest.iter().all(|node| matches!(node.statement, Statement::Empty) && node.label.is_none());
        is_alone.then_some((first, inner, rest))
    }
}

/// `from entry … loop … until exit`
#[derive(Clone, Debug)]
pub struct Loop {
    pub entry: Condition,
    /// Runs at least once, before the exit is tested.
    pub first: Body,
    /// Runs between two rounds; present if `loop` is written.
    pub again: Option<Body>,
    pub exit: Condition,
    pub loop_comment: Option<Comment>,
    pub end_comment: Option<Comment>,
    /// Of the word `loop`, or of what stands where it would.
    pub middle: Span,
}

/// `for i in from..to step s reversed … rof`
#[derive(Clone, Debug)]
pub struct For {
    pub counter: Name,
    pub from: Expression,
    pub to: Expression,
    pub step: Option<Expression>,
    pub reversed: bool,
    pub body: Body,
    pub end_comment: Option<Comment>,
    /// Of the line with `rof`.
    pub end: Span,
}

/// `compute … apply … uncompute`
#[derive(Clone, Debug)]
pub struct Compute {
    pub body: Body,
    /// Of the word `apply`, or of what stands where it would.
    pub middle: Span,
    pub apply: Body,
    pub apply_comment: Option<Comment>,
    pub end_comment: Option<Comment>,
    /// Of the line with `uncompute`.
    pub end: Span,
}

/// `local name[shape]: class = function(sources)`; `copy` for a plain value, and of no source where none is
/// written: then it is 0.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    /// Empty for a scalar; one or two lengths for an array.
    pub shape: Vec<Expression>,
    pub class: Option<Class>,
    pub function: Function,
    pub sources: Vec<Expression>,
}

/// `.proc name(parameters) rule other … .end`
#[derive(Clone, Debug)]
pub struct ProcedureNode {
    pub name: Name,
    pub parameters: Vec<ParameterNode>,
    pub rule: Option<Name>,
    pub body: Body,
    pub end_comment: Option<Comment>,
    /// Of the line with `.end`.
    pub end: Span,
}

/// `in name: class`, `inout name[]: class` or `in name[,]: class`
#[derive(Clone, Debug)]
pub struct ParameterNode {
    pub passing: Passing,
    pub name: Name,
    pub rank: Rank,
    pub class: Option<Class>,
}

/// `.macro name(parameters) … .endm`
#[derive(Clone, Debug)]
pub struct Macro {
    pub name: Name,
    pub parameters: Vec<Name>,
    pub body: Body,
    pub end_comment: Option<Comment>,
    /// Of the line with `.endm`.
    pub end: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of millions of lines is a tree of as many nodes, and of two or three expressions each.
    #[test]
    fn what_there_is_many_of_is_small() {
        assert_eq!((size_of::<StatementNode>(), size_of::<Expression>()), (80, 32));
        assert_eq!(size_of::<reviver_isa::instruction::Instruction>(), 104);
    }
}
