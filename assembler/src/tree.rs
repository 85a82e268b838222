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
    /// The identifier itself, without the colon of a label or the `'` of an adjoint.
    pub text: CompactString,
    /// The place of the identifier in its file.
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
    /// The statement on the line, or the block that begins on the line.
    pub statement: Statement,
    /// The comment at the end of the line, without its semicolon. In a block it is that of the first line.
    pub comment: Option<Comment>,
    /// The span from the label to the end of the statement or of the block, without the comment.
    pub span: Span,
}

/// The content of a line, or of a block of lines.
#[derive(Clone, Debug)]
pub enum Statement {
    /// A line without a statement; it may have a comment or a label.
    Empty,
    /// A line that begins with a dot, except `.proc` and `.macro`.
    Directive(Directive),
    /// A flat instruction: an update with its operands, such as `add.mul y, a, b`.
    Instruction(InstructionNode),
    /// The use of a macro: `name a, b`, or `undo name a, b` for the inverse of its body.
    MacroUse {
        /// The name of the macro that is expanded.
        name: Box<Name>,
        /// The arguments, in the order of the macro's parameters.
        arguments: Box<[Expression]>,
        /// True for `undo`: the inverse of the macro's body is used.
        undo: bool,
    },
    /// The block `if … else … fi`, which branches and joins by two conditions.
    If(Box<If>),
    /// The block `from … loop … until`, a loop with a condition at each end.
    Loop(Box<Loop>),
    /// The block `for … rof`, a loop over a counter.
    For(Box<For>),
    /// The block `compute … apply … uncompute`, which undoes its first body after the second.
    Compute(Box<Compute>),
    /// The statement `par` or `unpar`: calls that may run in parallel.
    Tasks(Box<Tasks>),
    /// The statement `callvia` or `uncallvia`: a call of the procedure that a cell selects.
    CallVia(Box<CallVia>),
    /// The statement `local`, which opens a variable with its initial value.
    Local(Box<Local>),
    /// The statement `delocal`, which uncomputes the value of a variable and closes the variable.
    Delocal(Box<Local>),
    /// The definition of a procedure, `.proc … .end`.
    Procedure(Box<ProcedureNode>),
    /// The definition of a macro, `.macro … .endm`.
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
        /// The role that all these globals have.
        role: Role,
        /// The declared globals in the order of the text, at least one.
        declarations: Vec<DeclarationNode>,
    },
    /// The directive `.ancilla`, which declares variables of the current procedure's frame.
    Ancillas(Vec<DeclarationNode>),
    /// The directive `.strategy`, which lets the procedure keep what its statements discard. It is replaced when a program is
    /// loaded.
    Strategy(KeptStrategy),
    /// The directive `.const name = value`, which names a constant.
    Const {
        /// The name of the constant, visible in the whole program.
        name: Box<Name>,
        /// The value, which lowering evaluates: it must be constant.
        value: Box<Expression>,
    },
    /// The directive `.record name: fields`, which names a group of cells. Records are replaced by their fields when a
    /// program is loaded.
    Record {
        /// The name of the record, which declarations state in the place of a class.
        name: Box<Name>,
        /// The fields, at least one.
        fields: Box<[FieldNode]>,
    },
    /// The directive `.real`, which selects the number system of reals.
    Real {
        /// The number system. `fixed` without a number has the default number of fraction bits.
        system: RealSystem,
    },
    /// The directive `.word`, which sets the width of integers.
    Word {
        /// The width of integers: 8, 16, 32 or 64 bits.
        word: Word,
    },
    /// The directive `.inverse`, which marks the program as the inverse of another one.
    Inverse,
    /// The directive `.tolerance`: floats up to this magnitude count as vacant.
    Tolerance {
        /// The tolerance, a constant expression. Lowering refuses negative and infinite values.
        value: Box<Expression>,
    },
    /// The directive `.limit`, which bounds a resource of the running program.
    Limit {
        /// The resource that is limited.
        what: Limit,
        /// The limit, a constant expression. Lowering refuses values below 0 or above the maximum.
        value: Box<Expression>,
    },
    /// The directive `.include "path"`, which is replaced by the statements of another file.
    Include {
        /// The path without its quotes, relative to the file that includes it.
        path: Box<str>,
        /// The place of the path, including its quotes.
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
    /// The directive `.file start number` of a disassembly: from this instruction on, the recorded lines are
    /// lines of this file.
    File {
        /// The index in `Module::code` of the first instruction from the file.
        start: u32,
        /// The number of the file: 0 is the program's own file.
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
    /// True if the instructions run the text of the statement from its end to its beginning.
    pub undone: bool,
    /// The seams in the order of the code, at least one. Lowering checks that their words match.
    pub seams: Box<[RecordedSeam]>,
}

/// A seam `word start..end (line, first, last, file)`, followed by the word's details.
#[derive(Clone, Debug)]
pub struct RecordedSeam {
    /// The word of the seam, such as `if`, `else`, `macro` or `end`.
    pub word: Name,
    /// The index in `Module::code` of the first instruction.
    pub start: u32,
    /// The index after the last instruction; equal to `start` if the word has no instructions.
    pub end: u32,
    /// The position of the word in the original text.
    pub place: TextPlace,
    /// The details of the word, such as the condition of an `if`.
    pub about: About,
}

/// The details after the place of a seam.
#[derive(Clone, Debug)]
pub enum About {
    /// No details, as for `else`, `rof`, `local` and `end`.
    Nothing,
    /// The condition of `if`, `fi`, `from` and `until`.
    Condition(Condition),
    /// The counting of `for`: `i in from..to step s reversed`.
    Counting {
        /// The name of the frame variable that counts.
        counter: Name,
        /// The bounds, lower and upper; the upper one is exclusive.
        bounds: Box<[Expression; 2]>,
        /// The distance between consecutive values; 1 if the text omits it.
        step: u32,
        /// True if the loop counts from the last value down to the first.
        reversed: bool,
    },
    /// The use of a macro: `name`, or `undo name`.
    Use {
        /// The name of the macro in the original text.
        name: Name,
        /// True if the original text undid the macro.
        undo: bool,
    },
}

/// A name of the original text, and the variable that it denotes.
#[derive(Clone, Debug)]
pub struct RecordedScope {
    /// The name as written in the original text.
    pub name: Name,
    /// The name of the variable in the procedure's frame, which no other variable has.
    pub variable: Name,
    /// The index in `Module::code` of the first instruction in the scope.
    pub start: u32,
    /// The index after the last instruction in the scope.
    pub end: u32,
    /// The position of the declaration in the original text.
    pub place: TextPlace,
}

/// The way in which a procedure keeps the values that its statements discard, so that a call can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptStrategy {
    /// The discarded values are kept.
    Reverse,
    /// The discarded values are kept, and the old value of each float that is changed.
    Tape,
    /// Each loop of the procedure is divided into this number of segments. The state before a segment is kept, and the
    /// segment is repeated when it is undone.
    Checkpoint(u32),
}

impl KeptStrategy {
    /// Returns true if the old values of floats are kept, so that rounding is undone, too.
    pub fn keeps_floats(self) -> bool {
        self != KeptStrategy::Reverse
    }
}

/// The quantity limited by `.limit`: open calls, entries of each stack or tape, or the depth of gradient mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The number of open calls, `.limit depth`.
    Depth,
    /// The number of entries of each stack, `.limit stack`.
    Stack,
    /// The number of entries of each tape, `.limit tape`.
    Tape,
    /// The depth of gradient mode, `.limit grad`.
    Grad,
    /// The number of values of each class that procedures with a strategy keep, `.limit history`.
    History,
}

/// A declaration `name[shape]: class = initial shared default given`.
#[derive(Clone, Debug)]
pub struct DeclarationNode {
    /// The name of the cell, array or stack.
    pub name: Name,
    /// The lengths, or the empty brackets of a stack.
    pub shape: ShapeNode,
    /// The class after the colon; `None` means `int`.
    pub class: Option<Class>,
    /// The record after the colon, in the place of a class.
    pub record: Option<Box<Name>>,
    /// The values after `=`; `None` means 0 in every cell.
    pub initial: Option<Initial>,
    /// True for `shared`: all lanes of a batch get the same value.
    pub is_shared: bool,
    /// The values of an input at the start if the user gives none; `None` means the initial values.
    pub default: Option<Initial>,
}

/// A field `name: class` of a record.
#[derive(Clone, Debug)]
pub struct FieldNode {
    /// The name of the field, which follows a dot in operands.
    pub name: Name,
    /// The class after the colon; `None` means `int`.
    pub class: Option<Class>,
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
    /// The form of the expression, with its parts.
    pub kind: ExpressionKind,
    /// The place in the text, at which diagnostics show the expression.
    pub span: Span,
}

/// The kind of an expression, with its parts.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// An integer literal. `pattern` is true in base 2, 8 or 16, where a literal may denote a bit pattern up
    /// to 2^width - 1.
    Int {
        /// The magnitude, since a sign is an operator. Lowering checks it against the word.
        value: u64,
        /// True for a literal with `0x`, `0o` or `0b`.
        pattern: bool,
    },
    /// An integer literal above 2^64 - 1, which is valid as a real or as a part of a constant.
    LongInt {
        /// The magnitude, from 2^64 to 2^127 - 1; boxed to keep the node small.
        value: Box<i128>,
        /// True for a literal with `0x`, `0o` or `0b`.
        pattern: bool,
    },
    /// A real literal, which is finite.
    Real(f64),
    /// A constant, a scalar, a whole array, or a macro parameter. All uses in a file share the text.
    Name {
        /// The name without the `'` of an adjoint; `mode` and `pi` are names here.
        name: Rc<CompactString>,
        /// True for `name'`, which denotes the adjoint.
        adjoint: bool,
    },
    /// An element or a part of an array, selected by subscripts.
    Element(Box<Element>),
    /// An application of `-` or `~` to its operand.
    Unary(UnaryOperator, Box<Expression>),
    /// An application of a binary operator to its left and right operands.
    Binary(BinaryOperator, Box<[Expression; 2]>),
    /// An application of a named function, such as `sin(x)`.
    Apply(Box<Application>),
    /// The length of an array. The length of an array parameter is known only at run time.
    Length(Box<LengthOf>),
    /// A function of whole arrays or of complex numbers, such as `dot(A, B)`. It is replaced when a program is loaded.
    InText(Box<TextApplication>),
}

/// The application `function(sources)` of a function that exists in texts only.
#[derive(Clone, Debug)]
pub struct TextApplication {
    /// The function that is applied.
    pub function: TextFunction,
    /// The sources in order; as many as the function takes.
    pub sources: Vec<Expression>,
}

macro_rules! text_functions {
    ($($(#[doc = $doc:literal])+ $Name:ident $text:literal $arity:literal)+) => {
        /// A function that exists in texts only: no instruction computes it. It is replaced when a program is loaded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TextFunction { $($(#[doc = $doc])+ $Name,)+ }

        impl TextFunction {
            /// All functions that exist in texts only.
            pub const ALL: &'static [TextFunction] = &[$(TextFunction::$Name),+];

            /// Returns the function's name in a text.
            pub fn name(self) -> &'static str {
                match self { $(TextFunction::$Name => $text,)+ }
            }

            /// Returns the number of sources.
            pub fn arity(self) -> usize {
                match self { $(TextFunction::$Name => $arity,)+ }
            }
        }
    };
}

text_functions! {
    /// The sum of all elements of an array.
    Sum "sum" 1
    /// The sum of the products of corresponding elements of two arrays.
    Dot "dot" 2
    /// The product of two matrices, or of a matrix and a vector.
    MatMul "matmul" 2
    /// The matrix with rows and columns exchanged.
    Transpose "transpose" 1
    /// The complex number with a real and an imaginary part.
    Complex "complex" 2
    /// The real part of a complex number.
    Re "re" 1
    /// The imaginary part of a complex number.
    Im "im" 1
    /// The conjugate of a complex number.
    Conj "conj" 1
    /// The argument of a complex number, from -π to π.
    Arg "arg" 1
}

/// The length `len(name)`, or `len(name, dimension)` for a matrix.
#[derive(Clone, Debug)]
pub struct LengthOf {
    /// The name of the array or array parameter.
    pub name: Rc<CompactString>,
    /// The dimension, a constant: 0 for rows, 1 for columns. `None` requires a vector.
    pub dimension: Option<Expression>,
}

/// The application `function(sources)` of a function.
#[derive(Clone, Debug)]
pub struct Application {
    /// The function, which takes at least one source.
    pub function: Function,
    /// The sources in order; as many as the function takes.
    pub sources: Vec<Expression>,
}

/// An element or a part of an array: `name[subscripts]`, or `name'[subscripts]` of its adjoints.
#[derive(Clone, Debug)]
pub struct Element {
    /// The name of the array, without the `'` of an adjoint.
    pub name: Rc<CompactString>,
    /// True for `name'[…]`, which denotes adjoints.
    pub adjoint: bool,
    /// The subscripts in the order of the dimensions, one or two.
    pub subscripts: Vec<Subscript>,
}

/// One dimension between the brackets after a name.
#[derive(Clone, Debug)]
pub enum Subscript {
    /// A single index, which counts from 0.
    At(Expression),
    /// The whole dimension, `..`
    All,
    /// The range `from..to step s`; `to` is exclusive.
    Span {
        /// The first index of the range.
        from: Expression,
        /// The end of the range, which is not part of it.
        to: Expression,
        /// The distance between consecutive indices; `None` means 1.
        step: Option<Expression>,
    },
}

/// The unary operators, `-` and `~`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// The operator `-`, which changes the sign.
    Negate,
    /// The operator `~`, which complements all bits.
    Complement,
}

/// A condition of `if`, `until`, `br` and other statements. The span includes the parentheses of a group.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The form of the condition, with its parts.
    pub kind: ConditionKind,
    /// The place in the text, at which diagnostics show the condition.
    pub span: Span,
}

/// The kind of a condition, with its parts.
#[derive(Clone, Debug)]
pub enum ConditionKind {
    /// The word `always`, a condition that always holds.
    Always,
    /// The word `forgotten`: the join doesn't record which branch was taken, so its flag is erased.
    Forgotten,
    /// A comparison of the first expression with the second, such as `a < b`.
    Compare(Order, Box<Expression>, Box<Expression>),
    /// The negation of a condition, `not a`.
    Not(Box<Condition>),
    /// The condition `a and b`; `b` is evaluated only if `a` holds.
    And(Box<Condition>, Box<Condition>),
    /// The condition `a or b`; `b` is evaluated only if `a` doesn't hold.
    Or(Box<Condition>, Box<Condition>),
}

/// An update with its function and operands, which becomes one instruction.
#[derive(Clone, Debug)]
pub struct InstructionNode {
    /// The update, which the mnemonic names before its dot.
    pub update: Update,
    /// The function, which the mnemonic names after its dot; `Function::Copy` without a dot.
    pub function: Function,
    /// The place of the mnemonic in the text.
    pub mnemonic: Span,
    /// The operands, in the form that the update takes.
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
    Branch {
        /// The label of the other half of the pair.
        partner: Box<Name>,
        /// The condition. A `br` jumps if it is true. A `from` traps unless it is true after a jump from its
        /// partner, and false otherwise.
        condition: Box<Condition>,
    },
    /// The call of `call p(…)` or `uncall p(…)`.
    Call(Box<CallNode>),
}

/// The statement `callvia c(…)`, or `uncallvia c(…)`: the cell that holds the procedure's number, and the
/// arguments.
#[derive(Clone, Debug)]
pub struct CallVia {
    /// True for `uncallvia`, which undoes the call.
    pub undo: bool,
    /// The cell that holds the procedure's number.
    pub cell: Expression,
    /// The arguments, in the order of the parameters.
    pub arguments: Vec<Expression>,
}

/// The statement `par …`, or its inverse `unpar …`.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// True for `unpar`, which undoes the calls.
    pub undo: bool,
    /// The calls themselves: a list, or a loop.
    pub kind: TaskKind,
}

/// Parallel calls. No call accesses a cell that another call changes.
#[derive(Clone, Debug)]
pub enum TaskKind {
    /// The calls of `par p(…), q(…)`, in the order of the text.
    Calls(Box<[CallNode]>),
    /// The loop of `par for i in from..to call p(…)`; its body is the call. An `unpar for` is stored as its
    /// inverse: the loop counts in the opposite direction, and its body is an `uncall`.
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

    /// Returns statements that execute the tasks one after the other: the calls, for `unpar` in reverse
    /// order, or the loop.
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

    /// Returns the calls as written: those of the list, or the one in the body of the loop.
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
    /// The name of the procedure that is called.
    pub procedure: Name,
    /// The arguments, in the order of the parameters.
    pub arguments: Vec<Expression>,
    /// The span from the name to the closing parenthesis.
    pub span: Span,
}

/// The statement `if entry … else … fi exit`.
#[derive(Clone, Debug)]
pub struct If {
    /// The condition at `if`: the first body runs if it holds.
    pub entry: Condition,
    /// The first body, which runs if `entry` holds.
    pub then: Body,
    /// The second body, which runs if `entry` doesn't hold; `None` without `else`.
    pub otherwise: Option<Body>,
    /// True for `else if`: the second body is an `if` that begins on the line of the `else`.
    pub chained: bool,
    /// The condition at `fi`, which must be true if the first body ran, and false otherwise.
    pub exit: Condition,
    /// The comment on the line of `else`, if there is one.
    pub else_comment: Option<Comment>,
    /// The comment on the line of `fi`, if there is one.
    pub end_comment: Option<Comment>,
    /// The span of the word after the first body, `else` or `fi`. In an inverted `if`, it is the span in the
    /// original text.
    pub middle: Span,
}

impl If {
    /// If the second body is an `else if`, returns the node of the inner `if`, the inner `if` itself, and the
    /// comments and blank lines after it. Otherwise returns `None`.
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
    /// The condition at `from`, which must be true before the first iteration, and false before each later
    /// one.
    pub entry: Condition,
    /// The body that runs at least once: before each test of the condition at `until`.
    pub first: Body,
    /// The body that runs between two iterations; `None` without `loop`.
    pub again: Option<Body>,
    /// The condition at `until`: the loop ends when it holds.
    pub exit: Condition,
    /// The comment on the line of `loop`, if there is one.
    pub loop_comment: Option<Comment>,
    /// The comment on the line of `until`, if there is one.
    pub end_comment: Option<Comment>,
    /// The span of the word after the first body, `loop` or `until`. In an inverted loop, it is the span in
    /// the original text.
    pub middle: Span,
}

/// The statement `for i in from..to step s reversed … rof`.
#[derive(Clone, Debug)]
pub struct For {
    /// The counter, an integer variable that exists in this loop only.
    pub counter: Name,
    /// The lower bound: the first value of the counter, or the last one in a reversed loop.
    pub from: Expression,
    /// The upper bound, exclusive. The distance between the bounds must be a multiple of the step.
    pub to: Expression,
    /// The distance between consecutive values, a constant of at least 1; `None` means 1.
    pub step: Option<Expression>,
    /// True if the loop counts from the last value down to the first.
    pub reversed: bool,
    /// True for a loop that has replaced a statement with whole arrays.
    pub is_of_arrays: bool,
    /// The statements of one iteration, which may not change the counter or the bounds.
    pub body: Body,
    /// The comment on the line of `rof`, if there is one.
    pub end_comment: Option<Comment>,
    /// The span of the line with `rof`.
    pub end: Span,
}

/// The statement `compute … apply … uncompute`.
#[derive(Clone, Debug)]
pub struct Compute {
    /// The statements before `apply`, which `uncompute` undoes.
    pub body: Body,
    /// The span of the word `apply`; if `apply` is missing, of the word found instead of it.
    pub middle: Span,
    /// The statements after `apply`, which remain in effect.
    pub apply: Body,
    /// The comment on the line of `apply`, if there is one.
    pub apply_comment: Option<Comment>,
    /// The comment on the line of `uncompute`, if there is one.
    pub end_comment: Option<Comment>,
    /// The span of the line with `uncompute`.
    pub end: Span,
}

/// The statement `local name[shape]: class = function(sources)`, or a `delocal` with the same parts. A plain
/// value has the function `copy`. Without a value there are no sources, and the variable is 0.
#[derive(Clone, Debug)]
pub struct Local {
    /// The name of the variable that is opened or closed.
    pub name: Name,
    /// The lengths: none for a scalar, one or two for an array.
    pub shape: Vec<Expression>,
    /// The class after the colon; `None` means the class of the value.
    pub class: Option<Class>,
    /// The record after the colon, in the place of a class.
    pub record: Option<Box<Name>>,
    /// The function that computes the value from its sources.
    pub function: Function,
    /// The sources of the function; empty if the variable is 0.
    pub sources: Vec<Expression>,
}

/// The definition of a procedure: `.proc name(parameters) rule other … .end`.
#[derive(Clone, Debug)]
pub struct ProcedureNode {
    /// The name by which the procedure is called.
    pub name: Name,
    /// The parameters, in the order of a call's arguments.
    pub parameters: Vec<ParameterNode>,
    /// The custom adjoint rule: the procedure that runs instead of this procedure's adjoint in gradient mode.
    /// `None` without `rule`.
    pub rule: Option<Name>,
    /// The custom tangent rule: the procedure that computes the tangents of this procedure's results. `None` without
    /// `tangent`.
    pub tangent: Option<Name>,
    /// The statements between the head and `.end`.
    pub body: Body,
    /// The comment on the line of `.end`, if there is one.
    pub end_comment: Option<Comment>,
    /// The span of the line with `.end`.
    pub end: Span,
}

impl ProcedureNode {
    /// Returns the names of the procedure's rules, of its adjoint and of its tangents.
    pub fn rules(&self) -> impl Iterator<Item = &Name> {
        self.rule.iter().chain(&self.tangent)
    }
}

/// A parameter `in name: class`, `inout name[]: class` or `in name[,]: class`.
#[derive(Clone, Debug)]
pub struct ParameterNode {
    /// The passing mode: `in` for read only, or `inout`.
    pub passing: Passing,
    /// The name of the parameter inside the procedure.
    pub name: Name,
    /// The number of dimensions, given by the brackets after the name.
    pub rank: Rank,
    /// The class after the colon; `None` means `int`.
    pub class: Option<Class>,
    /// The record after the colon, in the place of a class.
    pub record: Option<Box<Name>>,
}

/// The definition of a macro: `.macro name(parameters) … .endm`.
#[derive(Clone, Debug)]
pub struct Macro {
    /// The name by which a line uses the macro.
    pub name: Name,
    /// The parameters, which each use replaces by its arguments.
    pub parameters: Vec<Name>,
    /// The statements to which each use expands.
    pub body: Body,
    /// The comment on the line of `.endm`, if there is one.
    pub end_comment: Option<Comment>,
    /// The span of the line with `.endm`.
    pub end: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of millions of lines has millions of nodes, and each node has two or three expressions.
    #[test]
    fn tree_nodes_are_small() {
        assert_eq!((size_of::<StatementNode>(), size_of::<Expression>()), (80, 32));
        assert_eq!(size_of::<reviver_isa::instruction::Instruction>(), 104);
    }
}
