//! What a run costs whoever pays for bits: what it leaves, what it takes meanwhile, what it throws away, and the heat that this makes at
//! least (Landauer). Computes; tells nothing.

use reviver_isa::instruction::Class;
use reviver_isa::module::{Module, Role};
use reviver_vm::garbage::Garbage;
use reviver_vm::state::TapeEntry;
use reviver_vm::{Program, State};

use crate::following::ancillas::InUse;

/// Joules a kelvin (exactly so since 2019).
const BOLTZMANN: f64 = 1.380_649e-23;

/// Cells, and the bits that they can hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellsAndBits {
    pub cells: u64,
    pub bits: u64,
}

/// The account of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Steps of the way there.
    pub steps: u64,
    /// What ends otherwise than it must.
    pub garbage: CellsAndBits,
    /// What is declared to be left.
    pub declared: CellsAndBits,
    /// What was in use at once that nobody gave and nobody gets.
    pub ancillas: CellsAndBits,
    pub history_bytes: usize,
    /// Bits that the erased cells could hold.
    pub erased_bits: u64,
    /// Those of them that a history keeps, so that they cost nothing yet.
    pub kept_bits: u64,
    /// Bits of floats that were let go because they were nearly 0.
    pub discarded_bits: u64,
    pub kelvin: f64,
    pub entropy: Option<Entropy>,
}

/// Entropies in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entropy {
    /// Inputs that may come.
    pub cases: usize,
    pub inputs: f64,
    pub results: f64,
}

impl Entropy {
    /// What is lost.
    pub fn lost(&self) -> f64 {
        // Sums of roundings aren't a gain.
        (self.inputs - self.results).max(0.0)
    }
}

/// What was kept to go back.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeptHistory {
    pub bytes: usize,
    /// Whether everything is in it that steps have lost, and nothing has to be made again.
    pub keeps_all: bool,
}

impl Account {
    /// The account of a run that ended in this state, with so many steps and such a history.
    pub fn new(
        (program, state): (&Program, &State),
        garbage: &[Garbage],
        (steps, history): (u64, KeptHistory),
        (peak, bits): (InUse, u64),
        kelvin: f64,
    ) -> Account {
        let garbage = garbage.iter().map(|garbage| bits_of(program, state, garbage));
        Account {
            steps,
            garbage: garbage.fold(CellsAndBits::default(), CellsAndBits::and),
            declared: declared(program.module(), state),
            ancillas: CellsAndBits { cells: peak.cells(), bits },
            history_bytes: history.bytes,
            erased_bits: state.counters.erased_bits,
            kept_bits: if history.keeps_all { state.counters.erased_bits } else { 0 },
            discarded_bits: state.counters.discarded_bits,
            kelvin,
            entropy: None,
        }
    }

    /// The heat that is due for what was erased and isn't kept, in joules.
    pub fn joules_due(&self) -> f64 {
        self.joules(self.erased_bits.saturating_sub(self.kept_bits) as f64)
    }

    /// The heat of so many bits, in joules.
    pub fn joules(&self, bits: f64) -> f64 {
        landauer(bits, self.kelvin)
    }
}

/// The least heat that erasing so many bits makes, in joules.
pub fn landauer(bits: f64, kelvin: f64) -> f64 {
    bits * BOLTZMANN * kelvin * std::f64::consts::LN_2
}

impl CellsAndBits {
    fn and(self, other: CellsAndBits) -> CellsAndBits {
        CellsAndBits { cells: self.cells + other.cells, bits: self.bits + other.bits }
    }
}

fn width(module: &Module, class: Class) -> u64 {
    match class {
        Class::Int => u64::from(module.word.bits()),
        Class::Real => u64::from(module.real.width()),
    }
}

fn bits_of(program: &Program, state: &State, garbage: &Garbage) -> CellsAndBits {
    let module = program.module();
    let cells = garbage.differing;
    let of_class = |class| CellsAndBits { cells, bits: cells * width(module, class) };
    match program.global(&garbage.name) {
        Some((_, global)) => of_class(global.class),
        // An adjoint is a real.
        None if garbage.name.ends_with('\'') => of_class(Class::Real),
        None => {
            let tape = if garbage.name.starts_with("input") { &state.input } else { &state.output };
            let bits = tape.iter().map(|entry| match entry {
                TapeEntry::Int(_) => width(module, Class::Int),
                TapeEntry::Real(_) => width(module, Class::Real),
            });
            CellsAndBits { cells, bits: bits.sum() }
        }
    }
}

/// The cells that are declared as garbage, and the values on stacks that are.
fn declared(module: &Module, state: &State) -> CellsAndBits {
    let of_class = |class, cells| CellsAndBits { cells, bits: cells * width(module, class) };
    let garbage = module.globals.iter().filter(|global| global.role == Role::Garbage);
    let cells = garbage.map(|global| of_class(global.class, global.shape.cells()));
    let stacks = [(Class::Int, state.int_stack.len()), (Class::Real, state.real_stack.len())];
    let is_garbage = |class| module.stack(class).is_some_and(|(_, global)| global.role == Role::Garbage);
    let left = stacks.into_iter().filter(|(class, _)| is_garbage(*class));
    let left = left.map(|(class, values)| of_class(class, values as u64));
    cells.chain(left).fold(CellsAndBits::default(), CellsAndBits::and)
}
