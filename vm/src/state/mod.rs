//! The state of a machine: a plain value. Comparable, serialisable; no clock, no randomness, no
//! pointer. It may take most of what memory there is, so it has no `Clone`: a copy can fail. Knows no program: offsets mean what the program's layout says.
//!
//! A state is generic over the bits of a real: one word in plain number systems, several in lifted
//! ones (dual numbers, Taylor series).

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
use crate::room::{self, OutOfMemory};
use crate::travel::{Track, Travel};

pub use reviver_flow::layout::MODE;

/// Cells that a parameter of an open call refers to. Of a matrix it refers to the first cell of each row: the
/// length is the number of its rows, and the stride that of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// Offset of the first cell.
    pub base: u32,
    /// Number of cells.
    pub length: u32,
    /// Distance of neighbours.
    pub stride: u32,
}

impl Reference {
    /// The cells, in order.
    pub fn cells(self) -> impl Iterator<Item = u32> {
        (0..self.length).map(move |n| self.base + n * self.stride)
    }

    /// All cells of a matrix, row after row.
    pub fn flattened(self) -> Reference {
        Reference { base: self.base, length: self.length * self.stride, stride: 1 }
    }
}

/// Set in the address of an adjoint; the rest is the offset of its real cell. No offset is that great.
pub const ADJOINT: u32 = 1 << 31;

/// What an open call executes. Outside of gradient mode, and for procedures without a rule, a call
/// is its callee's body. Else it has two parts, both with the mode off: going forward the rule
/// backward and then the body forward; going backward the body backward and then the rule forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Part {
    Whole,
    /// The callee's body; its rule belongs to the call.
    Body,
    /// The callee's rule.
    Rule,
}

/// An open call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallRecord {
    /// Index of the `call` or `uncall` in the code.
    pub site: u32,
    /// The machine's direction outside of the call.
    pub inverted: bool,
    /// Where the caller's frame and references begin.
    pub frame: Frame,
    pub part: Part,
}

/// Where the cells and the references of the current procedure begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub ints: u32,
    pub reals: u32,
    pub references: u32,
}

impl Frame {
    /// Where the cells of a class begin.
    pub fn start(self, class: Class) -> u32 {
        match class {
            Class::Int => self.ints,
            Class::Real => self.reals,
        }
    }
}

/// A value on a tape carries its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TapeEntry<B = u64> {
    Int(i64),
    /// The bits of a real of the program's number system.
    Real(B),
}

/// What a run has counted. No digest contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Bits thrown away by `overwrite` and `erase`.
    pub erased_bits: u64,
    /// Bits of floats that were vacated within the tolerance but were not 0.
    pub discarded_bits: u64,
    /// How far `show` has shown values.
    pub shown: ShownMark,
    /// Adjoints that were not 0 when their cell became a constant.
    pub drops: u64,
    /// Steps between step 0 and here that entered or left a call; negative before step 0. So the
    /// difference between two states of a run is what happened between them.
    pub calls: i64,
    /// Whether steps were made by code that doesn't check everything: whoever tells of the state says so.
    pub is_unchecked: bool,
}

impl Counters {
    /// Counts what was counted elsewhere, from the same state on as here.
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

/// The adjoint of every real cell, of every entry of the real stack and of both tapes: each list is
/// as long as the values' and in the same order. Entries of integers have the adjoint 0.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjoints<B = u64> {
    pub cells: Vec<B>,
    pub stack: Vec<B>,
    pub input: Vec<B>,
    pub output: Vec<B>,
    /// What waits for tasks that are open: the adjoints of cells that these only read. Each task adds up its own share from 0, and what
    /// waited is added where it ends, so that the sum doesn't depend on which tasks ran before. The innermost task's last.
    pub aside: Vec<Aside<B>>,
}

/// An adjoint that waits while a task adds up its own share of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aside<B = u64> {
    /// How many calls were open around the task.
    pub depth: u32,
    /// The real cell that it is the adjoint of.
    pub cell: u32,
    pub adjoint: B,
}

impl<B> Adjoints<B> {
    /// Every adjoint.
    pub fn all(&self) -> impl Iterator<Item = &B> {
        let aside = self.aside.iter().map(|aside| &aside.adjoint);
        self.cells.iter().chain(&self.stack).chain(&self.input).chain(&self.output).chain(aside)
    }
}

/// Everything that running changes.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State<B = u64> {
    /// Integer cells, sign-extended: the mode bit, globals, main's frame, immediates, frames of open
    /// calls.
    pub ints: Vec<i64>,
    /// Real cells as the bits of the number system: globals and so on, as of the integers.
    pub reals: Vec<B>,
    /// `None` until something needs them: they are all 0 then.
    pub adjoints: Option<Adjoints<B>>,
    pub int_stack: Vec<i64>,
    pub real_stack: Vec<B>,
    /// The input tape; its end is read next.
    pub input: Vec<TapeEntry<B>>,
    /// The output tape; its end was written last.
    pub output: Vec<TapeEntry<B>>,
    pub calls: Vec<CallRecord>,
    /// References of all open calls, the innermost call's last.
    pub references: Vec<Reference>,
    pub frame: Frame,
    /// The machine's own direction: true inside an `uncall`.
    pub inverted: bool,
    /// The machine stands before the instruction of this index and behind the one before.
    pub position: u32,
    /// Steps since the start; negative before it.
    pub step: i64,
    /// How many of them were made in rules of procedures, which only gradient mode does. A step back is
    /// counted as -1, as in `step`.
    pub rule_steps: i64,
    pub counters: Counters,
}

impl<A: Copy> State<A> {
    /// A copy, with the bits of every real mapped.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn try_map<B>(&self, real: impl Fn(A) -> B) -> Result<State<B>, OutOfMemory> {
        let reals = |list: &[A]| room::mapped(list, |&bits| real(bits));
        let tape = |entries: &[TapeEntry<A>]| {
            room::mapped(entries, |entry| match *entry {
                TapeEntry::Int(value) => TapeEntry::Int(value),
                TapeEntry::Real(bits) => TapeEntry::Real(real(bits)),
            })
        };
        let adjoints = match &self.adjoints {
            Some(Adjoints { cells, stack, input, output, aside }) => {
                let [cells, stack, input, output] = [cells, stack, input, output].map(|list| reals(list));
                let aside = room::mapped(aside, |&Aside { depth, cell, adjoint }| Aside {
                    depth,
                    cell,
                    adjoint: real(adjoint),
                })?;
                Some(Adjoints { cells: cells?, stack: stack?, input: input?, output: output?, aside })
            }
            None => None,
        };
        Ok(State {
            ints: room::copied(&self.ints)?,
            reals: reals(&self.reals)?,
            adjoints,
            int_stack: room::copied(&self.int_stack)?,
            real_stack: reals(&self.real_stack)?,
            input: tape(&self.input)?,
            output: tape(&self.output)?,
            calls: room::copied(&self.calls)?,
            references: room::copied(&self.references)?,
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
    /// The same state as the start of a run: steps count from here, and what comes after is shown.
    #[must_use]
    pub fn as_start(self) -> State<B> {
        let counters = Counters { shown: ShownMark::default(), ..self.counters };
        State { step: 0, rule_steps: 0, counters, ..self }
    }

    /// The integers but for the mode.
    pub fn own_ints(&self) -> &[i64] {
        self.ints.get(MODE + 1..).unwrap_or_default()
    }

    /// Steps since the start without those in rules: the same with gradient mode on and off.
    pub fn own_steps(&self) -> i64 {
        self.step - self.rule_steps
    }

    /// The number that a track has reached.
    pub(crate) fn on_track(&self, track: Track) -> i64 {
        match track {
            Track::Program => self.own_steps(),
            Track::Rules => self.rule_steps,
        }
    }

    /// Counts steps.
    pub(crate) fn passed(&mut self, travel: Travel, track: Track, steps: u64) {
        let steps = travel.sign() * steps as i64;
        self.step += steps;
        if track == Track::Rules && keeps(Rule::RuleStepsAreCountedApart) {
            self.rule_steps += steps;
        }
    }
}

impl<B: Copy + Default + PartialEq> State<B> {
    /// Whether gradient mode is on.
    pub fn mode(&self) -> bool {
        self.ints.get(MODE).is_some_and(|&mode| mode != 0)
    }

    /// Turns the gradient mode bit. The adjoints exist afterwards if it is on.
    pub fn set_mode(&mut self, on: bool) {
        if let Some(mode) = self.ints.get_mut(MODE) {
            *mode = i64::from(on);
        }
        if on {
            self.adjoints_mut();
        }
    }

    /// Makes the adjoints, if there are none, and as many as there are values.
    ///
    /// # Errors
    /// There is no memory for them. What was there stays.
    pub fn make_adjoints(&mut self) -> Result<(), OutOfMemory> {
        let State { reals, real_stack, input, output, .. } = &*self;
        let wanted = [reals.len(), real_stack.len(), input.len(), output.len()];
        match &mut self.adjoints {
            None => {
                let [cells, stack, input, output] = wanted.map(room::zeros);
                let (cells, stack, input, output) = (cells?, stack?, input?, output?);
                let adjoints = Adjoints { cells, stack, input, output, aside: Vec::new() };
                self.adjoints = Some(adjoints);
            }
            Some(adjoints) => {
                let Adjoints { cells, stack, input, output, aside: _ } = adjoints;
                if [cells.len(), stack.len(), input.len(), output.len()] == wanted {
                    return Ok(());
                }
                for (list, wanted) in [cells, stack, input, output].into_iter().zip(wanted) {
                    room::more(list, wanted.saturating_sub(list.len()))?;
                    list.resize(wanted, B::default());
                }
            }
        }
        Ok(())
    }

    /// The adjoints, made if there were none, and as many as there are values: whoever put values on
    /// a tape or a stack need not think of them. Where memory may run out, [`State::make_adjoints`]
    /// comes first.
    pub fn adjoints_mut(&mut self) -> &mut Adjoints<B> {
        let adjoints = self.adjoints.get_or_insert_with(Adjoints::default);
        adjoints.cells.resize(self.reals.len(), B::default());
        adjoints.stack.resize(self.real_stack.len(), B::default());
        adjoints.input.resize(self.input.len(), B::default());
        adjoints.output.resize(self.output.len(), B::default());
        adjoints
    }

    /// The bits of the real, or of the adjoint, at an address. Adjoints that weren't made are 0.
    pub fn real_at(&self, address: u32) -> Option<B> {
        let cell = (address & !ADJOINT) as usize;
        match &self.adjoints {
            _ if address & ADJOINT == 0 => self.reals.get(cell).copied(),
            Some(adjoints) => adjoints.cells.get(cell).copied(),
            None => self.reals.get(cell).map(|_| B::default()),
        }
    }

    /// A copy.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn try_clone(&self) -> Result<State<B>, OutOfMemory> {
        self.try_map(|bits| bits)
    }

    /// Memory that the state takes, in bytes. Nothing shrinks while a program runs, so this is the most
    /// that it took.
    pub fn bytes(&self) -> usize {
        let adjoints = self.adjoints.as_ref().map_or(0, |a| {
            a.cells.capacity() + a.stack.capacity() + a.input.capacity() + a.output.capacity()
        });
        let aside = self.adjoints.as_ref().map_or(0, |a| a.aside.capacity());
        let reals = self.reals.capacity() + self.real_stack.capacity() + adjoints;
        let ints = self.ints.capacity() + self.int_stack.capacity();
        reals * size_of::<B>()
            + ints * size_of::<i64>()
            + (self.input.capacity() + self.output.capacity()) * size_of::<TapeEntry<B>>()
            + aside * size_of::<Aside<B>>()
            + self.calls.capacity() * size_of::<CallRecord>()
            + self.references.capacity() * size_of::<Reference>()
    }
}
