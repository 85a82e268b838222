//! Evaluator of SSA functions. It is slow, but its code is simple enough to define the meaning of an SSA function.
//! Tests compare all compiling engines with the evaluator. This module is independent of machines.

use reviver_isa::arith::{Arith, Elementary};
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::module::RealSystem;
use reviver_isa::number::{Arithmetic, F32, F64, FixedPoint, Narrow, Reals};
use reviver_vm::differentiate::evidence::SweepEvidence;
use reviver_vm::watch::{Freed, Rounding};

use crate::backend::{Backend, Code};
use crate::function::{Definition, Jump, SsaEnd, SsaFunction};
use crate::op::{Coordinate, OpKind, Space, SsaOp, SsaValue};
use crate::run::{CellMemory, CodeOutcome, Counts, Job};

/// Executes an SSA function.
pub fn evaluate(function: &SsaFunction, job: Job) -> CodeOutcome {
    match function.numbers.system {
        RealSystem::F64 => Evaluation::new(function, F64, job).run(),
        RealSystem::F32 => Evaluation::new(function, F32, job).run(),
        RealSystem::Fixed(bits) => Evaluation::new(function, FixedPoint::new(bits), job).run(),
    }
}

/// Engine that evaluates SSA functions without compiling them.
#[derive(Clone, Copy, Debug)]
pub struct Evaluator;

impl Backend for Evaluator {
    fn compile(&self, function: SsaFunction) -> Option<Box<dyn Code>> {
        Some(Box::new(function))
    }
}

impl Code for SsaFunction {
    fn run(&self, job: Job) -> CodeOutcome {
        evaluate(self, job)
    }
}

struct Evaluation<'f, 'c, 'w, R> {
    function: &'f SsaFunction,
    job: Job<'c, 'w>,
    /// Remaining steps of `budget`. Before a turning point, `budget` is the step budget of the run. After a turning
    /// point, it is the step budget of the reverse sweep.
    left: u64,
    budget: u64,
    /// Number of steps before the turning point.
    primal_steps: u64,
    numbers: Arithmetic<Narrow, R>,
    /// Each value: an integer, or the bits of a real.
    values: Vec<u64>,
    counts: Counts,
}

/// Error of the evaluator: a check failed, or an operation has no result for its operands.
struct CheckFailed;

impl From<Fault> for CheckFailed {
    fn from(_: Fault) -> CheckFailed {
        CheckFailed
    }
}

impl<'f, 'c, 'w, R: Reals<Bits = u64>> Evaluation<'f, 'c, 'w, R> {
    fn new(function: &'f SsaFunction, reals: R, job: Job<'c, 'w>) -> Evaluation<'f, 'c, 'w, R> {
        let numbers = Arithmetic { words: Narrow(function.numbers.word), reals };
        let mut values = vec![0; function.definitions.len()];
        for ((value, _), &given) in function.inputs().zip(job.inputs) {
            values[value.0 as usize] = given.into();
        }
        Evaluation {
            function,
            numbers,
            values,
            left: job.left,
            budget: job.left,
            primal_steps: 0,
            job,
            counts: Counts::default(),
        }
    }

    fn run(mut self) -> CodeOutcome {
        let mut block = 0;
        loop {
            let here = &self.function.blocks[block as usize];
            for &value in &here.ops {
                if self.op(value).is_err() {
                    return CodeOutcome::Failed;
                }
            }
            self.left -= u64::from(here.steps);
            self.counts.calls += u64::from(here.calls);
            let jump = match &here.end {
                SsaEnd::Jump(jump) => jump,
                SsaEnd::Branch { condition, yes, no } => {
                    if self.int(*condition) != 0 {
                        yes
                    } else {
                        no
                    }
                }
                SsaEnd::Safepoint { steps, skipped, next, stop } => {
                    let skipped = skipped.map_or(0, |skipped| self.bits(skipped));
                    if self.left >= u64::from(*steps).saturating_add(skipped) {
                        self.left -= skipped;
                        next
                    } else {
                        stop
                    }
                }
                SsaEnd::Exit { exit } => {
                    return CodeOutcome::Exit {
                        exit: *exit,
                        steps: self.primal_steps + self.budget - self.left,
                        primal_steps: self.primal_steps,
                        counts: self.counts,
                    };
                }
            };
            block = self.pass(jump);
        }
    }

    /// Passes the arguments of a jump, and returns its target. All arguments are read before any parameter is set,
    /// because an argument may be a parameter of the same block.
    fn pass(&mut self, jump: &Jump) -> u32 {
        let given: Vec<u64> =
            jump.arguments.iter().map(|argument| self.values[argument.0 as usize]).collect();
        for (parameter, given) in self.function.blocks[jump.to as usize].parameters.iter().zip(given) {
            self.values[parameter.0 as usize] = given;
        }
        jump.to
    }

    fn int(&self, value: SsaValue) -> i64 {
        self.values[value.0 as usize] as i64
    }

    fn bits(&self, value: SsaValue) -> u64 {
        self.values[value.0 as usize]
    }

    fn real(&self, value: SsaValue) -> R::Cell {
        self.numbers.reals.of_bits(self.bits(value))
    }

    fn op(&mut self, value: SsaValue) -> Result<(), CheckFailed> {
        let Some(Definition::Op(op)) = self.function.definition(value) else { return Ok(()) };
        let made = match self.made(op) {
            Ok(made) => made,
            Err(_) if op.guard.is_some_and(|guard| self.int(guard) == 0) => Some(0),
            Err(failed) => return Err(failed),
        };
        if let Some(made) = made {
            self.values[value.0 as usize] = made;
        }
        Ok(())
    }

    fn operands<const N: usize>(&self, op: &SsaOp) -> [SsaValue; N] {
        std::array::from_fn(|n| op.operands[n])
    }

    /// Executes an operation. Returns the bits of its result, if it has one.
    fn made(&mut self, op: &SsaOp) -> Result<Option<u64>, CheckFailed> {
        let s = self.numbers;
        let reals = s.reals;
        let ints = |e: &Self| e.operands::<2>(op).map(|value| e.int(value));
        let pair = |e: &Self| e.operands::<2>(op).map(|value| e.real(value));
        let int = |value: i64| Ok(Some(value as u64));
        let real = |value: Eval<R::Cell>| Ok(Some(reals.to_bits(value?)));
        let [a] = if op.operands.is_empty() { [SsaValue(0)] } else { self.operands::<1>(op) };
        match op.kind {
            OpKind::Int(value) => int(value),
            OpKind::Real(bits) => Ok(Some(bits)),
            // The constructor has set the value.
            OpKind::Input(_) => Ok(None),
            OpKind::IntAdd => int(of(ints(self), |a, b| s.int_add(a, b))),
            OpKind::IntSub => int(of(ints(self), |a, b| s.int_sub(a, b))),
            OpKind::IntNeg => int(s.int_neg(self.int(a))),
            OpKind::IntMul => int(of(ints(self), |a, b| s.int_mul(a, b))),
            OpKind::IntDiv => int(of(ints(self), |a, b| s.int_div(a, b))?),
            OpKind::IntRem => int(of(ints(self), |a, b| s.int_rem(a, b))?),
            OpKind::IntPow => int(of(ints(self), |a, b| s.int_pow(a, b))?),
            OpKind::IntAnd => int(of(ints(self), |a, b| s.int_and(a, b))),
            OpKind::IntOr => int(of(ints(self), |a, b| s.int_or(a, b))),
            OpKind::IntXor => int(of(ints(self), |a, b| s.int_xor(a, b))),
            OpKind::IntNot => int(s.int_not(self.int(a))),
            OpKind::IntRol => int(of(ints(self), |a, b| s.int_rol(a, b))),
            OpKind::IntRor => int(of(ints(self), |a, b| s.int_ror(a, b))),
            OpKind::IntShl => int(of(ints(self), |a, b| s.int_shl(a, b))),
            OpKind::IntShr => int(of(ints(self), |a, b| s.int_shr(a, b))),
            OpKind::IntSar => int(of(ints(self), |a, b| s.int_sar(a, b))),
            OpKind::IntTest(order) => int(of(ints(self), |a, b| s.int_test(order, a, b))),
            OpKind::IntChoose => {
                let [condition, yes, no] = self.operands::<3>(op).map(|value| self.int(value));
                int(s.int_choose(condition, yes, no))
            }
            OpKind::Add => real(of(pair(self), |a, b| s.add(a, b))),
            OpKind::Sub => real(of(pair(self), |a, b| s.sub(a, b))),
            OpKind::Mul => real(of(pair(self), |a, b| s.mul(a, b))),
            OpKind::Div => real(of(pair(self), |a, b| s.div(a, b))),
            OpKind::Neg => real(s.neg(self.real(a))),
            OpKind::Magnitude => {
                let a = self.real(a);
                real(if reals.to_f64(a) < 0.0 { s.neg(a) } else { Ok(a) })
            }
            OpKind::Pow => real(of(pair(self), |a, b| s.pow(a, b))),
            OpKind::Powi => {
                let [a, exponent] = self.operands(op);
                real(s.powi(self.real(a), self.int(exponent)))
            }
            OpKind::Atan2 => real(of(pair(self), |y, x| s.atan2(y, x))),
            OpKind::Hypot => real(of(pair(self), |a, b| s.hypot(a, b))),
            OpKind::Elementary(function) => real(self.elementary(function, a)),
            OpKind::Turn { back, axis } => {
                let [x, y, angle] = self.operands(op).map(|value| self.real(value));
                let turned = if back { s.rotate_back((x, y), angle) } else { s.rotate((x, y), angle) };
                real(turned.map(|(x, y)| match axis {
                    Coordinate::X => x,
                    Coordinate::Y => y,
                }))
            }
            OpKind::Test(order) => int(of(pair(self), |a, b| s.test(order, a, b))),
            OpKind::Choose => {
                let [condition, yes, no] = self.operands(op);
                Ok(Some(self.bits(if self.int(condition) != 0 { yes } else { no })))
            }
            OpKind::RealOf => real(s.real_of(self.int(a))),
            OpKind::IntOf => int(s.int_of(self.real(a))?),
            OpKind::Index { offset } => {
                let [index, length] = ints(self);
                let index = index.wrapping_add(offset);
                if (0..length).contains(&index) { int(index) } else { Err(CheckFailed) }
            }
            OpKind::Place => {
                let [base, index, stride] = self.operands(op).map(|value| self.int(value));
                int(base + index * stride)
            }
            OpKind::Clock { here } => Ok(Some((self.budget - self.left).wrapping_add(here.into()))),
            OpKind::Load(space) => Ok(Some(self.job.cells.load(space, self.int(a)))),
            OpKind::Store(space) => {
                let [address, value] = self.operands(op);
                let (address, value) = (self.int(address), self.bits(value));
                self.job.cells.store(space, address, value);
                Ok(None)
            }
            OpKind::RequireAdmitted => reals.admit(self.real(a)).map(|_| None).map_err(CheckFailed::from),
            OpKind::RequireVacant => {
                let tolerance = if R::EXACT { 0.0 } else { self.function.numbers.tolerance };
                required(reals.to_f64(self.real(a)).abs() <= tolerance)
            }
            OpKind::RequireTrue => required(self.int(a) != 0),
            OpKind::RequireApart => required(of(ints(self), |a, b| a != b)),
            OpKind::CountErased(bits) => {
                self.counts.erased_bits += u64::from(bits);
                Ok(None)
            }
            OpKind::CountDiscarded => {
                if self.bits(a) != 0 {
                    self.counts.discarded_bits += u64::from(reals.width());
                }
                Ok(None)
            }
            OpKind::CountDropped => {
                self.counts.drops += u64::from(self.real(a) != R::Cell::default());
                Ok(None)
            }
            OpKind::Jumped => {
                let before = self.budget - self.left - 1;
                self.job.watcher.iter_mut().for_each(|watcher| watcher.jumped(before));
                Ok(None)
            }
            OpKind::Turned { slack } => {
                let made = self.budget - self.left;
                self.primal_steps = made;
                self.budget = made + u64::from(slack);
                self.left = self.budget;
                self.job.watcher.iter_mut().for_each(|watcher| watcher.turn(made, self.budget));
                Ok(None)
            }
            OpKind::Arrived => Ok(None),
            OpKind::Largest => {
                let magnitude = reals.to_f64(self.real(a)).abs();
                self.job
                    .evidence
                    .iter_mut()
                    .for_each(|evidence| evidence.largest = evidence.largest.max(magnitude));
                Ok(None)
            }
            OpKind::Missed { row } => {
                let [from, to, adjoint] = self.operands::<3>(op).map(|value| self.real(value));
                let is_same = self.bits(op.operands[0]) == self.bits(op.operands[1]);
                let [from, to, adjoint] = [from, to, adjoint].map(|real| reals.to_f64(real));
                let rounding = Rounding::of(self.function.numbers.system);
                let miss = |evidence: &mut SweepEvidence| evidence.miss([from, to], (row, adjoint), rounding);
                required(is_same || self.job.evidence.as_deref_mut().is_none_or(miss))
            }
            OpKind::Freed { row: row @ 1.., .. } => {
                let [value, adjoint] = pair(self).map(|real| reals.to_f64(real));
                self.job.evidence.iter_mut().for_each(|evidence| evidence.freed(value, (row, adjoint)));
                Ok(None)
            }
            OpKind::Freed { at, row: 0 } => {
                let [value, adjoint] = pair(self);
                if value != R::Cell::default() {
                    let freed = Freed { at, value: reals.to_f64(value) };
                    let adjoint = reals.to_f64(adjoint);
                    self.job.watcher.iter_mut().for_each(|watcher| watcher.freed(freed, adjoint));
                }
                Ok(None)
            }
        }
    }

    fn elementary(&self, function: Elementary, a: SsaValue) -> Eval<R::Cell> {
        self.numbers.elementary(function, self.real(a))
    }
}

fn of<T, U>([a, b]: [T; 2], f: impl FnOnce(T, T) -> U) -> U {
    f(a, b)
}

fn required(holds: bool) -> Result<Option<u64>, CheckFailed> {
    if holds { Ok(None) } else { Err(CheckFailed) }
}

impl CellMemory<'_> {
    fn load(&self, space: Space, address: i64) -> u64 {
        match space {
            Space::Ints => self.ints[address as usize] as u64,
            Space::Reals => self.reals[address as usize],
            Space::Adjoints => self.adjoints[address as usize],
            Space::References => self.references[address as usize] as u64,
            Space::StartInts => self.start_ints[address as usize] as u64,
            Space::StartReals => self.start_reals[address as usize],
            Space::Results => self.results[address as usize],
        }
    }

    fn store(&mut self, space: Space, address: i64, value: u64) {
        match space {
            Space::Ints => self.ints[address as usize] = value as i64,
            Space::Reals => self.reals[address as usize] = value,
            Space::Adjoints => self.adjoints[address as usize] = value,
            Space::References => self.references[address as usize] = value as i64,
            Space::Results => self.results[address as usize] = value,
            Space::StartInts | Space::StartReals => unreachable!("code doesn't store to the start state"),
        }
    }
}
