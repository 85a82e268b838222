//! Lifting: transforms an SSA function on plain reals to the same function on truncated Taylor series. A series with
//! two coefficients is a dual number. On dual numbers, a lifted run computes a Jacobian–vector product, and a lifted
//! gradient computes a Hessian–vector product.
//!
//! The values of the plain function stay; they are the coefficients of order 0. The *higher coefficients* are computed
//! by the recurrences of [`TaylorReals`], executed with coefficients that are SSA values ([`arithmetic`]). So a lifted
//! function computes the same numbers as the interpreter. A value is *varied* if it may have higher coefficients other
//! than 0 ([`varied`]). Only for varied values are higher coefficients computed.
//!
//! In memory, the coefficients of a cell follow each other. If each cell has n coefficients, coefficient k of cell c
//! has the address c·n + k.
//!
//! A lifted function fails in two cases. In the first case, the interpreter would report a lost derivative. In the
//! second case, an operand has the derivative 0, and the partial derivative with respect to this operand is infinite.
//! In both cases, the interpreter repeats the call.

mod arithmetic;
mod varied;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::number::TaylorReals;
use reviver_isa::number::taylor::Coefficients;
use reviver_vm::differentiate::matrices::MAX_ORDER;

use self::arithmetic::{CodeArithmetic, Coefficient, OpenBlock};
use self::varied::{Varied, accessed};
use crate::function::{Definition, SsaBlock, SsaFunction};
use crate::op::{Coordinate, OpKind, Space, SsaOp, SsaValue};
use crate::order::reached;
use crate::rows::of_adjoints;

/// Upper bound on the coefficients of a value.
const MOST_LANES: usize = MAX_ORDER + 1;

/// The coefficients of a value. Coefficients of an order that is at least the number of lanes are 0.
type Jet = Coefficients<Coefficient, MOST_LANES>;

/// Upper bound on the values of a function after lifting. A product of series with n coefficients takes about n²
/// operations.
const MOST_VALUES: usize = 1 << 17;

/// The facts about a function that lifting needs.
#[derive(Clone, Debug)]
pub struct LiftFacts<'f> {
    /// The reals of the start that may have higher coefficients other than 0.
    pub moved: &'f [Range<u32>],
    /// True if the function must fail at ties: where two compared reals are equal but their higher coefficients differ.
    pub rejects_ties: bool,
    /// Tests whether an adjoint is 0 ([`silence_tests`]).
    pub silence_tests: &'f BTreeSet<SsaValue>,
}

/// Returns the tests of a reverse sweep that compare an adjoint with 0. An adjoint is 0 only if all its coefficients
/// are 0. The result of every other comparison depends only on the coefficients of order 0.
pub fn silence_tests(reverse: &SsaFunction) -> BTreeSet<SsaValue> {
    let by_adjoint = of_adjoints(reverse);
    let tests = by_adjoint.iter().copied().filter(|&value| match reverse.op(value) {
        Some(SsaOp { kind: OpKind::Test(Order::Eq | Order::Ne), operands, .. }) => operands
            .iter()
            .any(|&operand| reverse.op(operand).is_some_and(|op| matches!(op.kind, OpKind::Real(0)))),
        _ => false,
    });
    tests.collect()
}

/// Lifts a function to series with `lanes` coefficients; `lanes` is at least 2. Returns `None` if compiled code has no
/// recurrence for an operation, or if the lifted function would be too long.
pub fn lifted(function: SsaFunction, lanes: u32, facts: LiftFacts) -> Option<SsaFunction> {
    let order: Vec<u32> = reached(&function).into_iter().rev().collect();
    let factor = lanes;
    let lanes = lanes as usize;
    if !(2..=MOST_LANES).contains(&lanes) || function.length().saturating_mul(lanes) > MOST_VALUES {
        return None;
    }
    let varied = Varied::of(&function, &order, facts.moved);
    let mut lifting = Lifting {
        lanes,
        varied,
        silence_tests: facts.silence_tests,
        rejects_ties: facts.rejects_ties,
        open: RefCell::new(OpenBlock::new(function)),
        higher: BTreeMap::new(),
    };
    for &block in &order {
        lifting.lift_parameters(block)?;
    }
    for &block in &order {
        lifting.lift_block(block)?;
    }
    let mut function = lifting.open.into_inner().function;
    function.cells.reals = function.cells.reals.checked_mul(factor)?;
    function.demands.frame_reals = function.demands.frame_reals.checked_mul(factor)?;
    function.demands.level.reals = function.demands.level.reals.checked_mul(factor)?;
    Some(function)
}

/// A function that is being lifted, block by block.
struct Lifting<'f> {
    /// Number of coefficients of each varied value.
    lanes: usize,
    varied: Varied,
    silence_tests: &'f BTreeSet<SsaValue>,
    rejects_ties: bool,
    open: RefCell<OpenBlock>,
    /// The coefficients of varied values. Coefficient 0 is the value itself.
    higher: BTreeMap<SsaValue, Jet>,
}

impl Lifting<'_> {
    fn series(&self) -> TaylorReals<CodeArithmetic<'_>, MOST_LANES> {
        TaylorReals::up_to(CodeArithmetic(&self.open), self.lanes - 1)
    }

    /// Returns the coefficients of a real.
    fn jet(&self, value: SsaValue) -> Jet {
        if let Some(&jet) = self.higher.get(&value) {
            return jet;
        }
        let mut jet = Jet::default();
        jet.0[0] = self.open.borrow().coefficient(value);
        jet
    }

    /// Returns coefficient `k` of a real as a value. If the coefficient is a literal, appends the literal.
    fn lane(&self, value: SsaValue, k: usize) -> SsaValue {
        let lane = self.jet(value).0[k];
        if k == 0 { value } else { self.open.borrow_mut().value(lane) }
    }

    /// Iterates over the higher coefficients of a real that aren't known to be 0.
    fn moving_lanes(&self, value: SsaValue) -> impl Iterator<Item = SsaValue> {
        let lanes = self.jet(value).0.into_iter().skip(1);
        lanes.filter(|lane| *lane != Coefficient::default()).map(|lane| self.open.borrow_mut().value(lane))
    }

    /// Appends an operation to the open block.
    fn put(&self, kind: OpKind, operands: &[SsaValue]) -> SsaValue {
        self.open.borrow_mut().put(kind, operands)
    }

    /// Adds parameters for the higher coefficients of a block's varied parameters.
    fn lift_parameters(&mut self, number: u32) -> Option<()> {
        let function = &mut self.open.get_mut().function;
        let block = function.blocks.get_mut(number as usize)?;
        let varied: Vec<SsaValue> =
            block.parameters.iter().copied().filter(|&value| self.varied.has(value)).collect();
        for value in varied {
            let first = function.definitions.len() as u32;
            function.definitions.extend((1..self.lanes).map(|_| Definition::Parameter(Class::Real)));
            let lanes = std::array::from_fn(|k| match k {
                0 => Coefficient::Value(value),
                _ if k < self.lanes => Coefficient::Value(SsaValue(first + k as u32 - 1)),
                _ => Coefficient::default(),
            });
            block.parameters.extend((first..).take(self.lanes - 1).map(SsaValue));
            self.higher.insert(value, Coefficients(lanes));
        }
        Some(())
    }

    /// Lifts the operations of a block, and the arguments that it passes.
    fn lift_block(&mut self, number: u32) -> Option<()> {
        let block = self.open.get_mut().function.blocks.get_mut(number as usize)?;
        let (ops, mut end) = (std::mem::take(&mut block.ops), block.end.clone());
        for value in ops {
            self.lift_op(value)?;
            if self.open.get_mut().function.definitions.len() > MOST_VALUES {
                return None;
            }
        }
        for jump in end.jumps_mut() {
            let to = self.open.get_mut().function.blocks.get(jump.to as usize)?;
            let passed: Vec<(SsaValue, SsaValue)> =
                to.parameters.iter().copied().zip(jump.arguments.iter().copied()).collect();
            for (_, argument) in passed.into_iter().filter(|(parameter, _)| self.varied.has(*parameter)) {
                jump.arguments.extend((1..self.lanes).map(|k| self.lane(argument, k)));
            }
        }
        let open = self.open.get_mut();
        let ops = open.finish();
        let block: &mut SsaBlock = open.function.blocks.get_mut(number as usize)?;
        (block.ops, block.end) = (ops, end);
        Some(())
    }

    /// Appends an operation, and the operations for the higher coefficients of its result. Returns `None` if the
    /// operation can't be lifted.
    fn lift_op(&mut self, value: SsaValue) -> Option<()> {
        let Some(op) = self.open.get_mut().function.op(value).cloned() else { return Some(()) };
        self.open.get_mut().guard = op.guard;
        match op.kind {
            OpKind::Load(space) if space.class() == Class::Real => self.lift_load(value, space)?,
            OpKind::Store(space) if space.class() == Class::Real => self.lift_store(value, space)?,
            OpKind::Test(order) if self.silence_tests.contains(&value) => {
                self.lift_silence_test(value, order)?;
            }
            OpKind::Test(_) => {
                self.open.get_mut().take(value);
                if self.rejects_ties {
                    self.require_no_tie(&op);
                }
            }
            // The code that counts freed cells marks the places at which a tangent would be lost.
            OpKind::CountDiscarded => self.require_no_tangent(&op),
            OpKind::IntOf => {
                self.require_no_tangent(&op);
                self.open.get_mut().take(value);
            }
            _ => {
                self.open.get_mut().take(value);
                self.lift_pure(value, &op)?;
            }
        }
        Some(())
    }

    /// Appends checks that the higher coefficients of the operands of `op` are 0, up to the tolerance.
    fn require_no_tangent(&self, op: &SsaOp) {
        for lane in op.operands.iter().flat_map(|&operand| self.moving_lanes(operand)) {
            self.put(OpKind::RequireVacant, &[lane]);
        }
    }

    /// Appends a check that the operands of a test don't tie.
    fn require_no_tie(&self, op: &SsaOp) {
        let &[a, b] = op.operands.as_slice() else { return };
        let (of_a, of_b) = (self.jet(a), self.jet(b));
        let mut differ = None;
        for (a, b) in of_a.0.into_iter().zip(of_b.0).skip(1).filter(|(a, b)| a != b) {
            let [a, b] = [a, b].map(|lane| self.open.borrow_mut().value(lane));
            let differs = self.put(OpKind::Test(Order::Ne), &[a, b]);
            differ = Some(differ.map_or(differs, |other| self.put(OpKind::IntOr, &[other, differs])));
        }
        if let Some(differ) = differ {
            let is_equal = self.put(OpKind::Test(Order::Eq), &[a, b]);
            let ties = self.put(OpKind::IntAnd, &[is_equal, differ]);
            let zero = self.put(OpKind::Int(0), &[]);
            let is_sure = self.put(OpKind::IntTest(Order::Eq), &[ties, zero]);
            self.put(OpKind::RequireTrue, &[is_sure]);
        }
    }

    /// Appends the operations for the higher coefficients of an operation that accesses no memory.
    fn lift_pure(&mut self, value: SsaValue, op: &SsaOp) -> Option<()> {
        if op.kind == OpKind::RequireAdmitted {
            for lane in op.operands.iter().flat_map(|&operand| self.moving_lanes(operand)) {
                self.put(OpKind::RequireAdmitted, &[lane]);
            }
        }
        if !self.varied.has(value) {
            return Some(());
        }
        let jet = self.recurrence(value, op)?;
        self.higher.insert(value, jet);
        Some(())
    }

    /// Returns the coefficients of an operation's result; `None` if there is no recurrence.
    fn recurrence(&self, value: SsaValue, op: &SsaOp) -> Option<Jet> {
        let series = self.series();
        let primal = Coefficient::Value(value);
        let of = |n: usize| op.operands.get(n).map(|&operand| self.jet(operand));
        let coefficients = op.operands.iter().flat_map(|&operand| self.jet(operand).0);
        let values: Vec<SsaValue> = coefficients.filter_map(Coefficient::as_value).collect();
        self.open.borrow_mut().operands = values;
        let made = match op.kind {
            OpKind::Add => series.sum(of(0)?, of(1)?),
            OpKind::Sub => series.difference(of(0)?, of(1)?),
            OpKind::Mul => series.product(&of(0)?, &of(1)?),
            OpKind::Div => series.quotient(&of(0)?, &of(1)?),
            OpKind::Neg => series.negated(of(0)?),
            OpKind::Pow => series.real_power(&of(0)?, &of(1)?),
            OpKind::Powi => series.whole_power(&of(0)?, *op.operands.get(1)?),
            OpKind::Atan2 => series.angle(&of(0)?, &of(1)?, primal),
            OpKind::Hypot => series.length(&of(0)?, &of(1)?, primal),
            OpKind::Elementary(function) => series.function(function, &of(0)?),
            OpKind::Turn { back, axis } => {
                let (x, y, angle) = (of(0)?, of(1)?, of(2)?);
                let turned = if back { series.turn_back(x, y, &angle) } else { series.turn(x, y, &angle) };
                turned.map(|(x, y)| if axis == Coordinate::X { x } else { y })
            }
            OpKind::Choose => {
                let (condition, yes, no) = (*op.operands.first()?, of(1)?, of(2)?);
                let choose = |k: usize| self.open.borrow_mut().choose(condition, yes.0[k], no.0[k]);
                Ok(Coefficients(std::array::from_fn(|k| if k == 0 { primal } else { choose(k) })))
            }
            // Only passes generate `OpKind::Magnitude`, and they run after lifting.
            _ => return None,
        };
        let mut jet = made.ok()?;
        jet.0[0] = primal;
        Some(jet)
    }

    /// Changes a test that compares an adjoint with 0 to a test of all the adjoint's coefficients.
    fn lift_silence_test(&mut self, value: SsaValue, order: Order) -> Option<()> {
        let op = self.open.get_mut().function.op(value)?.clone();
        let lanes: Vec<SsaValue> =
            op.operands.iter().flat_map(|&operand| self.moving_lanes(operand)).collect();
        let Some((last, others)) = lanes.split_last() else {
            self.open.get_mut().take(value);
            return Some(());
        };
        let zero = self.put(OpKind::Real(0), &[]);
        let join = if order == Order::Ne { OpKind::IntOr } else { OpKind::IntAnd };
        let mut all = self.put(op.kind, &op.operands);
        for &lane in others {
            let test = self.put(OpKind::Test(order), &[lane, zero]);
            all = self.put(join, &[all, test]);
        }
        let test = self.put(OpKind::Test(order), &[*last, zero]);
        let open = self.open.get_mut();
        open.redefine(value, join, &[all, test]);
        open.take(value);
        Some(())
    }

    /// Appends a load of a cell's coefficients.
    fn lift_load(&mut self, value: SsaValue, space: Space) -> Option<()> {
        let address = *self.open.get_mut().function.op(value)?.operands.first()?;
        let mut jet = Jet::default();
        for k in 0..self.lanes {
            let place = self.lane_address(address, k)?;
            if k == 0 {
                let open = self.open.get_mut();
                open.redefine(value, OpKind::Load(space), &[place]);
                open.take(value);
                jet.0[0] = Coefficient::Value(value);
            } else if self.varied.has(value) {
                jet.0[k] = Coefficient::Value(self.put(OpKind::Load(space), &[place]));
            }
        }
        if self.varied.has(value) {
            self.higher.insert(value, jet);
        }
        Some(())
    }

    /// Appends a store of a value's coefficients. If a cell can't have higher coefficients other than 0, no code reads
    /// them, so they aren't stored. Those of adjoints and results are always stored, because the caller reads them.
    fn lift_store(&mut self, value: SsaValue, space: Space) -> Option<()> {
        let (address, stored) = match self.open.get_mut().function.op(value)?.operands.as_slice() {
            &[address, stored] => (address, stored),
            _ => return None,
        };
        let cells = accessed(&self.open.get_mut().function, address);
        let has_lanes =
            matches!(space, Space::Adjoints | Space::Results) || self.varied.may_vary(space, cells);
        for k in 0..if has_lanes { self.lanes } else { 1 } {
            let lane = self.lane(stored, k);
            let place = self.lane_address(address, k)?;
            if k == 0 {
                let open = self.open.get_mut();
                open.redefine(value, OpKind::Store(space), &[place, stored]);
                open.take(value);
            } else {
                self.put(OpKind::Store(space), &[place, lane]);
            }
        }
        Some(())
    }

    /// Returns the address of coefficient `k` of the cell at an address.
    fn lane_address(&self, address: SsaValue, k: usize) -> Option<SsaValue> {
        let (lanes, k) = (self.lanes as i64, k as i64);
        let scaled = |cell: i64| cell.checked_mul(lanes)?.checked_add(k);
        if let Some(cell) = self.literal(address) {
            return Some(self.put(OpKind::Int(scaled(cell)?), &[]));
        }
        let (base, index, stride) = self.place_of(address).unwrap_or((0, address, 1));
        let base = self.put(OpKind::Int(scaled(base)?), &[]);
        let stride = self.put(OpKind::Int(stride.checked_mul(lanes)?), &[]);
        Some(self.put(OpKind::Place, &[base, index, stride]))
    }

    /// Returns base, index and stride of an address that is base + index·stride; `None` unless base and stride are
    /// literals.
    fn place_of(&self, address: SsaValue) -> Option<(i64, SsaValue, i64)> {
        let place = self.open.borrow().function.op(address).cloned()?;
        match (place.kind, place.operands.as_slice()) {
            (OpKind::Place, &[base, index, stride]) => {
                Some((self.literal(base)?, index, self.literal(stride)?))
            }
            _ => None,
        }
    }

    /// Returns the number of a value that is a literal integer; otherwise returns `None`.
    fn literal(&self, value: SsaValue) -> Option<i64> {
        self.open.borrow().literal(value)
    }
}
