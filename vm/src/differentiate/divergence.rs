//! Verification of reverse sweeps without a history. A sweep has *diverged* if it took other branches than the primal
//! sweep, or if its restored numbers differ from the start by more than rounding explains. This module compares the
//! numbers at the start of the primal sweep with those at the end of the reverse sweep. Of the adjoints, it uses only
//! those at the end.

use std::fmt;

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_isa::number::{F32, F64, FixedPoint, Reals, literal_bits};

use crate::explain::{Explanation, cell_name};
use crate::interp::engine::Interpreted;
use crate::machine::Machine;
use crate::numbers::with_reals;
use crate::program::Program;
use crate::state::drift::same_values;
use crate::state::values::Value;
use crate::state::{MODE, State, TapeEntry};
use crate::watch::{Freed, Rounding, Watch};

use super::seeds::SumSize;

/// Reason why a reverse sweep isn't trusted: how it diverged.
#[derive(Clone, Debug, PartialEq)]
pub enum Divergence {
    /// A comparison had another result than in the primal sweep.
    Path,
    /// The sweep trapped where the primal sweep had passed.
    Trap(Box<Explanation>),
    /// A freed cell held a number that is further from 0 than rounding explains.
    Freed(Freed),
    /// A number differs from its start value by more than rounding explains.
    Missed {
        /// Name of the number's cell, or a description such as "a stack or a tape".
        name: String,
        /// Absolute difference from the start value.
        by: f64,
    },
    /// Rounding explains each difference, but all differences together may change the loss by more than rounding does.
    Sensitive {
        /// Error bound of the loss, see [`VerificationReport::loss_error`](super::VerificationReport::loss_error).
        loss_error: f64,
        /// Last instruction of the primal sweep; `None` unless the error exceeds a fraction of the loss
        /// ([`Rounding::leaves`]). The loss is reported as ill-conditioned at this instruction.
        ill_conditioned: Option<u32>,
    },
    /// The sweep had diverged before the gradient was suspended. The resumed pass repeats the sweep with a history.
    Before,
    /// An integer, or the number of values on a stack or tape, differs from the start.
    Changed {
        /// Name of the cell, or a description such as "a stack or a tape".
        name: String,
    },
}

impl Divergence {
    /// Returns a short name for machine-readable output.
    pub fn name(&self) -> &'static str {
        match self {
            Divergence::Path => "path",
            Divergence::Trap(_) => "trap",
            Divergence::Freed(_) => "freed",
            Divergence::Missed { .. } => "missed",
            Divergence::Sensitive { .. } => "sensitive",
            Divergence::Before => "before",
            Divergence::Changed { .. } => "changed",
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Divergence::Path => write!(f, "a comparison had another result than in the primal sweep"),
            Divergence::Trap(explanation) => write!(f, "the reverse sweep trapped: {}", explanation.message),
            Divergence::Freed(freed) => {
                write!(
                    f,
                    "a freed cell held {:e}, which is further from 0 than rounding explains",
                    freed.value
                )
            }
            Divergence::Missed { name, by } => {
                write!(f, "the reverse sweep restored `{name}` only to within {by:e}")
            }
            Divergence::Sensitive { loss_error, .. } => {
                write!(f, "rounding errors may change the loss by {loss_error:e}")
            }
            Divergence::Before => write!(f, "the reverse sweep had diverged before the command was stopped"),
            Divergence::Changed { name } => write!(f, "`{name}` differs from the start"),
        }
    }
}

/// Facts about the turning point that are needed to verify the reverse sweep from it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TurnFacts {
    /// Position of the turning point.
    pub position: u32,
    /// Largest magnitude of a number at the start and at the turning point.
    pub largest: f64,
    /// Size of the seeded sum.
    pub sum: SumSize,
}

/// Verifies a reverse sweep that has ended. Returns the error bound of the loss to first order. If the sweep has
/// diverged, the returned `Err` says how.
pub(super) fn verify<B: Interpreted>(
    machine: &Machine<B>,
    start: &State<B>,
    turned: TurnFacts,
) -> Result<f64, Divergence> {
    let TurnFacts { position, largest, sum } = turned;
    let (program, end) = (machine.program(), machine.state());
    let Some(watch) = machine.reports().watch() else {
        return if same_values(start, end) { Ok(0.0) } else { Err(difference(program, start, end)) };
    };
    if !watch.has_same_path() || end.own_steps() != start.own_steps() {
        return Err(Divergence::Path);
    }
    if !same_integers(start, end) {
        return Err(difference(program, start, end));
    }
    let (rounding, ulp) = (Rounding::of(program.module().real), last_place(program, largest));
    let adjoints = end.adjoints.as_ref().map_or(&[][..], |adjoints| &adjoints.cells);
    let misses = Misses { program, start: &start.reals, end: &end.reals, adjoints, rounding, ulp };
    misses.verified(watch, moved(start, end), sum).map_err(|unlike| match unlike {
        Unlike::Freed(freed) => Divergence::Freed(freed),
        Unlike::Cell(cell, by) => Divergence::Missed { name: name_of(program, start, Class::Real, cell), by },
        Unlike::Moved(by) => Divergence::Missed { name: "a stack or a tape".into(), by },
        Unlike::Sensitive(loss_error) => {
            let is_lost = !rounding.leaves(sum.terms, loss_error, ulp * sum.seed);
            Divergence::Sensitive { loss_error, ill_conditioned: is_lost.then(|| position.saturating_sub(1)) }
        }
    })
}

/// Returns the largest magnitude of some reals.
pub(super) fn largest<B: Interpreted>(program: &Program, reals: &[B]) -> f64 {
    let system = program.module().real;
    match system {
        RealSystem::F64 => {
            // Cells hold no NaN, so every comparison of two cells has a result.
            let greater = |most: f64, word: u64| {
                let magnitude = f64::from_bits(word).abs();
                if magnitude > most { magnitude } else { most }
            };
            folded(reals, 0.0, greater).into_iter().fold(0.0, f64::max)
        }
        RealSystem::F32 | RealSystem::Fixed(_) => {
            // The bits of a float without its sign are ordered like the magnitudes.
            let magnitude = |word: u64| match system {
                RealSystem::Fixed(_) => (word as i64).unsigned_abs().min(i64::MAX as u64),
                RealSystem::F64 | RealSystem::F32 => word & u64::from(u32::MAX >> 1),
            };
            let most = folded(reals, 0, |most, word| magnitude(word).max(most));
            let bits = most.into_iter().fold(0, u64::max);
            with_reals!(system, |reals| reals.to_f64(reals.of_bits(bits)))
        }
    }
}

/// Folds words in [`LANES`] independent lanes, which the compiler can keep in a vector register. Returns a result for
/// each lane.
fn folded<B: Interpreted, T: Copy>(reals: &[B], first: T, join: impl Fn(T, u64) -> T) -> [T; LANES] {
    let mut lanes = [first; LANES];
    let runs = reals.chunks_exact(LANES);
    for (lane, bits) in lanes.iter_mut().zip(runs.remainder()) {
        *lane = join(*lane, bits.word());
    }
    for run in runs {
        for (lane, bits) in lanes.iter_mut().zip(run) {
            *lane = join(*lane, bits.word());
        }
    }
    lanes
}

/// Returns the unit in the last place of a number of this magnitude.
pub(super) fn last_place(program: &Program, magnitude: f64) -> f64 {
    program.ulp(literal_bits(program.module().real, magnitude))
}

/// Returns the first difference between the states at the start and at the end of a pass, with the name of the cell.
fn difference<B: Interpreted>(program: &Program, start: &State<B>, end: &State<B>) -> Divergence {
    let ints = start.ints.iter().zip(&end.ints).skip(MODE + 1).position(|(a, b)| a != b);
    let reals = start.reals.iter().zip(&end.reals).position(|(a, b)| a != b);
    let name = match (ints, reals) {
        (Some(n), _) => name_of(program, start, Class::Int, n + MODE + 1),
        (None, Some(n)) => name_of(program, start, Class::Real, n),
        _ => "a stack or a tape".into(),
    };
    Divergence::Changed { name }
}

/// Returns the name of a cell, or "a cell" if memory for the name is refused.
fn name_of<B: Interpreted>(program: &Program, state: &State<B>, class: Class, cell: usize) -> String {
    let name = B::plainly(state, |plain| cell_name(program, plain, class, cell as u32));
    name.unwrap_or_else(|_| "a cell".into())
}

/// Returns true if the states differ at most in the values of reals.
fn same_integers<B: PartialEq>(a: &State<B>, b: &State<B>) -> bool {
    let int = |entry: &TapeEntry<B>| if let TapeEntry::Int(n) = entry { Some(*n) } else { None };
    let same = |a: &[TapeEntry<B>], b: &[TapeEntry<B>]| a.iter().map(int).eq(b.iter().map(int));
    same_ints(a.own_ints(), b.own_ints())
        && (a.position, a.inverted, a.frame) == (b.position, b.inverted, b.frame)
        && same_ints(&a.int_stack, &b.int_stack)
        && a.reals.len() == b.reals.len()
        && a.real_stack.len() == b.real_stack.len()
        && same(&a.input, &b.input)
        && same(&a.output, &b.output)
}

/// Returns true if two slices are equal. Empty slices are compared by length only: they have no valid address, so some
/// processors compare their contents slowly.
fn same_ints(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

/// Number of cells that are compared at once, in vector registers.
const LANES: usize = 8;

/// Differences between the reals at the start and those after a reverse sweep.
struct Misses<'a, B> {
    program: &'a Program,
    start: &'a [B],
    end: &'a [B],
    adjoints: &'a [B],
    rounding: &'static Rounding,
    ulp: f64,
}

/// Reason why reals after a reverse sweep aren't accepted.
enum Unlike {
    Freed(Freed),
    /// A cell differs by more than rounding explains.
    Cell(usize, f64),
    /// A number on a stack or tape differs by more than rounding explains.
    Moved(f64),
    /// The differences change the loss by more than rounding does.
    Sensitive(f64),
}

impl<B: Interpreted> Misses<'_, B> {
    fn verified(
        &self,
        watch: &Watch,
        mut moved: impl Iterator<Item = [B; 2]>,
        sum: SumSize,
    ) -> Result<f64, Unlike> {
        // If the primal sweep frees a cell that holds a rounding error, the reverse sweep lacks that error. The error
        // reappears in a cell that the reverse sweep frees, or in a cell that differs from the start.
        let freed = watch.unexplained(self.rounding, self.ulp);
        let by_cells = self.weighed().map_err(|unlike| freed.map_or(unlike, Unlike::Freed))?;
        let error = watch.error() + by_cells;
        if let Some(freed) = freed
            && !is_outweighed(self.rounding.of_freed, error, sum.terms, || self.terms())
        {
            return Err(Unlike::Freed(freed));
        }
        if let Some(by) = moved.find_map(|[from, to]| self.beyond(from, to)) {
            return Err(Unlike::Moved(by));
        }
        match is_small(self.rounding, self.ulp, error, sum, || self.terms()) {
            true => Ok(error),
            false => Err(Unlike::Sensitive(error)),
        }
    }

    fn number(&self, bits: B) -> f64 {
        self.program.approximate(Value::Real(bits.word()))
    }

    /// Returns |`to` - `from`| if rounding doesn't explain the difference, otherwise `None`.
    fn beyond(&self, from: B, to: B) -> Option<f64> {
        if from == to {
            return None;
        }
        let (from, to) = (self.number(from), self.number(to));
        is_beyond(self.rounding, self.ulp, [from, to]).then_some((to - from).abs())
    }

    /// Returns the change of the loss to first order: Σ |difference·adjoint| over cells. Fails at the first cell that
    /// differs by more than rounding explains.
    fn weighed(&self) -> Result<f64, Unlike> {
        let mut error = 0.0;
        let mut first = 0;
        for (from, to) in self.start.chunks(LANES).zip(self.end.chunks(LANES)) {
            // Most cells are unchanged, so whole groups of cells are compared first, and single cells only in groups
            // that differ.
            let pairs = from.iter().zip(to);
            if pairs.clone().fold(0, |all, (from, to)| all | (from.word() ^ to.word())) != 0 {
                for (cell, (&from, &to)) in (first..).zip(pairs) {
                    error += self.missed(cell, from, to)?;
                }
            }
            first += LANES;
        }
        Ok(error)
    }

    /// Returns the effect of a cell's difference on the loss, |(`to` - `from`)·adjoint|. Fails if rounding doesn't
    /// explain the difference.
    fn missed(&self, cell: usize, from: B, to: B) -> Result<f64, Unlike> {
        if from.word() == to.word() {
            return Ok(0.0);
        }
        if let Some(by) = self.beyond(from, to) {
            return Err(Unlike::Cell(cell, by));
        }
        let adjoint = self.adjoints.get(cell);
        Ok(adjoint
            .map_or(0.0, |&adjoint| ((self.number(to) - self.number(from)) * self.number(adjoint)).abs()))
    }

    /// Returns the size of the loss to first order: Σ |number·adjoint| over the reals at the start.
    fn terms(&self) -> f64 {
        let terms = self.start.iter().zip(self.adjoints);
        terms.map(|(&number, &adjoint)| (self.number(number) * self.number(adjoint)).abs()).sum()
    }
}

/// Returns true if `to` differs from `from` by more than rounding explains. `ulp` is the unit in the last place of the
/// program's largest number.
#[inline]
pub(super) fn is_beyond(rounding: &Rounding, ulp: f64, [from, to]: [f64; 2]) -> bool {
    let by = (to - from).abs();
    let is_lost = (from != 0.0) & (by > from.abs() * rounding.part);
    is_lost | (by > rounding.ulps * ulp)
}

/// Returns true if the error of a seeded sum is so small that its gradient can be trusted. The error is compared with
/// the sum itself ([`Rounding::leaves`]), and with its terms ([`is_outweighed`]). `ulp` is the unit in the last place
/// of the program's largest number.
#[inline]
pub(super) fn is_small(
    rounding: &Rounding,
    ulp: f64,
    error: f64,
    sum: SumSize,
    terms: impl FnOnce() -> f64,
) -> bool {
    rounding.leaves(sum.terms, error, ulp * sum.seed)
        && is_outweighed(rounding.of_loss, error, sum.terms, terms)
}

/// Returns true if `error` is at most `part` times the size of the loss. The size is |`loss`|, or if that is too small,
/// |`loss`| + `terms()`, where the terms are Σ |number·adjoint|. An error of 0 is always accepted.
#[inline]
pub(super) fn is_outweighed(part: f64, error: f64, loss: f64, terms: impl FnOnce() -> f64) -> bool {
    let exceeds = |size: f64| error > part * size;
    !(exceeds(loss.abs()) && exceeds(loss.abs() + terms()))
}

/// Pairs the reals on stacks and tapes at the start with those at the end.
fn moved<B: Interpreted>(start: &State<B>, end: &State<B>) -> impl Iterator<Item = [B; 2]> {
    on_stacks_and_tapes(start).zip(on_stacks_and_tapes(end)).map(|(from, to)| [from, to])
}

fn on_stacks_and_tapes<B: Interpreted>(state: &State<B>) -> impl Iterator<Item = B> {
    let real = |entry: &TapeEntry<B>| if let TapeEntry::Real(bits) = entry { Some(*bits) } else { None };
    let tapes = state.input.iter().chain(&state.output).filter_map(real);
    state.real_stack.iter().copied().chain(tapes)
}
