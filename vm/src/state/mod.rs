//! The state of a machine as a plain value, comparable and serialisable: no clock, no randomness, no pointer. A state
//! may fill most of the memory, so copying can fail and there is no `Clone`. A state doesn't contain its program: the
//! layout of the program defines the meaning of offsets.
//!
//! A state is generic over the bits of a real: one word in plain number systems, several for dual numbers and
//! Taylor series.

pub mod checkpoint;
pub mod digest;
pub mod drift;
pub mod garbage;
pub mod given;
pub mod lanes;
pub mod lookup;
pub mod notation;
mod renew;
pub mod shown_mark;
pub mod values;
mod waiting;

use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use serde::{Deserialize, Serialize};

use self::shown_mark::ShownMark;
use crate::allocation::{self, OutOfMemory};
use crate::travel::{Track, Travel};

pub use reviver_flow::layout::MODE;

/// The cells that a parameter of an open call refers to. For a matrix, these are the first cells of its rows:
/// the length is the number of rows, and the stride is the number of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// The offset of the first cell.
    pub base: u32,
    /// The number of cells, or of rows.
    pub length: u32,
    /// The distance between neighbouring cells.
    pub stride: u32,
}

impl Reference {
    /// Iterates over the cells, in order.
    pub fn cells(self) -> impl Iterator<Item = u32> {
        (0..self.length).map(move |n| self.base + n * self.stride)
    }

    /// Returns a reference to all cells of a matrix, in row-major order.
    pub fn flattened(self) -> Reference {
        Reference { base: self.base, length: self.length * self.stride, stride: 1 }
    }
}

/// The bit that marks an address as that of an adjoint. The other bits are the offset of its real cell, which
/// is always smaller.
pub const ADJOINT: u32 = 1 << 31;

/// The part of a call that is executed. Outside of gradient mode, and for procedures without a derivative rule, a call
/// is its callee's body. Otherwise the call has two parts, both executed with the mode off. In a forward run, the rule
/// is executed backward, and after it the body forward. In a backward run, the body is executed backward, and after it
/// the rule forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Part {
    /// The only part of a call without a derivative rule, or outside of gradient mode.
    Whole,
    /// The callee's body, in a call with a derivative rule.
    Body,
    /// The callee's derivative rule.
    Rule,
}

/// The record of an open call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallRecord {
    /// The index of the `call` or `uncall` in the code.
    pub site: u32,
    /// The machine's direction outside of the call: true inside an `uncall`.
    pub inverted: bool,
    /// The start of the caller's frame and references.
    pub frame: Frame,
    /// The part of the call that is executed.
    pub part: Part,
}

/// The start of the cells and the references of the current procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The offset of the frame's first integer cell.
    pub ints: u32,
    /// The offset of the frame's first real cell.
    pub reals: u32,
    /// The index of the procedure's first reference in [`State::references`].
    pub references: u32,
}

impl Frame {
    /// Returns the first cell of a class in the frame.
    pub fn start(self, class: Class) -> u32 {
        match class {
            Class::Int => self.ints,
            Class::Real => self.reals,
        }
    }
}

/// A value on a tape, together with its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TapeEntry<B = u64> {
    /// An integer, sign-extended from the program's word.
    Int(i64),
    /// The bits of a real in the program's number system.
    Real(B),
}

/// The counters of a run. No digest includes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Number of bits discarded by `overwrite` and `erase`.
    pub erased_bits: u64,
    /// Number of bits of floats that were vacated within the tolerance but weren't 0.
    pub discarded_bits: u64,
    /// The furthest step at which `show` has printed.
    pub shown: ShownMark,
    /// Number of adjoints that weren't 0 when their cell became a constant.
    pub drops: u64,
    /// Number of steps since the start that entered or left a call. A backward step counts as -1, so the difference
    /// between two states of a run is the number of such steps between them.
    pub calls: i64,
    /// True if some steps were executed by code that doesn't check everything. Output about the state must
    /// say so.
    pub is_unchecked: bool,
}

impl Counters {
    /// Adds what another run has counted between `before` and `after`. The other run started from the same state as
    /// this one.
    pub(crate) fn add_since(&mut self, before: Counters, after: Counters) {
        let since =
            |own: &mut u64, before: u64, after: u64| *own = own.wrapping_add(after.wrapping_sub(before));
        since(&mut self.erased_bits, before.erased_bits, after.erased_bits);
        since(&mut self.discarded_bits, before.discarded_bits, after.discarded_bits);
        since(&mut self.drops, before.drops, after.drops);
        self.calls += after.calls - before.calls;
        self.is_unchecked |= after.is_unchecked;
    }
}

/// The adjoint of every real cell, of every entry of the real stack, and of both tapes. Each list has the
/// length and order of the values. Entries of integers have the adjoint 0.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjoints<B = u64> {
    /// The adjoints of [`State::reals`].
    pub cells: Vec<B>,
    /// The adjoints of [`State::real_stack`].
    pub stack: Vec<B>,
    /// The adjoints of [`State::input`].
    pub input: Vec<B>,
    /// The adjoints of [`State::output`].
    pub output: Vec<B>,
    /// Deferred adjoints of open tasks: the earlier adjoints of the cells that the tasks only read. Each task
    /// accumulates its share from 0, and the deferred adjoint is added at the task's end. So the sum doesn't depend on
    /// the order in which tasks run. The innermost task's adjoints are last.
    pub deferred: Vec<DeferredAdjoint<B>>,
}

/// A deferred adjoint: the adjoint of a cell from before a task, set aside while the task accumulates its own share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeferredAdjoint<B = u64> {
    /// The number of open calls around the task.
    pub depth: u32,
    /// The real cell that the adjoint belongs to.
    pub cell: u32,
    /// The cell's adjoint without the share that the task accumulates.
    pub adjoint: B,
}

impl<B> Adjoints<B> {
    /// Iterates over every adjoint.
    pub fn all(&self) -> impl Iterator<Item = &B> {
        let deferred = self.deferred.iter().map(|deferred| &deferred.adjoint);
        self.cells.iter().chain(&self.stack).chain(&self.input).chain(&self.output).chain(deferred)
    }
}

/// Everything that a run changes.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State<B = u64> {
    /// Integer cells, sign-extended: the mode bit, globals, main's frame, immediates, frames of open calls.
    pub ints: Vec<i64>,
    /// Real cells as bits of the number system, in the same order as the integers, without a mode bit.
    pub reals: Vec<B>,
    /// The adjoints; `None` if all are 0. Adjoints are allocated when a step needs them.
    pub adjoints: Option<Adjoints<B>>,
    /// The stack of integers; its last entry is the top.
    pub int_stack: Vec<i64>,
    /// The stack of reals, as bits; its last entry is the top.
    pub real_stack: Vec<B>,
    /// The input tape; its last entry is read next.
    pub input: Vec<TapeEntry<B>>,
    /// The output tape; its last entry was written last.
    pub output: Vec<TapeEntry<B>>,
    /// The records of all open calls, the innermost last.
    pub calls: Vec<CallRecord>,
    /// The references of all open calls; those of the innermost call are last.
    pub references: Vec<Reference>,
    /// The frame of the innermost open procedure.
    pub frame: Frame,
    /// The machine's own direction: true inside an `uncall`.
    pub inverted: bool,
    /// Position between two instructions, as the index of the second one.
    pub position: u32,
    /// Number of steps since the start; negative for a state before the start.
    pub step: i64,
    /// Number of steps since the start that are in derivative rules, which only gradient mode executes. A backward step
    /// counts as -1, as in `step`.
    pub rule_steps: i64,
    /// The counters of the run, which no digest includes.
    pub counters: Counters,
}

impl<A: Copy> State<A> {
    /// Returns a copy, with the bits of every real mapped.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub fn try_map<B>(&self, real: impl Fn(A) -> B) -> Result<State<B>, OutOfMemory> {
        let reals = |list: &[A]| allocation::mapped(list, |&bits| real(bits));
        let tape = |entries: &[TapeEntry<A>]| {
            allocation::mapped(entries, |entry| match *entry {
                TapeEntry::Int(value) => TapeEntry::Int(value),
                TapeEntry::Real(bits) => TapeEntry::Real(real(bits)),
            })
        };
        let adjoints = match &self.adjoints {
            Some(Adjoints { cells, stack, input, output, deferred }) => {
                let [cells, stack, input, output] = [cells, stack, input, output].map(|list| reals(list));
                let deferred = allocation::mapped(deferred, |&DeferredAdjoint { depth, cell, adjoint }| {
                    DeferredAdjoint { depth, cell, adjoint: real(adjoint) }
                })?;
                Some(Adjoints { cells: cells?, stack: stack?, input: input?, output: output?, deferred })
            }
            None => None,
        };
        Ok(State {
            ints: allocation::copied(&self.ints)?,
            reals: reals(&self.reals)?,
            adjoints,
            int_stack: allocation::copied(&self.int_stack)?,
            real_stack: reals(&self.real_stack)?,
            input: tape(&self.input)?,
            output: tape(&self.output)?,
            calls: allocation::copied(&self.calls)?,
            references: allocation::copied(&self.references)?,
            frame: self.frame,
            inverted: self.inverted,
            position: self.position,
            step: self.step,
            rule_steps: self.rule_steps,
            counters: self.counters,
        })
    }
}

impl<B> State<B> {
    /// Returns the state as the start of a run: its step number is 0, and no value counts as shown.
    #[must_use]
    pub fn as_start(self) -> State<B> {
        let counters = Counters { shown: ShownMark::default(), ..self.counters };
        State { step: 0, rule_steps: 0, counters, ..self }
    }

    /// Returns the integers except for the mode bit.
    pub fn own_ints(&self) -> &[i64] {
        self.ints.get(MODE + 1..).unwrap_or_default()
    }

    /// Returns the number of steps since the start without those in rules. The number is the same with gradient mode on
    /// and off.
    pub fn own_steps(&self) -> i64 {
        self.step - self.rule_steps
    }

    /// Returns the step number on a track.
    pub(crate) fn on_track(&self, track: Track) -> i64 {
        match track {
            Track::Program => self.own_steps(),
            Track::Rules => self.rule_steps,
        }
    }

    /// Adds executed steps to the step numbers; backward steps count as -1.
    pub(crate) fn passed(&mut self, travel: Travel, track: Track, steps: u64) {
        let steps = travel.sign() * steps as i64;
        self.step += steps;
        if track == Track::Rules && keeps(Rule::RuleStepsAreCountedSeparately) {
            self.rule_steps += steps;
        }
    }
}

impl<B: Copy + Default + PartialEq> State<B> {
    /// Returns true if gradient mode is on.
    pub fn mode(&self) -> bool {
        self.ints.get(MODE).is_some_and(|&mode| mode != 0)
    }

    /// Sets the gradient mode bit. If `on` is true, the adjoints are allocated, too.
    pub fn set_mode(&mut self, on: bool) {
        if let Some(mode) = self.ints.get_mut(MODE) {
            *mode = i64::from(on);
        }
        if on {
            self.adjoints_mut();
        }
    }

    /// Allocates the adjoints, one for each value.
    ///
    /// # Errors
    /// Fails if there is no memory. Existing adjoints stay unchanged.
    pub fn make_adjoints(&mut self) -> Result<(), OutOfMemory> {
        let State { reals, real_stack, input, output, .. } = &*self;
        let wanted = [reals.len(), real_stack.len(), input.len(), output.len()];
        match &mut self.adjoints {
            None => {
                let [cells, stack, input, output] = wanted.map(allocation::zeros);
                let (cells, stack, input, output) = (cells?, stack?, input?, output?);
                let adjoints = Adjoints { cells, stack, input, output, deferred: Vec::new() };
                self.adjoints = Some(adjoints);
            }
            Some(adjoints) => {
                let Adjoints { cells, stack, input, output, deferred: _ } = adjoints;
                if [cells.len(), stack.len(), input.len(), output.len()] == wanted {
                    return Ok(());
                }
                for (list, wanted) in [cells, stack, input, output].into_iter().zip(wanted) {
                    allocation::more(list, wanted.saturating_sub(list.len()))?;
                    list.resize(wanted, B::default());
                }
            }
        }
        Ok(())
    }

    /// Returns the adjoints, and first allocates those of new values on a tape or stack. If memory may run out, call
    /// [`State::make_adjoints`] first.
    pub fn adjoints_mut(&mut self) -> &mut Adjoints<B> {
        let adjoints = self.adjoints.get_or_insert_with(Adjoints::default);
        adjoints.cells.resize(self.reals.len(), B::default());
        adjoints.stack.resize(self.real_stack.len(), B::default());
        adjoints.input.resize(self.input.len(), B::default());
        adjoints.output.resize(self.output.len(), B::default());
        adjoints
    }

    /// Returns the bits of the real, or of the adjoint, at an address. Adjoints that aren't allocated are 0.
    pub fn real_at(&self, address: u32) -> Option<B> {
        let cell = (address & !ADJOINT) as usize;
        match &self.adjoints {
            _ if address & ADJOINT == 0 => self.reals.get(cell).copied(),
            Some(adjoints) => adjoints.cells.get(cell).copied(),
            None => self.reals.get(cell).map(|_| B::default()),
        }
    }

    /// Returns a copy of the state.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub fn try_clone(&self) -> Result<State<B>, OutOfMemory> {
        self.try_map(|bits| bits)
    }

    /// Returns the memory use of the state, in bytes. Allocations don't shrink while a program runs, so this
    /// is the peak.
    pub fn bytes(&self) -> usize {
        let adjoints = self.adjoints.as_ref().map_or(0, |a| {
            a.cells.capacity() + a.stack.capacity() + a.input.capacity() + a.output.capacity()
        });
        let deferred = self.adjoints.as_ref().map_or(0, |a| a.deferred.capacity());
        let reals = self.reals.capacity() + self.real_stack.capacity() + adjoints;
        let ints = self.ints.capacity() + self.int_stack.capacity();
        reals * size_of::<B>()
            + ints * size_of::<i64>()
            + (self.input.capacity() + self.output.capacity()) * size_of::<TapeEntry<B>>()
            + deferred * size_of::<DeferredAdjoint<B>>()
            + self.calls.capacity() * size_of::<CallRecord>()
            + self.references.capacity() * size_of::<Reference>()
    }
}
