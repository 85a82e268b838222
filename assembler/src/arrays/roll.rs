//! Loops that have replaced statements with whole arrays become such statements again, in a program that is derived from
//! another one. The reverse part of a gradient program then has array statements, too.
//!
//! ```text
//! for i in 0..3 reversed                        sub  A, c * B
//!     sub  A[i], c * B[i]                       for i in 0..3 reversed
//!     add.mul  c_bar, A_bar[i], B[i]       →        add.mul  c_bar, A_bar[i], B[i]
//!     add.mul  B_bar[i], A_bar[i], c            rof
//! rof                                           add.mul  B_bar, A_bar, c
//! ```
//!
//! A statement is *elementwise* if its targets are the elements of arrays at the counter of the loop, and its sources are
//! such elements or don't depend on the counter. If each changed array is accessed at one index only, such as `A[i + 1]`,
//! then the iterations are independent, and each statement may be executed for all elements before the next one. Sums of
//! elements in ascending order are values of `sum`, `dot` and `matmul`. Others keep their loops, because the order
//! determines the roundings.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::{Action, Update};

use super::view::{Shape, rank};
use crate::build;
use crate::definitions::ProgramNames;
use crate::format::spelled;
use crate::rewrite::rewrite;
use crate::scopes::Names;
use crate::source::Span;
use crate::tree::{
    Body, Element, Expression, ExpressionKind, For, InstructionNode, Operands, Statement, StatementNode,
    Subscript, TextApplication, TextFunction, UnaryOperator,
};
use crate::visit;

/// Replaces the loops of statements with whole arrays by such statements.
pub(crate) fn roll(body: Body) -> Body {
    let mut has_loops = false;
    visit::statements(&body, &mut |it| has_loops |= matches!(it, Statement::For(tree) if tree.is_of_arrays));
    if !has_loops {
        return body;
    }
    let mut names = ProgramNames::of(std::iter::once(&body)).names;
    rewrite(&mut names, body, &mut |names: &Names, node: StatementNode, made: &mut Body| {
        let rolled = ArrayLoop::of(&node).map(|tree| tree.rolled(names));
        match rolled {
            Some(mut rolled) if !rolled.is_empty() => {
                if let Some(first) = rolled.first_mut().filter(|_| node.label.is_some()) {
                    first.label = node.label;
                }
                if node.comment.is_some()
                    && let Some(first) =
                        rolled.iter_mut().find(|it| !matches!(it.statement, Statement::Empty))
                {
                    first.comment = node.comment;
                }
                made.extend(rolled);
            }
            _ => made.push(node),
        }
    })
}

/// A loop that has replaced a statement with whole arrays. Loops inside it are replaced first: `A[i, j]` in loops over i and
/// j becomes `A[i, ..]`, and then `A`.
struct ArrayLoop<'t> {
    tree: &'t For,
}

/// An array, or a part of one, whose elements a loop accesses.
struct ArrayPart {
    array: Expression,
    /// The number of dimensions.
    rank: usize,
    /// True if the loop is over the second dimension, and the statement is for whole columns.
    is_transposed: bool,
}

impl<'t> ArrayLoop<'t> {
    fn of(node: &'t StatementNode) -> Option<ArrayLoop<'t>> {
        match &node.statement {
            Statement::For(tree) if tree.is_of_arrays => Some(ArrayLoop { tree }),
            _ => None,
        }
    }

    /// Returns the statements that replace the loop; none if no statement is elementwise, or if the iterations depend on
    /// each other.
    fn rolled(&self, names: &Names) -> Body {
        if !self.changed().is_some_and(|changed| self.is_independent(names, &changed)) {
            return Body::new();
        }
        let (mut made, mut others) = (Body::new(), Body::new());
        let mut is_rolled = false;
        for node in &self.tree.body {
            let whole = self.statement(names, node);
            is_rolled |= whole.is_some();
            // A comment belongs to the statement below it.
            if whole.is_some() || matches!(node.statement, Statement::Empty) {
                self.close(&mut others, &mut made);
                made.push(whole.unwrap_or_else(|| node.clone()));
            } else {
                others.push(node.clone());
            }
        }
        self.close(&mut others, &mut made);
        if is_rolled { made } else { Body::new() }
    }

    /// Appends a loop around the statements that aren't elementwise.
    fn close(&self, others: &mut Body, made: &mut Body) {
        let body = std::mem::take(others);
        if !body.is_empty() {
            made.push(build::node(Statement::For(Box::new(For { body, ..self.tree.clone() }))));
        }
    }

    /// Returns the names of the cells and arrays that the statements change. Returns `None` if there are other statements
    /// than instructions with cells, or if one moves values to or from a stack or a tape.
    fn changed(&self) -> Option<HashSet<CompactString>> {
        let mut changed = HashSet::new();
        for node in &self.tree.body {
            let (action, cells) = match &node.statement {
                Statement::Empty => continue,
                Statement::Instruction(InstructionNode {
                    update, operands: Operands::Cells(cells), ..
                }) => (update.action(), cells),
                _ => return None,
            };
            if matches!(action, Action::Put(_) | Action::Take(_) | Action::Show) {
                return None;
            }
            changed.extend(cells.iter().take(action.shape().targets()).filter_map(base).cloned());
        }
        Some(changed)
    }

    /// Returns true if each changed array is accessed at one index only, which depends on the counter, and each changed cell
    /// by one statement only.
    fn is_independent(&self, names: &Names, changed: &HashSet<CompactString>) -> bool {
        let mut indices: HashMap<CompactString, String> = HashMap::new();
        let mut cells: HashSet<CompactString> = HashSet::new();
        self.tree.body.iter().all(|node| {
            let mut is_independent = true;
            let mut own: HashSet<CompactString> = HashSet::new();
            visit::expressions(&node.statement, &mut |part| {
                let Some(name) = base(part).filter(|name| changed.contains(*name)) else { return };
                if self.part(names, part).is_some() {
                    let index = spelled(part);
                    is_independent &= indices.entry(name.clone()).or_insert_with(|| index.clone()) == &index;
                } else {
                    is_independent &= !self.depends(part);
                    own.insert(name.clone());
                }
            });
            is_independent && own.into_iter().all(|name| cells.insert(name))
        }) && cells.iter().all(|name| !indices.contains_key(name))
    }

    /// Returns the statement that executes a statement for all values of the counter. Returns `None` if there is none.
    fn statement(&self, names: &Names, node: &StatementNode) -> Option<StatementNode> {
        let Statement::Instruction(instruction) = &node.statement else { return None };
        let Operands::Cells(cells) = &instruction.operands else { return None };
        let (targets, sources) = cells.split_at_checked(instruction.update.action().shape().targets())?;
        let (cells, function) = match self.elementwise(names, targets, sources) {
            Some(cells) => (cells, instruction.function),
            None => (self.sum(names, instruction, targets, sources)?, Function::Copy),
        };
        let operands = Operands::Cells(cells.into());
        let instruction = InstructionNode { operands, function, ..instruction.clone() };
        Some(StatementNode { statement: Statement::Instruction(instruction), ..node.clone() })
    }

    /// Returns the operands of an elementwise statement for arrays.
    fn elementwise(
        &self,
        names: &Names,
        targets: &[Expression],
        sources: &[Expression],
    ) -> Option<Vec<Expression>> {
        let rank = self.part(names, targets.first()?)?.rank;
        let target = |cell| {
            let part = self.part(names, cell).filter(|part| part.rank == rank && !part.is_transposed);
            part.map(|part| part.array)
        };
        let whole = targets.iter().map(target);
        whole.chain(sources.iter().map(|source| self.source(names, source, rank))).collect()
    }

    /// Returns the operands of a statement that adds a sum to a cell that doesn't depend on the counter.
    fn sum(
        &self,
        names: &Names,
        instruction: &InstructionNode,
        targets: &[Expression],
        sources: &[Expression],
    ) -> Option<Vec<Expression>> {
        let [target] = targets else { return None };
        let is_sum = matches!(instruction.update, Update::Add | Update::Sub) && !self.tree.reversed;
        if !is_sum || self.depends(target) || rank(names, target).is_some() {
            return None;
        }
        let value = build::applied(instruction.function, sources.to_vec());
        if !self.depends(&value) {
            return None;
        }
        Some(vec![target.clone(), self.summed(names, &value)?])
    }

    /// Returns the sum of a value over all values of the counter.
    fn summed(&self, names: &Names, value: &Expression) -> Option<Expression> {
        match &value.kind {
            ExpressionKind::Unary(UnaryOperator::Negate, inner) => Some(opposite(self.summed(names, inner)?)),
            ExpressionKind::InText(inner) => {
                let sources = inner.sources.iter().map(|source| self.source(names, source, 2));
                Some(build::in_text(inner.function, sources.collect::<Option<_>>()?))
            }
            ExpressionKind::Binary(BinaryOperator::Multiply, sides)
                if sides.iter().all(|side| self.part(names, side).is_some()) =>
            {
                let factors = sides.iter().map(|side| self.source(names, side, 1));
                Some(build::in_text(TextFunction::Dot, factors.collect::<Option<_>>()?))
            }
            _ => Some(build::in_text(TextFunction::Sum, vec![self.source(names, value, 1)?])),
        }
    }

    /// Returns a source of a statement for arrays of this rank.
    fn source(&self, names: &Names, source: &Expression, rank: usize) -> Option<Expression> {
        if !self.depends(source) {
            return is_number(names, source).then(|| source.clone());
        }
        match &source.kind {
            ExpressionKind::Element(_) => {
                let part = self.part(names, source).filter(|part| part.rank == rank)?;
                Some(match part.is_transposed {
                    true => build::in_text(TextFunction::Transpose, vec![part.array]),
                    false => part.array,
                })
            }
            ExpressionKind::InText(inner) => self.product(names, inner, rank),
            _ => build::with_sources(source, |part| self.source(names, part, rank)),
        }
    }

    /// Returns the product of matrices or vectors whose elements, or whose rows, are the values of an application: `P·v` for
    /// `dot(P[i, ..], v)`, `P·Q` for `matmul(P[i, ..], Q)`.
    fn product(&self, names: &Names, application: &TextApplication, wanted: usize) -> Option<Expression> {
        let [a, b] = application.sources.as_slice() else { return None };
        if wanted != if application.function == TextFunction::Dot { 1 } else { 2 } {
            return None;
        }
        let matrix = |source| self.part(names, source).filter(|part| part.rank == 2);
        let product = |factors: [Expression; 2]| build::in_text(TextFunction::MatMul, factors.into());
        let other = |part: ArrayPart| build::in_text(TextFunction::Transpose, vec![part.array]);
        match (application.function, self.depends(a), self.depends(b)) {
            (TextFunction::Dot, true, false) => match matrix(a)? {
                part if part.is_transposed => Some(product([b.clone(), part.array])),
                part => Some(product([part.array, b.clone()])),
            },
            (TextFunction::Dot, false, true) => match matrix(b)? {
                part if part.is_transposed => Some(product([a.clone(), part.array])),
                part => Some(product([part.array, a.clone()])),
            },
            (TextFunction::MatMul, true, false) => match matrix(a)? {
                part if part.is_transposed => Some(product([other(part), b.clone()])),
                part => Some(product([part.array, b.clone()])),
            },
            // M·a for each row a of A is A·Mᵀ.
            (TextFunction::MatMul, false, true) if rank(names, a) == Some(2) => match matrix(b)? {
                part if part.is_transposed => None,
                part => Some(product([part.array, build::in_text(TextFunction::Transpose, vec![a.clone()])])),
            },
            _ => None,
        }
    }

    /// Returns true if an expression mentions the counter.
    fn depends(&self, expression: &Expression) -> bool {
        let mut depends = false;
        visit::in_expression(expression, &mut |part| depends |= self.is_counter(part));
        depends
    }

    fn is_counter(&self, expression: &Expression) -> bool {
        matches!(&expression.kind, ExpressionKind::Name { name, adjoint: false } if **name == self.tree.counter.text)
    }

    /// Returns the part of an array of which an expression is the element at the counter.
    fn part(&self, names: &Names, cell: &Expression) -> Option<ArrayPart> {
        let ExpressionKind::Element(element) = &cell.kind else { return None };
        let is_at = |subscript: &Subscript| matches!(subscript, Subscript::At(index) if self.depends(index));
        let at = element.subscripts.iter().position(is_at)?;
        let Subscript::At(index) = element.subscripts.get(at)? else { return None };
        let other = element.subscripts.iter().enumerate().find(|(n, _)| *n != at);
        match other {
            Some((_, Subscript::At(index))) if self.depends(index) => return None,
            Some((_, Subscript::Span { .. })) => return None,
            _ => {}
        }
        let is_transposed = matches!(other, Some((n, Subscript::All)) if n < at);
        let whole = self.with(element, at, Subscript::All, cell.span);
        let lengths = Shape::of_cells(names, &whole)?.lengths;
        let length = if is_transposed { lengths.last() } else { lengths.first() };
        let is_whole = self.is_counter(index) && spelled(length?) == spelled(&self.tree.to);
        let array = match (is_whole, other) {
            (true, _) => whole,
            (false, None) => self.with(element, at, self.span(index)?, cell.span),
            // Only vectors have parts.
            (false, Some(_)) => return None,
        };
        Some(ArrayPart { array, rank: lengths.len(), is_transposed })
    }

    /// Returns the array of an element, with another subscript.
    fn with(&self, element: &Element, at: usize, subscript: Subscript, span: Span) -> Expression {
        let mut subscripts = element.subscripts.clone();
        if let Some(place) = subscripts.get_mut(at) {
            *place = subscript;
        }
        let kind = match subscripts.iter().all(|it| matches!(it, Subscript::All)) {
            true => ExpressionKind::Name { name: element.name.clone(), adjoint: element.adjoint },
            false => ExpressionKind::Element(Box::new(Element { subscripts, ..element.clone() })),
        };
        Expression { kind, span }
    }

    /// Returns the indices that an index has: `1..N` for `i + 1`, where i counts up to `N - 1`.
    fn span(&self, index: &Expression) -> Option<Subscript> {
        if self.is_counter(index) {
            return Some(Subscript::Span { from: build::int(0), to: self.tree.to.clone(), step: None });
        }
        let ExpressionKind::Binary(BinaryOperator::Add, sides) = &index.kind else { return None };
        let [counter, from] = &**sides;
        if !self.is_counter(counter) || self.depends(from) {
            return None;
        }
        let to = match (&self.tree.to.kind, &from.kind) {
            (ExpressionKind::Binary(BinaryOperator::Subtract, sides), _)
                if spelled(&sides[1]) == spelled(from) =>
            {
                sides[0].clone()
            }
            (ExpressionKind::Int { value: length, .. }, ExpressionKind::Int { value: from, .. }) => {
                build::int(length.checked_add(*from)?)
            }
            _ => build::applied(Function::Sum, vec![from.clone(), self.tree.to.clone()]),
        };
        Some(Subscript::Span { from: from.clone(), to, step: None })
    }
}

/// Returns the negative of a value. A value has one sign, because `-(-sum(A))` is no value of a statement.
fn opposite(value: Expression) -> Expression {
    match value.kind {
        ExpressionKind::Unary(UnaryOperator::Negate, inner) => *inner,
        _ => build::negated(value),
    }
}

/// Returns true if a value has no whole arrays, and no functions of them.
fn is_number(names: &Names, value: &Expression) -> bool {
    let mut is_number = true;
    visit::in_expression(value, &mut |part| {
        is_number &= rank(names, part).is_none() && !matches!(part.kind, ExpressionKind::InText(_));
    });
    is_number
}

/// Returns the name of a cell, or of the array of an element.
fn base(cell: &Expression) -> Option<&CompactString> {
    match &cell.kind {
        ExpressionKind::Name { name, .. } => Some(name),
        ExpressionKind::Element(element) => Some(&element.name),
        _ => None,
    }
}
