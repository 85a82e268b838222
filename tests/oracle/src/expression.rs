//! Resolves expressions to their meanings: constants, cells, computations, indices, and parts of arrays.

use num_bigint::BigInt;
use reviver_assembler::tree::{BinaryOperator, Expression, ExpressionKind, Subscript, UnaryOperator};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;

use crate::constant::{Number, function_of};
use crate::outcome::{Step, unsupported};
use crate::plan::{Computed, Measured, Part, Place, Shape, Source, Term, Variable};
use crate::resolve::Resolver;
use crate::scope::Meaning;
use crate::signature::{source_classes, value_class};

/// Source or target of an instruction, before its class is decided: a literal may become an integer or a real.
pub(crate) enum Operand {
    Literal(Number),
    Mode,
    Cell(Place),
    Computed(Computed),
    Length(Measured),
}

impl Operand {
    /// Returns the class of the operand as written. The class of a literal is that of its text.
    pub(crate) fn class(&self) -> Class {
        match self {
            Operand::Literal(number) => number.class(),
            Operand::Mode | Operand::Length(_) => Class::Int,
            Operand::Cell(place) => place.variable.class,
            Operand::Computed(computed) => computed.class,
        }
    }

    pub(crate) fn cell_class(&self) -> Option<Class> {
        match self {
            Operand::Literal(_) => None,
            Operand::Mode | Operand::Length(_) => Some(Class::Int),
            Operand::Cell(place) => Some(place.variable.class),
            Operand::Computed(computed) => Some(computed.class),
        }
    }

    pub(crate) fn place(self) -> Step<Place> {
        match self {
            Operand::Cell(place) => Ok(place),
            Operand::Literal(_) | Operand::Mode | Operand::Computed(_) | Operand::Length(_) => {
                unsupported("a constant as a target")
            }
        }
    }
}

impl Resolver<'_> {
    pub(crate) fn evaluate(&mut self, expression: &Expression) -> Step<Meaning> {
        match &expression.kind {
            ExpressionKind::Int { value, pattern } => {
                Ok(Meaning::Constant(Number::Int { value: (*value).into(), pattern: *pattern }))
            }
            ExpressionKind::LongInt { value, pattern } => {
                Ok(Meaning::Constant(Number::Int { value: (**value).into(), pattern: *pattern }))
            }
            ExpressionKind::Real(value) => Ok(Meaning::Constant(Number::Real(*value))),
            ExpressionKind::Name { name, adjoint: true } => adjoint(self.lookup(name)?),
            ExpressionKind::Name { name, .. } => self.lookup(name),
            ExpressionKind::Element(element) => {
                let meaning = self.element(&element.name, &element.subscripts)?;
                if element.adjoint { adjoint(meaning) } else { Ok(meaning) }
            }
            ExpressionKind::Unary(operator, a) => match (operator, self.evaluate(a)?) {
                (_, Meaning::Constant(a)) => {
                    Number::unary(*operator, &a, self.declared.text).map(Meaning::Constant)
                }
                (UnaryOperator::Negate, a) => self.apply(Function::Diff, vec![integer(0), a]),
                (UnaryOperator::Complement, a) => self.apply(Function::Xor, vec![a, integer(-1)]),
            },
            ExpressionKind::Binary(operator, sides) => {
                let [a, b] = &**sides;
                let (a, b) = (self.evaluate(a)?, self.evaluate(b)?);
                self.combine(*operator, a, b)
            }
            ExpressionKind::Length(length) => {
                let dimension =
                    length.dimension.as_ref().map(|dimension| self.constant(dimension)?.to_length());
                self.length(&length.name, dimension.transpose()?.unwrap_or(0))
            }
            ExpressionKind::InText(_) => unsupported("a function of arrays"),
            ExpressionKind::Apply(application) => {
                let sources = application.sources.iter().map(|source| self.evaluate(source));
                let sources = sources.collect::<Step<Vec<Meaning>>>()?;
                self.apply(application.function, sources)
            }
        }
    }

    /// Combines the meanings of two operands: two constants, an integer scalar plus a constant, or any others as a
    /// computation.
    fn combine(&self, operator: BinaryOperator, a: Meaning, b: Meaning) -> Step<Meaning> {
        use BinaryOperator::{Add, Subtract};
        match (operator, &a, &b) {
            (_, Meaning::Constant(a), Meaning::Constant(b)) => {
                return Number::binary(operator, a, b, self.declared.text).map(Meaning::Constant);
            }
            (Add, Meaning::Constant(by @ Number::Int { .. }), cell)
            | (Add, cell, Meaning::Constant(by @ Number::Int { .. })) => {
                if let Some(sum) = shifted(cell, by.to_offset(self.declared.text)?) {
                    return Ok(sum);
                }
            }
            (Subtract, cell, Meaning::Constant(by @ Number::Int { .. })) => {
                if let Some(sum) = shifted(cell, -by.to_offset(self.declared.text)?) {
                    return Ok(sum);
                }
            }
            _ => {}
        }
        self.apply(function_of(operator), vec![a, b])
    }

    /// Returns the computation of a function, if not all of its operands are constants.
    fn apply(&self, function: Function, sources: Vec<Meaning>) -> Step<Meaning> {
        let operands = sources.into_iter().map(|source| self.as_operand(source)).collect::<Step<Vec<_>>>()?;
        let written: Vec<Class> = operands.iter().map(Operand::class).collect();
        let class = value_class(function, &written)?;
        let classes = source_classes(function, class, &written);
        let typed = operands.into_iter().zip(classes).map(|(operand, class)| self.typed(operand, class));
        Ok(Meaning::Computed(Computed { function, class, sources: typed.collect::<Step<_>>()? }))
    }

    fn length(&mut self, name: &str, dimension: usize) -> Step<Meaning> {
        let Meaning::Variable(array) = self.lookup(name)? else {
            return unsupported(format!("the length of `{name}`"));
        };
        match (array.shape, dimension) {
            (Shape::Slice | Shape::PassedMatrix, _) => Ok(Meaning::Length(Measured { array, dimension })),
            (Shape::Vector(n) | Shape::Matrix(n, _), 0) | (Shape::Matrix(_, n), 1) => Ok(integer(n)),
            _ => unsupported(format!("the length of `{name}`")),
        }
    }

    fn lookup(&mut self, name: &str) -> Step<Meaning> {
        match self.scopes.find(name) {
            Some(meaning) => Ok(meaning.clone()),
            None => self.declared.outer(name),
        }
    }

    fn element(&mut self, name: &str, subscripts: &[Subscript]) -> Step<Meaning> {
        let Meaning::Variable(array) = self.lookup(name)? else {
            return unsupported(format!("an element of `{name}`"));
        };
        let part = match subscripts {
            [Subscript::At(index)] => {
                let index = vec![self.term(index)?];
                return Ok(Meaning::Element(Place { variable: array, index, adjoint: false }));
            }
            [Subscript::At(row), Subscript::At(column)] => {
                let index = vec![self.term(row)?, self.term(column)?];
                return Ok(Meaning::Element(Place { variable: array, index, adjoint: false }));
            }
            [Subscript::Span { from, to, step }] => {
                let (from, to) = (self.term(from)?, self.term(to)?);
                let step = match step {
                    Some(step) => self.constant(step)?.to_length()?,
                    None => 1,
                };
                Part::Span { from, to, step }
            }
            [Subscript::At(row), Subscript::All] => Part::Row(self.term(row)?),
            [Subscript::All, Subscript::At(column)] => Part::Column(self.term(column)?),
            _ => Part::Whole,
        };
        Ok(Meaning::Part { array, part })
    }

    fn term(&mut self, expression: &Expression) -> Step<Term> {
        let term = |scalar, offset| Term { scalar, offset, expression: None };
        let computed = |source| Term { expression: Some(Box::new(source)), ..term(None, BigInt::ZERO) };
        match self.evaluate(expression)? {
            Meaning::Constant(number) => Ok(term(None, number.to_integer()?)),
            Meaning::Variable(scalar) => Ok(term(Some(scalar), BigInt::ZERO)),
            Meaning::Sum { scalar, offset } => Ok(term(Some(scalar), offset)),
            Meaning::Element(place) => Ok(computed(Source::Place(place))),
            Meaning::Computed(value) => Ok(computed(Source::Computed(Box::new(value)))),
            Meaning::Length(measured) => Ok(computed(Source::Length(measured))),
            Meaning::Mode | Meaning::Part { .. } => unsupported("this as an index"),
        }
    }

    pub(crate) fn constant(&mut self, expression: &Expression) -> Step<Number> {
        match self.evaluate(expression)? {
            Meaning::Constant(number) => Ok(number),
            _ => unsupported("a cell as a constant"),
        }
    }

    pub(crate) fn operands(&mut self, list: &[Expression]) -> Step<Vec<Operand>> {
        list.iter().map(|expression| self.operand(expression)).collect()
    }

    fn operand(&mut self, expression: &Expression) -> Step<Operand> {
        let meaning = self.evaluate(expression)?;
        self.as_operand(meaning)
    }

    fn as_operand(&self, meaning: Meaning) -> Step<Operand> {
        match meaning {
            Meaning::Constant(number) => Ok(Operand::Literal(number)),
            Meaning::Mode => Ok(Operand::Mode),
            Meaning::Variable(variable) if variable.shape == Shape::Scalar => {
                Ok(Operand::Cell(Place::scalar(variable)))
            }
            Meaning::Element(place) => Ok(Operand::Cell(place)),
            Meaning::Computed(computed) => Ok(Operand::Computed(computed)),
            Meaning::Length(measured) => Ok(Operand::Length(measured)),
            Meaning::Sum { scalar, offset } => {
                let sides = vec![Meaning::Variable(scalar), integer(offset)];
                match self.apply(Function::Sum, sides)? {
                    Meaning::Computed(computed) => Ok(Operand::Computed(computed)),
                    _ => unsupported("a sum that isn't computed"),
                }
            }
            _ => unsupported("several cells as an operand"),
        }
    }

    /// Returns an operand as a source of the given class. A literal becomes a number of this class.
    pub(crate) fn typed(&self, operand: Operand, class: Class) -> Step<Source> {
        match operand {
            Operand::Literal(number) => self.declared.value(&number, class).map(Source::Constant),
            Operand::Mode => Ok(Source::Mode),
            Operand::Cell(place) => Ok(Source::Place(place)),
            Operand::Computed(computed) => Ok(Source::Computed(Box::new(computed))),
            Operand::Length(measured) => Ok(match class {
                Class::Int => Source::Length(measured),
                Class::Real => Source::Computed(Box::new(Computed {
                    function: Function::ToReal,
                    class,
                    sources: vec![Source::Length(measured)],
                })),
            }),
        }
    }

    pub(crate) fn source(&mut self, expression: &Expression, class: Class) -> Step<Source> {
        let operand = self.operand(expression)?;
        self.typed(operand, class)
    }

    /// Returns an argument that passes an array or some of its elements.
    pub(crate) fn part(&mut self, expression: &Expression) -> Step<(Variable, Part)> {
        match self.evaluate(expression)? {
            Meaning::Variable(array) => Ok((array, Part::Whole)),
            Meaning::Part { array, part } => Ok((array, part)),
            _ => unsupported("one cell as an array"),
        }
    }
}

/// Returns the adjoint of the cell that an expression means.
fn adjoint(meaning: Meaning) -> Step<Meaning> {
    match meaning {
        Meaning::Variable(variable) if variable.shape == Shape::Scalar => {
            Ok(Meaning::Element(Place { adjoint: true, ..Place::scalar(variable) }))
        }
        Meaning::Element(place) if !place.adjoint => Ok(Meaning::Element(Place { adjoint: true, ..place })),
        _ => unsupported("the adjoint of what is no cell"),
    }
}

/// Returns an integer scalar plus a constant. Returns `None` if the meaning is something else.
fn shifted(meaning: &Meaning, by: BigInt) -> Option<Meaning> {
    match meaning {
        Meaning::Variable(scalar) if scalar.shape == Shape::Scalar && scalar.class == Class::Int => {
            Some(Meaning::Sum { scalar: *scalar, offset: by })
        }
        Meaning::Sum { scalar, offset } => Some(Meaning::Sum { scalar: *scalar, offset: offset + by }),
        _ => None,
    }
}

fn integer(value: impl Into<BigInt>) -> Meaning {
    Meaning::Constant(Number::Int { value: value.into(), pattern: false })
}
