//! The way back: loops that have replaced statements with whole arrays become such statements again, in a program that is
//! derived from another one. The reverse part of a gradient program then has array statements, too.
//!
//! ```text
//! for i in 0..3 reversed                        sub  A, c * B
//!     sub  A[i], c * B[i]                       for i in 0..3 reversed
//!     add.mul  c_bar, A_bar[i], B[i]       →        add.mul  c_bar, A_bar[i], B[i]
//!     add.mul  B_bar[i], A_bar[i], c            rof
//! rof                                           add.mul  B_bar, A_bar, c
//! ```
//!
//! A statement is *elementwise* if its targets are the elements of whole arrays at the counters of the loop, and its
//! sources are such elements or don't depend on the counters. If all statements access changed arrays at the counters
//! only, then the iterations are independent, and each statement may be executed for all elements before the next one.
//! A sum of elements keeps its loop, because its order determines the roundings.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::update::Action;

use super::view::Shape;
use crate::build;
use crate::definitions::ProgramNames;
use crate::format::spelled;
use crate::rewrite::rewrite;
use crate::scopes::Names;
use crate::tree::{
    Body, Element, Expression, ExpressionKind, For, InstructionNode, Operands, Statement, StatementNode,
    Subscript,
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
    rewrite(&mut names, body, &mut |names: &Names, node: StatementNode, made: &mut Body| match ArrayLoop::of(
        &node,
    )
    .map(|tree| tree.rolled(names))
    {
        Some(mut rolled) if !rolled.is_empty() => {
            if let Some(first) = rolled.first_mut().filter(|_| node.label.is_some()) {
                first.label = node.label;
            }
            if node.comment.is_some()
                && let Some(first) = rolled.iter_mut().find(|it| !matches!(it.statement, Statement::Empty))
            {
                first.comment = node.comment;
            }
            made.extend(rolled);
        }
        _ => made.push(node),
    })
}

/// A loop that has replaced a statement with whole arrays. Loops inside it are replaced first: `A[i, j]` in loops over i and
/// j becomes `A[i, ..]`, and then `A`.
struct ArrayLoop<'t> {
    tree: &'t For,
}

/// An array whose elements a loop accesses.
struct WholeArray {
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
            let whole = self.elementwise(names, node);
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

    /// Returns true if changed arrays are accessed at the counter only, and each changed cell by one statement only.
    fn is_independent(&self, names: &Names, changed: &HashSet<CompactString>) -> bool {
        let mut cells: HashSet<CompactString> = HashSet::new();
        self.tree.body.iter().all(|node| {
            let mut is_independent = true;
            let mut own: HashSet<CompactString> = HashSet::new();
            visit::expressions(&node.statement, &mut |part| {
                let Some(name) = base(part).filter(|name| changed.contains(*name)) else { return };
                match &part.kind {
                    ExpressionKind::Element(_) => {
                        is_independent &= self.whole(names, part).is_some_and(|whole| !whole.is_transposed);
                    }
                    _ => drop(own.insert(name.clone())),
                }
            });
            is_independent && own.into_iter().all(|name| cells.insert(name))
        })
    }

    /// Returns an elementwise statement for whole arrays.
    fn elementwise(&self, names: &Names, node: &StatementNode) -> Option<StatementNode> {
        let Statement::Instruction(instruction) = &node.statement else { return None };
        let Operands::Cells(cells) = &instruction.operands else { return None };
        let (targets, sources) = cells.split_at_checked(instruction.update.action().shape().targets())?;
        let rank = self.whole(names, targets.first()?)?.rank;
        let target = |cell| {
            let whole = self.whole(names, cell).filter(|whole| whole.rank == rank && !whole.is_transposed);
            whole.map(|whole| whole.array)
        };
        let whole = targets.iter().map(target);
        let whole = whole.chain(sources.iter().map(|source| self.source(names, source, rank)));
        let operands = Operands::Cells(whole.collect::<Option<Vec<_>>>()?.into());
        let instruction = InstructionNode { operands, ..instruction.clone() };
        Some(StatementNode { statement: Statement::Instruction(instruction), ..node.clone() })
    }

    /// Returns a source of an elementwise statement for arrays of this rank.
    fn source(&self, names: &Names, source: &Expression, rank: usize) -> Option<Expression> {
        if !self.depends(source) {
            return Shape::of(names, source).is_none().then(|| source.clone());
        }
        let part = |part: &Expression| self.source(names, part, rank);
        let kind = match &source.kind {
            ExpressionKind::Element(_) => {
                let whole = self.whole(names, source).filter(|whole| whole.rank == rank)?;
                return Some(match whole.is_transposed {
                    true => build::transposed(whole.array),
                    false => whole.array,
                });
            }
            ExpressionKind::Unary(operator, inner) => {
                ExpressionKind::Unary(*operator, Box::new(part(inner)?))
            }
            ExpressionKind::Binary(operator, sides) => {
                let [left, right] = &**sides;
                ExpressionKind::Binary(*operator, Box::new([part(left)?, part(right)?]))
            }
            ExpressionKind::Apply(application) => {
                let mut application = application.clone();
                application.sources = application.sources.iter().map(part).collect::<Option<_>>()?;
                ExpressionKind::Apply(application)
            }
            _ => return None,
        };
        Some(Expression { kind, span: source.span })
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

    /// Returns the array, or the part of an array, whose element at the counter an expression is. Returns `None` if the
    /// loop doesn't access all elements of the dimension.
    fn whole(&self, names: &Names, cell: &Expression) -> Option<WholeArray> {
        let ExpressionKind::Element(element) = &cell.kind else { return None };
        let is_at =
            |subscript: &Subscript| matches!(subscript, Subscript::At(index) if self.is_counter(index));
        let at = element.subscripts.iter().position(is_at)?;
        let other = element.subscripts.iter().enumerate().find(|(n, _)| *n != at);
        match other {
            Some((_, Subscript::At(index))) if self.depends(index) => return None,
            Some((_, Subscript::Span { .. })) => return None,
            _ => {}
        }
        let is_transposed = matches!(other, Some((n, Subscript::All)) if n < at);
        let mut subscripts = element.subscripts.clone();
        *subscripts.get_mut(at)? = Subscript::All;
        let kind = match subscripts.iter().all(|it| matches!(it, Subscript::All)) {
            true => ExpressionKind::Name { name: element.name.clone(), adjoint: element.adjoint },
            false => ExpressionKind::Element(Box::new(Element { subscripts, ..(**element).clone() })),
        };
        let array = Expression { kind, span: cell.span };
        let lengths = Shape::of_cells(names, &array)?.lengths;
        let length = if is_transposed { lengths.last() } else { lengths.first() };
        (spelled(length?) == spelled(&self.tree.to)).then(|| WholeArray {
            array,
            rank: lengths.len(),
            is_transposed,
        })
    }
}

/// Returns the name of a cell, or of the array of an element.
fn base(cell: &Expression) -> Option<&CompactString> {
    match &cell.kind {
        ExpressionKind::Name { name, .. } => Some(name),
        ExpressionKind::Element(element) => Some(&element.name),
        _ => None,
    }
}
