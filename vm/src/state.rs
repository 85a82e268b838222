//! The state of a machine: a plain value. Cloneable, comparable, serialisable; no clock, no
//! randomness, no pointer. Knows no program: offsets mean what the program's layout says.

use serde::{Deserialize, Serialize};

/// Cells that a parameter of an open call refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// Offset of the first cell.
    pub base: u32,
    /// Number of cells.
    pub length: u32,
    /// Distance of neighbours.
    pub stride: u32,
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
}

/// Where the cells and the references of the current procedure begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub ints: u32,
    pub reals: u32,
    pub references: u32,
}

/// A value on a tape carries its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TapeEntry {
    Int(i64),
    /// The bits of a real of the program's number system.
    Real(u64),
}

/// What a run has counted. No digest contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Bits thrown away by `overwrite` and `erase`.
    pub erased_bits: u64,
    /// Bits of floats that were vacated within the tolerance but were not 0.
    pub discarded_bits: u64,
    /// The furthest step at which `show` has printed.
    pub shown: i64,
}

/// Everything that running changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Integer cells, sign-extended: globals, main's frame, immediates, frames of open calls.
    pub ints: Vec<i64>,
    /// Real cells as the bits of the number system, in the same order.
    pub reals: Vec<u64>,
    pub int_stack: Vec<i64>,
    pub real_stack: Vec<u64>,
    /// The input tape; its end is read next.
    pub input: Vec<TapeEntry>,
    /// The output tape; its end was written last.
    pub output: Vec<TapeEntry>,
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
    pub counters: Counters,
}
