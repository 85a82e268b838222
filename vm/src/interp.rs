//! The interpreter: the reference for what every instruction does.
//!
//! One loop serves both directions, because the program holds the inverse of its code as code. It is
//! generic over the width of integers, the number system and the history, so that none of them is
//! asked about in a step. The inner loop handles instructions that change only cells and the
//! position; [`crate::structural`] handles the rest. Prints nothing, knows no names.

use reviver_isa::Function;
use reviver_isa::fault::{Eval, Fault};
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::update::Update;

use crate::address::Scope;
use crate::history::{History, Kept};
use crate::op::{self, Kind, Op};
use crate::program::{BACKWARD, FORWARD, Program};
use crate::state::{Counters, State};
use crate::trap::{Cause, Trap};

/// The user's direction of travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Travel {
    Forward,
    Backward,
}

impl Travel {
    /// The opposite direction.
    pub fn reversed(self) -> Travel {
        match self {
            Travel::Forward => Travel::Backward,
            Travel::Backward => Travel::Forward,
        }
    }

    /// Whether a step in this direction over an interval between two steps leads back toward step 0,
    /// so that it restores what was recorded there.
    pub(crate) fn restores(self, interval: i64) -> bool {
        (self == Travel::Forward) == (interval < 0)
    }

    /// How a step changes the step number.
    pub fn sign(self) -> i64 {
        match self {
            Travel::Forward => 1,
            Travel::Backward => -1,
        }
    }
}

/// Why a run paused without a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The budget of steps is used up.
    Budget,
    /// There is nothing further in the direction of travel: history end, or history begin.
    Bound,
    /// A `show` was passed for the first time: the instruction's index and the value.
    Shown { at: u32, class: Class, bits: u64 },
}

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
    /// What isn't frequent is left to [`Slow`], so that the loop stays in registers.
    fn cells(&mut self, clock: Clock) -> Pause {
        let numbers = self.numbers;
        let code = &self.program.code[self.direction][..];
        let (mut counter, mut left) = (self.counter, self.left);
        let State { ints, reals, frame, references, counters, .. } = &mut *self.state;
        let (ints, reals) = (&mut ints[..], &mut reals[..]);
        let scope = Scope { places: &self.program.places, frame: *frame, references };
        let history = &mut *self.history;
        let mut slow = Slow {
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
                    match slow.order(join, ints, reals) {
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
                        let ordering = match slow.order(op, ints, reals) {
                            Ok(ordering) => ordering,
                            Err(cause) => break Pause::Trap(cause),
                        };
                        match op.kind {
                            Kind::BrDynamic => branch!(op, ordering),
                            _ => join!(op, ordering),
                        }
                    }
                    Kind::Dynamic => {
                        if let Err(cause) = slow.execute_dynamic(op, ints, reals, left) {
                            break Pause::Trap(cause);
                        }
                    }
                    kind if kind.is_data() => {
                        if let Err(cause) = slow.execute_static(op, ints, reals, left) {
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

/// Where a run began: what it takes to number the intervals that it crosses.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    travel: Travel,
    budget: u64,
    step: i64,
}

impl Clock {
    /// The number of the interval between two steps that the next step crosses.
    fn interval(self, left: u64) -> i64 {
        let passed = (self.budget - left) as i64;
        self.step + if self.travel == Travel::Forward { passed } else { -passed - 1 }
    }
}

/// What became of an instruction that might be a frequent one.
enum Frequent {
    Done,
    Fault(Fault),
    Other,
}

/// Executes the most frequent instructions. The rows are asked here as everywhere, by name, so that
/// what they compute is compiled in.
#[inline(always)]
fn frequent<W: Words, R: Reals, H: History>(
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

/// Instructions on cells that are rare, or that a history takes part in.
struct Slow<'a, W, R, H> {
    numbers: Arithmetic<W, R>,
    tolerance: f64,
    counters: &'a mut Counters,
    history: &'a mut H,
    clock: Clock,
    scope: Scope<'a>,
    program: &'a Program,
}

impl<W: Words, R: Reals, H: History> Slow<'_, W, R, H> {
    /// Executes an instruction whose cells are known since the program was loaded.
    #[inline(never)]
    fn execute_static(
        &mut self,
        op: &Op,
        ints: &mut [i64],
        reals: &mut [u64],
        left: u64,
    ) -> Result<(), Cause> {
        self.execute(op, op.cells(), ints, reals, left)
    }

    /// The ordering of any branch half's sources.
    #[inline(never)]
    fn order(&self, op: &Op, ints: &[i64], reals: &[u64]) -> Result<u8, Cause> {
        let cells = self.scope.sources(op, ints)?;
        Ok(op.order(cells, ints, reals, self.numbers.reals))
    }

    /// Executes an instruction whose cells are only known now.
    #[inline(never)]
    fn execute_dynamic(
        &mut self,
        op: &Op,
        ints: &mut [i64],
        reals: &mut [u64],
        left: u64,
    ) -> Result<(), Cause> {
        let op = &self.program.dynamic[op.a as usize];
        let cells = self.scope.operands(op, ints)?;
        match frequent::<W, R, H>(op, cells, self.numbers, ints, reals) {
            Frequent::Done => Ok(()),
            Frequent::Fault(fault) => Err(Cause::Fault(fault)),
            Frequent::Other => self.execute(op, cells, ints, reals, left),
        }
    }

    fn execute(
        &mut self,
        op: &Op,
        [a, b, c]: [usize; 3],
        ints: &mut [i64],
        reals: &mut [u64],
        left: u64,
    ) -> Result<(), Cause> {
        let Slow { numbers, tolerance, counters, .. } = self;
        let (numbers, tolerance, counters) = (*numbers, *tolerance, &mut **counters);
        let interval = self.clock.interval(left);
        let restores = self.clock.travel.restores(interval);
        let mut journal = Journal { history: &mut *self.history, interval, restores };
        if H::ACTIVE && restores && is_lossy(op) && journal.restore(ints, reals, counters) {
            return Ok(());
        }
        let load = |reals: &[u64], cell: usize| numbers.reals.of_bits(reals[cell]);
        match op.kind {
            Kind::IntFromInts | Kind::AddIntCopy | Kind::SubIntCopy | Kind::XorIntCopy => {
                let f = op.function.int(&numbers, ints[b], ints[c])?;
                journal.overwritten_int(op, a, ints[a], numbers.words.bits(), counters);
                ints[a] = apply_int(numbers.words, op, ints[a], f);
            }
            Kind::IntFromReals => {
                let f = op.function.reals_to_int(&numbers, load(reals, b), load(reals, c))?;
                journal.overwritten_int(op, a, ints[a], numbers.words.bits(), counters);
                ints[a] = apply_int(numbers.words, op, ints[a], f);
            }
            Kind::RealFromReals
            | Kind::RealFromRealInt
            | Kind::RealFromInts
            | Kind::AddRealCopy
            | Kind::SubRealCopy
            | Kind::AddRealMul
            | Kind::SubRealMul => {
                let f = match op.kind {
                    Kind::RealFromRealInt => op.function.real_int(&numbers, load(reals, b), ints[c])?,
                    Kind::RealFromInts => op.function.ints_to_real(&numbers, ints[b], ints[c])?,
                    _ => op.function.real(&numbers, load(reals, b), load(reals, c))?,
                };
                let old = load(reals, a);
                let new = apply_real(numbers.reals, op, old, f)?;
                if H::ACTIVE && op.extra != OVERWRITE {
                    journal.residue(numbers.reals, a, old, undo_real(numbers.reals, op, new, f));
                }
                journal.overwritten_real(op, a, reals[a], numbers.reals.width(), counters);
                reals[a] = numbers.reals.to_bits(new);
            }
            Kind::NegInt => ints[a] = numbers.words.wrap(ints[a].wrapping_neg()),
            Kind::NegReal => reals[a] = numbers.reals.to_bits(numbers.reals.neg(load(reals, a))?),
            Kind::NotInt => ints[a] = !ints[a],
            Kind::Rotate | Kind::RotateBack => {
                let (x, y, angle) = (load(reals, a), load(reals, b), load(reals, c));
                let (turn, back) = match op.kind {
                    Kind::Rotate => (R::rotate as Turn<R>, R::rotate_back as Turn<R>),
                    _ => (R::rotate_back as Turn<R>, R::rotate as Turn<R>),
                };
                let (new_x, new_y) = admit_point(numbers.reals, turn(&numbers.reals, x, y, angle))?;
                if H::ACTIVE {
                    let point = back(&numbers.reals, new_x, new_y, angle);
                    journal.residue_of_point(numbers.reals, [a, b], (x, y), point);
                }
                reals[a] = numbers.reals.to_bits(new_x);
                reals[b] = numbers.reals.to_bits(new_y);
            }
            Kind::AssertInt | Kind::AssertReal => {
                let holds = op.holds(op.order([a, b, c], ints, reals, numbers.reals));
                if !holds && keeps(Rule::AssertionsAreChecked) {
                    return Err(Cause::AssertFailed);
                }
            }
            Kind::VacateInt => {
                let vacant = ints[a] == 0;
                if !vacant && keeps(Rule::VacancyIsChecked) {
                    return Err(Cause::NotVacant { class: Class::Int, cell: a as u32 });
                }
            }
            Kind::VacateReal => {
                if !vacant(numbers.reals, tolerance, reals[a]) && keeps(Rule::VacancyIsChecked) {
                    return Err(Cause::NotVacant { class: Class::Real, cell: a as u32 });
                }
                journal.discarded(numbers.reals, a, reals[a], counters);
                reals[a] = 0;
            }
            Kind::EraseInt => {
                journal.erased(Class::Int, a, ints[a] as u64, numbers.words.bits(), counters);
                ints[a] = 0;
            }
            Kind::EraseReal => {
                journal.erased(Class::Real, a, reals[a], numbers.reals.width(), counters);
                reals[a] = 0;
            }
            Kind::Restore if keeps(Rule::ErasuresAreIrreversible) => return Err(Cause::Irreversible),
            // Branches and swaps are the loop's own, the rest is structural.
            _ => {}
        }
        Ok(())
    }
}

const OVERWRITE: u8 = Update::Overwrite as u8;
const ADD: u8 = Update::Add as u8;
const SUB: u8 = Update::Sub as u8;
const XOR: u8 = Update::Xor as u8;
const ROL: u8 = Update::Rol as u8;
const ROR: u8 = Update::Ror as u8;

type Turn<R> = fn(
    &R,
    <R as Reals>::Cell,
    <R as Reals>::Cell,
    <R as Reals>::Cell,
) -> Eval<(<R as Reals>::Cell, <R as Reals>::Cell)>;

/// Whether a step can lose bits: undoing it with a record needs nothing else.
fn is_lossy(op: &Op) -> bool {
    use Kind::*;
    matches!(
        op.kind,
        RealFromReals
            | RealFromRealInt
            | RealFromInts
            | AddRealCopy
            | SubRealCopy
            | AddRealMul
            | SubRealMul
            | Rotate
            | RotateBack
            | VacateReal
            | Restore
    )
}

#[inline(always)]
fn apply_int<W: Words>(words: W, op: &Op, y: i64, f: i64) -> i64 {
    match op.extra {
        ADD => words.wrap(y.wrapping_add(f)),
        SUB => words.wrap(y.wrapping_sub(f)),
        XOR => y ^ f,
        ROL => words.rol(y, f),
        ROR => words.ror(y, f),
        _ => f,
    }
}

#[inline(always)]
fn apply_real<R: Reals>(reals: R, op: &Op, y: R::Cell, f: R::Cell) -> Eval<R::Cell> {
    let new = match op.extra {
        ADD => reals.add(y, f)?,
        SUB => reals.sub(y, f)?,
        _ => f,
    };
    reals.admit(new)
}

fn undo_real<R: Reals>(reals: R, op: &Op, new: R::Cell, f: R::Cell) -> Eval<R::Cell> {
    match op.extra {
        ADD => reals.sub(new, f),
        _ => reals.add(new, f),
    }
}

#[inline(always)]
fn admit_point<R: Reals>(reals: R, point: Eval<(R::Cell, R::Cell)>) -> Eval<(R::Cell, R::Cell)> {
    let (x, y) = point?;
    Ok((reals.admit(x)?, reals.admit(y)?))
}

/// Whether a real cell is vacant.
pub(crate) fn vacant<R: Reals>(reals: R, tolerance: f64, bits: u64) -> bool {
    bits == 0 || !R::EXACT && reals.to_f64(reals.of_bits(bits)).abs() <= tolerance
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
    fn order<R: Reals>(&self, cells: [usize; 3], ints: &[i64], reals: &[u64], system: R) -> u8 {
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

/// The history as one step sees it.
pub(crate) struct Journal<'a, H> {
    pub history: &'a mut H,
    pub interval: i64,
    pub restores: bool,
}

impl<H: History> Journal<'_, H> {
    /// Puts back everything that was recorded for this interval; whether there was anything.
    pub fn restore(&mut self, ints: &mut [i64], reals: &mut [u64], counters: &mut Counters) -> bool {
        let mut any = false;
        while let Some(kept) = self.history.take(self.interval) {
            kept.restore(ints, reals, counters);
            any = true;
        }
        any
    }

    fn keep(&mut self, class: Class, cell: usize, bits: u64, erased: u32, discarded: u32) {
        if H::ACTIVE && !self.restores {
            let kept = Kept { class, cell: cell as u32, bits, erased, discarded };
            self.history.record(self.interval, kept);
        }
    }

    /// Records a real's old bits unless undoing the update gives them back.
    #[inline]
    fn residue<R: Reals>(&mut self, reals: R, cell: usize, old: R::Cell, undone: Eval<R::Cell>) {
        let bits = reals.to_bits(old);
        if !R::EXACT && keeps(Rule::ResiduesAreKept) && undone.map(|value| reals.to_bits(value)) != Ok(bits) {
            self.keep(Class::Real, cell, bits, 0, 0);
        }
    }

    /// Records both coordinates unless undoing the rotation gives both back: a step with a record
    /// is undone by its record alone.
    fn residue_of_point<R: Reals>(
        &mut self,
        reals: R,
        [x, y]: [usize; 2],
        old: (R::Cell, R::Cell),
        undone: Eval<(R::Cell, R::Cell)>,
    ) {
        let bits = |(x, y): (R::Cell, R::Cell)| (reals.to_bits(x), reals.to_bits(y));
        if !R::EXACT && keeps(Rule::ResiduesAreKept) && undone.map(bits) != Ok(bits(old)) {
            self.keep(Class::Real, x, bits(old).0, 0, 0);
            self.keep(Class::Real, y, bits(old).1, 0, 0);
        }
    }

    /// Counts and records a float that is vacated although it isn't 0.
    pub fn discarded<R: Reals>(&mut self, reals: R, cell: usize, bits: u64, counters: &mut Counters) {
        if bits != 0 {
            counters.discarded_bits += u64::from(reals.width());
            self.keep(Class::Real, cell, bits, 0, reals.width());
        }
    }

    fn erased(&mut self, class: Class, cell: usize, bits: u64, width: u32, counters: &mut Counters) {
        if keeps(Rule::ErasuresAreCounted) {
            counters.erased_bits += u64::from(width);
        }
        self.keep(class, cell, bits, width, 0);
    }

    #[inline(always)]
    fn overwritten_int(&mut self, op: &Op, cell: usize, old: i64, width: u32, counters: &mut Counters) {
        if op.extra == OVERWRITE {
            self.erased(Class::Int, cell, old as u64, width, counters);
        }
    }

    #[inline(always)]
    fn overwritten_real(&mut self, op: &Op, cell: usize, old: u64, width: u32, counters: &mut Counters) {
        if op.extra == OVERWRITE {
            self.erased(Class::Real, cell, old, width, counters);
        }
    }
}

impl From<Fault> for Cause {
    fn from(fault: Fault) -> Cause {
        Cause::Fault(fault)
    }
}
