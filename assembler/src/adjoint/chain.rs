//! The chain rule in reverse mode: the statements that pass a cotangent on to the cells of an expression. The submodule
//! `forward` has the chain rule in forward mode.
//!
//! An expression has *parts*: function applications, which the machine computes into temporaries. The *weight* of a part
//! is the derivative of the loss by the part's value. The parts are visited in the order in which the machine
//! uncomputes its temporaries, so that sums of derivatives have the machine's bits.

pub(super) mod forward;

use std::collections::HashMap;

use compact_str::CompactString;
use reviver_isa::arith::Order;
use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_isa::step::{AnyFunction, Operation};
use reviver_isa::update::Update;

use super::own::involved::is_adjoint;
use super::terms::{Partial, Terms};
use crate::build;
use crate::format::spelled;
use crate::fresh::FreshNames;
use crate::fresh::adjoint_of;
use crate::lower::signature::signature;
use crate::scopes::Names;
use crate::tree::{Body, Condition, Expression, ExpressionKind, Statement, StatementNode, UnaryOperator};

/// A source of a part.
enum PartSource {
    /// An operand. `receives` is true for a real cell, whose adjoint gets a contribution.
    Operand { operand: Expression, receives: bool },
    /// Another part, by its index.
    Part(usize),
}

/// The application of a function.
struct Part {
    function: Function,
    signature: Signature,
    /// The operands as written.
    written: Vec<Expression>,
    sources: Vec<PartSource>,
    /// True if a source is an adjoint, so that the machine passes no adjoint on.
    names_adjoint: bool,
}

impl Part {
    /// Returns the partial derivative by a source; `None` if it is 0 everywhere.
    fn partial(&self, source: usize, terms: &Terms) -> Result<Option<Partial>, Function> {
        let operation = self.operation();
        if source >= operation.receivers() {
            return Ok(None);
        }
        let given = |n: usize| terms.given(n);
        let found = operation.partial::<AnyFunction, _>(source as u8, &terms, given, given);
        found.map(|term| terms.partial(term)).map_err(|_| self.function)
    }

    fn operation(&self) -> Operation {
        Operation { update: Update::Add, function: self.function, signature: self.signature, undoes: false }
    }

    /// Returns true if the machine computes the partial derivative by a source only if the weight isn't 0, because
    /// the derivative may not exist.
    fn may_lack_partial(&self, source: usize) -> bool {
        self.operation().may_lack_partial(source as u8)
    }

    /// Returns the condition under which the statements of the partial derivatives run: the weight isn't 0, or all
    /// derivatives exist. A weight that happens to be 0 may have a derivative, which these statements determine.
    fn guard(&self, weight: &Expression, reals: RealSystem) -> Condition {
        let is_weighted = build::compared(Order::Ne, weight.clone(), build::int(0));
        match self.regular(reals) {
            Some(is_regular) => build::either(is_weighted, is_regular),
            None => is_weighted,
        }
    }

    /// Returns the condition that the partial derivatives exist; `None` if no simple condition implies it. In fixed point,
    /// derivatives near a singularity are out of range.
    fn regular(&self, reals: RealSystem) -> Option<Condition> {
        let is_nonzero = |source: &Expression| build::compared(Order::Ne, source.clone(), build::int(0));
        match (self.function, self.written.as_slice()) {
            _ if reals.is_exact() => None,
            (Function::Sqrt | Function::Cbrt, [a]) => Some(is_nonzero(a)),
            (Function::Hypot, [a, b]) => Some(build::either(is_nonzero(a), is_nonzero(b))),
            (Function::Atan2, [a, b]) => {
                let distance = build::applied(Function::Hypot, vec![a.clone(), b.clone()]);
                Some(build::compared(Order::Gt, distance, build::real(SMALLEST_DISTANCE)))
            }
            (Function::Asin | Function::Acos, [a]) => {
                let magnitude = build::applied(Function::Abs, vec![a.clone()]);
                Some(build::compared(Order::Lt, magnitude, build::real(1.0)))
            }
            _ => None,
        }
    }
}

/// The distance from the origin up to which the derivatives of an angle may be too large for 32 bits.
const SMALLEST_DISTANCE: f64 = 1e-30;

/// A contribution to the adjoint of a cell or to the weight of a part.
struct Contribution {
    is_negative: bool,
    value: Expression,
}

/// The expression of one statement, as its parts.
pub(super) struct Chain<'n> {
    names: &'n Names,
    parts: Vec<Part>,
    /// The index of each part by its text. The machine computes equal parts once.
    known: HashMap<String, usize>,
}

/// The statements of a chain, with those that uncompute its helper cells.
#[derive(Default)]
struct ChainBody {
    statements: Body,
    /// In the order of their creation, which is the opposite of their execution.
    closing: Vec<StatementNode>,
    helpers: usize,
}

impl Chain<'_> {
    /// Splits `function(sources)` into its parts.
    pub fn new<'n>(names: &'n Names, function: Function, sources: &[Expression]) -> Chain<'n> {
        let mut chain = Chain { names, parts: Vec::new(), known: HashMap::new() };
        // An update with a plain expression applies the outermost function of the expression itself.
        match sources {
            [whole] if function == Function::Copy && names.is_computed(whole) => {
                let (function, sources) = applied(whole);
                chain.part(function, sources);
            }
            _ => {
                chain.part(function, sources.to_vec());
            }
        }
        chain
    }

    /// Returns true if a cell receives a contribution.
    pub fn is_active(&self) -> bool {
        let receives = |source: &PartSource| matches!(source, PartSource::Operand { receives: true, .. });
        self.parts.iter().any(|part| !part.names_adjoint && part.sources.iter().any(receives))
    }

    /// Returns true if a part reads an adjoint, and a cell receives a contribution. The adjoint might change while it is
    /// read.
    pub fn changes_what_it_reads(&self) -> bool {
        let root = self.parts.len().saturating_sub(1);
        self.parts.iter().any(|part| part.names_adjoint) && self.passes_on(root)
    }

    /// Returns true if the weight of a part reaches a cell.
    fn passes_on(&self, part: usize) -> bool {
        self.parts.get(part).is_some_and(|part| {
            !part.names_adjoint
                && part.sources.iter().any(|source| match source {
                    PartSource::Operand { receives, .. } => *receives,
                    PartSource::Part(other) => self.passes_on(*other),
                })
        })
    }

    fn part(&mut self, function: Function, written: Vec<Expression>) -> usize {
        let sources = written.iter().map(|source| self.source(source)).collect();
        let kinds = written.iter().map(|source| self.names.kind(source));
        let signature = signature(function, Some(Class::Real), kinds).unwrap_or(Signature::Real);
        let names_adjoint = written.iter().any(is_adjoint);
        self.parts.push(Part { function, signature, written, sources, names_adjoint });
        self.parts.len() - 1
    }

    fn source(&mut self, expression: &Expression) -> PartSource {
        let is_real = self.names.kind(expression).class == Class::Real;
        if !is_real || !self.names.is_computed(expression) {
            let receives = self.names.receives(expression);
            return PartSource::Operand { operand: expression.clone(), receives };
        }
        let text = spelled(expression);
        if let Some(&known) = self.known.get(&text) {
            return PartSource::Part(known);
        }
        let (function, sources) = applied(expression);
        let part = self.part(function, sources);
        self.known.insert(text, part);
        PartSource::Part(part)
    }

    /// Returns the statements that add (`Update::Add`) or subtract the contributions of a weight to the adjoints of the
    /// expression's cells.
    ///
    /// # Errors
    /// Returns a function whose derivative the language can't express.
    pub fn statements(
        &self,
        weight: Expression,
        update: Update,
        fresh: &mut FreshNames,
    ) -> Result<Body, Function> {
        let mut body = ChainBody::default();
        let mut weights: HashMap<usize, Vec<Contribution>> = HashMap::new();
        let root = self.parts.len().saturating_sub(1);
        weights.insert(root, vec![Contribution { is_negative: false, value: weight }]);
        for (index, part) in self.parts.iter().enumerate().rev() {
            let Some(found) = weights.remove(&index) else { continue };
            self.pass_on(part, (found, update), &mut weights, (&mut body, fresh))?;
        }
        Ok(body.finish())
    }

    /// Passes the weight of a part on to its sources.
    fn pass_on(
        &self,
        part: &Part,
        (found, update): (Vec<Contribution>, Update),
        weights: &mut HashMap<usize, Vec<Contribution>>,
        (body, fresh): (&mut ChainBody, &mut FreshNames),
    ) -> Result<(), Function> {
        if part.names_adjoint {
            return Ok(());
        }
        let mut passed = Vec::new();
        let mut lacks = false;
        let terms = Terms::over(&part.written);
        for (n, source) in part.sources.iter().enumerate() {
            if let PartSource::Operand { receives: false, .. } = source {
                continue;
            }
            if let Some(partial) = part.partial(n, &terms)? {
                lacks |= part.may_lack_partial(n);
                passed.push((source, partial));
            }
        }
        if passed.is_empty() {
            return Ok(());
        }
        let weight = summed(found);
        let is_plain = build::is_operand(&weight.value);
        let weight = if !is_plain && (passed.len() > 1 || lacks) {
            let value = body.compute(weight.value, fresh);
            Contribution { value, ..weight }
        } else {
            weight
        };
        for (source, partial) in passed {
            let is_negative = weight.is_negative != partial.is_negative;
            match source {
                PartSource::Operand { operand, .. } => {
                    let update = if is_negative { update.inverse() } else { update };
                    let mut own = body.part();
                    let factor = own.factor(&terms, partial, fresh);
                    own.statements.push(share(update, adjoint_of(fresh, operand), &weight.value, factor));
                    body.put(own, lacks.then(|| part.guard(&weight.value, self.names.reals())));
                }
                PartSource::Part(index) => {
                    let value = match lacks {
                        true => {
                            let guard = part.guard(&weight.value, self.names.reals());
                            body.guarded((guard, &weight.value), (&terms, partial), fresh)
                        }
                        false => {
                            let factor = body.factor(&terms, partial, fresh);
                            product(weight.value.clone(), factor)
                        }
                    };
                    weights.entry(*index).or_default().push(Contribution { is_negative, value });
                }
            }
        }
        Ok(())
    }
}

impl ChainBody {
    /// Returns the statements, with those that uncompute the helper cells.
    fn finish(self) -> Body {
        let ChainBody { mut statements, closing, .. } = self;
        statements.extend(closing.into_iter().rev());
        statements
    }

    /// Begins statements within these ones, with separate helper cells.
    fn part(&self) -> ChainBody {
        ChainBody { helpers: self.helpers, ..ChainBody::default() }
    }

    /// Appends statements with separate helper cells. If a condition is given, they run only if it holds.
    fn put(&mut self, part: ChainBody, guard: Option<Condition>) {
        match guard {
            Some(guard) => self.statements.push(build::guarded(guard, part.finish())),
            None => self.statements.extend(part.finish()),
        }
    }

    /// Computes a value into a `local` that exists up to the end of the statements, and returns the `local`.
    fn compute(&mut self, value: Expression, fresh: &mut FreshNames) -> Expression {
        let name = self.helper(fresh);
        let own = Box::new(build::local(&name, Vec::new(), Some(value)));
        self.statements.push(build::node(Statement::Local(own.clone())));
        self.closing.push(build::node(Statement::Delocal(own)));
        build::cell(&name)
    }

    fn helper(&mut self, fresh: &mut FreshNames) -> CompactString {
        self.helpers += 1;
        fresh.helper(self.helpers - 1)
    }

    /// Returns the factor of a partial derivative.
    fn factor(&mut self, terms: &Terms, partial: Partial, fresh: &mut FreshNames) -> Option<Expression> {
        partial.factor.map(|term| terms.expression(term, &mut |value| self.compute(value, fresh)))
    }

    /// Computes weight times partial derivative into a `local` if the guard holds, and returns the `local`, which is
    /// otherwise 0.
    fn guarded(
        &mut self,
        (guard, weight): (Condition, &Expression),
        (terms, partial): (&Terms, Partial),
        fresh: &mut FreshNames,
    ) -> Expression {
        let name = self.helper(fresh);
        let own = Box::new(build::local(&name, Vec::new(), None));
        let cell = build::cell(&name);
        let mut computes = |update: Update| {
            let mut part = self.part();
            let factor = part.factor(terms, partial, fresh);
            let value = product(weight.clone(), factor);
            part.statements.push(build::update(update, Function::Copy, vec![cell.clone(), value]));
            build::guarded(guard.clone(), part.finish())
        };
        let (adds, subtracts) = (computes(Update::Add), computes(Update::Sub));
        self.statements.push(build::node(Statement::Local(own.clone())));
        self.statements.push(adds);
        self.closing.push(build::node(Statement::Delocal(own)));
        self.closing.push(subtracts);
        cell
    }
}

/// Returns the function and the sources of an expression that applies a function.
fn applied(expression: &Expression) -> (Function, Vec<Expression>) {
    match &expression.kind {
        ExpressionKind::Unary(UnaryOperator::Negate, operand) => {
            (Function::Diff, vec![build::real(0.0), (**operand).clone()])
        }
        ExpressionKind::Binary(operator, sides) => (operator.function(), sides.to_vec()),
        ExpressionKind::Apply(application) => (application.function, application.sources.clone()),
        _ => (Function::Copy, vec![expression.clone()]),
    }
}

/// Returns the sum of the contributions to the weight of a part.
fn summed(contributions: Vec<Contribution>) -> Contribution {
    let mut all = contributions.into_iter();
    let Some(first) = all.next() else {
        return Contribution { is_negative: false, value: build::real(0.0) };
    };
    all.fold(first, |sum, next| {
        // The sign of the sum is that of its first summand.
        let function = if sum.is_negative == next.is_negative { Function::Sum } else { Function::Diff };
        Contribution { value: build::applied(function, vec![sum.value, next.value]), ..sum }
    })
}

fn product(weight: Expression, factor: Option<Expression>) -> Expression {
    match factor {
        Some(factor) => build::applied(Function::Mul, vec![weight, factor]),
        None => weight,
    }
}

/// Returns the statement that adds weight times factor to an adjoint, or subtracts it.
fn share(
    update: Update,
    adjoint: Expression,
    weight: &Expression,
    factor: Option<Expression>,
) -> StatementNode {
    match factor {
        Some(factor) if build::is_operand(weight) && build::is_operand(&factor) => {
            build::update(update, Function::Mul, vec![adjoint, weight.clone(), factor])
        }
        factor => build::update(update, Function::Copy, vec![adjoint, product(weight.clone(), factor)]),
    }
}
