//! Complex numbers: their operations as expressions of the parts, and the statements with complex cells.
//!
//! ```text
//! z * w     →    (z.re*w.re - z.im*w.im, z.re*w.im + z.im*w.re)
//! z / w     →    z · conj(w) / (w.re² + w.im²)
//! exp(z)    →    (exp(z.re)·cos(z.im), exp(z.re)·sin(z.im))
//! log(z)    →    (log(hypot(z.re, z.im)), atan2(z.im, z.re))
//! ```

use reviver_isa::function::Function;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::Update;

use super::fields::{assertion, field, single, with_value};
use super::separation::separated;
use super::values::{ComplexOperand, ComplexParts, NumberValue, Values, is_zero};
use crate::build;
use crate::format::spelled;
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind, InstructionNode, Statement, TextFunction, UnaryOperator};

/// Upper bound on the exponent for which a power is computed by products.
const MOST_PRODUCTS: u64 = 64;

impl Values<'_> {
    /// Returns a function of complex numbers.
    pub(super) fn complex(
        &mut self,
        function: Function,
        operands: Vec<ComplexOperand>,
        place: Span,
    ) -> Option<NumberValue> {
        let mut operands = operands.into_iter();
        match (function, operands.next()?, operands.next()) {
            (Function::Copy, z, None) => Some(NumberValue::Complex(z.parts)),
            (_, z, None) => self.of_one(function, z.parts, place),
            (Function::Sum | Function::Diff, z, Some(w)) => Some(sum(function, &z.parts, &w.parts)),
            (Function::Mul, z, Some(w)) => {
                let (first, second) = (self.cells(z.parts)?, self.cells(w.parts)?);
                Some(NumberValue::Complex(match (z.is_real, w.is_real) {
                    (true, _) => second.map(|part| times(&first[0], &part)),
                    (_, true) => first.map(|part| times(&part, &second[0])),
                    _ => product(&first, &second),
                }))
            }
            (Function::Div, z, Some(w)) => {
                let (first, second) = (self.cells(z.parts)?, self.cells(w.parts)?);
                if w.is_real {
                    let quotient = |part| build::applied(Function::Div, vec![part, second[0].clone()]);
                    return Some(NumberValue::Complex(first.map(quotient)));
                }
                self.quotient(&first, z.is_real, &second)
            }
            (Function::Powi, z, Some(ComplexOperand { is_real: true, parts: [exponent, _] })) => {
                self.power(z.parts, exponent)
            }
            _ => self.refuse_function(function, place),
        }
    }

    /// Returns a function of one complex number.
    fn of_one(&mut self, function: Function, parts: ComplexParts, place: Span) -> Option<NumberValue> {
        let is_known = [Function::Abs, Function::Square, Function::Inv, Function::Exp, Function::Log];
        if !is_known.contains(&function) {
            return self.refuse_function(function, place);
        }
        let parts = self.cells(parts)?;
        let [re, im] = parts.clone();
        Some(match function {
            Function::Square => NumberValue::Complex(product(&parts, &parts)),
            Function::Inv => return self.quotient(&[build::int(1), build::int(0)], true, &parts),
            Function::Exp => NumberValue::Complex([Function::Cos, Function::Sin].map(|turn| {
                let magnitude = build::applied(Function::Exp, vec![re.clone()]);
                times(&magnitude, &build::applied(turn, vec![im.clone()]))
            })),
            Function::Log => {
                let magnitude = build::applied(Function::Hypot, vec![re.clone(), im.clone()]);
                let angle = build::applied(Function::Atan2, vec![im, re]);
                NumberValue::Complex([build::applied(Function::Log, vec![magnitude]), angle])
            }
            _ => NumberValue::Real(build::applied(Function::Hypot, vec![re, im])),
        })
    }

    fn refuse_function<T>(&mut self, function: Function, place: Span) -> Option<T> {
        self.refuse(
            place,
            format!("`{}` of a complex number can't be computed", function.name()),
            "a complex source",
            "use `+`, `-`, `*`, `/`, `conj`, `exp`, `log`, `square`, `powi`, `abs`, `arg`, `re` and `im`",
        )
    }

    fn quotient(
        &mut self,
        first: &ComplexParts,
        first_is_real: bool,
        second: &ComplexParts,
    ) -> Option<NumberValue> {
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
    fn power(&mut self, base: ComplexParts, exponent: Expression) -> Option<NumberValue> {
        let base = self.cells(base)?;
        if let ExpressionKind::Int { value, .. } = exponent.kind
            && value <= MOST_PRODUCTS
        {
            let (mut power, mut square, mut rest): (Option<ComplexParts>, ComplexParts, u64) =
                (None, base, value);
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
            return Some(NumberValue::Complex(power.unwrap_or_else(|| [build::real(1.0), build::real(0.0)])));
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
}

/// Returns a sum or a difference, without terms of 0.
fn sum(function: Function, a: &ComplexParts, b: &ComplexParts) -> NumberValue {
    let part = |left: &Expression, right: &Expression| match (is_zero(left), is_zero(right)) {
        (_, true) => left.clone(),
        (true, _) if function == Function::Sum => right.clone(),
        (true, _) => build::negated(right.clone()),
        _ => build::applied(function, vec![left.clone(), right.clone()]),
    };
    let ([a, b], [c, d]) = (a, b);
    NumberValue::Complex([part(a, c), part(b, d)])
}

fn is_one(value: &Expression) -> bool {
    matches!(value.kind, ExpressionKind::Int { value: 1, .. } | ExpressionKind::Real(1.0))
}

/// Returns a product without factors of 1.
fn times(a: &Expression, b: &Expression) -> Expression {
    match (is_one(a), is_one(b)) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => build::binary(BinaryOperator::Multiply, a.clone(), b.clone()),
    }
}

fn product([a, b]: &ComplexParts, [c, d]: &ComplexParts) -> ComplexParts {
    [
        build::applied(Function::Diff, vec![times(a, c), times(b, d)]),
        build::applied(Function::Sum, vec![times(a, d), times(b, c)]),
    ]
}

/// Returns the statements for the real and the imaginary part.
pub(super) fn statements(
    values: &mut Values,
    instruction: &InstructionNode,
    target: &Expression,
    value: &Expression,
) -> Option<Vec<Statement>> {
    let parts = |names: [&str; 2]| names.map(|name| field(target, name));
    match instruction.update {
        Update::Neg => Some(parts(["re", "im"]).map(|part| single(instruction, Update::Neg, part)).into()),
        Update::Conj => Some(vec![single(instruction, Update::Neg, field(target, "im"))]),
        Update::Add | Update::Sub | Update::Overwrite => {
            let conditions = match separated(target, value) {
                Ok(conditions) => conditions,
                Err(place) => {
                    let message = format!("`{}` is the target and a source", spelled(target));
                    return values.refuse(
                        place,
                        message,
                        "read here",
                        "compute the value into another cell first",
                    );
                }
            };
            let mut made: Vec<Statement> =
                conditions.into_iter().map(|condition| assertion(instruction, condition)).collect();
            if let Some(products) = matrix_product(values, instruction, target, value) {
                made.extend(products?);
                return Some(made);
            }
            let value = match values.of(value)? {
                NumberValue::Real(real) => [real, build::int(0)],
                NumberValue::Complex(parts) => parts,
                NumberValue::Log { .. } => return values.refuse_log(value.span),
            };
            let adds_nothing = |value: &Expression| is_zero(value) && instruction.update != Update::Overwrite;
            let both = parts(["re", "im"]).into_iter().zip(value).filter(|(_, value)| !adds_nothing(value));
            made.extend(both.map(|(part, value)| with_value(instruction, &part, value)));
            Some(made)
        }
        update => {
            let help = match update {
                Update::Mul | Update::Div => {
                    "a product loses bits: add it to a vacant cell, as in `add z, a * b`; `rot z.re, z.im, angle` \
                     multiplies by a phase"
                }
                _ => "use `add`, `sub`, `neg`, `conj` or `swap`, or name a field: `z.re`, `z.im`",
            };
            values.refuse_update(instruction, "a complex cell", ("a cell of two reals", help))
        }
    }
}

/// Returns the statements that add a product of complex matrices: one for each pair of parts. Returns `None` if the value is
/// no such product.
fn matrix_product(
    values: &mut Values,
    instruction: &InstructionNode,
    target: &Expression,
    value: &Expression,
) -> Option<Option<Vec<Statement>>> {
    let (is_negated, product) = match &value.kind {
        ExpressionKind::Unary(UnaryOperator::Negate, inner) => (true, &**inner),
        _ => (false, value),
    };
    let ExpressionKind::InText(application) = &product.kind else { return None };
    let (TextFunction::MatMul, [a, b]) = (application.function, application.sources.as_slice()) else {
        return None;
    };
    if instruction.update == Update::Overwrite {
        return None;
    }
    let mut parts = |source: &Expression| match values.of(source)? {
        NumberValue::Real(real) => Some([Some(real), None]),
        NumberValue::Complex(parts) => Some(parts.map(Some)),
        NumberValue::Log { .. } => values.refuse_log(source.span),
    };
    let (Some(a), Some(b)) = (parts(a), parts(b)) else { return Some(None) };
    let update = |is_negated: bool| match is_negated {
        true => instruction.update.inverse(),
        false => instruction.update,
    };
    let terms = [("re", 0, 0, false), ("re", 1, 1, true), ("im", 0, 1, false), ("im", 1, 0, false)];
    let made = terms.into_iter().filter_map(|(part, n, m, is_subtracted)| {
        let factors = vec![a.get(n)?.clone()?, b.get(m)?.clone()?];
        let value = Expression { span: product.span, ..build::in_text(TextFunction::MatMul, factors) };
        let changed = InstructionNode { update: update(is_negated != is_subtracted), ..instruction.clone() };
        Some(with_value(&changed, &field(target, part), value))
    });
    Some(Some(made.collect()))
}
