//! Requests and results of runs of compiled code. This module is independent of SSA functions and machines.

use reviver_vm::differentiate::evidence::SweepEvidence;
use reviver_vm::watch::Watcher;

/// Cells that code accesses: those of a machine's state, or of a [`crate::call::CallMemory`].
#[derive(Debug, Default)]
pub struct CellMemory<'c> {
    /// Integer cells, in the order of [`reviver_vm::State::ints`].
    pub ints: &'c mut [i64],
    /// Real cells, as bits of the number system, in the order of [`reviver_vm::State::reals`].
    pub reals: &'c mut [u64],
    /// Adjoints: one for each real in each row. May be empty if the function neither loads nor stores adjoints.
    pub adjoints: &'c mut [u64],
    /// Call records and arguments of open calls: as many words as the function's [`Demands`](crate::function::Demands)
    /// require.
    pub references: &'c mut [i64],
    /// Integer cells of the start, for the call functions of [`crate::call`]; otherwise empty.
    pub start_ints: &'c [i64],
    /// Real cells of the start, for the call functions of [`crate::call`]; otherwise empty.
    pub start_reals: &'c [u64],
    /// Receives the results of a call function of [`crate::call`]; otherwise empty.
    pub results: &'c mut [u64],
}

/// Numbers that a run adds to a state's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of bits discarded by `overwrite` and `erase`.
    pub erased_bits: u64,
    /// Sum of the widths, in bits, of all floats that were freed or cleared although they weren't exactly 0. Their
    /// magnitudes were within the tolerance.
    pub discarded_bits: u64,
    /// Number of dropped adjoints. An adjoint is dropped if it isn't 0 when its cell becomes 0.
    pub drops: u64,
    /// Number of steps that entered a call or left one.
    pub calls: u64,
}

/// Request to run code.
#[derive(Debug)]
pub struct Job<'c, 'w> {
    /// Inputs of the function, in the order of [`crate::function::SsaFunction::inputs`].
    pub inputs: &'c [u32],
    /// Memory that the code reads and changes. After a failed check, its contents are undefined.
    pub cells: CellMemory<'c>,
    /// Step budget. The caller must set it to at least [`crate::function::SsaFunction::first_steps`].
    pub left: u64,
    /// Receives jumps and freed cells, if the specialization is watched.
    pub watcher: Option<&'c mut Watcher<'w>>,
    /// Receives the evidence for the verification of a gradient.
    pub evidence: Option<&'c mut SweepEvidence>,
}

/// Outcome of a run of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOutcome {
    /// The run left the function by an exit. All live cells have the values that the interpreter would have computed up
    /// to the exit's position.
    Exit {
        /// Index of the exit in [`crate::function::SsaFunction::exits`].
        exit: u32,
        /// Number of steps of the run. For a gradient, the number of steps of both sweeps.
        steps: u64,
        /// Number of steps before the turning point of a gradient; 0 if the function has no turning point.
        primal_steps: u64,
        /// Increments of the state's counters.
        counts: Counts,
    },
    /// A check failed, and the cells are undefined. The interpreter must repeat the run, which need not end in a trap.
    Failed,
}
