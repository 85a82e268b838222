//! Instructions on cells that are rare, that a history takes part in, or whose cells are found at
//! each step. Apart from the hot loop, so that it stays in registers. Knows no branches and no calls.

use reviver_isa::fault::Eval;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::number::{Arithmetic, Reals, Words};
use reviver_isa::update::Update;

use crate::address::Scope;
use crate::history::History;
use crate::interp::{Frequent, frequent};
use crate::journal::Journal;
use crate::op::{Kind, Op};
use crate::program::Program;
use crate::state::Counters;
use crate::trap::Cause;
use crate::travel::Clock;

/// Instructions on cells that are rare, or that a history takes part in.
pub(crate) struct Rare<'a, W, R, H> {
    pub numbers: Arithmetic<W, R>,
    pub tolerance: f64,
    pub counters: &'a mut Counters,
    pub history: &'a mut H,
    pub clock: Clock,
    pub scope: Scope<'a>,
    pub program: &'a Program,
}

impl<W: Words, R: Reals, H: History> Rare<'_, W, R, H> {
    /// Executes an instruction whose cells are known since the program was loaded.
    #[inline(never)]
    pub fn execute_static(
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
    pub fn order(&self, op: &Op, ints: &[i64], reals: &[u64]) -> Result<u8, Cause> {
        let cells = self.scope.sources(op, ints)?;
        Ok(op.order(cells, ints, reals, self.numbers.reals))
    }

    /// Executes an instruction whose cells are only known now.
    #[inline(never)]
    pub fn execute_dynamic(
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
        let Rare { numbers, tolerance, counters, .. } = self;
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
                if op.extra == OVERWRITE {
                    journal.erased(Class::Int, a, ints[a] as u64, numbers.words.bits(), counters);
                }
                ints[a] = apply_int(numbers.words, op, ints[a], f);
            }
            Kind::IntFromReals => {
                let f = op.function.reals_to_int(&numbers, load(reals, b), load(reals, c))?;
                if op.extra == OVERWRITE {
                    journal.erased(Class::Int, a, ints[a] as u64, numbers.words.bits(), counters);
                }
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
                if op.extra == OVERWRITE {
                    journal.erased(Class::Real, a, reals[a], numbers.reals.width(), counters);
                } else if H::ACTIVE {
                    journal.residue(numbers.reals, a, old, undo_real(numbers.reals, op, new, f));
                }
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

pub(crate) const OVERWRITE: u8 = Update::Overwrite as u8;
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
pub(crate) fn apply_real<R: Reals>(reals: R, op: &Op, y: R::Cell, f: R::Cell) -> Eval<R::Cell> {
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
