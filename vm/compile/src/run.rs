//! How compiled code is asked to run, and what it answers. Knows no form and no machine.

use reviver_vm::differentiate::evidence::SweepEvidence;
use reviver_vm::watch::Watcher;

/// The cells that code works on: those of a machine's state, or of a [`crate::bare::BareRoom`].
#[derive(Debug, Default)]
pub struct CellMemory<'c> {
    pub ints: &'c mut [i64],
    pub reals: &'c mut [u64],
    /// One for each real where the form loads or stores adjoints; else it may be empty.
    pub adjoints: &'c mut [u64],
    /// As many as the form demands.
    pub references: &'c mut [i64],
    /// The cells of the start, for the functions of [`crate::call`]; else empty.
    pub start_ints: &'c [i64],
    pub start_reals: &'c [u64],
    /// The words that a function of [`crate::call`] answers with; else empty.
    pub results: &'c mut [u64],
}

/// What a run adds to a state's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub erased_bits: u64,
    pub discarded_bits: u64,
    pub drops: u64,
    /// Steps that entered a call or left one.
    pub calls: u64,
}

/// What code is asked to do.
#[derive(Debug)]
pub struct Job<'c, 'w> {
    /// What the form asks for ([`crate::form::SsaForm::inputs`]), in that order.
    pub inputs: &'c [u32],
    pub cells: CellMemory<'c>,
    /// How many steps may be made: at least [`crate::form::SsaForm::first_steps`].
    pub left: u64,
    /// Who watches, if the version is watched.
    pub watcher: Option<&'c mut Watcher<'w>>,
    /// Receives the evidence of a verified gradient.
    pub evidence: Option<&'c mut SweepEvidence>,
}

/// What code came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeOutcome {
    /// All cells are as the interpreter has them where an exit leads to, so many steps later. `primal_steps` of them come before the turning
    /// point of a gradient, if the form has one.
    Exit { exit: u32, steps: u64, primal_steps: u64, counts: Counts },
    /// Something can't be made, or perhaps not: the cells hold anything, and the interpreter has to say what happens.
    Failed,
}
