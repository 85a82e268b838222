//! The interpreter: the reference for what every instruction does.
//!
//! One loop serves both directions, because the program holds the inverse of its code as code. It is
//! generic over the width of integers, the number system and the history, so that none of them is
//! asked about in a step. The hot loop handles branches and the most frequent instructions on cells;
//! [`crate::rare`] has the other instructions on cells, [`crate::structural`] what changes more than
//! cells. Prints nothing, knows no names.

use reviver_isa::Function;
use reviver_isa::fault::Fault;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};

use crate::address::Scope;
use crate::history::History;
use crate::op::{self, Kind, Op};
use crate::program::{BACKWARD, FORWARD, Program};
use crate::rare::{OVERWRITE, Rare, apply_real};
use crate::state::State;
use crate::trap::{Cause, Trap};
use crate::travel::{Clock, Stop, Travel};

/// Why the inner loop paused.
pub(crate) enum Pause {
    Budget,
    /// The next instruction isn't one of the inner loop's.
    Structural,
    /// The join that the next instruction jumps to denies the jump.
    Denied,
    Trap(Cause),
}

/// One run: the machine's parts, and where it stands in the code of the direction that it executes.
pub(crate) struct Run<'a, W, R, H> {
    pub program: &'a Program,
    pub numbers: Arithmetic<W, R>,
    pub tolerance: f64,
    pub state: &'a mut State,
    pub history: &'a mut H,
    pub travel: Travel,
    /// Steps that may still be made.
    pub left: u64,
    /// Index in `Program::code`.
    pub direction: usize,
    pub counter: usize,
}

/// Makes at most `budget` steps.
///
/// # Errors
/// A trap; the state is then the one before the instruction that trapped.
pub(crate) fn run<W: Words, R: Reals, H: History>(
    program: &Program,
    numbers: Arithmetic<W, R>,
    state: &mut State,
    history: &mut H,
    travel: Travel,
    budget: u64,
) -> Result<Stop, Trap> {
    let tolerance = program.module().tolerance();
    let direction = effective_direction(state.inverted, travel);
    let counter = program.counter(state.position, direction);
    let mut run =
        Run { program, numbers, tolerance, state, history, travel, left: budget, direction, counter };
    let outcome = run.go();
    let at = run.program.instruction_at(run.counter, run.direction);
    run.state.position = run.program.position(run.counter, run.direction);
    run.state.step += run.travel.sign() * (budget - run.left) as i64;
    outcome.map_err(|cause| Trap { at, cause })
}

/// The machine's own direction and the user's, together.
pub(crate) fn effective_direction(inverted: bool, travel: Travel) -> usize {
    match (inverted, travel) {
        (false, Travel::Forward) | (true, Travel::Backward) => FORWARD,
        _ => BACKWARD,
    }
}

impl<W: Words, R: Reals, H: History> Run<'_, W, R, H> {
    fn go(&mut self) -> Result<Stop, Cause> {
        let clock = Clock { travel: self.travel, budget: self.left, step: self.state.step };
        loop {
            match self.cells(clock) {
                Pause::Budget => return Ok(Stop::Budget),
                Pause::Trap(cause) => return Err(cause),
                Pause::Denied => return Err(self.denied()),
                Pause::Structural => {
                    let interval = clock.interval(self.left);
                    if let Some(stop) = self.structural(interval)? {
                        return Ok(stop);
                    }
                }
            }
        }
    }

    fn denied(&self) -> Cause {
        let landing = self.program.code[self.direction][self.counter].c as usize;
        Cause::UnexpectedJump { partner: self.program.instruction_at(landing - 1, self.direction) }
    }

    /// Whether a step over this interval leads back toward step 0, so that it restores.
    pub(crate) fn restores(&self, interval: i64) -> bool {
        self.travel.restores(interval)
    }

    /// The hot loop: executes instructions that change only cells, and branches.
    ///
    /// What isn't frequent is left to [`Rare`], so that the loop stays in registers.
    fn cells(&mut self, clock: Clock) -> Pause {
        let numbers = self.numbers;
        let code = &self.program.code[self.direction][..];
        let (mut counter, mut left) = (self.counter, self.left);
        let State { ints, reals, frame, references, counters, .. } = &mut *self.state;
        let (ints, reals) = (&mut ints[..], &mut reals[..]);
        let scope = Scope { places: &self.program.places, frame: *frame, references };
        let history = &mut *self.history;
        let mut rare = Rare {
            numbers,
            tolerance: self.tolerance,
            counters,
            history,
            clock,
            scope,
            program: self.program,
        };

        /// Goes behind the partner of a branch half, if its condition agrees.
        macro_rules! jump {
            ($op:ident) => {{
                let join = &code[$op.c as usize - 1];
                let agrees = if $op.flags & op::LANDS_ON_INTS != 0 {
                    join.holds(join.order_ints(join.cells(), ints))
                } else if $op.flags & op::LANDS_ALWAYS != 0 {
                    true
                } else {
                    match rare.order(join, ints, reals) {
                        Ok(ordering) => join.holds(ordering),
                        Err(cause) => break Pause::Trap(cause),
                    }
                };
                if !agrees && keeps(Rule::LandingsAreChecked) {
                    break Pause::Denied;
                }
                counter = $op.c as usize;
                left -= 1;
                continue;
            }};
        }
        macro_rules! branch {
            ($op:ident, $ordering:expr) => {
                if $op.holds($ordering) {
                    jump!($op);
                }
            };
        }
        macro_rules! join {
            ($op:ident, $ordering:expr) => {
                if $op.holds($ordering) && keeps(Rule::JoinsAreChecked) {
                    break Pause::Trap(Cause::UnexpectedFall);
                }
            };
        }

        let pause = loop {
            if left == 0 {
                break Pause::Budget;
            }
            let op = &code[counter];
            match frequent::<W, R, H>(op, op.cells(), numbers, ints, reals) {
                Frequent::Done => {}
                Frequent::Fault(fault) => break Pause::Trap(Cause::Fault(fault)),
                Frequent::Other => match op.kind {
                    Kind::Jump => jump!(op),
                    Kind::BrInt => branch!(op, op.order_ints(op.cells(), ints)),
                    Kind::BrReal => branch!(op, op.order_reals(op.cells(), reals, numbers.reals)),
                    Kind::FromInt => join!(op, op.order_ints(op.cells(), ints)),
                    Kind::FromReal => join!(op, op.order_reals(op.cells(), reals, numbers.reals)),
                    Kind::BrDynamic | Kind::FromDynamic => {
                        let ordering = match rare.order(op, ints, reals) {
                            Ok(ordering) => ordering,
                            Err(cause) => break Pause::Trap(cause),
                        };
                        match op.kind {
                            Kind::BrDynamic => branch!(op, ordering),
                            _ => join!(op, ordering),
                        }
                    }
                    Kind::Dynamic => {
                        if let Err(cause) = rare.execute_dynamic(op, ints, reals, left) {
                            break Pause::Trap(cause);
                        }
                    }
                    kind if kind.is_data() => {
                        if let Err(cause) = rare.execute_static(op, ints, reals, left) {
                            break Pause::Trap(cause);
                        }
                    }
                    _ => break Pause::Structural,
                },
            }
            counter += 1;
            left -= 1;
        };
        self.counter = counter;
        self.left = left;
        pause
    }
}

/// What became of an instruction that might be a frequent one.
pub(crate) enum Frequent {
    Done,
    Fault(Fault),
    Other,
}

/// Executes the most frequent instructions. The rows are asked here as everywhere, by name, so that
/// what they compute is compiled in.
#[inline(always)]
pub(crate) fn frequent<W: Words, R: Reals, H: History>(
    op: &Op,
    [a, b, c]: [usize; 3],
    numbers: Arithmetic<W, R>,
    ints: &mut [i64],
    reals: &mut [u64],
) -> Frequent {
    let load = |cell: usize| numbers.reals.of_bits(reals[cell]);
    let updated = match op.kind {
        Kind::AddIntCopy => {
            let Ok(f) = Function::Copy.int(&numbers, ints[b], 0) else { return Frequent::Other };
            ints[a] = numbers.words.wrap(ints[a].wrapping_add(f));
            return Frequent::Done;
        }
        Kind::SubIntCopy => {
            let Ok(f) = Function::Copy.int(&numbers, ints[b], 0) else { return Frequent::Other };
            ints[a] = numbers.words.wrap(ints[a].wrapping_sub(f));
            return Frequent::Done;
        }
        Kind::XorIntCopy => {
            let Ok(f) = Function::Copy.int(&numbers, ints[b], 0) else { return Frequent::Other };
            ints[a] ^= f;
            return Frequent::Done;
        }
        Kind::SwapInt => {
            ints.swap(a, b);
            return Frequent::Done;
        }
        Kind::SwapReal => {
            reals.swap(a, b);
            return Frequent::Done;
        }
        Kind::VacateInt if ints[a] == 0 => return Frequent::Done,
        // With a history, a residue may have to be kept, or put back.
        Kind::VacateReal if !H::ACTIVE && reals[a] == 0 => return Frequent::Done,
        Kind::AddRealCopy if !H::ACTIVE => {
            Function::Copy.real(&numbers, load(b), load(b)).and_then(|f| numbers.reals.add(load(a), f))
        }
        Kind::SubRealCopy if !H::ACTIVE => {
            Function::Copy.real(&numbers, load(b), load(b)).and_then(|f| numbers.reals.sub(load(a), f))
        }
        Kind::AddRealMul if !H::ACTIVE => {
            Function::Mul.real(&numbers, load(b), load(c)).and_then(|f| numbers.reals.add(load(a), f))
        }
        Kind::SubRealMul if !H::ACTIVE => {
            Function::Mul.real(&numbers, load(b), load(c)).and_then(|f| numbers.reals.sub(load(a), f))
        }
        Kind::RealFromReals if !H::ACTIVE && op.extra != OVERWRITE => {
            return match accumulate(op, a, b, c, numbers, reals) {
                Ok(()) => Frequent::Done,
                Err(fault) => Frequent::Fault(fault),
            };
        }
        _ => return Frequent::Other,
    };
    match updated.and_then(|value| numbers.reals.admit(value)) {
        Ok(value) => {
            reals[a] = numbers.reals.to_bits(value);
            Frequent::Done
        }
        Err(fault) => Frequent::Fault(fault),
    }
}

/// y += f(a, b) or y -= f(a, b) for any row. Apart from the loop, because the rows take many registers.
#[inline(never)]
fn accumulate<W: Words, R: Reals>(
    op: &Op,
    a: usize,
    b: usize,
    c: usize,
    numbers: Arithmetic<W, R>,
    reals: &mut [u64],
) -> Result<(), Fault> {
    let load = |cell: usize| numbers.reals.of_bits(reals[cell]);
    let f = op.function.real(&numbers, load(b), load(c))?;
    let new = apply_real(numbers.reals, op, load(a), f)?;
    reals[a] = numbers.reals.to_bits(new);
    Ok(())
}

impl Op {
    /// The ordering of a condition's integer sources: 0 below, 1 equal, 2 above.
    #[inline(always)]
    fn order_ints(&self, [a, b, _]: [usize; 3], ints: &[i64]) -> u8 {
        ordering(ints[a], ints[b])
    }

    /// The ordering of a condition's real sources.
    #[inline(always)]
    fn order_reals<R: Reals>(&self, [a, b, _]: [usize; 3], reals: &[u64], system: R) -> u8 {
        ordering(system.of_bits(reals[a]), system.of_bits(reals[b]))
    }

    /// The ordering of a condition's sources, of whichever class.
    #[inline(always)]
    pub(crate) fn order<R: Reals>(&self, cells: [usize; 3], ints: &[i64], reals: &[u64], system: R) -> u8 {
        match self.kind {
            Kind::BrReal | Kind::FromReal | Kind::AssertReal => self.order_reals(cells, reals, system),
            Kind::BrDynamic | Kind::FromDynamic if self.extra & op::OF_REALS != 0 => {
                self.order_reals(cells, reals, system)
            }
            _ => self.order_ints(cells, ints),
        }
    }
}

#[inline(always)]
fn ordering<T: PartialOrd>(a: T, b: T) -> u8 {
    1 + u8::from(a > b) - u8::from(a < b)
}

impl From<Fault> for Cause {
    fn from(fault: Fault) -> Cause {
        Cause::Fault(fault)
    }
}
