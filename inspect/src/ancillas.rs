//! Counts the private cells in use during a run, and finds the maximum. Private cells are private globals, cells of
//! frames, and values on private stacks. A cell is in use while it isn't 0. The observer sees the state after every
//! step that writes, and updates its count from the written cells.

use std::ops::Range;

use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_vm::values::Value;
use reviver_vm::{Program, State, Travel};

use crate::access::Access;
use crate::follow::RunObserver;
use crate::memory::Memory;

/// Number of cells in use, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InUse {
    /// Number of integer cells.
    pub ints: u64,
    /// Number of real cells.
    pub reals: u64,
}

impl InUse {
    /// Returns the number of cells of both classes.
    pub fn cells(self) -> u64 {
        self.ints + self.reals
    }
}

/// The counted cells of one class, with the cells in use.
struct CellTally {
    class: Class,
    /// One flag for each cell that exists during the whole run: true if the cell is counted. Cells after
    /// these belong to frames and are always counted.
    counts: Vec<bool>,
    used: Vec<bool>,
    count: u64,
}

/// Observer that counts the cells in use while a program runs.
pub struct Ancillas {
    memory: Memory,
    ints: CellTally,
    reals: CellTally,
    bits: [u64; 2],
    /// True if values on a stack are counted. The first flag is for the integer stack, the second for the real stack.
    stacks: [bool; 2],
    peak: InUse,
    peak_bits: u64,
}

impl Ancillas {
    /// Creates an observer of a run that starts at `state`.
    pub fn new(memory: Memory, state: &State) -> Ancillas {
        let module = memory.program().module();
        let bits = [u64::from(module.word.bits()), u64::from(module.real.width())];
        let [ints, reals] = [Class::Int, Class::Real].map(|class| CellTally::new(&memory, class, state));
        let is_private = |class| module.stack(class).is_none_or(|(_, stack)| stack.role == Role::Private);
        let stacks = [Class::Int, Class::Real].map(is_private);
        let (peak, peak_bits) = (InUse::default(), 0);
        let mut ancillas = Ancillas { memory, ints, reals, bits, stacks, peak, peak_bits };
        ancillas.note(state);
        ancillas
    }

    /// Returns all instructions, because any of them may write a cell, or open or close a frame.
    pub fn instructions(&self) -> Vec<u32> {
        (0..self.memory.program().module().code.len() as u32).collect()
    }

    /// Returns the cells in use at the peak, and their size in bits. The peak is the state in which the cells in use
    /// have the most bits together.
    pub fn peak(&self) -> (InUse, u64) {
        (self.peak, self.peak_bits)
    }

    fn note(&mut self, state: &State) {
        let on_stack = |n: usize, values: usize| if self.stacks[n] { values as u64 } else { 0 };
        let ints = self.ints.count + on_stack(0, state.int_stack.len());
        let reals = self.reals.count + on_stack(1, state.real_stack.len());
        let now = InUse { ints, reals };
        let bits = ints * self.bits[0] + reals * self.bits[1];
        if bits > self.peak_bits {
            (self.peak, self.peak_bits) = (now, bits);
        }
    }
}

impl RunObserver for Ancillas {
    fn look(&mut self, state: &State, _: Travel, behind: Option<u32>) {
        let Some(at) = behind else { return };
        let program = self.memory.program().clone();
        self.ints.resize(state);
        self.reals.resize(state);
        program.flow().visit_accesses(at, |access, slot| {
            if access != Access::Write || slot.adjoint || slot.is_constant() {
                return;
            }
            let Some(cell) = self.memory.slot(state, state.calls.len(), slot) else { return };
            let tally = if cell.class == Class::Int { &mut self.ints } else { &mut self.reals };
            tally.write(&program, state, cell.offset as usize);
        });
        self.note(state);
    }
}

impl CellTally {
    fn new(memory: &Memory, class: Class, state: &State) -> CellTally {
        let program = memory.program();
        let mut tally = CellTally { class, counts: Vec::new(), used: Vec::new(), count: 0 };
        tally.counts = vec![false; tally.length(state)];
        let globals = program.module().globals.iter().enumerate();
        let private = globals.filter(|(_, g)| g.class == class && g.role == Role::Private);
        let cells = private.map(|(n, _)| program.cells(n));
        let main = program.flow().layout().main_frame(class);
        let main: Range<usize> = main.start as usize..main.end as usize;
        for range in cells.chain([main]) {
            range.filter_map(|n| tally.counts.get_mut(n).map(|counts| *counts = true)).for_each(drop);
        }
        tally.resize(state);
        (0..tally.counts.len()).for_each(|cell| tally.write(program, state, cell));
        tally
    }

    fn length(&self, state: &State) -> usize {
        match self.class {
            Class::Int => state.ints.len(),
            Class::Real => state.reals.len(),
        }
    }

    /// Changes the number of counted cells after a frame was opened or closed. The cells of frames are at the end of
    /// the list of cells.
    fn resize(&mut self, state: &State) {
        let length = self.length(state);
        let gone = self.used.get(length..).unwrap_or_default();
        self.count -= gone.iter().filter(|used| **used).count() as u64;
        self.used.resize(length, false);
    }

    fn write(&mut self, program: &Program, state: &State, cell: usize) {
        if !self.counts.get(cell).copied().unwrap_or(true) {
            return;
        }
        let is_used = match self.class {
            Class::Int => state.ints.get(cell).is_some_and(|value| *value != 0),
            // Both zeros of floats, 0 and -0, count as vacant.
            Class::Real => {
                state.reals.get(cell).is_some_and(|&bits| program.approximate(Value::Real(bits)) != 0.0)
            }
        };
        let Some(used) = self.used.get_mut(cell) else { return };
        self.count = self.count + u64::from(is_used) - u64::from(*used);
        *used = is_used;
    }
}
