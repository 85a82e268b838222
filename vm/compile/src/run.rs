//! Requests and results of runs of compiled code. This module knows no SSA function and no machine.

use reviver_vm::differentiate::evidence::SweepEvidence;
use reviver_vm::watch::Watcher;

/// Cells that code accesses: those of a machine's state, or of a [`crate::call::CallRoom`].
#[derive(Debug, Default)]
pub struct CellMemory<'c> {
    pub ints: &'c mut [i64],
    pub reals: &'c mut [u64],
    /// An adjoint for each real in each row, if the function loads or stores adjoints; otherwise it may be empty.
    pub adjoints: &'c mut [u64],
    /// As many words as the function demands.
    pub references: &'c mut [i64],
    /// Cells of the start, for the call functions of [`crate::call`]; otherwise empty.
    pub start_ints: &'c [i64],
    pub start_reals: &'c [u64],
    /// Receives the results of a call function of [`crate::call`]; otherwise empty.
    pub results: &'c mut [u64],
}

/// Increments of a state's counters by a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub erased_bits: u64,
    pub discarded_bits: u64,
    pub drops: u64,
    /// Number of steps that entered a call or left one.
    pub calls: u64,
}

/// Request to run code.
#[derive(Debug)]
pub struct Job<'c, 'w> {
    /// Inputs of the function, in the order of [`crate::form::SsaForm::inputs`].
    pub inputs: &'c [u32],
    pub cells: CellMemory<'c>,
    /// Step budget: at least [`crate::form::SsaForm::first_steps`].
    pub left: u64,
    /// Receives jumps and freed cells, if the specialization is watched.
    pub watcher: Option<&'c mut Watcher<'w>>,
    /// Receives the evidence for the verification of a gradient.
    pub evidence: Option<&'c mut SweepEvidence>,
}

/// Outcome of a run of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOutcome {
    /// The run left the function by an exit after `steps` steps. All cells that the caller observes are as the interpreter has
    /// them at the exit's position. `primal_steps` is the number of steps before the turning point of a gradient, if the
    /// function has one.
    Exit { exit: u32, steps: u64, primal_steps: u64, counts: Counts },
    /// A check failed, perhaps without need. The cells are undefined, and the interpreter has to find out what happens.
    Failed,
}
