//! Values of complex numbers and logarithms: expressions of their fields.
//!
//! ```text
//! z * w     →    (z.re*w.re - z.im*w.im, z.re*w.im + z.im*w.re)
//! z / w     →    z · conj(w) / (w.re² + w.im²)
//! exp(z)    →    (exp(z.re)·cos(z.im), exp(z.re)·sin(z.im))
//! log(z)    →    (log(hypot(z.re, z.im)), atan2(z.im, z.re))
//! ```
//!
//! A factor that isn't a cell is computed once, into a helper variable for each part, unless it is short.

use std::collections::HashSet;

use compact_str::{CompactString, format_compact};
use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::operator::BinaryOperator;

use super::Records;
use super::classes::NumberClass;
use super::fields::{field, of_field};
use crate::arrays::misplaced;
use crate::build;
use crate::diagnostic::Diagnostic;
use crate::format::spelled;
use crate::source::Span;
use crate::tree::{
    Condition, Expression, ExpressionKind, FieldNode, InstructionNode, Operands, Statement, Subscript,
    TextFunction, UnaryOperator,
};
use crate::visit;

/// Upper bound on the parts of an expression that is repeated where no helper variable is possible: in conditions, in
/// arguments, and for whole arrays.
const MOST_REPEATED: usize = 64;

/// Upper bound on the exponent for which a power is computed by products.
const MOST_PRODUCTS: u64 = 64;

/// A value as expressions of reals.
pub(super) enum NumberValue {
    Real(Expression),
    /// The real and the imaginary part.
    Complex([Expression; 2]),
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

type Parts = [Expression; 2];

impl Records {
    /// Returns true if an expression has numbers of the classes, or functions of them.
    pub(super) fn has_numbers(&self, expression: &Expression) -> bool {
        let mut found = false;
        visit::in_expression(expression, &mut |part| {
            found |= matches!(self.number_class(part), Some(NumberClass::Complex | NumberClass::Log));
            if let ExpressionKind::InText(application) = &part.kind {
                found |= is_of_complex(application.function);
            }
        });
        found
    }

    /// Returns true if an expression mentions a number of a class.
    pub(super) fn has_class(&self, expression: &Expression, class: NumberClass) -> bool {
        let mut found = false;
        visit::in_expression(expression, &mut |part| found |= self.number_class(part) == Some(class));
        found
    }

    /// Returns true if a name, or the record before its dot, is declared as an array somewhere.
    fn is_array_name(&self, name: &str) -> bool {
        self.arrays.contains(name.split_once('.').map_or(name, |(record, _)| record))
    }

    /// Returns the first operation of reals that has a tropical number as its source.
    fn tropical_source<'e>(&self, value: &'e Expression) -> Option<&'e Expression> {
        let sources = match &value.kind {
            ExpressionKind::Unary(_, inner) => std::slice::from_ref(&**inner),
            ExpressionKind::Binary(_, sides) => &sides[..],
            ExpressionKind::Apply(application) => &application.sources[..],
            ExpressionKind::InText(application) => &application.sources[..],
            _ => return None,
        };
        let is_tropical = |source: &&Expression| self.number_class(source) == Some(NumberClass::Tropical);
        sources.iter().find(is_tropical).or_else(|| sources.iter().find_map(|it| self.tropical_source(it)))
    }

    /// Reports a tropical number in an operation of reals: it would have another meaning there.
    pub(super) fn refuse_tropical_source(&mut self, value: &Expression) {
        if let Some(place) = self.tropical_source(value).map(|source| source.span) {
            let message = "a tropical number in an operation of reals".to_owned();
            let help = "add it to a real cell first, as in `add x, t`; `mul` of a tropical cell has tropical operations";
            self.diagnostics.push(refusal(place, message, "tropical", help));
        }
    }

    /// Returns the class of a value; `None` for a real.
    pub(super) fn class_of_value(&self, value: &Expression) -> Option<NumberClass> {
        let of_any = |parts: &[Expression]| parts.iter().find_map(|part| self.class_of_value(part));
        match &value.kind {
            ExpressionKind::Name { .. } | ExpressionKind::Element(_) => {
                self.number_class(value).filter(|class| *class != NumberClass::Tropical)
            }
            ExpressionKind::Unary(_, inner) => self.class_of_value(inner),
            ExpressionKind::Binary(_, sides) => of_any(&**sides),
            ExpressionKind::Apply(application) => match application.function {
                Function::Abs | Function::ToReal => None,
                _ => of_any(&application.sources),
            },
            ExpressionKind::InText(application) => match application.function {
                TextFunction::Complex | TextFunction::Conj => Some(NumberClass::Complex),
                TextFunction::Re | TextFunction::Im | TextFunction::Arg => None,
                _ => of_any(&application.sources),
            },
            _ => None,
        }
    }

    /// Returns true for a function of complex numbers or logarithms whose value is a real.
    pub(super) fn yields_real(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Apply(application) => {
                matches!(application.function, Function::Abs | Function::ToReal)
                    && application.sources.iter().any(|source| self.class_of_value(source).is_some())
            }
            ExpressionKind::InText(application) => {
                matches!(application.function, TextFunction::Re | TextFunction::Im | TextFunction::Arg)
            }
            _ => false,
        }
    }
}

fn is_of_complex(function: TextFunction) -> bool {
    matches!(
        function,
        TextFunction::Complex | TextFunction::Re | TextFunction::Im | TextFunction::Conj | TextFunction::Arg
    )
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

    pub fn refuse_log<T>(&mut self, place: Span) -> Option<T> {
        let message = "a logarithm is a factor only".to_owned();
        self.refuse(
            place,
            message,
            "not a real",
            "write `toreal(t)` for the number, or `t.log` for its logarithm",
        )
    }

    /// Returns the conditions under which a value doesn't depend on the target: other elements of the same array have other
    /// indices. The fields of the target are changed one after the other, so otherwise the second statement would read a
    /// changed field. Returns `None`, with an error, if the value depends on the target.
    pub fn apart(&mut self, target: &Expression, value: &Expression) -> Option<Vec<Condition>> {
        let mut conditions: Vec<Condition> = Vec::new();
        let mut place = None;
        visit::in_expression(value, &mut |part| {
            if record_name(part).is_none() || record_name(part) != record_name(target) {
                return;
            }
            match differ(target, part) {
                ElementRelation::Separate => {}
                ElementRelation::SeparateIf(condition) => conditions.push(*condition),
                ElementRelation::Same => place = Some(part.span),
            }
        });
        let Some(place) = place else {
            return Some(conditions);
        };
        let message = format!("`{}` is the target and a source", spelled(target));
        self.refuse(place, message, "read here", "compute the value into another cell first")
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
                NumberValue::Real(_) => NumberValue::Real(value.clone()),
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
            let sign = binary(BinaryOperator::Multiply, build::int(2), negative.clone());
            let sign =
                build::applied(Function::ToReal, vec![binary(BinaryOperator::Subtract, build::int(1), sign)]);
            let magnitude = build::applied(Function::Exp, vec![log.clone()]);
            return Some(NumberValue::Real(binary(BinaryOperator::Multiply, sign, magnitude)));
        }
        if values.iter().any(|value| matches!(value, NumberValue::Log { .. })) {
            return self.refuse_log(whole.span);
        }
        let mut complex = values.into_iter().map(|value| match value {
            NumberValue::Real(real) => (true, [real, build::int(0)]),
            NumberValue::Complex(parts) => (false, parts),
            NumberValue::Log { log, negative } => (false, [log, negative]),
        });
        let (first_is_real, first) = complex.next()?;
        let second = complex.next();
        match (function, second) {
            (Function::Copy, None) => Some(NumberValue::Complex(first)),
            (Function::Abs, None) => {
                let [re, im] = self.cells(first)?;
                Some(NumberValue::Real(build::applied(Function::Hypot, vec![re, im])))
            }
            (Function::Square, None) => {
                let first = self.cells(first)?;
                Some(NumberValue::Complex(product(&first, &first)))
            }
            (Function::Inv, None) => {
                let first = self.cells(first)?;
                self.quotient(&[build::int(1), build::int(0)], true, &first)
            }
            (Function::Exp, None) => {
                let [re, im] = self.cells(first)?;
                Some(NumberValue::Complex([Function::Cos, Function::Sin].map(|function| {
                    let magnitude = build::applied(Function::Exp, vec![re.clone()]);
                    times(&magnitude, &build::applied(function, vec![im.clone()]))
                })))
            }
            (Function::Log, None) => {
                let [re, im] = self.cells(first)?;
                let magnitude = build::applied(Function::Hypot, vec![re.clone(), im.clone()]);
                let angle = build::applied(Function::Atan2, vec![im, re]);
                Some(NumberValue::Complex([build::applied(Function::Log, vec![magnitude]), angle]))
            }
            (Function::Sum | Function::Diff, Some((_, second))) => {
                let [a, b] = [first, second];
                let part = |n: usize| match (function, &a[n], &b[n]) {
                    (_, left, right) if is_zero(right) => left.clone(),
                    (Function::Sum, left, right) if is_zero(left) => right.clone(),
                    (_, left, right) if is_zero(left) => build::negated(right.clone()),
                    (_, left, right) => build::applied(function, vec![left.clone(), right.clone()]),
                };
                Some(NumberValue::Complex([part(0), part(1)]))
            }
            (Function::Mul, Some((second_is_real, second))) => {
                let (first, second) = (self.cells(first)?, self.cells(second)?);
                Some(NumberValue::Complex(match (first_is_real, second_is_real) {
                    (true, _) => second.map(|part| times(&first[0], &part)),
                    (_, true) => first.map(|part| times(&part, &second[0])),
                    _ => product(&first, &second),
                }))
            }
            (Function::Div, Some((second_is_real, second))) => {
                let (first, second) = (self.cells(first)?, self.cells(second)?);
                if second_is_real {
                    let parts =
                        first.map(|part| build::applied(Function::Div, vec![part, second[0].clone()]));
                    return Some(NumberValue::Complex(parts));
                }
                self.quotient(&first, first_is_real, &second)
            }
            (Function::Powi, Some((true, [exponent, _]))) => self.power(first, exponent),
            _ => self.refuse(
                whole.span,
                format!("`{}` of a complex number can't be computed", function.name()),
                "a complex source",
                "use `+`, `-`, `*`, `/`, `conj`, `exp`, `log`, `square`, `powi`, `abs`, `arg`, `re` and `im`",
            ),
        }
    }

    fn in_text(
        &mut self,
        function: TextFunction,
        sources: &[Expression],
        whole: &Expression,
    ) -> Option<NumberValue> {
        let parts = |value: NumberValue| match value {
            NumberValue::Real(real) => [real, build::int(0)],
            NumberValue::Complex(parts) => parts,
            NumberValue::Log { log, negative } => [log, negative],
        };
        match (function, sources) {
            (TextFunction::Complex, [re, im]) => {
                Some(NumberValue::Complex([as_real(self.real(re)?), as_real(self.real(im)?)]))
            }
            (TextFunction::Re, [z]) => Some(NumberValue::Real(parts(self.of(z)?)[0].clone())),
            (TextFunction::Im, [z]) => Some(NumberValue::Real(parts(self.of(z)?)[1].clone())),
            (TextFunction::Conj, [z]) => {
                let [re, im] = parts(self.of(z)?);
                Some(NumberValue::Complex([re, build::negated(im)]))
            }
            (TextFunction::Arg, [z]) => {
                let [re, im] = parts(self.of(z)?);
                Some(NumberValue::Real(build::applied(Function::Atan2, vec![im, re])))
            }
            (TextFunction::Dot, [a, b]) if !self.is_real(a) || !self.is_real(b) => {
                let product = binary(BinaryOperator::Multiply, a.clone(), b.clone());
                self.in_text(TextFunction::Sum, &[Expression { span: whole.span, ..product }], whole)
            }
            (TextFunction::Sum | TextFunction::Transpose, [z]) if !self.is_real(z) => {
                let parts = parts(self.of(z)?);
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

    fn quotient(&mut self, first: &Parts, first_is_real: bool, second: &Parts) -> Option<NumberValue> {
        let [c, d] = second;
        let square = |part: &Expression| build::applied(Function::Square, vec![part.clone()]);
        let norm = self.cell(build::applied(Function::Sum, vec![square(c), square(d)]))?;
        let conjugate = [c.clone(), build::negated(d.clone())];
        let above = match first_is_real {
            true => conjugate.map(|part| times(&first[0], &part)),
            false => {
                let [a, b] = first;
                [
                    build::applied(Function::Sum, vec![times(a, c), times(b, d)]),
                    build::applied(Function::Diff, vec![times(b, c), times(a, d)]),
                ]
            }
        };
        Some(NumberValue::Complex(above.map(|part| build::applied(Function::Div, vec![part, norm.clone()]))))
    }

    /// Returns an integer power: by products for a small literal exponent, otherwise by magnitude and argument.
    fn power(&mut self, base: Parts, exponent: Expression) -> Option<NumberValue> {
        let base = self.cells(base)?;
        if let ExpressionKind::Int { value, .. } = exponent.kind
            && value <= MOST_PRODUCTS
        {
            let (mut power, mut square, mut rest): (Option<Parts>, Parts, u64) = (None, base, value);
            while rest > 0 {
                if rest % 2 == 1 {
                    power = Some(match power {
                        Some(power) => {
                            let next = product(&power, &square);
                            self.cells(next)?
                        }
                        None => square.clone(),
                    });
                }
                rest /= 2;
                if rest > 0 {
                    let next = product(&square, &square);
                    square = self.cells(next)?;
                }
            }
            return Some(NumberValue::Complex(power.unwrap_or_else(|| [build::int(1), build::int(0)])));
        }
        let [re, im] = base;
        let magnitude = build::applied(Function::Hypot, vec![re.clone(), im.clone()]);
        let magnitude = self.cell(build::applied(Function::Powi, vec![magnitude, exponent.clone()]))?;
        let turns = build::applied(Function::ToReal, vec![exponent]);
        let angle = self.cell(times(&turns, &build::applied(Function::Atan2, vec![im, re])))?;
        Some(NumberValue::Complex(
            [Function::Cos, Function::Sin]
                .map(|f| times(&magnitude, &build::applied(f, vec![angle.clone()]))),
        ))
    }

    /// Returns parts that may be repeated: cells, or short expressions.
    fn cells(&mut self, [re, im]: Parts) -> Option<Parts> {
        Some([self.cell(re)?, self.cell(im)?])
    }

    fn cell(&mut self, part: Expression) -> Option<Expression> {
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
                let visible = &self.records.visible;
                let is_free = |name: &str| {
                    !self.mentioned.contains(name)
                        && !visible.iter().any(|(other, _)| other == name)
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

/// The relation of two elements of an array: different ones, the same, or one of both.
enum ElementRelation {
    Separate,
    SeparateIf(Box<Condition>),
    Same,
}

/// Returns the name of a record, also for its fields.
fn record_name(cell: &Expression) -> Option<&str> {
    let name = match &cell.kind {
        ExpressionKind::Name { name, .. } => name,
        ExpressionKind::Element(element) => &element.name,
        _ => return None,
    };
    Some(name.split_once('.').map_or(name.as_str(), |(record, _)| record))
}

/// Compares the indices of two elements of the same array.
fn differ(a: &Expression, b: &Expression) -> ElementRelation {
    let (ExpressionKind::Element(a), ExpressionKind::Element(b)) = (&a.kind, &b.kind) else {
        return ElementRelation::Same;
    };
    let mut found: Option<Condition> = None;
    for pair in a.subscripts.iter().zip(&b.subscripts) {
        let (Subscript::At(i), Subscript::At(k)) = pair else { return ElementRelation::Same };
        match (&i.kind, &k.kind) {
            (ExpressionKind::Int { value: i, .. }, ExpressionKind::Int { value: k, .. }) => {
                if i != k {
                    return ElementRelation::Separate;
                }
            }
            _ if spelled(i) == spelled(k) => {}
            _ => {
                let mut condition = build::compared(Order::Ne, i.clone(), k.clone());
                condition.span = k.span;
                found = Some(match found {
                    Some(other) => build::either(other, condition),
                    None => condition,
                });
            }
        }
    }
    found.map_or(ElementRelation::Same, |condition| ElementRelation::SeparateIf(Box::new(condition)))
}

/// Returns an application in the form of the expression that it replaces: an operator or a function.
fn like(whole: &Expression, function: Function, sources: Vec<Expression>) -> Expression {
    match (&whole.kind, sources.len()) {
        (ExpressionKind::Apply(_), _) => Expression {
            kind: ExpressionKind::Apply(Box::new(crate::tree::Application { function, sources })),
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

fn is_one(value: &Expression) -> bool {
    matches!(value.kind, ExpressionKind::Int { value: 1, .. } | ExpressionKind::Real(1.0))
}

fn is_negated_cell(value: &Expression) -> bool {
    matches!(&value.kind, ExpressionKind::Unary(UnaryOperator::Negate, inner) if build::is_operand(inner))
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    build::expression(ExpressionKind::Binary(operator, Box::new([left, right])))
}

/// Returns a product without factors of 1.
fn times(a: &Expression, b: &Expression) -> Expression {
    match (is_one(a), is_one(b)) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => binary(BinaryOperator::Multiply, a.clone(), b.clone()),
    }
}

fn product([a, b]: &Parts, [c, d]: &Parts) -> Parts {
    [
        build::applied(Function::Diff, vec![times(a, c), times(b, d)]),
        build::applied(Function::Sum, vec![times(a, d), times(b, c)]),
    ]
}

/// Returns a name that isn't visible: the first of `part1`, `part2` and so on for which `is_free` holds.
fn fresh(mut is_free: impl FnMut(&str) -> bool) -> CompactString {
    let names = (1_u32..).map(|n| format_compact!("part{n}"));
    names.into_iter().find(|name| is_free(name)).unwrap_or_default()
}

/// Returns an error about a number of one of the classes.
pub(super) fn refusal(place: Span, message: String, label: &str, help: &str) -> Diagnostic {
    Diagnostic::error(ProblemCode::ClassesMixed, message, place, label).help(help)
}
