//! Whole arrays: a statement whose target is an array is a loop over its elements. `sum`, `dot` and `matmul` are loops,
//! too.
//!
//! ```text
//! add  A, c * sin(B)      →    for i in 0..len(A)   add A[i], c * sin(B[i])   rof
//! add  s, dot(A, B)       →    for i in 0..len(A)   add s, A[i] * B[i]        rof
//! add  C, matmul(P, Q)    →    for i …  for j …  for k …   add C[i, j], P[i, k] * Q[k, j]
//! local s = sum(A)        →    local s: real;  add s, sum(A)
//! ```
//!
//! A part of an array is an array: `A[2..5]`, `M[i, ..]`. If the program's text doesn't show that two lengths are equal,
//! an `assert` before the loop compares them. Arrays are replaced when a program is loaded, so later parts know only
//! elements.

mod roll;
mod view;

use std::collections::HashSet;

use compact_str::{CompactString, format_compact};
use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::{Action, Update};

use crate::build;
use crate::definitions::ProgramNames;
use crate::diagnostic::Diagnostic;
use crate::format::spelled;
use crate::rewrite::{Rewriter, rewrite};
use crate::scopes::Names;
use crate::source::Span;
use crate::tree::{
    Body, Directive, Expression, ExpressionKind, InstructionNode, Local, Operands, ShapeNode, Statement,
    StatementNode, Subscript, TextFunction, UnaryOperator,
};
use crate::visit;
pub(crate) use roll::roll;
use view::{Shape, element, rank};

/// Replaces whole arrays in the trees of a program. Returns the errors.
pub(crate) fn expand(trees: &mut [Body]) -> Vec<Diagnostic> {
    let declared = declared_arrays(trees);
    if !trees.iter().any(|body| mentions_arrays(body, &declared)) {
        return Vec::new();
    }
    let names = ProgramNames::of(trees.iter()).names;
    let mut loops = Loops::default();
    for tree in trees {
        *tree = rewrite(&mut names.clone(), std::mem::take(tree), &mut loops);
    }
    loops.diagnostics
}

/// Returns the error for a function of arrays that isn't the whole value of an `add`, a `sub` or a `local`, and for a function
/// of complex numbers whose source is none.
pub(crate) fn misplaced(function: TextFunction, place: Span) -> Diagnostic {
    let name = function.name();
    let only = || format!("`{name}` is a value of `add`, `sub` and `local` only, without other operations");
    let (message, help) = match function {
        TextFunction::Sum | TextFunction::Dot => (
            only(),
            "compute it into a cell first: `local s = …`; write a factor into the sum: `sum(0.5 * A)`",
        ),
        TextFunction::MatMul => (only(), "add it to an array of zeros first"),
        TextFunction::Transpose => (
            "`transpose` is a source of statements with whole matrices only".to_owned(),
            "use it as a source of `matmul`, `dot` or `sum`, or as a term for a matrix",
        ),
        TextFunction::Complex
        | TextFunction::Re
        | TextFunction::Im
        | TextFunction::Conj
        | TextFunction::Arg => (
            format!("`{name}` belongs to complex numbers, and there is none here"),
            "declare a complex cell: `.var z: complex`",
        ),
    };
    Diagnostic::error(ProblemCode::ArrayOrCell, message, place, "used here").help(help)
}

/// Returns the names of all arrays that are declared anywhere.
fn declared_arrays(trees: &[Body]) -> HashSet<CompactString> {
    let mut arrays = HashSet::new();
    for body in trees {
        visit::statements(body, &mut |statement| match statement {
            Statement::Directive(
                Directive::Globals { declarations, .. } | Directive::Ancillas(declarations),
            ) => {
                let is_array = |shape: &ShapeNode| !shape.lengths().is_empty();
                let of_arrays = declarations.iter().filter(|it| is_array(&it.shape));
                arrays.extend(of_arrays.map(|it| it.name.text.clone()));
            }
            Statement::Procedure(tree) => {
                let is_array = |rank| rank != reviver_isa::module::Rank::Scalar;
                let of_arrays = tree.parameters.iter().filter(|it| is_array(it.rank));
                arrays.extend(of_arrays.map(|it| it.name.text.clone()));
            }
            Statement::Local(local) if !local.shape.is_empty() => {
                arrays.insert(local.name.text.clone());
            }
            _ => {}
        });
    }
    arrays
}

/// Returns true if a statement may have to be replaced.
fn mentions_arrays(body: &Body, declared: &HashSet<CompactString>) -> bool {
    let mut found = false;
    visit::statements(body, &mut |statement| {
        let parts = match statement {
            Statement::Instruction(InstructionNode { operands: Operands::Cells(cells), .. }) => &**cells,
            Statement::Local(local) | Statement::Delocal(local) => &local.sources,
            _ => return,
        };
        found |= parts.iter().any(|part| match &part.kind {
            ExpressionKind::Name { name, .. } => declared.contains(&**name),
            ExpressionKind::Element(element) => {
                element.subscripts.iter().any(|it| !matches!(it, Subscript::At(_)))
            }
            ExpressionKind::InText(_) => true,
            _ => reduced(part).is_some(),
        });
    });
    found
}

/// The replacement of statements by loops.
#[derive(Default)]
struct Loops {
    diagnostics: Vec<Diagnostic>,
}

impl Rewriter for Loops {
    fn statement(&mut self, names: &Names, node: StatementNode, made: &mut Body) {
        match &node.statement {
            Statement::Instruction(instruction) => {
                if let Some(body) = self.instruction(names, instruction, node.span) {
                    return append(node, body, made);
                }
            }
            Statement::Local(local) => {
                if let Some(body) = self.local(names, local, (Update::Add, node.span)) {
                    let opened = Statement::Local(Box::new(without_value(names, local)));
                    let opened = StatementNode { span: node.span, ..build::node(opened) };
                    return append(node, std::iter::once(opened).chain(body).collect(), made);
                }
            }
            Statement::Delocal(local) => {
                if let Some(mut body) = self.local(names, local, (Update::Sub, node.span)) {
                    let closed = Statement::Delocal(Box::new(without_value(names, local)));
                    body.push(StatementNode { span: node.span, ..build::node(closed) });
                    return append(node, body, made);
                }
            }
            _ => {}
        }
        made.push(node);
    }
}

/// Returns true for an update that undoes a `push`, a `read` or a `write`. It moves several values in the opposite order.
pub(crate) fn is_undone_move(update: Update) -> bool {
    matches!(update, Update::Pop | Update::Unread | Update::Unwrite)
}

/// Appends statements in the place of a node: the first has its label and its comment.
pub(crate) fn append(node: StatementNode, mut statements: Body, made: &mut Body) {
    if let Some(first) = statements.first_mut() {
        (first.label, first.comment) = (node.label, node.comment);
    }
    made.append(&mut statements);
}

/// Returns the variable of a `local` or `delocal`, which begins and ends as 0.
fn without_value(names: &Names, local: &Local) -> Local {
    let class = Some(names.class_of_local(local));
    Local { class, function: Function::Copy, sources: Vec::new(), ..local.clone() }
}

impl Loops {
    /// Returns the loops that replace an instruction. Returns `None` if it has no whole arrays as targets, and its value
    /// is no function of arrays.
    fn instruction(&mut self, names: &Names, instruction: &InstructionNode, span: Span) -> Option<Body> {
        let Operands::Cells(cells) = &instruction.operands else { return None };
        let targets = match instruction.update.action() {
            Action::Show => 1,
            action => action.shape().targets(),
        };
        let (targets, sources) = cells.split_at_checked(targets)?;
        let first = targets.first()?;
        let statement = LoopStatement { names, instruction, span };
        if let [source] = sources
            && instruction.function == Function::Copy
            && matches!(instruction.update, Update::Add | Update::Sub)
            && let Some((sign, function, factors)) = reduced(source)
        {
            return match function {
                TextFunction::Sum => self.sum(&statement, first, sign.of(factors.first()?.clone())),
                TextFunction::Dot => {
                    let [a, b] = factors else { return None };
                    let product = binary(BinaryOperator::Multiply, a, b, source.span);
                    self.sum(&statement, first, sign.of(product))
                }
                TextFunction::MatMul => {
                    let [a, b] = factors else { return None };
                    self.product(&statement, first, (sign, a, b), source.span)
                }
                _ => self.elementwise(&statement, targets, sources),
            };
        }
        rank(names, first)?;
        self.elementwise(&statement, targets, sources)
    }

    /// Returns the loop that adds the value of a `local`, or subtracts that of a `delocal`; `None` if the value is no
    /// function of arrays.
    fn local(&mut self, names: &Names, local: &Local, (update, span): (Update, Span)) -> Option<Body> {
        let ([source], Function::Copy) = (local.sources.as_slice(), local.function) else { return None };
        reduced(source)
            .filter(|(_, function, _)| matches!(function, TextFunction::Sum | TextFunction::Dot))?;
        let mut target = build::cell(&local.name.text);
        target.span = local.name.span;
        let operands = Operands::Cells([target, source.clone()].into());
        let instruction = InstructionNode { update, function: Function::Copy, mnemonic: span, operands };
        self.instruction(names, &instruction, span)
    }

    /// Returns the loop over corresponding elements of all operands.
    fn elementwise(
        &mut self,
        statement: &LoopStatement,
        targets: &[Expression],
        sources: &[Expression],
    ) -> Option<Body> {
        let names = statement.names;
        let shape = Shape::of(names, targets.first()?)?;
        let counters = statement.counters(shape.lengths.len());
        let mut lengths = Lengths::default();
        let mut operands = Vec::with_capacity(targets.len() + sources.len());
        for (n, operand) in targets.iter().chain(sources).enumerate() {
            if n < targets.len() && rank(names, operand) != Some(shape.lengths.len()) {
                self.refuse_shape(operand, "all targets must be arrays of the same number of dimensions");
                return Some(Body::new());
            }
            operands.push(self.at(names, operand, (&counters, &shape), &mut lengths)?);
        }
        let body = vec![statement.of(operands)];
        Some(lengths.before(statement, statement.loops(&counters, &shape.lengths, body)))
    }

    /// Returns the loop that adds the elements of an array to a scalar.
    fn sum(&mut self, statement: &LoopStatement, target: &Expression, summed: Expression) -> Option<Body> {
        let names = statement.names;
        if rank(names, target).is_some() {
            self.refuse_shape(target, "a sum is a number: its target is a cell");
            return Some(Body::new());
        }
        let Some(shape) = Shape::of(names, &summed) else {
            self.refuse_shape(&summed, "expected an array");
            return Some(Body::new());
        };
        let counters = statement.counters(shape.lengths.len());
        let mut lengths = Lengths::default();
        let summed = self.at(names, &summed, (&counters, &shape), &mut lengths)?;
        let body = vec![statement.of(vec![target.clone(), summed])];
        Some(lengths.before(statement, statement.loops(&counters, &shape.lengths, body)))
    }

    /// Returns the loops that add a product of matrices and vectors.
    fn product(
        &mut self,
        statement: &LoopStatement,
        target: &Expression,
        (sign, a, b): (Sign, &Expression, &Expression),
        place: Span,
    ) -> Option<Body> {
        let names = statement.names;
        let (Some(left), Some(right)) = (Shape::of(names, a), Shape::of(names, b)) else {
            self.refuse_shape(
                if Shape::of(names, a).is_none() { a } else { b },
                "expected a matrix or a vector",
            );
            return Some(Body::new());
        };
        let counters = statement.counters(3);
        let [i, j, k] = counters.as_slice() else { return None };
        let (i, j, k) = (i.clone(), j.clone(), k.clone());
        let (outer, indices) = match (left.lengths.len(), right.lengths.len()) {
            (2, 2) => (vec![i.clone(), j.clone()], (vec![i, k.clone()], vec![k.clone(), j])),
            (2, 1) => (vec![i.clone()], (vec![i, k.clone()], vec![k.clone()])),
            (1, 2) => (vec![j.clone()], (vec![k.clone()], vec![k.clone(), j])),
            _ => {
                self.refuse_shape(b, "the product of two vectors is a number: write `dot`");
                return Some(Body::new());
            }
        };
        let Some(shape) = Shape::of(names, target).filter(|shape| shape.lengths.len() == outer.len()) else {
            let wanted = if outer.len() == 2 { "the product is a matrix" } else { "the product is a vector" };
            self.refuse_shape(target, wanted);
            return Some(Body::new());
        };
        let mut lengths = Lengths::default();
        let inner = left.lengths.last()?.clone();
        let of_left = match left.lengths.len() {
            1 => vec![inner.clone()],
            _ => vec![shape.lengths.first()?.clone(), inner.clone()],
        };
        let of_right = match right.lengths.len() {
            1 => vec![inner.clone()],
            _ => vec![inner.clone(), shape.lengths.last()?.clone()],
        };
        let a = self.at(names, a, (&indices.0, &Shape { lengths: of_left }), &mut lengths)?;
        let b = self.at(names, b, (&indices.1, &Shape { lengths: of_right }), &mut lengths)?;
        let product = sign.of(binary(BinaryOperator::Multiply, &a, &b, place));
        let target = element(names, target, &outer)?;
        let mut all = outer;
        all.push(k);
        let mut bounds = shape.lengths;
        bounds.push(inner);
        let body = vec![statement.of(vec![target, product])];
        Some(lengths.before(statement, statement.loops(&all, &bounds, body)))
    }

    /// Returns an operand's value at some indices: arrays are replaced by their elements. Adds the lengths of the arrays
    /// to those that must be equal.
    fn at(
        &mut self,
        names: &Names,
        operand: &Expression,
        (indices, shape): (&[Expression], &Shape),
        lengths: &mut Lengths,
    ) -> Option<Expression> {
        if let ExpressionKind::InText(application) = &operand.kind {
            let (TextFunction::Transpose, [matrix]) = (application.function, &*application.sources) else {
                self.diagnostics.push(misplaced(application.function, operand.span));
                return Some(operand.clone());
            };
            let indices: Vec<Expression> = indices.iter().rev().cloned().collect();
            let shape = Shape { lengths: shape.lengths.iter().rev().cloned().collect() };
            if indices.len() != 2 {
                self.refuse_shape(matrix, "only a matrix can be transposed");
                return Some(operand.clone());
            }
            return self.at(names, matrix, (&indices, &shape), lengths);
        }
        if let Some(own) = Shape::of_cells(names, operand) {
            if own.lengths.len() != indices.len() {
                let wanted = match indices.len() {
                    1 => "expected a vector or a number, found a matrix",
                    _ => "expected a matrix or a number, found a vector",
                };
                self.refuse_shape(operand, wanted);
                return Some(operand.clone());
            }
            for (own, wanted) in own.lengths.into_iter().zip(&shape.lengths) {
                if let Err(problem) = lengths.expect(own, wanted, operand.span) {
                    self.diagnostics.push(problem);
                }
            }
            return element(names, operand, indices);
        }
        match &operand.kind {
            ExpressionKind::Unary(..) | ExpressionKind::Binary(..) | ExpressionKind::Apply(_) => {
                build::with_sources(operand, |part| self.at(names, part, (indices, shape), lengths))
            }
            _ => Some(operand.clone()),
        }
    }

    fn refuse_shape(&mut self, operand: &Expression, message: &str) {
        let problem = Diagnostic::error(ProblemCode::ArrayOrCell, message, operand.span, "here");
        self.diagnostics.push(problem);
    }
}

/// The sign of a sum.
#[derive(Clone, Copy)]
enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn of(self, value: Expression) -> Expression {
        match self {
            Sign::Plus => value,
            Sign::Minus => {
                let span = value.span;
                Expression { span, ..build::negated(value) }
            }
        }
    }
}

/// Returns the function of arrays that is a whole value, with its sign and its sources.
fn reduced(value: &Expression) -> Option<(Sign, TextFunction, &[Expression])> {
    let (sign, value) = match &value.kind {
        ExpressionKind::Unary(UnaryOperator::Negate, inner) => (Sign::Minus, &**inner),
        _ => (Sign::Plus, value),
    };
    match &value.kind {
        ExpressionKind::InText(application) => Some((sign, application.function, &application.sources)),
        _ => None,
    }
}

fn binary(operator: BinaryOperator, left: &Expression, right: &Expression, span: Span) -> Expression {
    let sides = Box::new([left.clone(), right.clone()]);
    Expression { kind: ExpressionKind::Binary(operator, sides), span }
}

/// A statement that is replaced by loops.
struct LoopStatement<'s> {
    names: &'s Names,
    instruction: &'s InstructionNode,
    span: Span,
}

impl LoopStatement<'_> {
    /// Returns names for counters that neither are visible here nor occur in the statement.
    fn counters(&self, count: usize) -> Vec<Expression> {
        let mut mentioned: HashSet<&str> = HashSet::new();
        if let Operands::Cells(cells) = &self.instruction.operands {
            for cell in cells {
                visit::in_expression(cell, &mut |part| match &part.kind {
                    ExpressionKind::Name { name, .. } => drop(mentioned.insert(name.as_str())),
                    ExpressionKind::Element(element) => drop(mentioned.insert(element.name.as_str())),
                    _ => {}
                });
            }
        }
        let is_free = |name: &CompactString| {
            !mentioned.contains(name.as_str())
                && self.names.find(name).is_none()
                && !self.names.declares(name)
        };
        let wanted = (1_u32..).flat_map(|n| {
            ["i", "j", "k"].map(|letter| match n {
                1 => CompactString::from(letter),
                _ => format_compact!("{letter}{n}"),
            })
        });
        let free = wanted.filter(is_free).take(count);
        free.map(|name| Expression { span: self.span, ..build::cell(&name) }).collect()
    }

    /// Returns the instruction with other operands.
    fn of(&self, operands: Vec<Expression>) -> StatementNode {
        let operands = Operands::Cells(operands.into());
        let statement = Statement::Instruction(InstructionNode { operands, ..self.instruction.clone() });
        StatementNode { span: self.span, ..build::node(statement) }
    }

    /// Returns nested loops, the first one outermost. Statements that undo a `push`, a `read` or a `write` count down.
    fn loops(&self, counters: &[Expression], lengths: &[Expression], body: Body) -> Body {
        let reversed = is_undone_move(self.instruction.update);
        let nested = counters.iter().zip(lengths).rev();
        nested.fold(body, |body, (counter, length)| {
            let name = spelled(counter);
            let mut node = build::for_each(&name, length.clone(), body);
            node.span = self.span;
            if let Statement::For(tree) = &mut node.statement {
                (tree.counter.span, tree.end) = (self.span, self.span);
                (tree.reversed, tree.is_of_arrays) = (reversed, true);
            }
            vec![node]
        })
    }
}

/// The lengths that must be equal when a statement is executed.
#[derive(Default)]
struct Lengths {
    pairs: Vec<[Expression; 2]>,
}

impl Lengths {
    /// Adds a length that must have a value. Returns an error if both are different literals.
    fn expect(&mut self, own: Expression, wanted: &Expression, place: Span) -> Result<(), Diagnostic> {
        let texts = [spelled(&own), spelled(wanted)];
        let [own_text, wanted_text] = &texts;
        if own_text == wanted_text || self.pairs.iter().any(|pair| pair.each_ref().map(spelled) == texts) {
            return Ok(());
        }
        if let (ExpressionKind::Int { value: a, .. }, ExpressionKind::Int { value: b, .. }) =
            (&own.kind, &wanted.kind)
        {
            if a == b {
                return Ok(());
            }
            let message = format!("expected {wanted_text} elements, found {own_text}");
            let label = format!("{own_text} elements in this dimension");
            return Err(Diagnostic::error(ProblemCode::ArrayOrCell, message, place, label));
        }
        self.pairs.push([own, wanted.clone()]);
        Ok(())
    }

    /// Returns the comparisons of the lengths, followed by loops.
    fn before(self, statement: &LoopStatement, loops: Body) -> Body {
        let span = statement.span;
        let assertion = |[own, wanted]: [Expression; 2]| {
            let mut condition = build::compared(Order::Eq, own, wanted);
            condition.span = span;
            let operands = Operands::Condition(Box::new(condition));
            let (update, function, mnemonic) = (Update::Assert, Function::Copy, span);
            let instruction = InstructionNode { update, function, mnemonic, operands };
            StatementNode { span, ..build::node(Statement::Instruction(instruction)) }
        };
        self.pairs.into_iter().map(assertion).chain(loops).collect()
    }
}
