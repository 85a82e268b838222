//! The chain rule in forward mode: the tangent of an expression, from the tangents of its cells.
//!
//! The tangent of a part is the sum of the tangents of its sources, each times the partial derivative by the source. An
//! expression has a single tangent, so a statement that adds it to a 0 is undone without rounding errors.

use std::collections::HashMap;

use reviver_isa::function::Function;
use reviver_isa::module::RealSystem;
use reviver_isa::update::Update;

use super::{Chain, ChainBody, Contribution, Part, PartSource, product, summed};
use crate::adjoint::terms::Terms;
use crate::build;
use crate::fresh::{FreshNames, adjoint_of};
use crate::tree::{Body, Expression, StatementNode};

/// The tangent of an expression's value.
pub(in crate::adjoint) struct Tangent {
    /// The statements that compute helper cells, and those that uncompute them.
    before: Body,
    after: Body,
    is_negative: bool,
    magnitude: Expression,
}

impl Tangent {
    /// Returns the tangent as an expression; `None` if it needs helper cells.
    pub fn expression(&self) -> Option<Expression> {
        self.before.is_empty().then(|| match self.is_negative {
            true => build::negated(self.magnitude.clone()),
            false => self.magnitude.clone(),
        })
    }

    /// Returns the statements that add the tangent to a cell, or subtract it.
    pub fn update(self, update: Update, target: Expression) -> Body {
        self.used(|is_negative, magnitude| {
            let update = if is_negative { update.inverse() } else { update };
            vec![build::update(update, Function::Copy, vec![target, magnitude])]
        })
    }

    /// Returns the statements that use the tangent, given by its sign and its magnitude. They run while its helper cells
    /// exist.
    pub fn used(self, statements: impl FnOnce(bool, Expression) -> Vec<StatementNode>) -> Body {
        let mut body = self.before;
        body.extend(statements(self.is_negative, self.magnitude));
        body.extend(self.after);
        body
    }
}

impl Chain<'_> {
    /// Returns the tangent of the expression's value. Returns `None` if the tangent is 0 in every run.
    ///
    /// # Errors
    /// Returns a function whose derivative the language can't express.
    pub fn tangent(&self, fresh: &mut FreshNames) -> Result<Option<Tangent>, Function> {
        let uses = self.uses();
        let mut body = ChainBody::default();
        // The parts of a part precede it.
        let mut tangents: Vec<Option<(bool, Expression)>> = Vec::with_capacity(self.parts.len());
        for (index, part) in self.parts.iter().enumerate() {
            let mut tangent = tangent_of((part, self.names.reals()), &tangents, (&mut body, fresh))?;
            if let Some((_, magnitude)) = &mut tangent
                && uses.get(&index).is_some_and(|uses| *uses > 1)
            {
                *magnitude = body.as_operand(magnitude.clone(), fresh);
            }
            tangents.push(tangent);
        }
        let ChainBody { statements, closing, .. } = body;
        let whole = tangents.pop().flatten();
        Ok(whole.map(|(is_negative, magnitude)| Tangent {
            before: statements,
            after: closing.into_iter().rev().collect(),
            is_negative,
            magnitude,
        }))
    }

    /// Counts how often each part is a source of another one.
    fn uses(&self) -> HashMap<usize, usize> {
        let mut uses = HashMap::new();
        for source in self.parts.iter().flat_map(|part| &part.sources) {
            if let PartSource::Part(index) = source {
                *uses.entry(*index).or_default() += 1;
            }
        }
        uses
    }
}

/// Returns the tangent of a part as a sign and a magnitude, from the tangents of the preceding parts. `None` if it is 0
/// in every run.
fn tangent_of(
    (part, reals): (&Part, RealSystem),
    known: &[Option<(bool, Expression)>],
    (body, fresh): (&mut ChainBody, &mut FreshNames),
) -> Result<Option<(bool, Expression)>, Function> {
    let terms = Terms::over(&part.written);
    let mut found = Vec::new();
    for (n, source) in part.sources.iter().enumerate() {
        let tangent = match source {
            PartSource::Operand { operand, receives: true } => Some((false, adjoint_of(fresh, operand))),
            PartSource::Operand { receives: false, .. } => None,
            PartSource::Part(index) => known.get(*index).cloned().flatten(),
        };
        let Some((is_negative, tangent)) = tangent else { continue };
        let Some(partial) = part.partial(n, &terms)? else { continue };
        let value = match part.may_lack_partial(n) {
            true => {
                let tangent = body.as_operand(tangent, fresh);
                body.guarded((part.guard(&tangent, reals), &tangent), (&terms, partial), fresh)
            }
            false => product(tangent, body.factor(&terms, partial, fresh)),
        };
        found.push(Contribution { is_negative: is_negative != partial.is_negative, value });
    }
    if found.is_empty() {
        return Ok(None);
    }
    let Contribution { is_negative, value } = summed(found);
    Ok(Some((is_negative, value)))
}

impl ChainBody {
    /// Returns a value as a cell or a literal, in a helper cell if need be.
    fn as_operand(&mut self, value: Expression, fresh: &mut FreshNames) -> Expression {
        if build::is_operand(&value) { value } else { self.compute(value, fresh) }
    }
}
