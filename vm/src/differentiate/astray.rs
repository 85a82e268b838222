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
use crate::watch::{Freed, Rounding};

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
    Sensitive { loss_error: f64 },
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
            Astray::Sensitive { loss_error } => {
                write!(f, "what rounding changed may change the loss by {loss_error:e}")
            }
            Astray::Before => write!(f, "it had gone astray before the command was stopped"),
            Astray::Changed { name } => write!(f, "`{name}` differs from the start"),
        }
    }
}

/// What is wrong with a way back that has arrived; and by how much the loss of another start may differ,
/// to first order, if all is well. `largest` is the greatest magnitude of a number at the start and the turn.
pub(super) fn judge<B: Interpreted>(
    machine: &Machine<B>,
    start: &State<B>,
    largest: f64,
    loss: f64,
) -> Result<f64, Astray> {
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
    if let Some(freed) = watch.unexplained(rounding, ulp) {
        return Err(Astray::Freed(freed));
    }
    let misses = Misses { program, start, end };
    if let Some((cell, by)) = misses.beyond(rounding, ulp) {
        return Err(Astray::Missed { name: misses.name(cell), by });
    }
    let error = watch.error() + misses.error();
    // The loss alone mostly outweighs it; what is off by nothing does it always.
    let most = |size: f64| rounding.of_loss * size;
    if error > most(loss.abs()) && error > most(loss.abs() + misses.terms()) {
        return Err(Astray::Sensitive { loss_error: error });
    }
    Ok(error)
}

/// The greatest magnitude of a real cell.
pub(super) fn largest<B: Interpreted>(program: &Program, state: &State<B>) -> f64 {
    let words = state.reals.iter().map(|bits| bits.word());
    let system = program.module().real;
    // Of floats the bits behind the sign are in the order of the magnitudes: so all cells are gone through without a conversion.
    let bits = match system {
        RealSystem::F64 => words.map(|word| word & (u64::MAX >> 1)).fold(0, u64::max),
        RealSystem::F32 => words.map(|word| word & u64::from(u32::MAX >> 1)).fold(0, u64::max),
        RealSystem::Fixed(_) => {
            words.map(|word| (word as i64).unsigned_abs()).fold(0, u64::max).min(i64::MAX as u64)
        }
    };
    with_reals!(system, |reals| reals.to_f64(reals.of_bits(bits)))
}

/// The unit in the last place of a number of this magnitude.
fn last_place(program: &Program, magnitude: f64) -> f64 {
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
    // To compare nothing takes some processors longer than to compare something, since nothing has no address.
    let same_ints = |a: &[i64], b: &[i64]| a.len() == b.len() && (a.is_empty() || a == b);
    let [ints_of_a, ints_of_b] = [a, b].map(|state| state.ints.get(MODE + 1..).unwrap_or_default());
    same_ints(ints_of_a, ints_of_b)
        && (a.position, a.inverted, a.frame) == (b.position, b.inverted, b.frame)
        && same_ints(&a.int_stack, &b.int_stack)
        && a.reals.len() == b.reals.len()
        && a.real_stack.len() == b.real_stack.len()
        && same(&a.input, &b.input)
        && same(&a.output, &b.output)
}

/// By how much the reals of an arrival differ from those of the start.
struct Misses<'a, B> {
    program: &'a Program,
    start: &'a State<B>,
    end: &'a State<B>,
}

impl<B: Interpreted> Misses<'_, B> {
    fn number(&self, bits: B) -> f64 {
        self.program.approximate(Value::Real(bits.word()))
    }

    /// A number that rounding doesn't explain, by its cell, which none on stacks and tapes has; and by how much
    /// it is off.
    fn beyond(&self, rounding: Rounding, ulp: f64) -> Option<(Option<usize>, f64)> {
        let pairs = self.start.reals.iter().copied().zip(self.end.reals.iter().copied()).enumerate();
        let cells = pairs.map(|(cell, (from, to))| (Some(cell), from, to));
        let all = cells.chain(self.moved().map(|[from, to]| (None, from, to)));
        let mut all = all.filter(|(_, from, to)| from != to);
        all.find_map(|(cell, from, to)| {
            let (from, to) = (self.number(from), self.number(to));
            let by = (to - from).abs();
            let is_lost = from != 0.0 && by > from.abs() * rounding.part;
            (is_lost || by > rounding.ulps * ulp).then_some((cell, by))
        })
    }

    fn name(&self, cell: Option<usize>) -> String {
        let named = |cell| name_of(self.program, self.start, Class::Real, cell);
        cell.map_or_else(|| "a stack or a tape".into(), named)
    }

    /// What is on stacks and tapes, at the start and at the end.
    fn moved(&self) -> impl Iterator<Item = [B; 2]> {
        on_stacks_and_tapes(self.start).zip(on_stacks_and_tapes(self.end)).map(|(from, to)| [from, to])
    }

    /// How large the loss is to first order: Σ |number·adjoint|.
    fn terms(&self) -> f64 {
        let adjoints = self.end.adjoints.iter().flat_map(|adjoints| &adjoints.cells);
        let terms = self.start.reals.iter().zip(adjoints);
        terms.map(|(&number, &adjoint)| (self.number(number) * self.number(adjoint)).abs()).sum()
    }

    /// By how much the loss differs between the two, to first order: Σ |difference·adjoint|.
    fn error(&self) -> f64 {
        let adjoints = self.end.adjoints.iter().flat_map(|adjoints| &adjoints.cells);
        let reals = self.start.reals.iter().zip(&self.end.reals).zip(adjoints);
        let reals = reals.filter(|((from, to), _)| from != to);
        reals
            .map(|((&from, &to), &adjoint)| {
                ((self.number(to) - self.number(from)) * self.number(adjoint)).abs()
            })
            .sum()
    }
}

fn on_stacks_and_tapes<B: Interpreted>(state: &State<B>) -> impl Iterator<Item = B> {
    let real = |entry: &TapeEntry<B>| if let TapeEntry::Real(bits) = entry { Some(*bits) } else { None };
    let tapes = state.input.iter().chain(&state.output).filter_map(real);
    state.real_stack.iter().copied().chain(tapes)
}
