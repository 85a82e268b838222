//! What expressions stand for: constants, cells, indices and parts of arrays.

use num_bigint::BigInt;
use reviver_assembler::tree::{BinaryOperator, Expression, ExpressionKind, Subscript};
use reviver_isa::instruction::Class;

use crate::constant::Number;
use crate::outcome::{Step, unsupported};
use crate::plan::{Part, Place, Shape, Source, Term, Variable};
use crate::resolve::Resolver;
use crate::scope::Meaning;

/// A source or a target as it is written: a literal has no class of its own yet.
pub(crate) enum Operand {
    Literal(Number),
    Mode,
    Cell(Place),
}

impl Operand {
    /// The class that it is written in.
    pub(crate) fn class(&self) -> Class {
        match self {
            Operand::Literal(number) => number.class(),
            Operand::Mode => Class::Int,
            Operand::Cell(place) => place.variable.class,
        }
    }

    pub(crate) fn cell_class(&self) -> Option<Class> {
        match self {
            Operand::Literal(_) => None,
            Operand::Mode => Some(Class::Int),
            Operand::Cell(place) => Some(place.variable.class),
        }
    }

    pub(crate) fn place(self) -> Step<Place> {
        match self {
            Operand::Cell(place) => Ok(place),
            Operand::Literal(_) | Operand::Mode => unsupported("a constant as a target"),
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
            ExpressionKind::Unary(operator, a) => {
                let a = self.constant(a)?;
                Number::unary(*operator, &a, self.declared.literal_bits).map(Meaning::Constant)
            }
            ExpressionKind::Binary(operator, sides) => {
                let [a, b] = &**sides;
                let (a, b) = (self.evaluate(a)?, self.evaluate(b)?);
                combine(*operator, a, b)
            }
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
        match self.evaluate(expression)? {
            Meaning::Constant(number) => Ok(Term { scalar: None, offset: number.to_integer()? }),
            Meaning::Variable(scalar) => Ok(Term { scalar: Some(scalar), offset: BigInt::ZERO }),
            Meaning::Sum { scalar, offset } => Ok(Term { scalar: Some(scalar), offset }),
            _ => unsupported("an element as an index"),
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
        match self.evaluate(expression)? {
            Meaning::Constant(number) => Ok(Operand::Literal(number)),
            Meaning::Mode => Ok(Operand::Mode),
            Meaning::Variable(variable) if variable.shape == Shape::Scalar => {
                Ok(Operand::Cell(Place::scalar(variable)))
            }
            Meaning::Element(place) => Ok(Operand::Cell(place)),
            _ => unsupported("several cells as an operand"),
        }
    }

    /// A source, its literal read in a class.
    pub(crate) fn typed(&self, operand: Operand, class: Class) -> Step<Source> {
        match operand {
            Operand::Literal(number) => self.declared.value(&number, class).map(Source::Constant),
            Operand::Mode => Ok(Source::Mode),
            Operand::Cell(place) => Ok(Source::Place(place)),
        }
    }

    pub(crate) fn source(&mut self, expression: &Expression, class: Class) -> Step<Source> {
        let operand = self.operand(expression)?;
        self.typed(operand, class)
    }

    /// Elements of an array, to be passed.
    pub(crate) fn part(&mut self, expression: &Expression) -> Step<(Variable, Part)> {
        match self.evaluate(expression)? {
            Meaning::Variable(array) => Ok((array, Part::Whole)),
            Meaning::Part { array, part } => Ok((array, part)),
            _ => unsupported("one cell as an array"),
        }
    }
}

/// The adjoint of a cell.
fn adjoint(meaning: Meaning) -> Step<Meaning> {
    match meaning {
        Meaning::Variable(variable) if variable.shape == Shape::Scalar => {
            Ok(Meaning::Element(Place { adjoint: true, ..Place::scalar(variable) }))
        }
        Meaning::Element(place) if !place.adjoint => Ok(Meaning::Element(Place { adjoint: true, ..place })),
        _ => unsupported("the adjoint of what is no cell"),
    }
}

/// Two constants, or an integer scalar plus or minus a constant.
fn combine(operator: BinaryOperator, a: Meaning, b: Meaning) -> Step<Meaning> {
    match (operator, a, b) {
        (_, Meaning::Constant(a), Meaning::Constant(b)) => {
            Number::binary(operator, &a, &b).map(Meaning::Constant)
        }
        (BinaryOperator::Add, Meaning::Constant(a), b) => shifted(b, a.to_integer()?),
        (BinaryOperator::Add, a, Meaning::Constant(b)) => shifted(a, b.to_integer()?),
        (BinaryOperator::Subtract, a, Meaning::Constant(b)) => shifted(a, -b.to_integer()?),
        _ => unsupported("arithmetic with cells"),
    }
}

fn shifted(meaning: Meaning, by: BigInt) -> Step<Meaning> {
    match meaning {
        Meaning::Variable(scalar) => Ok(Meaning::Sum { scalar, offset: by }),
        Meaning::Sum { scalar, offset } => Ok(Meaning::Sum { scalar, offset: offset + by }),
        _ => unsupported("arithmetic with elements"),
    }
}
