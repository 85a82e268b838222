//! The values of expressions with complex numbers and logarithms: expressions of their fields. A factor that isn't a cell
//! is computed once, into a helper variable for each part, unless no helper variable is possible.

use std::collections::HashSet;

use compact_str::{CompactString, format_compact};
use reviver_isa::function::Function;
use reviver_isa::operator::BinaryOperator;

use super::Records;
use super::classes::NumberClass;
use super::fields::{field, of_field};
use super::kinds::refusal;
use crate::arrays::misplaced;
use crate::build;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{
    Application, Expression, ExpressionKind, FieldNode, InstructionNode, Operands, Statement, Subscript,
    TextFunction, UnaryOperator,
};
use crate::visit;

/// Upper bound on the parts of an expression that is repeated where no helper variable is possible: in conditions, in
/// arguments, and for whole arrays.
const MOST_REPEATED: usize = 64;

/// A value as expressions of reals.
pub(super) enum NumberValue {
    Real(Expression),
    /// The real and the imaginary part.
    Complex(ComplexParts),
    /// The logarithm of the magnitude, and 1 for a negative number, otherwise 0.
    Log {
        log: Expression,
        negative: Expression,
    },
}

/// The evaluation of the expressions of one statement.
pub(super) struct Values<'r> {
    records: &'r Records,
    /// The names that a helper variable must not have.
    mentioned: HashSet<CompactString>,
    /// The helper variables with their values, or `None` if none is possible.
    helpers: Option<Vec<(CompactString, Expression)>>,
    problems: Vec<Diagnostic>,
    span: Span,
}

/// The real and the imaginary part.
pub(super) type ComplexParts = [Expression; 2];

/// An operand of a function of complex numbers.
pub(super) struct ComplexOperand {
    /// True for a real: its imaginary part is 0.
    pub is_real: bool,
    pub parts: ComplexParts,
}

impl<'r> Values<'r> {
    /// Begins the values of an instruction.
    pub fn new(records: &'r Records, instruction: &InstructionNode, span: Span) -> Values<'r> {
        let mut mentioned = HashSet::new();
        if let Operands::Cells(cells) = &instruction.operands {
            for cell in cells {
                visit::in_expression(cell, &mut |part| {
                    if let ExpressionKind::Name { name, .. } = &part.kind {
                        mentioned.insert((**name).clone());
                    }
                });
            }
        }
        Values { records, mentioned, helpers: Some(Vec::new()), problems: Vec::new(), span }
    }

    /// Begins the value of an expression at a place without helper variables.
    pub fn inline(records: &'r Records, span: Span) -> Values<'r> {
        Values { records, mentioned: HashSet::new(), helpers: None, problems: Vec::new(), span }
    }

    /// Returns the helper variables with their values, and the errors.
    pub fn finish(self) -> (Vec<(CompactString, Expression)>, Vec<Diagnostic>) {
        (self.helpers.unwrap_or_default(), self.problems)
    }

    pub fn refuse<T>(&mut self, place: Span, message: String, label: &str, help: &str) -> Option<T> {
        self.problems.push(refusal(place, message, label, help));
        None
    }

    /// Refuses an update of a cell of a class, such as `a complex cell`.
    pub fn refuse_update<T>(
        &mut self,
        instruction: &InstructionNode,
        cell: &str,
        (label, help): (&str, &str),
    ) -> Option<T> {
        let message = format!("`{}` can't be applied to {cell}", instruction.update.name());
        self.refuse(instruction.mnemonic, message, label, help)
    }

    pub fn refuse_log<T>(&mut self, place: Span) -> Option<T> {
        let message = "a logarithm is a factor only".to_owned();
        self.refuse(
            place,
            message,
            "not a real",
            "write `toreal(t)` for the number, or `t.log` for its logarithm",
        )
    }

    /// Returns the swaps of the fields of two numbers.
    pub fn swapped(
        &mut self,
        instruction: &InstructionNode,
        a: &Expression,
        b: &Expression,
    ) -> Option<Vec<Statement>> {
        let (class, other) = (self.records.number_class(a)?, self.records.number_class(b));
        if other != Some(class) {
            let message = format!("expected a `{}`", class.name());
            return self.refuse(b.span, message, "of another class", "exchange numbers of one class");
        }
        let swap = |field: &FieldNode| {
            let operands = [a, b].map(|cell| of_field(cell, field));
            Statement::Instruction(InstructionNode {
                operands: Operands::Cells(operands.into()),
                ..instruction.clone()
            })
        };
        Some(class.fields().iter().map(swap).collect())
    }

    /// Returns a value that must be real.
    pub fn real(&mut self, value: &Expression) -> Option<Expression> {
        match self.of(value)? {
            NumberValue::Real(real) => Some(real),
            NumberValue::Complex(_) => {
                let message = "expected a real, found a complex number".to_owned();
                self.refuse(value.span, message, "complex", "write `re(z)`, `im(z)` or `abs(z)`")
            }
            NumberValue::Log { .. } => self.refuse_log(value.span),
        }
    }

    /// Returns a value as expressions of reals.
    pub fn of(&mut self, value: &Expression) -> Option<NumberValue> {
        match &value.kind {
            ExpressionKind::Name { .. } | ExpressionKind::Element(_) => {
                Some(match self.records.number_class(value) {
                    Some(NumberClass::Complex) => {
                        NumberValue::Complex(["re", "im"].map(|name| field(value, name)))
                    }
                    Some(NumberClass::Log) => {
                        NumberValue::Log { log: field(value, "log"), negative: field(value, "negative") }
                    }
                    Some(NumberClass::Tropical) | None => NumberValue::Real(value.clone()),
                })
            }
            ExpressionKind::Unary(UnaryOperator::Negate, inner) => Some(match self.of(inner)? {
                NumberValue::Real(real) => {
                    NumberValue::Real(Expression { span: value.span, ..build::negated(real) })
                }
                NumberValue::Complex(parts) => NumberValue::Complex(parts.map(build::negated)),
                NumberValue::Log { .. } => return self.refuse_log(inner.span),
            }),
            ExpressionKind::Binary(operator, sides) => self.applied(operator.function(), &**sides, value),
            ExpressionKind::Apply(application) => {
                self.applied(application.function, &application.sources, value)
            }
            ExpressionKind::InText(application) => {
                self.in_text(application.function, &application.sources, value)
            }
            _ => Some(NumberValue::Real(value.clone())),
        }
    }

    fn applied(
        &mut self,
        function: Function,
        sources: &[Expression],
        whole: &Expression,
    ) -> Option<NumberValue> {
        let values: Vec<NumberValue> = sources.iter().map(|source| self.of(source)).collect::<Option<_>>()?;
        let reals = values.iter().map(|value| match value {
            NumberValue::Real(real) => Some(real.clone()),
            _ => None,
        });
        if let Some(reals) = reals.collect::<Option<Vec<_>>>() {
            return Some(NumberValue::Real(Expression { span: whole.span, ..like(whole, function, reals) }));
        }
        if let (Function::ToReal, [NumberValue::Log { log, negative }]) = (function, values.as_slice()) {
            // (1 - 2·negative)·exp(log)
            let sign = build::binary(BinaryOperator::Multiply, build::int(2), negative.clone());
            let sign = build::applied(
                Function::ToReal,
                vec![build::binary(BinaryOperator::Subtract, build::int(1), sign)],
            );
            let magnitude = build::applied(Function::Exp, vec![log.clone()]);
            return Some(NumberValue::Real(build::binary(BinaryOperator::Multiply, sign, magnitude)));
        }
        if values.iter().any(|value| matches!(value, NumberValue::Log { .. })) {
            return self.refuse_log(whole.span);
        }
        let operands = values.into_iter().map(|value| match value {
            // The exponent of a power is an integer.
            NumberValue::Real(real) => {
                let real = if function == Function::Powi { real } else { as_real(real) };
                ComplexOperand { is_real: true, parts: [real, build::real(0.0)] }
            }
            NumberValue::Complex(parts) => ComplexOperand { is_real: false, parts },
            NumberValue::Log { log, negative } => ComplexOperand { is_real: false, parts: [log, negative] },
        });
        self.complex(function, operands.collect(), whole.span)
    }

    fn in_text(
        &mut self,
        function: TextFunction,
        sources: &[Expression],
        whole: &Expression,
    ) -> Option<NumberValue> {
        match (function, sources) {
            (TextFunction::Complex, [re, im]) => {
                Some(NumberValue::Complex([as_real(self.real(re)?), as_real(self.real(im)?)]))
            }
            (TextFunction::Re, [z]) => Some(NumberValue::Real(self.parts(z)?[0].clone())),
            (TextFunction::Im, [z]) => Some(NumberValue::Real(self.parts(z)?[1].clone())),
            (TextFunction::Conj, [z]) => Some(match self.of(z)? {
                NumberValue::Complex([re, im]) => NumberValue::Complex([re, build::negated(im)]),
                NumberValue::Real(real) => NumberValue::Real(as_real(real)),
                NumberValue::Log { .. } => return self.refuse_log(z.span),
            }),
            (TextFunction::Arg, [z]) => {
                let [re, im] = self.parts(z)?;
                Some(NumberValue::Real(build::applied(Function::Atan2, vec![im, re])))
            }
            (TextFunction::Dot, [a, b]) if !self.is_real(a) || !self.is_real(b) => {
                let product = build::binary(BinaryOperator::Multiply, a.clone(), b.clone());
                self.in_text(TextFunction::Sum, &[Expression { span: whole.span, ..product }], whole)
            }
            (TextFunction::Sum | TextFunction::Transpose, [z]) if !self.is_real(z) => {
                let parts = self.parts(z)?;
                Some(NumberValue::Complex(parts.map(|part| build::in_text(function, vec![part]))))
            }
            (TextFunction::MatMul, [a, b]) if !self.is_real(a) || !self.is_real(b) => {
                self.problems.push(misplaced(TextFunction::MatMul, whole.span));
                None
            }
            _ => {
                let sources = sources.iter().map(|source| self.real(source)).collect::<Option<_>>()?;
                Some(NumberValue::Real(Expression { span: whole.span, ..build::in_text(function, sources) }))
            }
        }
    }

    /// Returns the real and the imaginary part of a value.
    fn parts(&mut self, value: &Expression) -> Option<ComplexParts> {
        match self.of(value)? {
            NumberValue::Real(real) => Some([as_real(real), build::real(0.0)]),
            NumberValue::Complex(parts) => Some(parts),
            NumberValue::Log { .. } => self.refuse_log(value.span),
        }
    }

    /// Returns true if an expression mentions a number of a class.
    pub fn has_class(&self, expression: &Expression, class: NumberClass) -> bool {
        self.records.has_class(expression, class)
    }

    /// Returns true for a whole array, or a part of one.
    pub fn is_array(&self, cells: &Expression) -> bool {
        match &cells.kind {
            ExpressionKind::Name { name, .. } => self.records.is_array_name(name),
            ExpressionKind::Element(element) => {
                element.subscripts.iter().any(|it| !matches!(it, Subscript::At(_)))
            }
            _ => false,
        }
    }

    fn is_real(&self, value: &Expression) -> bool {
        self.records.class_of_value(value).is_none()
    }

    /// Returns parts that may be repeated: cells, or short expressions.
    pub(super) fn cells(&mut self, [re, im]: ComplexParts) -> Option<ComplexParts> {
        Some([self.cell(re)?, self.cell(im)?])
    }

    /// Returns a part that may be repeated.
    pub(super) fn cell(&mut self, part: Expression) -> Option<Expression> {
        if build::is_operand(&part) || is_negated_cell(&part) {
            return Some(part);
        }
        let (mut count, mut has_arrays) = (0, false);
        visit::in_expression(&part, &mut |inner| {
            count += 1;
            has_arrays |= self.is_array(inner);
        });
        match &mut self.helpers {
            Some(helpers) if !has_arrays => {
                let is_free = |name: &str| {
                    !self.mentioned.contains(name)
                        && !self.records.is_visible(name)
                        && !helpers.iter().any(|(other, _)| other == name)
                };
                let name = fresh(is_free);
                helpers.push((name.clone(), part));
                Some(Expression { span: self.span, ..build::cell(&name) })
            }
            _ if count <= MOST_REPEATED => Some(part),
            _ => self.refuse(
                self.span,
                "this complex expression is too long at this place".to_owned(),
                "too long",
                "compute a part of it into a cell first: `local w = …`",
            ),
        }
    }
}

/// Returns an application in the form of the expression that it replaces: an operator or a function.
fn like(whole: &Expression, function: Function, sources: Vec<Expression>) -> Expression {
    match (&whole.kind, sources.len()) {
        (ExpressionKind::Apply(_), _) => Expression {
            kind: ExpressionKind::Apply(Box::new(Application { function, sources })),
            span: whole.span,
        },
        _ => build::applied(function, sources),
    }
}

/// Returns an integer literal as a real.
pub(super) fn as_real(value: Expression) -> Expression {
    match value.kind {
        ExpressionKind::Int { value, pattern: false } => build::real(value as f64),
        _ => value,
    }
}

pub(super) fn is_zero(value: &Expression) -> bool {
    matches!(value.kind, ExpressionKind::Int { value: 0, .. } | ExpressionKind::Real(0.0))
}

fn is_negated_cell(value: &Expression) -> bool {
    matches!(&value.kind, ExpressionKind::Unary(UnaryOperator::Negate, inner) if build::is_operand(inner))
}

/// Returns a name that isn't visible: the first of `factor1`, `factor2` and so on for which `is_free` holds.
fn fresh(mut is_free: impl FnMut(&str) -> bool) -> CompactString {
    let names = (1_u32..).map(|n| format_compact!("factor{n}"));
    names.into_iter().find(|name| is_free(name)).unwrap_or_default()
}
