//! Lengths, initial values and other constants of declarations, in which only constants are visible.

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Shape, Values};
use reviver_isa::verify::MAX_VALUES;

use super::constant::{ConstantProblem, Number, ProgramNumbers};
use super::declare::{Declared, Outer};
use super::lengths::no_length;
use super::report::{Reporter, Unknown};
use crate::arrays;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{Application, Expression, ExpressionKind, Initial, LengthOf, Name, ShapeNode};

impl Declared<'_> {
    /// Returns the shape of a declaration, or `None` if it is invalid.
    pub(super) fn declared_shape(&self, shape: &ShapeNode, report: &mut Reporter) -> Option<Shape> {
        match shape {
            ShapeNode::Lengths(lengths) => self.shape(lengths, report),
            ShapeNode::Stack => Some(Shape::Stack),
        }
    }

    /// Returns the shape with these lengths, or `None` if they are invalid.
    pub(super) fn shape(&self, lengths: &[Expression], report: &mut Reporter) -> Option<Shape> {
        let mut length = |expression: &Expression| -> Option<u32> {
            let number = self.constant(expression, report)?;
            self.not_wrapped(number, expression.span, report)?;
            let length = number.integer().and_then(|value| u32::try_from(value).ok()).filter(|n| *n > 0);
            length.or_else(|| {
                let message = format!("a length is an integer from 1 to {}", u32::MAX);
                report.fail(Diagnostic::error(
                    ProblemCode::OutOfRange,
                    message,
                    expression.span,
                    "not a length",
                ))
            })
        };
        match lengths {
            [] => Some(Shape::Scalar),
            [n] => length(n).map(Shape::Vector),
            [rows, columns, ..] => {
                let (rows, columns) = (length(rows), length(columns));
                Some(Shape::Matrix(rows?, columns?))
            }
        }
    }

    /// Returns the initial values of a declaration. If all of them are 0, the list is empty.
    pub(super) fn values(
        &mut self,
        initial: &Initial,
        class: Class,
        shape: Shape,
        report: &mut Reporter,
    ) -> Values {
        let (list, repeat) = match initial {
            Initial::Every(value) => (std::slice::from_ref(value), shape.cells()),
            Initial::Each(values) => {
                self.count_values(values, shape, report);
                (values.as_slice(), 1)
            }
        };
        // A stack has as many entries as there are values.
        let (repeat, cells) = match shape {
            Shape::Stack => (1, list.len() as u64),
            shape => (repeat, shape.cells()),
        };
        let mut ints = Vec::new();
        let mut reals = Vec::new();
        for expression in list {
            let Some(number) = self.constant(expression, report) else { continue };
            match class {
                Class::Int => ints.extend(self.word_value(number, expression.span, report)),
                Class::Real => reals.extend(self.real_value(number, expression.span, report)),
            }
        }
        // If the number of values is wrong, that has been reported already.
        let complete = (ints.len() + reals.len()) as u64 * repeat == cells;
        let is_zero = || ints.iter().all(|&v| v == 0) && reals.iter().all(|v| v.to_bits() == 0);
        if !complete || shape != Shape::Stack && is_zero() {
            return Values::zero(class);
        }
        // One value for all cells is stored once for each cell. So the number of values is limited
        // independently of the text's length.
        if cells > self.values_left {
            if let Some(first) = list.first() {
                let message = format!("more than {MAX_VALUES} cells have initial values other than 0");
                report.add(Diagnostic::error(
                    ProblemCode::TooManyCells,
                    message,
                    first.span,
                    "too many cells",
                ));
            }
            return Values::zero(class);
        }
        self.values_left -= cells;
        match class {
            Class::Int => Values::Ints(ints.repeat(repeat as usize)),
            Class::Real => Values::Reals(reals.repeat(repeat as usize)),
        }
    }

    fn count_values(&self, values: &[Expression], shape: Shape, report: &mut Reporter) {
        if shape == Shape::Stack || values.len() as u64 == shape.cells() {
            return;
        }
        let message = format!("{} values for {} cells", values.len(), shape.cells());
        let place = match (values.first(), values.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => {
                return report.add(Diagnostic::error(
                    ProblemCode::ValuesDoNotFit,
                    message,
                    Span::default(),
                    "no values",
                ));
            }
        };
        report.add(
            Diagnostic::error(
                ProblemCode::ValuesDoNotFit,
                message,
                place,
                "expected one value for each cell",
            )
            .help(match self.given.constants {
                [] => "one value without braces fills every cell",
                _ => "give all values of the array with `--set`; the list isn't used then",
            }),
        );
    }

    /// Evaluates a constant expression where only constants are visible.
    pub(super) fn constant(&self, expression: &Expression, report: &mut Reporter) -> Option<Number> {
        let result = match &expression.kind {
            ExpressionKind::Int { value, pattern } => {
                return Some(Number::Int { value: (*value).into(), pattern: *pattern });
            }
            ExpressionKind::LongInt { value, pattern } => {
                return Some(Number::Int { value: **value, pattern: *pattern });
            }
            ExpressionKind::Real(value) => return Some(Number::Real(*value)),
            ExpressionKind::Name { name, adjoint: false } => {
                return self.named_constant(name, expression.span, report);
            }
            ExpressionKind::Unary(operator, a) => {
                self.numbers().unary(*operator, self.constant(a, report)?, is_literal(a)).map_err(|problem| {
                    let span = if problem.source.is_some() { a.span } else { expression.span };
                    refused(problem, span)
                })
            }
            ExpressionKind::Binary(operator, sides) => {
                let [a, b] = &**sides;
                let (x, y) = (self.constant(a, report), self.constant(b, report));
                let result = self.numbers().binary(*operator, x?, y?);
                result.map_err(|problem| refused_of(problem, [a.span, b.span], expression.span))
            }
            ExpressionKind::Apply(application) => {
                let Application { function, sources } = &**application;
                let numbers: Vec<Option<Number>> =
                    sources.iter().map(|source| self.constant(source, report)).collect();
                let numbers: Vec<Number> = numbers.into_iter().collect::<Option<_>>()?;
                let result = self.numbers().apply(*function, &numbers);
                let spans = sources.iter().map(|source| source.span);
                result.map_err(|problem| refused_of(problem, spans, expression.span))
            }
            ExpressionKind::Name { .. } | ExpressionKind::Element(_) => {
                let message = "expected a constant, found a cell";
                return report.fail(Diagnostic::error(
                    ProblemCode::NoConstant,
                    message,
                    expression.span,
                    "not a constant",
                ));
            }
            ExpressionKind::Length(length) => return self.constant_length(length, expression.span, report),
            ExpressionKind::InText(application) => {
                return report.fail(arrays::misplaced(application.function, expression.span));
            }
        };
        match result {
            Ok(number) => Some(number),
            Err(problem) => report.fail(problem),
        }
    }

    /// Returns the length of an array as a constant.
    pub(super) fn array_length(&self, shape: Shape, dimension: Option<i128>) -> Option<Number> {
        let length = match (shape, dimension) {
            (Shape::Vector(n), None | Some(0)) => n,
            (Shape::Matrix(rows, _), Some(0)) => rows,
            (Shape::Matrix(_, columns), Some(1)) => columns,
            _ => return None,
        };
        Some(Number::int(length.into()))
    }

    /// Returns the length of a global.
    fn constant_length(&self, length: &LengthOf, span: Span, report: &mut Reporter) -> Option<Number> {
        let LengthOf { name, dimension } = length;
        let dimension = match dimension.as_ref().map(|dimension| self.constant(dimension, report)) {
            None => None,
            Some(Some(number)) => number.integer(),
            Some(None) => return None,
        };
        let shape = match self.names.get(name.as_str()) {
            Some((Outer::Global(n), _)) => self.global_at(*n).map(|(global, _)| global.shape),
            Some((Outer::Broken, _)) => return None,
            _ => None,
        };
        let number = shape.and_then(|shape| self.array_length(shape, dimension));
        number.or_else(|| {
            let message = format!("`{name}` has no length that is known before the program runs");
            report.fail(no_length(message, name, span))
        })
    }

    fn named_constant(&self, name: &CompactString, span: Span, report: &mut Reporter) -> Option<Number> {
        match self.names.get(name) {
            Some((Outer::Constant(number), _)) => Some(*number),
            Some((Outer::Broken, _)) => None,
            Some((Outer::Global(_), declared)) => report.fail(
                Diagnostic::error(
                    ProblemCode::NoConstant,
                    format!("`{name}` is a cell, not a constant"),
                    span,
                    "expected a constant",
                )
                .with(*declared, "declared here"),
            ),
            None if name == "pi" => Some(Number::Real(std::f64::consts::PI)),
            None => self.unknown_constant(name, span, report),
        }
    }

    fn unknown_constant(&self, name: &CompactString, span: Span, report: &mut Reporter) -> Option<Number> {
        let written = Name { text: name.clone(), span };
        report.unknown(Unknown::Constant, &written, |report| {
            let message = format!("no constant `{name}` is defined before this place");
            let constants = self.names.iter().filter(|(_, (o, _))| matches!(o, Outer::Constant(_)));
            let help = report.suggest(name, constants.map(|(name, _)| name.as_str()));
            Diagnostic::error(ProblemCode::UnknownName, message, span, "unknown constant").help_if(help)
        })
    }

    /// Returns the word and the number system of the program.
    pub(super) fn numbers(&self) -> ProgramNumbers {
        ProgramNumbers { word: self.word, real: self.real_system() }
    }

    /// Converts a number to a word. A number that doesn't fit is reported.
    pub(super) fn word_value(&self, number: Number, span: Span, report: &mut Reporter) -> Option<i64> {
        match self.numbers().to_word(number) {
            Ok(value) => Some(value),
            Err(problem) => report.fail(refused(problem, span)),
        }
    }

    /// Converts a number to a real literal. A number that the number system can't represent is reported.
    pub(super) fn real_value(&self, number: Number, span: Span, report: &mut Reporter) -> Option<f64> {
        match self.numbers().to_real(number) {
            Ok(value) => Some(value),
            Err(problem) => report.fail(refused(problem, span)),
        }
    }

    /// Reports a count of cells, calls or steps whose computation wrapped around.
    pub(super) fn not_wrapped(&self, number: Number, span: Span, report: &mut Reporter) -> Option<()> {
        if !number.has_wrapped() {
            return Some(());
        }
        let message =
            format!("this number wraps around in {} bits, so it can't be a count", self.word.bits());
        report.fail(
            Diagnostic::error(ProblemCode::NumberDoesNotFit, message, span, "computed in the program's word")
                .help("write the count as one number, or choose a wider word: `.word 64`"),
        )
    }
}

/// Returns true if an expression is a number literal without a sign.
pub(super) fn is_literal(expression: &Expression) -> bool {
    matches!(
        expression.kind,
        ExpressionKind::Int { .. } | ExpressionKind::LongInt { .. } | ExpressionKind::Real(_)
    )
}

/// Returns the error for a constant expression that can't be computed.
pub(super) fn refused(problem: ConstantProblem, span: Span) -> Diagnostic {
    Diagnostic::error(problem.code, problem.message, span, "here").help_if(problem.help)
}

/// Returns the error for a constant expression, at the place of the source that causes it.
pub(super) fn refused_of(
    problem: ConstantProblem,
    sources: impl IntoIterator<Item = Span>,
    whole: Span,
) -> Diagnostic {
    let source = problem.source.and_then(|n| sources.into_iter().nth(n));
    refused(problem, source.unwrap_or(whole))
}
