//! Hashes of states. A hash doesn't include counters, the step number or the history.

use reviver_flow::IndependentCells;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Role, Shape};
use xxhash_rust::xxh3::Xxh3;

use crate::program::Program;
use crate::state::values::Value;
use crate::state::{MODE, Part, State, TapeEntry};

/// A 128-bit hash value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub u128);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Returns a hash of everything that determines the rest of the run: cells, stacks and tapes with their adjoints, call
/// records, mode, direction and position. Only hashes of states of the same program can be compared.
pub fn state_digest(state: &State) -> Digest {
    let mut hash = Hasher::default();
    hash.ints(&state.ints);
    hash.words(&state.reals);
    hash.storage(state);
    hash.adjoints(state);
    hash.count(state.calls.len());
    for call in &state.calls {
        hash.word(u64::from(call.site) << 1 | u64::from(call.inverted));
        hash.word(u64::from(call.part == Part::Rule));
    }
    hash.count(state.references.len());
    for reference in &state.references {
        hash.word(u64::from(reference.base) << 32 | u64::from(reference.length));
        hash.word(u64::from(reference.stride));
    }
    hash.word(u64::from(state.position) << 1 | u64::from(state.inverted));
    hash.digest()
}

/// Returns a hash of the values of globals, stacks and tapes, for comparing programs with the same
/// declarations.
pub fn value_digest(program: &Program, state: &State) -> Digest {
    let mut hash = Hasher::default();
    let (main_ints, main_reals) = (program.layout().main_ints, program.layout().main_reals);
    hash.ints(&state.ints[MODE + 1..main_ints as usize]);
    hash.words(&state.reals[..main_reals as usize]);
    hash.storage(state);
    hash.digest()
}

/// Returns a hash of the results with the output tape, and a hash of all other values: garbage, private cells, and the
/// input tape.
pub fn result_digests(program: &Program, state: &State) -> (Digest, Digest) {
    let (mut results, mut others) = (Hasher::default(), Hasher::default());
    let layout = program.layout();
    let mut is_result = (vec![false; layout.main_ints as usize], vec![false; layout.main_reals as usize]);
    for (n, global) in program.module().globals.iter().enumerate() {
        let hash = match global.role {
            Role::Out | Role::InOut => &mut results,
            _ if global.shape == Shape::Stack => &mut others,
            _ => continue,
        };
        hash.values(&program.read(state, n));
        let marks = if global.class == Class::Int { &mut is_result.0 } else { &mut is_result.1 };
        let cells = if global.shape == Shape::Stack { 0..0 } else { program.cells(n) };
        marks.get_mut(cells).into_iter().flatten().for_each(|mark| *mark = true);
    }
    let ints = state.ints.iter().zip(&is_result.0).skip(MODE + 1).filter(|(_, is_result)| !**is_result);
    ints.for_each(|(int, _)| others.word(*int as u64));
    let reals = state.reals.iter().zip(&is_result.1).filter(|(_, is_result)| !**is_result);
    reals.for_each(|(bits, _)| others.word(*bits));
    others.tape(&state.input);
    results.tape(&state.output);
    (results.digest(), others.digest())
}

/// Returns a hash of the set of independent cells: the inputs by which a run is differentiated.
pub(crate) fn independent_digest(independent: &IndependentCells) -> u128 {
    let mut hash = Hasher::default();
    hash.count(independent.cells.len());
    for cells in &independent.cells {
        hash.word(u64::from(cells.start) << 32 | u64::from(cells.end));
    }
    hash.word(u64::from(independent.on_stack) << 1 | u64::from(independent.on_tape));
    hash.digest().0
}

#[derive(Default)]
struct Hasher(Xxh3);

impl Hasher {
    fn word(&mut self, word: u64) {
        self.0.update(&word.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.word(count as u64);
    }

    fn words(&mut self, words: &[u64]) {
        self.count(words.len());
        words.iter().for_each(|&word| self.word(word));
    }

    fn ints(&mut self, ints: &[i64]) {
        self.count(ints.len());
        ints.iter().for_each(|&int| self.word(int as u64));
    }

    /// Hashes the adjoints. Adjoints that are all 0 count as absent.
    fn adjoints(&mut self, state: &State) {
        let Some(adjoints) = state.adjoints.as_ref().filter(|a| a.all().any(|&bits| bits != 0)) else {
            return;
        };
        for list in [&adjoints.cells, &adjoints.stack, &adjoints.input, &adjoints.output] {
            self.words(list);
        }
        for deferred in &adjoints.deferred {
            [u64::from(deferred.depth), u64::from(deferred.cell), deferred.adjoint]
                .into_iter()
                .for_each(|word| self.word(word));
        }
    }

    fn storage(&mut self, state: &State) {
        self.ints(&state.int_stack);
        self.words(&state.real_stack);
        self.tape(&state.input);
        self.tape(&state.output);
    }

    fn tape(&mut self, tape: &[TapeEntry]) {
        self.count(tape.len());
        for entry in tape {
            match entry {
                TapeEntry::Int(value) => {
                    self.word(0);
                    self.word(*value as u64);
                }
                TapeEntry::Real(bits) => {
                    self.word(1);
                    self.word(*bits);
                }
            }
        }
    }

    fn values(&mut self, values: &[Value]) {
        self.count(values.len());
        for value in values {
            match value {
                Value::Int(value) => self.word(*value as u64),
                Value::Real(bits) => self.word(*bits),
            }
        }
    }

    fn digest(&self) -> Digest {
        Digest(self.0.digest128())
    }
}
