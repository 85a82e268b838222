//! Selects the interpreter loop that is compiled for a module's integer width and number system.

use reviver_isa::fault::Eval;
use reviver_isa::module::{RealSystem, Word};
use reviver_isa::number::{Arithmetic, F32, F64, FixedPoint, Narrow, TaylorReals, Wide};

use crate::allocation::OutOfMemory;
use crate::history::{NoHistory, Residues};
use crate::interp::run;
use crate::interp::tasks::sum_of_shares;
use crate::interp::window::Window;
use crate::numbers::with_reals;
use crate::program::Program;
use crate::reports::Reports;
use crate::state::State;
use crate::state::lanes::Lanes;
use crate::trap::Trap;
use crate::travel::{Segment, Stop};

/// A representation of reals for which an interpreter loop exists: plain numbers, or Taylor series.
pub trait Interpreted: Lanes {
    /// True for plain numbers. A machine over dual or Taylor numbers always uses the interpreter.
    const IS_PLAIN: bool;

    /// Calls `look` with the state in plain numbers, that is, with the first word of every real.
    ///
    /// # Errors
    /// Fails if the state must be converted and there is no memory.
    fn plainly<T>(state: &State<Self>, look: impl FnOnce(&State) -> T) -> Result<T, OutOfMemory>;

    /// Executes the steps of a segment, and records losses if there is a history.
    ///
    /// # Errors
    /// Returns a trap; the state is then the one before the instruction that trapped.
    fn execute(
        program: &Program,
        state: &mut State<Self>,
        history: Option<&mut Residues<Self>>,
        reports: &mut Reports,
        window: &mut Window,
        segment: Segment,
    ) -> Result<Stop, Trap>;

    /// Returns the sum of a deferred adjoint and the share that a task has accumulated.
    ///
    /// # Errors
    /// Fails if the program's number system can't represent the sum.
    fn sum_of_shares(program: &Program, waited: Self, share: Self) -> Eval<Self>;
}

/// Plain numbers. In each number system, programs with 64-bit words that run without a history have their own loop. The
/// other loop of the number system handles all word sizes, with and without a history, because every additional loop
/// takes seconds to compile.
impl Interpreted for u64 {
    const IS_PLAIN: bool = true;

    fn plainly<T>(state: &State, look: impl FnOnce(&State) -> T) -> Result<T, OutOfMemory> {
        Ok(look(state))
    }

    fn execute(
        program: &Program,
        state: &mut State,
        mut history: Option<&mut Residues>,
        reports: &mut Reports,
        window: &mut Window,
        segment: Segment,
    ) -> Result<Stop, Trap> {
        let word = program.module().word;
        with_reals!(program.module().real, |reals| if history.is_none() && word == Word::W64 {
            let numbers = Arithmetic { words: Wide, reals };
            run(program, numbers, state, &mut NoHistory, reports, window, segment)
        } else {
            let numbers = Arithmetic { words: Narrow(word), reals };
            run(program, numbers, state, &mut history, reports, window, segment)
        })
    }

    fn sum_of_shares(program: &Program, waited: u64, share: u64) -> Eval<u64> {
        with_reals!(program.module().real, |reals| {
            sum_of_shares(Arithmetic { words: Wide, reals }, waited, share)
        })
    }
}

/// Truncated Taylor series with N coefficients. Their arithmetic dominates, so one loop for each N serves all widths of
/// integers, with and without a history.
impl<const N: usize> Interpreted for [u64; N]
where
    [u64; N]: Default,
{
    const IS_PLAIN: bool = false;

    fn plainly<T>(state: &State<[u64; N]>, look: impl FnOnce(&State) -> T) -> Result<T, OutOfMemory> {
        state.try_map(Lanes::word).map(|plain| look(&plain))
    }

    fn execute(
        program: &Program,
        state: &mut State<[u64; N]>,
        mut history: Option<&mut Residues<[u64; N]>>,
        reports: &mut Reports,
        window: &mut Window,
        segment: Segment,
    ) -> Result<Stop, Trap> {
        with_reals!(program.module().real, |plain| {
            let reals = TaylorReals::<_, N>::up_to(plain, reports.orders());
            let numbers = Arithmetic { words: Narrow(program.module().word), reals };
            run(program, numbers, state, &mut history, reports, window, segment)
        })
    }

    fn sum_of_shares(program: &Program, waited: [u64; N], share: [u64; N]) -> Eval<[u64; N]> {
        with_reals!(program.module().real, |plain| {
            sum_of_shares(Arithmetic { words: Wide, reals: TaylorReals::<_, N>::new(plain) }, waited, share)
        })
    }
}
