//! Arithmetic on coefficients that are SSA values: each operation is appended to the open block.

use std::cell::RefCell;
use std::collections::HashMap;

use reviver_isa::arith::{Elementary, Order};
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::number::taylor::CoefficientArithmetic;
use reviver_isa::number::try_literal_bits;

use crate::function::{Definition, SsaFunction};
use crate::op::{Coordinate, OpKind, SsaOp, SsaValue};

/// A coefficient of a series: a literal's bits or an SSA value. The default is the literal 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coefficient {
    Known(u64),
    Value(SsaValue),
}

impl Coefficient {
    /// Returns the SSA value; `None` if the coefficient is a literal.
    pub fn as_value(self) -> Option<SsaValue> {
        match self {
            Coefficient::Known(_) => None,
            Coefficient::Value(value) => Some(value),
        }
    }
}

impl Default for Coefficient {
    fn default() -> Self {
        Coefficient::Known(0)
    }
}

/// Largest magnitude up to which every float system represents all integers exactly.
const MOST_EXACT: u64 = 1 << 24;

/// A function, and the operations of the block that is being lifted.
pub(super) struct OpenBlock {
    pub function: SsaFunction,
    /// The guard of appended operations that may fail.
    pub guard: Option<SsaValue>,
    /// The coefficients of the operands of the operation that is being lifted.
    pub operands: Vec<SsaValue>,
    ops: Vec<SsaValue>,
    /// The values of those operations of the block whose position doesn't matter. The map ensures that no such
    /// operation is appended twice.
    known: HashMap<SsaOp, SsaValue>,
}

impl OpenBlock {
    pub fn new(function: SsaFunction) -> OpenBlock {
        OpenBlock { function, guard: None, operands: Vec::new(), ops: Vec::new(), known: HashMap::new() }
    }

    /// Returns the operations of the block, and prepares for another block.
    pub fn finish(&mut self) -> Vec<SsaValue> {
        self.known.clear();
        self.guard = None;
        std::mem::take(&mut self.ops)
    }

    /// Appends an operation that is already defined.
    pub fn take(&mut self, value: SsaValue) {
        self.ops.push(value);
        if let Some(op) = self.function.op(value).filter(|op| !op.kind.facts().is_placed) {
            self.known.entry(op.clone()).or_insert(value);
        }
    }

    /// Replaces the definition of a value that isn't in a block yet. Its guard stays.
    pub fn redefine(&mut self, value: SsaValue, kind: OpKind, operands: &[SsaValue]) {
        let op = self.op(kind, operands);
        if let Some(definition) = self.function.definitions.get_mut(value.0 as usize) {
            *definition = Definition::Op(op);
        }
    }

    /// Appends an operation, unless the block has an equal one, and returns its value.
    pub fn put(&mut self, kind: OpKind, operands: &[SsaValue]) -> SsaValue {
        let op = self.op(kind, operands);
        if let Some(&known) = self.known.get(&op) {
            return known;
        }
        let value = SsaValue(self.function.definitions.len() as u32);
        self.function.definitions.push(Definition::Op(op));
        self.take(value);
        value
    }

    fn op(&self, kind: OpKind, operands: &[SsaValue]) -> SsaOp {
        let guard = self.guard.filter(|_| kind.may_fail(self.function.numbers.system));
        SsaOp { kind, operands: operands.iter().copied().collect(), guard }
    }

    /// Returns a plain real as a coefficient.
    pub fn coefficient(&self, value: SsaValue) -> Coefficient {
        match self.function.op(value).map(|op| op.kind) {
            Some(OpKind::Real(bits)) => Coefficient::Known(bits),
            _ => Coefficient::Value(value),
        }
    }

    /// Returns the number of a value that is a literal integer; otherwise returns `None`.
    pub fn literal(&self, value: SsaValue) -> Option<i64> {
        match self.function.op(value)?.kind {
            OpKind::Int(literal) => Some(literal),
            _ => None,
        }
    }

    /// Returns a coefficient as a value.
    pub fn value(&mut self, coefficient: Coefficient) -> SsaValue {
        match coefficient {
            Coefficient::Known(bits) => self.put(OpKind::Real(bits), &[]),
            Coefficient::Value(value) => value,
        }
    }

    /// Appends a select: `yes` if the integer `condition` isn't 0, otherwise `no`.
    pub fn choose(&mut self, condition: SsaValue, yes: Coefficient, no: Coefficient) -> Coefficient {
        if yes == no {
            return yes;
        }
        let (yes, no) = (self.value(yes), self.value(no));
        Coefficient::Value(self.put(OpKind::Choose, &[condition, yes, no]))
    }
}

/// Arithmetic that appends operations to the open block.
#[derive(Clone, Copy)]
pub(super) struct CodeArithmetic<'c>(pub &'c RefCell<OpenBlock>);

impl CodeArithmetic<'_> {
    fn put<const K: usize>(self, kind: OpKind, operands: [Coefficient; K]) -> Eval<Coefficient> {
        let open = &mut *self.0.borrow_mut();
        let operands = operands.map(|operand| open.value(operand));
        Ok(Coefficient::Value(open.put(kind, &operands)))
    }

    /// Returns true if a coefficient is a literal, or belongs to an operand of the operation that is being lifted. All
    /// others may be infinite or not-a-number, for example a quotient by 0.
    fn is_finite(self, a: Coefficient) -> bool {
        match a {
            Coefficient::Known(_) => true,
            Coefficient::Value(value) => self.0.borrow().operands.contains(&value),
        }
    }

    fn is_one(self, a: Coefficient) -> bool {
        self.literal(1.0) == Ok(a)
    }
}

/// Products and quotients with the literal 1, and sums with the literal 0, take no operation; nor do products of the
/// literal 0 with finite numbers.
impl CoefficientArithmetic for CodeArithmetic<'_> {
    type Cell = Coefficient;
    type Exponent = SsaValue;

    fn literal(&self, value: f64) -> Eval<Coefficient> {
        let system = self.0.borrow().function.numbers.system;
        try_literal_bits(system, value).map(Coefficient::Known)
    }
    fn of_int(&self, a: i64) -> Eval<Coefficient> {
        let a = self.0.borrow_mut().put(OpKind::Int(a), &[]);
        self.of_exponent(a)
    }
    fn known(&self, _a: Coefficient) -> Eval<f64> {
        Err(Fault::Domain)
    }

    fn add(&self, a: Coefficient, b: Coefficient) -> Eval<Coefficient> {
        let zero = Coefficient::default();
        match (a, b) {
            (a, b) if b == zero => Ok(a),
            (a, b) if a == zero => Ok(b),
            (a, b) => self.put(OpKind::Add, [a, b]),
        }
    }
    fn sub(&self, a: Coefficient, b: Coefficient) -> Eval<Coefficient> {
        let zero = Coefficient::default();
        match (a, b) {
            (a, b) if b == zero => Ok(a),
            (a, b) if a == zero => self.neg(b),
            (a, b) => self.put(OpKind::Sub, [a, b]),
        }
    }
    fn mul(&self, a: Coefficient, b: Coefficient) -> Eval<Coefficient> {
        let zero = Coefficient::default();
        match (a, b) {
            (a, b) if a == zero && self.is_finite(b) => Ok(zero),
            (a, b) if b == zero && self.is_finite(a) => Ok(zero),
            (a, b) if self.is_one(a) => Ok(b),
            (a, b) if self.is_one(b) => Ok(a),
            (a, b) => self.put(OpKind::Mul, [a, b]),
        }
    }
    fn div(&self, a: Coefficient, b: Coefficient) -> Eval<Coefficient> {
        if self.is_one(b) { Ok(a) } else { self.put(OpKind::Div, [a, b]) }
    }
    fn neg(&self, a: Coefficient) -> Eval<Coefficient> {
        if a == Coefficient::default() { Ok(a) } else { self.put(OpKind::Neg, [a]) }
    }
    fn pow(&self, a: Coefficient, b: Coefficient) -> Eval<Coefficient> {
        self.put(OpKind::Pow, [a, b])
    }
    fn powi(&self, a: Coefficient, n: SsaValue) -> Eval<Coefficient> {
        let open = &mut *self.0.borrow_mut();
        let a = open.value(a);
        Ok(Coefficient::Value(open.put(OpKind::Powi, &[a, n])))
    }
    fn lower_power(&self, a: Coefficient, power: Coefficient, n: SsaValue, m: usize) -> Eval<Coefficient> {
        let divided = || (0..m).try_fold(power, |power, _| self.div(power, a));
        let lowered = || {
            let open = &mut *self.0.borrow_mut();
            let m = m as i64;
            let less = match open.literal(n) {
                Some(n) => open.put(OpKind::Int(n - m), &[]),
                None => {
                    let m = open.put(OpKind::Int(m), &[]);
                    open.put(OpKind::IntSub, &[n, m])
                }
            };
            let a = open.value(a);
            Ok(Coefficient::Value(open.put(OpKind::Powi, &[a, less])))
        };
        let literal = self.0.borrow().literal(n);
        match literal {
            Some(..0) => divided(),
            Some(_) => lowered(),
            None => {
                let (divided, lowered) = (divided()?, lowered()?);
                let open = &mut *self.0.borrow_mut();
                let zero = open.put(OpKind::Int(0), &[]);
                let is_negative = open.put(OpKind::IntTest(Order::Lt), &[n, zero]);
                Ok(open.choose(is_negative, divided, lowered))
            }
        }
    }
    fn of_exponent(&self, n: SsaValue) -> Eval<Coefficient> {
        let literal = self.0.borrow().literal(n);
        match literal {
            Some(n) if n.unsigned_abs() <= MOST_EXACT => self.literal(n as f64),
            _ => Ok(Coefficient::Value(self.0.borrow_mut().put(OpKind::RealOf, &[n]))),
        }
    }
    fn hypot(&self, a: Coefficient, b: Coefficient) -> Eval<Coefficient> {
        self.put(OpKind::Hypot, [a, b])
    }
    fn elementary(&self, function: Elementary, a: Coefficient) -> Eval<Coefficient> {
        self.put(OpKind::Elementary(function), [a])
    }
    fn rotate(&self, x: Coefficient, y: Coefficient, angle: Coefficient) -> Eval<[Coefficient; 2]> {
        turned(*self, false, [x, y, angle])
    }
    fn rotate_back(&self, x: Coefficient, y: Coefficient, angle: Coefficient) -> Eval<[Coefficient; 2]> {
        turned(*self, true, [x, y, angle])
    }

    fn if_less<const K: usize>(
        &self,
        a: Coefficient,
        b: Coefficient,
        less: impl FnOnce() -> Eval<[Coefficient; K]>,
        other: impl FnOnce() -> Eval<[Coefficient; K]>,
    ) -> Eval<[Coefficient; K]> {
        let (less, other) = (less()?, other()?);
        let open = &mut *self.0.borrow_mut();
        let operands = [a, b].map(|operand| open.value(operand));
        let condition = open.put(OpKind::Test(Order::Lt), &operands);
        Ok(std::array::from_fn(|n| open.choose(condition, less[n], other[n])))
    }
}

fn turned(numbers: CodeArithmetic, back: bool, point: [Coefficient; 3]) -> Eval<[Coefficient; 2]> {
    let turn = |axis| numbers.put(OpKind::Turn { back, axis }, point);
    Ok([turn(Coordinate::X)?, turn(Coordinate::Y)?])
}
