//! From a module's choice of numbers to the interpreter's loop that was compiled for them.

use reviver_isa::module::{RealSystem, Word};
use reviver_isa::number::{Arithmetic, F32, F64, FixedPoint, Narrow, Reals, Wide};

use crate::history::{History, NoHistory, Residues};
use crate::interp::run;
use crate::program::Program;
use crate::state::State;
use crate::trap::Trap;
use crate::travel::{Stop, Travel};

/// Runs an expression with the number system for reals that a module has chosen.
macro_rules! with_reals {
    ($system:expr, |$reals:ident| $body:expr) => {
        match $system {
            RealSystem::F64 => {
                let $reals = F64;
                $body
            }
            RealSystem::F32 => {
                let $reals = F32;
                $body
            }
            RealSystem::Fixed(bits) => {
                let $reals = FixedPoint::new(bits);
                $body
            }
        }
    };
}

/// Makes at most `budget` steps, keeping residues where a history is given.
///
/// # Errors
/// A trap; the state is then the one before the instruction that trapped.
pub(crate) fn execute(
    program: &Program,
    state: &mut State,
    history: Option<&mut Residues>,
    travel: Travel,
    budget: u64,
) -> Result<Stop, Trap> {
    with_reals!(program.module().real, |reals| match history {
        Some(history) => with_words(program, reals, state, history, travel, budget),
        None => with_words(program, reals, state, &mut NoHistory, travel, budget),
    })
}

fn with_words<R: Reals, H: History>(
    program: &Program,
    reals: R,
    state: &mut State,
    history: &mut H,
    travel: Travel,
    budget: u64,
) -> Result<Stop, Trap> {
    match program.module().word {
        Word::W64 => run(program, Arithmetic { words: Wide, reals }, state, history, travel, budget),
        word => run(program, Arithmetic { words: Narrow(word), reals }, state, history, travel, budget),
    }
}

pub(crate) use with_reals;
