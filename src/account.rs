//! Account of a run in bits: garbage left, ancillas used, bits erased, and the minimum heat of the erasure
//! (Landauer's bound). This module computes the numbers; it prints nothing.

use reviver_inspect::ancillas::InUse;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Module, Role};
use reviver_vm::garbage::Garbage;
use reviver_vm::state::TapeEntry;
use reviver_vm::{Program, State};

/// Boltzmann constant in joules per kelvin (exact since 2019).
const BOLTZMANN: f64 = 1.380_649e-23;

/// Number of cells, and the total width of these cells in bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellsAndBits {
    pub cells: u64,
    pub bits: u64,
}

/// Account of a completed run.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Steps of the forward run.
    pub steps: u64,
    /// Garbage: cells that violate the rules at the end, such as an ancilla that isn't 0.
    pub garbage: CellsAndBits,
    /// Cells that the program declares as garbage, and the values left on stacks declared as garbage.
    pub declared: CellsAndBits,
    /// Cells in use that are neither inputs nor results, counted at the step with the most such cells.
    pub ancillas: CellsAndBits,
    pub history_bytes: usize,
    /// Bits that the erased cells could hold.
    pub erased_bits: u64,
    /// The part of `erased_bits` that a history still holds for a backward run. These bits cost no heat until the
    /// history is erased.
    pub kept_bits: u64,
    /// Bits of floats that were discarded because the floats were within the tolerance of 0.
    pub discarded_bits: u64,
    pub kelvin: f64,
    pub entropy: Option<Entropy>,
}

/// Entropies for a distribution of inputs, in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entropy {
    /// Number of possible inputs.
    pub cases: usize,
    pub inputs: f64,
    /// Results and garbage together.
    pub states: f64,
    pub results: f64,
    /// All values at the end that aren't results.
    pub garbage: f64,
}

/// Entropies that differ by less, in bits, are equal except for rounding.
const ROUNDING: f64 = 1e-9;

impl Entropy {
    /// Returns the bits of entropy that the program loses: entropy of the inputs minus entropy of the end states.
    pub fn lost(&self) -> f64 {
        // Rounding must not appear as a gain.
        (self.inputs - self.states).max(0.0)
    }

    /// Returns the mutual information of results and garbage, in bits.
    pub fn mutual(&self) -> f64 {
        let mutual = self.results + self.garbage - self.states;
        if mutual < ROUNDING { 0.0 } else { mutual }
    }

    /// Returns true if the garbage alone determines the input.
    pub fn garbage_determines_input(&self) -> bool {
        self.inputs > ROUNDING && self.garbage > self.inputs - ROUNDING
    }
}

/// History that was kept for a backward run; the default is an empty history.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeptHistory {
    pub bytes: usize,
    /// True if the history has all bits that steps erased, so that a backward run recomputes nothing.
    pub keeps_all: bool,
}

impl Account {
    /// Creates the account of a run that ended in `state` after `steps` steps. `history` is the history that the run
    /// kept.
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

    /// Returns the minimum heat of the erased bits that no history keeps, in joules.
    pub fn joules_due(&self) -> f64 {
        self.joules(self.erased_bits.saturating_sub(self.kept_bits) as f64)
    }

    /// Returns the minimum heat of erasing `bits` bits, in joules.
    pub fn joules(&self, bits: f64) -> f64 {
        landauer(bits, self.kelvin)
    }
}

/// Landauer's bound: the minimum heat of erasing `bits` bits, in joules.
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
        // Adjoints are always reals.
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

/// Counts the cells with the role `garbage`, and the values left on stacks with this role.
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
