//! Whether a way back without a history was the way there: where it took other jumps, or came back to
//! other numbers than rounding explains, nobody vouches for what it carried. Knows where a run began and
//! how it arrived; knows no adjoints.

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

/// Why a way back can't be trusted.
#[derive(Clone, Debug, PartialEq)]
pub enum Astray {
    /// It took another way than the way there: a comparison had another result.
    Path,
    /// It trapped, where the way there had passed.
    Trap(Box<Explanation>),
    /// A cell was freed that held more than rounding.
    Freed(Freed),
    /// A number missed its start by more than rounding.
    Missed { name: String, by: f64 },
    /// What was off by rounding changes the loss by more than rounding does.
    Sensitive {
        loss_error: f64,
        /// Where the forward sweep ended, if the loss lost its first digits ([`Rounding::leaves`]).
        ill_conditioned: Option<u32>,
    },
    /// It was found to be astray before it was stopped, and goes on as the second round that it was.
    Before,
    /// An integer, or the number of values on a stack or tape, is another than at the start.
    Changed { name: String },
}

impl Astray {
    /// A short name for machines.
    pub fn name(&self) -> &'static str {
        match self {
            Astray::Path => "path",
            Astray::Trap(_) => "trap",
            Astray::Freed(_) => "freed",
            Astray::Missed { .. } => "missed",
            Astray::Sensitive { .. } => "sensitive",
            Astray::Before => "before",
            Astray::Changed { .. } => "changed",
        }
    }
}

impl fmt::Display for Astray {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Astray::Path => write!(f, "a comparison had another result than on the way there"),
            Astray::Trap(explanation) => write!(f, "it trapped: {}", explanation.message),
            Astray::Freed(freed) => {
                write!(f, "a cell was freed that held {:e}, which is more than rounding", freed.value)
            }
            Astray::Missed { name, by } => write!(f, "it missed the start by {by:e} in `{name}`"),
            Astray::Sensitive { loss_error, .. } => {
                write!(f, "what rounding changed may change the loss by {loss_error:e}")
            }
            Astray::Before => write!(f, "it had gone astray before the command was stopped"),
            Astray::Changed { name } => write!(f, "`{name}` differs from the start"),
        }
    }
}

/// What a reverse sweep is judged by, besides its start and its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TurnFacts {
    /// Where the forward sweep ended.
    pub position: u32,
    /// The greatest magnitude of a number at the start and there.
    pub largest: f64,
    /// The size of the seeded sum.
    pub sum: SumSize,
}

/// What is wrong with a way back that has arrived; and by how much the loss of another start may differ,
/// to first order, if all is well.
pub(super) fn judge<B: Interpreted>(
    machine: &Machine<B>,
    start: &State<B>,
    turned: TurnFacts,
) -> Result<f64, Astray> {
    let TurnFacts { position, largest, sum } = turned;
    let (program, end) = (machine.program(), machine.state());
    let Some(watch) = machine.reports().watch() else {
        return if same_values(start, end) { Ok(0.0) } else { Err(difference(program, start, end)) };
    };
    if !watch.is_same_way() || end.own_steps() != start.own_steps() {
        return Err(Astray::Path);
    }
    if !same_integers(start, end) {
        return Err(difference(program, start, end));
    }
    let (rounding, ulp) = (Rounding::of(program.module().real), last_place(program, largest));
    let adjoints = end.adjoints.as_ref().map_or(&[][..], |adjoints| &adjoints.cells);
    let misses = Misses { program, start: &start.reals, end: &end.reals, adjoints, rounding, ulp };
    misses.judged(watch, moved(start, end), sum).map_err(|unlike| match unlike {
        Unlike::Freed(freed) => Astray::Freed(freed),
        Unlike::Cell(cell, by) => Astray::Missed { name: name_of(program, start, Class::Real, cell), by },
        Unlike::Moved(by) => Astray::Missed { name: "a stack or a tape".into(), by },
        Unlike::Sensitive(loss_error) => {
            let is_lost = !rounding.leaves(sum.terms, loss_error, ulp * sum.seed);
            Astray::Sensitive { loss_error, ill_conditioned: is_lost.then(|| position.saturating_sub(1)) }
        }
    })
}

/// The greatest magnitude of some reals.
pub(super) fn largest<B: Interpreted>(program: &Program, reals: &[B]) -> f64 {
    let system = program.module().real;
    match system {
        RealSystem::F64 => {
            // Cells hold no NaN, so that each comparison has an answer.
            let greater = |most: f64, word: u64| {
                let magnitude = f64::from_bits(word).abs();
                if magnitude > most { magnitude } else { most }
            };
            folded(reals, 0.0, greater).into_iter().fold(0.0, f64::max)
        }
        RealSystem::F32 | RealSystem::Fixed(_) => {
            // Of floats the bits behind the sign are in the order of the magnitudes.
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

/// Goes through words in several lanes.
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

/// The unit in the last place of a number of this magnitude.
pub(super) fn last_place(program: &Program, magnitude: f64) -> f64 {
    program.ulp(literal_bits(program.module().real, magnitude))
}

/// The name of something that differs, where something does.
fn difference<B: Interpreted>(program: &Program, start: &State<B>, end: &State<B>) -> Astray {
    let ints = start.ints.iter().zip(&end.ints).skip(MODE + 1).position(|(a, b)| a != b);
    let reals = start.reals.iter().zip(&end.reals).position(|(a, b)| a != b);
    let name = match (ints, reals) {
        (Some(n), _) => name_of(program, start, Class::Int, n + MODE + 1),
        (None, Some(n)) => name_of(program, start, Class::Real, n),
        _ => "a stack or a tape".into(),
    };
    Astray::Changed { name }
}

/// The name of a cell, as far as memory allows to find it.
fn name_of<B: Interpreted>(program: &Program, state: &State<B>, class: Class, cell: usize) -> String {
    let name = B::plainly(state, |plain| cell_name(program, plain, class, cell as u32));
    name.unwrap_or_else(|_| "a cell".into())
}

/// Whether everything that is no real is the same.
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

/// To compare nothing takes some processors longer than to compare something, since nothing has no address.
fn same_ints(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

/// So many cells are looked at side by side: a processor does several at once.
const LANES: usize = 8;

/// By how much the reals of an arrival differ from those of the start.
struct Misses<'a, B> {
    program: &'a Program,
    start: &'a [B],
    end: &'a [B],
    adjoints: &'a [B],
    rounding: Rounding,
    ulp: f64,
}

/// What is wrong with the reals of an arrival.
enum Unlike {
    Freed(Freed),
    /// A cell is off by more than rounding explains.
    Cell(usize, f64),
    /// So is a number on a stack or tape.
    Moved(f64),
    /// The loss changes by more than rounding changes it.
    Sensitive(f64),
}

impl<B: Interpreted> Misses<'_, B> {
    fn judged(
        &self,
        watch: &Watch,
        mut moved: impl Iterator<Item = [B; 2]>,
        sum: SumSize,
    ) -> Result<f64, Unlike> {
        // A value that the forward sweep frees is missing in the reverse sweep. It shows up again in a cell that the reverse
        // sweep frees, or as a cell that misses its start.
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

    /// By how much a number is off that rounding doesn't explain.
    fn beyond(&self, from: B, to: B) -> Option<f64> {
        if from == to {
            return None;
        }
        let (from, to) = (self.number(from), self.number(to));
        is_beyond(self.rounding, self.ulp, [from, to]).then_some((to - from).abs())
    }

    /// By how much the loss differs between the two, to first order: Σ |difference·adjoint| over cells. Or the first cell that is off by
    /// more than rounding.
    fn weighed(&self) -> Result<f64, Unlike> {
        let mut error = 0.0;
        let mut first = 0;
        for (from, to) in self.start.chunks(LANES).zip(self.end.chunks(LANES)) {
            // Most of them are the same.
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

    /// What the difference of a cell does to the loss.
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

    /// How large the loss is to first order: Σ |number·adjoint|.
    fn terms(&self) -> f64 {
        let terms = self.start.iter().zip(self.adjoints);
        terms.map(|(&number, &adjoint)| (self.number(number) * self.number(adjoint)).abs()).sum()
    }
}

/// Whether a number is off by more than rounding explains; `ulp` is the last place of the program's largest number.
#[inline]
pub(super) fn is_beyond(rounding: Rounding, ulp: f64, [from, to]: [f64; 2]) -> bool {
    let by = (to - from).abs();
    let is_lost = (from != 0.0) & (by > from.abs() * rounding.part);
    is_lost | (by > rounding.ulps * ulp)
}

/// True if the error of a seeded sum is small enough for its gradient, relative to its terms and to the sum itself.
/// `ulp` is the last place of the program's largest number.
#[inline]
pub(super) fn is_small(
    rounding: Rounding,
    ulp: f64,
    error: f64,
    sum: SumSize,
    terms: impl FnOnce() -> f64,
) -> bool {
    rounding.leaves(sum.terms, error, ulp * sum.seed)
        && is_outweighed(rounding.of_loss, error, sum.terms, terms)
}

/// Whether an error is at most a part of the loss's size: mostly of the loss alone, else of the loss and the `terms`
/// that it is made of (Σ |number·adjoint|). An error of 0 always is.
#[inline]
pub(super) fn is_outweighed(part: f64, error: f64, loss: f64, terms: impl FnOnce() -> f64) -> bool {
    let exceeds = |size: f64| error > part * size;
    !(exceeds(loss.abs()) && exceeds(loss.abs() + terms()))
}

/// What is on stacks and tapes, at the start and at the end.
fn moved<B: Interpreted>(start: &State<B>, end: &State<B>) -> impl Iterator<Item = [B; 2]> {
    on_stacks_and_tapes(start).zip(on_stacks_and_tapes(end)).map(|(from, to)| [from, to])
}

fn on_stacks_and_tapes<B: Interpreted>(state: &State<B>) -> impl Iterator<Item = B> {
    let real = |entry: &TapeEntry<B>| if let TapeEntry::Real(bits) = entry { Some(*bits) } else { None };
    let tapes = state.input.iter().chain(&state.output).filter_map(real);
    state.real_stack.iter().copied().chain(tapes)
}
