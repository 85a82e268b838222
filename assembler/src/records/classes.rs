//! The classes of numbers that are made of reals: their names, fields and initial values.

use std::rc::Rc;

use reviver_isa::function::Function;
use reviver_isa::instruction::Class;

use super::fields::place_at;
use crate::build;
use crate::tree::{Expression, FieldNode, Initial};
use crate::visit;

/// The constant whose addition rounds to the grid: its neighbours are 2⁻⁴⁰ apart in f64.
const GRID: f64 = 6144.0;

/// A class of numbers that are made of reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberClass {
    Complex,
    Log,
    Tropical,
}

impl NumberClass {
    pub const ALL: [NumberClass; 3] = [NumberClass::Complex, NumberClass::Log, NumberClass::Tropical];

    /// Returns the name of the class in declarations.
    pub fn name(self) -> &'static str {
        match self {
            NumberClass::Complex => "complex",
            NumberClass::Log => "log",
            NumberClass::Tropical => "tropical",
        }
    }

    pub fn of(name: &str) -> Option<NumberClass> {
        NumberClass::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Returns the fields. A field without a name is the cell itself.
    pub fn fields(self) -> Rc<[FieldNode]> {
        let field = |name: &str, class| FieldNode { name: build::name(name), class: Some(class) };
        match self {
            NumberClass::Complex => [field("re", Class::Real), field("im", Class::Real)].into(),
            NumberClass::Log => [field("log", Class::Real), field("negative", Class::Int)].into(),
            NumberClass::Tropical => [field("", Class::Real)].into(),
        }
    }

    /// Returns the values of the fields for an initial value that is one number. Returns `None` if the fields are listed.
    pub fn initial(self, initial: &Initial) -> Option<Vec<Initial>> {
        let Initial::Every(value) = initial else { return None };
        let apply = |function, sources: Vec<Expression>| build::applied(function, sources);
        let fields = match self {
            NumberClass::Complex => vec![value.clone(), build::int(0)],
            NumberClass::Log => vec![
                grid(apply(Function::Log, vec![apply(Function::Abs, vec![value.clone()])])),
                apply(Function::Lt, vec![value.clone(), build::real(0.0)]),
            ],
            NumberClass::Tropical => vec![value.clone()],
        };
        let placed = |mut field: Expression| {
            visit::in_expression_mut(&mut field, &mut |part| place_at(part, value.span));
            Initial::Every(field)
        };
        Some(fields.into_iter().map(placed).collect())
    }
}

/// Returns a logarithm rounded to the grid on which sums are exact.
pub(super) fn grid(logarithm: Expression) -> Expression {
    let shifted = build::applied(Function::Sum, vec![logarithm, build::real(GRID)]);
    build::applied(Function::Diff, vec![shifted, build::real(GRID)])
}
