//! Partial derivatives as expressions of the language. The rows of functions are evaluated over [`Terms`], an arithmetic
//! whose numbers are expressions. So the expressions compute what the machine computes, operation by operation. This
//! module is independent of statements and names.

use std::cell::RefCell;
use std::collections::HashMap;

use reviver_isa::arith::{Arith, Elementary, Order};
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::function::Function;

use crate::build;
use crate::comparison::{comparison, opposite};
use crate::tree::Expression;

/// The number of an expression in [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Term(usize);

#[derive(Clone, Debug, PartialEq)]
enum TermNode {
    /// The operand with this index.
    Given(usize),
    Real(f64),
    Int(i64),
    Negated(Term),
    Applied(Function, Vec<Term>),
}

/// Expressions under construction. Equal expressions are one term.
#[derive(Debug, Default)]
pub(super) struct Terms {
    nodes: RefCell<Vec<TermNode>>,
    operands: Vec<Expression>,
}

/// A partial derivative: a factor of a share, with its sign in front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partial {
    pub is_negative: bool,
    /// The magnitude; `None` if it is 1.
    pub factor: Option<Term>,
}

impl Terms {
    /// Creates terms over these operands.
    pub fn over(operands: &[Expression]) -> Terms {
        Terms { nodes: RefCell::default(), operands: operands.to_vec() }
    }

    /// Returns the operand with an index as a term.
    pub fn given(&self, operand: usize) -> Term {
        self.push(TermNode::Given(operand))
    }

    /// Returns a term as a partial derivative; `None` if it is 0 everywhere.
    pub fn partial(&self, term: Term) -> Option<Partial> {
        match self.node(term) {
            TermNode::Negated(inner) => {
                let inner = self.partial(inner)?;
                Some(Partial { is_negative: !inner.is_negative, ..inner })
            }
            TermNode::Real(0.0) => None,
            TermNode::Real(1.0) => Some(Partial { is_negative: false, factor: None }),
            TermNode::Real(-1.0) => Some(Partial { is_negative: true, factor: None }),
            _ => Some(Partial { is_negative: false, factor: Some(term) }),
        }
    }

    /// Returns a term as an expression. A part that the expression would contain twice is replaced by the cell that
    /// `compute` returns for it.
    pub fn expression(&self, term: Term, compute: &mut impl FnMut(Expression) -> Expression) -> Expression {
        let mut uses = HashMap::new();
        self.count(term, &mut uses);
        self.spell(term, (&uses, &mut HashMap::new()), compute)
    }

    /// Counts how often an expression would contain each term, if a term that occurs twice were written once.
    fn count(&self, term: Term, uses: &mut HashMap<Term, usize>) {
        let count = uses.entry(term).or_default();
        *count += 1;
        if *count > 1 {
            return;
        }
        match self.node(term) {
            TermNode::Negated(inner) => self.count(inner, uses),
            TermNode::Applied(_, sources) => sources.into_iter().for_each(|source| self.count(source, uses)),
            TermNode::Given(_) | TermNode::Real(_) | TermNode::Int(_) => {}
        }
    }

    fn spell(
        &self,
        term: Term,
        (uses, known): (&HashMap<Term, usize>, &mut HashMap<Term, Expression>),
        compute: &mut impl FnMut(Expression) -> Expression,
    ) -> Expression {
        if let Some(known) = known.get(&term) {
            return known.clone();
        }
        let (made, is_computed) = match self.node(term) {
            TermNode::Given(operand) => {
                let operand = self.operands.get(operand).cloned().unwrap_or_else(|| build::real(0.0));
                let is_computed = !build::is_operand(&operand);
                (operand, is_computed)
            }
            TermNode::Real(value) if value < 0.0 => (build::negated(build::real(-value)), false),
            TermNode::Real(value) => (build::real(value), false),
            TermNode::Int(value) if value < 0 => (build::negated(build::int(value.unsigned_abs())), false),
            TermNode::Int(value) => (build::int(value.unsigned_abs()), false),
            TermNode::Negated(inner) => (build::negated(self.spell(inner, (uses, known), compute)), true),
            TermNode::Applied(function, sources) => {
                let mut spelled = Vec::new();
                for source in sources {
                    spelled.push(self.spell(source, (uses, known), compute));
                }
                (build::applied(function, spelled), true)
            }
        };
        if is_computed && uses.get(&term).is_some_and(|uses| *uses > 1) {
            let cell = compute(made);
            known.insert(term, cell.clone());
            return cell;
        }
        made
    }

    fn node(&self, term: Term) -> TermNode {
        self.nodes.borrow().get(term.0).cloned().unwrap_or(TermNode::Real(f64::NAN))
    }

    fn push(&self, node: TermNode) -> Term {
        let mut nodes = self.nodes.borrow_mut();
        let known = nodes.iter().position(|known| *known == node);
        Term(known.unwrap_or_else(|| {
            nodes.push(node);
            nodes.len() - 1
        }))
    }

    fn apply(&self, function: Function, sources: &[Term]) -> Term {
        self.push(TermNode::Applied(function, sources.to_vec()))
    }

    fn named(&self, function: Option<Function>, sources: &[Term]) -> Eval<Term> {
        function.map(|function| self.apply(function, sources)).ok_or(Fault::NoSignature)
    }

    fn as_real(&self, term: Term) -> Option<f64> {
        match self.node(term) {
            TermNode::Real(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the negation of a comparison.
    fn opposite(&self, condition: Term) -> Option<Term> {
        let TermNode::Applied(function, sources) = self.node(condition) else { return None };
        Some(self.apply(opposite(function)?, &sources))
    }
}

impl Arith for &Terms {
    type Int = Term;
    type Real = Term;

    fn int(&self, value: i64) -> Term {
        self.push(TermNode::Int(value))
    }
    fn int_add(&self, a: Term, b: Term) -> Term {
        self.apply(Function::Sum, &[a, b])
    }
    fn int_sub(&self, a: Term, b: Term) -> Term {
        self.apply(Function::Diff, &[a, b])
    }
    fn int_neg(&self, a: Term) -> Term {
        self.push(TermNode::Negated(a))
    }
    fn int_mul(&self, a: Term, b: Term) -> Term {
        self.apply(Function::Mul, &[a, b])
    }
    fn int_div(&self, a: Term, b: Term) -> Eval<Term> {
        Ok(self.apply(Function::Div, &[a, b]))
    }
    fn int_rem(&self, a: Term, b: Term) -> Eval<Term> {
        Ok(self.apply(Function::Rem, &[a, b]))
    }
    fn int_pow(&self, a: Term, exponent: Term) -> Eval<Term> {
        Ok(self.apply(Function::Pow, &[a, exponent]))
    }
    fn int_and(&self, a: Term, b: Term) -> Term {
        self.apply(Function::And, &[a, b])
    }
    fn int_or(&self, a: Term, b: Term) -> Term {
        self.apply(Function::Or, &[a, b])
    }
    fn int_xor(&self, a: Term, b: Term) -> Term {
        self.apply(Function::Xor, &[a, b])
    }
    fn int_not(&self, a: Term) -> Term {
        let ones = self.int(-1);
        self.apply(Function::Xor, &[a, ones])
    }
    // No partial derivative rotates or shifts bits. A row that did so would get an expression that doesn't assemble.
    fn int_rol(&self, a: Term, amount: Term) -> Term {
        self.apply(Function::Shl, &[a, amount])
    }
    fn int_ror(&self, a: Term, amount: Term) -> Term {
        self.apply(Function::Shr, &[a, amount])
    }
    fn int_shl(&self, a: Term, amount: Term) -> Term {
        self.apply(Function::Shl, &[a, amount])
    }
    fn int_shr(&self, a: Term, amount: Term) -> Term {
        self.apply(Function::Shr, &[a, amount])
    }
    fn int_sar(&self, a: Term, amount: Term) -> Term {
        self.apply(Function::Sar, &[a, amount])
    }
    fn int_test(&self, order: Order, a: Term, b: Term) -> Term {
        self.apply(comparison(order), &[a, b])
    }
    /// The language has no choice between two values, so a choice is a sum in which one summand is 0.
    fn int_choose(&self, condition: Term, yes: Term, no: Term) -> Term {
        let Some(opposite) = self.opposite(condition) else { return yes };
        let (yes, no) = (self.int_mul(condition, yes), self.int_mul(opposite, no));
        self.int_add(yes, no)
    }

    fn real(&self, value: f64) -> Eval<Term> {
        Ok(self.push(TermNode::Real(value)))
    }
    fn add(&self, a: Term, b: Term) -> Eval<Term> {
        Ok(self.apply(Function::Sum, &[a, b]))
    }
    fn sub(&self, a: Term, b: Term) -> Eval<Term> {
        Ok(self.apply(Function::Diff, &[a, b]))
    }
    fn mul(&self, a: Term, b: Term) -> Eval<Term> {
        match (self.as_real(a), self.as_real(b)) {
            (Some(1.0), _) => Ok(b),
            (_, Some(1.0)) => Ok(a),
            _ => Ok(self.apply(Function::Mul, &[a, b])),
        }
    }
    fn div(&self, a: Term, b: Term) -> Eval<Term> {
        Ok(self.apply(Function::Div, &[a, b]))
    }
    fn neg(&self, a: Term) -> Eval<Term> {
        Ok(self.push(TermNode::Negated(a)))
    }
    fn pow(&self, a: Term, b: Term) -> Eval<Term> {
        Ok(self.apply(Function::Pow, &[a, b]))
    }
    fn powi(&self, a: Term, exponent: Term) -> Eval<Term> {
        Ok(self.apply(Function::Powi, &[a, exponent]))
    }
    fn atan2(&self, y: Term, x: Term) -> Eval<Term> {
        Ok(self.apply(Function::Atan2, &[y, x]))
    }
    fn hypot(&self, a: Term, b: Term) -> Eval<Term> {
        Ok(self.apply(Function::Hypot, &[a, b]))
    }
    fn elementary(&self, function: Elementary, a: Term) -> Eval<Term> {
        self.named(Function::from_name(function.name()), &[a])
    }
    // No row rotates a point: rotations are updates.
    fn rotate(&self, _point: (Term, Term), _angle: Term) -> Eval<(Term, Term)> {
        Err(Fault::NoSignature)
    }
    fn rotate_back(&self, _point: (Term, Term), _angle: Term) -> Eval<(Term, Term)> {
        Err(Fault::NoSignature)
    }
    fn test(&self, order: Order, a: Term, b: Term) -> Term {
        self.apply(comparison(order), &[a, b])
    }
    /// A choice is a sum in which one summand is 0, as for [`Arith::int_choose`].
    fn choose(&self, condition: Term, yes: Term, no: Term) -> Term {
        let Some(opposite) = self.opposite(condition) else { return yes };
        let weight = |condition: Term| self.apply(Function::ToReal, &[condition]);
        match (self.as_real(yes), self.as_real(no)) {
            (Some(1.0), Some(0.0)) => weight(condition),
            (Some(0.0), Some(1.0)) => weight(opposite),
            (Some(-1.0), Some(0.0)) => self.push(TermNode::Negated(weight(condition))),
            (Some(0.0), _) => self.apply(Function::Mul, &[weight(opposite), no]),
            (_, Some(0.0)) => self.apply(Function::Mul, &[weight(condition), yes]),
            _ => {
                let part = |condition, value| match self.as_real(value) {
                    Some(1.0) => weight(condition),
                    _ => self.apply(Function::Mul, &[weight(condition), value]),
                };
                self.apply(Function::Sum, &[part(condition, yes), part(opposite, no)])
            }
        }
    }
    fn real_of(&self, a: Term) -> Eval<Term> {
        match self.node(a) {
            TermNode::Int(value) => Ok(self.push(TermNode::Real(value as f64))),
            _ => Ok(self.apply(Function::ToReal, &[a])),
        }
    }
    fn int_of(&self, a: Term) -> Eval<Term> {
        Ok(self.apply(Function::ToInt, &[a]))
    }

    /// Returns the computed formula; the textbook formula if the language can't express the computed one.
    fn written_as(
        &self,
        written: impl FnOnce() -> Eval<Term>,
        computed: impl FnOnce() -> Eval<Term>,
    ) -> Eval<Term> {
        computed().or_else(|_| written())
    }
}
