//! Local arrays, `local v[n] … delocal v[n]`. All cells are 0 at the beginning and at the end. At both ends,
//! `vacate` checks every cell, in separate instructions or in loops.

use std::rc::Rc;

use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Extent, Shape};
use reviver_isa::update::Update;

use super::Lowering;
use crate::diagnostic::Diagnostic;
use crate::format::spelled;
use crate::source::Span;
use crate::tree::{
    self, Body, Element, Expression, ExpressionKind, For, InstructionNode, Name, Operands, Statement,
    StatementNode, Subscript,
};

/// The maximum number of cells that are vacated by separate instructions; larger arrays are vacated in loops.
const ONE_BY_ONE: u64 = 16;
/// The names of the counters in these loops. No text can declare such names.
const COUNTERS: [&str; 2] = ["cell$", "cell$$"];

impl Lowering<'_> {
    pub(super) fn local_array(&mut self, tree: &tree::Local, span: Span) {
        let shape = self.declared.shape(&tree.shape, &mut self.report);
        let class = tree.class.unwrap_or(Class::Int);
        self.bind(&tree.name, class, shape.unwrap_or(Shape::Scalar), true);
        match shape {
            Some(shape) => self.vacate_array(&tree.name, shape, span),
            None => self.current.scopes.give_up_meaning(&tree.name.text),
        }
    }

    pub(super) fn delocal_array(&mut self, tree: &tree::Local, variable: u32, span: Span) {
        if let Some((_, class, Extent::Cells(shape))) = self.fact(Base::Frame(variable)) {
            if tree.class.unwrap_or(Class::Int) != class {
                let name = &tree.name.text;
                let message = format!("`delocal {name}` doesn't say that `{name}` is {}", class.name());
                self.report.add(
                    Diagnostic::error(
                        ProblemCode::LocalAndDelocalDiffer,
                        message,
                        tree.name.span,
                        "declared with another class",
                    )
                    .help(format!(
                        "write the same class as at the `local`: in a backward run `{name}` begins here"
                    )),
                );
            }
            self.vacate_array(&tree.name, shape, span);
        }
        self.end_local(tree, variable);
    }

    /// Ends the scope of a local's name, and releases the local's variable.
    pub(super) fn end_local(&mut self, tree: &tree::Local, variable: u32) {
        self.current.scopes.remove(&tree.name.text);
        self.current.frame.release(&tree.name.text, variable);
        self.close_name(variable);
    }

    /// Reports a `delocal` whose shape isn't that of its `local`. Returns true if the shapes are equal.
    pub(super) fn has_shape(&mut self, tree: &tree::Local, variable: u32) -> bool {
        let stated = self.declared.shape(&tree.shape, &mut self.report);
        let declared = self.fact(Base::Frame(variable)).map(|(_, _, extent)| extent);
        if stated.is_none_or(|stated| declared == Some(Extent::Cells(stated))) {
            return stated.is_some();
        }
        let name = &tree.name.text;
        let written = match declared {
            Some(Extent::Cells(Shape::Vector(n))) => format!("{name}[{n}]"),
            Some(Extent::Cells(Shape::Matrix(rows, columns))) => format!("{name}[{rows}, {columns}]"),
            _ => name.to_string(),
        };
        let found = tree.shape.iter().map(spelled).collect::<Vec<_>>().join(", ");
        let label = if found.is_empty() { "no length".to_owned() } else { format!("[{found}]") };
        let message = format!("the `local` and the `delocal` of `{name}` differ in their lengths");
        let problem = Diagnostic::error(ProblemCode::LocalAndDelocalDiffer, message, tree.name.span, label);
        self.report
            .add(problem.help(format!("write `delocal {written}`: in a backward run `{name}` begins here")));
        false
    }

    fn vacate_array(&mut self, name: &Name, shape: Shape, span: Span) {
        let lengths = match shape {
            // Lengths can't declare a stack, so that case doesn't occur.
            Shape::Scalar | Shape::Stack => vec![],
            Shape::Vector(n) => vec![n],
            Shape::Matrix(rows, columns) => vec![rows, columns],
        };
        let maker = VacateMaker { name, span };
        let body = match shape.cells() {
            0..=ONE_BY_ONE => maker.one_by_one(&lengths),
            _ => vec![maker.in_loops(&lengths)],
        };
        body.iter().for_each(|node| self.node(node));
    }
}

/// The construction of the statements that vacate an array.
struct VacateMaker<'n> {
    name: &'n Name,
    span: Span,
}

impl VacateMaker<'_> {
    fn one_by_one(&self, lengths: &[u32]) -> Body {
        let numbers = |length: u32| (0..length).map(|n| self.number(n)).collect::<Vec<_>>();
        match *lengths {
            [rows, columns] => numbers(rows)
                .into_iter()
                .flat_map(|row| numbers(columns).into_iter().map(move |column| vec![row.clone(), column]))
                .map(|index| self.vacate(index))
                .collect(),
            [length] => numbers(length).into_iter().map(|index| self.vacate(vec![index])).collect(),
            _ => Body::new(),
        }
    }

    fn in_loops(&self, lengths: &[u32]) -> StatementNode {
        let counters = COUNTERS.iter().take(lengths.len());
        let index = counters.clone().map(|counter| self.named(counter)).collect();
        let innermost = self.vacate(index);
        let loops = lengths.iter().zip(counters).rev();
        loops.fold(innermost, |body, (length, counter)| self.counted(counter, *length, body))
    }

    fn counted(&self, counter: &str, length: u32, inner: StatementNode) -> StatementNode {
        self.statement(Statement::For(Box::new(For {
            counter: Name { text: counter.into(), span: self.span },
            from: self.number(0),
            to: self.number(length),
            step: None,
            reversed: false,
            is_of_arrays: false,
            body: vec![inner],
            end_comment: None,
            end: self.span,
        })))
    }

    fn vacate(&self, index: Vec<Expression>) -> StatementNode {
        let name = Rc::new(self.name.text.clone());
        let subscripts = index.into_iter().map(Subscript::At).collect();
        let element = ExpressionKind::Element(Box::new(Element { name, adjoint: false, subscripts }));
        let target = Expression { kind: element, span: self.span };
        self.statement(Statement::Instruction(InstructionNode {
            update: Update::Vacate,
            function: Function::Copy,
            mnemonic: self.span,
            operands: Operands::Cells(Box::new([target])),
        }))
    }

    fn number(&self, value: u32) -> Expression {
        let kind = ExpressionKind::Int { value: value.into(), pattern: false };
        Expression { kind, span: self.span }
    }

    fn named(&self, name: &str) -> Expression {
        let kind = ExpressionKind::Name { name: Rc::new(name.into()), adjoint: false };
        Expression { kind, span: self.span }
    }

    fn statement(&self, statement: Statement) -> StatementNode {
        StatementNode { label: None, statement, comment: None, span: self.span }
    }
}
