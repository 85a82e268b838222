//! Losses: a real cell, or a seeded sum of real cells. A loss contains the turning point of its gradient, and the
//! compiled code of both sweeps. This module executes nothing.

use std::sync::{Arc, OnceLock};

use reviver_compile::call::CompiledCall;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_memory::ask;
use reviver_vm::differentiate::seeds::seeded_sum;
use reviver_vm::differentiate::{SeededCell, Subject, Variable, early_turn};
use reviver_vm::stops::Stops;
use reviver_vm::{Program, State};

use super::cells::{NamedCells, RealCells};
use super::error::Error;
use super::shared::{CallKey, Shared};
use super::vectors;

/// Loss of a program: a real cell, or a seeded sum of real cells ([`super::executable::Executable::seeded`]). A clone
/// refers to the same loss.
#[derive(Clone, Debug)]
pub struct LossCell {
    pub(super) shared: Arc<CompiledLoss>,
    /// Adjoints of the loss's cells at the start of the reverse sweep. A loss that isn't seeded has one cell with
    /// seed 1.
    pub(super) seeds: Arc<[SeededCell]>,
}

/// Part of a loss that doesn't depend on the seeds. The losses that [`LossCell::with_seeds`] returns share this part.
#[derive(Debug)]
pub(super) struct CompiledLoss {
    /// Executable in which the cells were looked up.
    pub of: Arc<Shared>,
    pub variables: Vec<Variable>,
    /// Position of the turning point.
    pub turn: u32,
    /// Compiled function of both sweeps; empty before first use. The inner `None` means that a machine has to execute
    /// the sweeps.
    call: OnceLock<Option<Arc<CompiledCall>>>,
}

impl CompiledLoss {
    /// Returns the compiled function of both sweeps, or `None` if a machine has to execute the sweeps. `seeds` are
    /// those of the loss.
    pub fn call(&self, seeds: &[SeededCell]) -> Option<&CompiledCall> {
        let made = || {
            let cells: Vec<usize> = seeds.iter().map(|seed| seed.cell).collect();
            self.of.gradient_call(&CallKey::new(self.turn, cells, 1))
        };
        self.call.get_or_init(made).as_deref()
    }
}

impl LossCell {
    /// Creates a loss: the sum of seed times value over some reals of an executable. Seeds are bits.
    pub(super) fn new(of: &Arc<Shared>, seeds: Vec<(Variable, u64)>) -> Result<LossCell, Error> {
        let (program, begin) = (&of.program, &of.begin);
        if seeds.is_empty() {
            return Err(Error::NoSeeds);
        }
        // [`Subject::cell`] refuses cells that can't be differentiated.
        let subject = Subject::new(Arc::clone(program), begin.try_clone()?, false, u64::MAX)
            .map_err(|error| Error::of_derivative("", error))?;
        let (mut variables, mut seeded) = (ask::list(seeds.len())?, ask::list(seeds.len())?);
        for (variable, seed) in seeds {
            let cell = subject.cell(&variable).map_err(|error| Error::of_derivative("", error))?;
            seeded.push(SeededCell::new(program, cell, seed));
            variables.push(variable);
        }
        let stops = early_turn(program, &ask::collected(seeded.iter().map(|seed| seed.cell))?);
        let turn = stops.as_ref().and_then(Stops::only).map_or(program.end(), |node| node.position);
        let shared = CompiledLoss { of: Arc::clone(of), variables, turn, call: OnceLock::new() };
        let shared = Arc::new(shared);
        Ok(LossCell { shared, seeds: seeded.into() })
    }

    /// Returns the same cells with other seeds, in the same order; compiles nothing.
    ///
    /// # Errors
    /// Not one seed per cell, or a seed that the number system can't represent.
    pub fn with_seeds(&self, seeds: &[f64]) -> Result<LossCell, Error> {
        let CompiledLoss { of, variables, .. } = &*self.shared;
        let program = &of.program;
        let name = |index: usize| {
            variables.get(index).map_or(String::new(), |cell| program.cell_name(cell.global, cell.element))
        };
        if seeds.len() != variables.len() {
            return Err(Error::Length { name: name(0), cells: variables.len(), given: seeds.len() });
        }
        let bits = vectors::rounded(program, seeds, name)?;
        let reseeded =
            self.seeds.iter().zip(bits).map(|(seeded, seed)| SeededCell::new(program, seeded.cell, seed));
        Ok(LossCell { shared: Arc::clone(&self.shared), seeds: reseeded.collect() })
    }

    /// Computes the loss from the bits of its cells: Σ seed·value, in binary64.
    pub(super) fn sum(&self, values: &[u64]) -> f64 {
        seeded_sum(&self.shared.of.program, &self.seeds, values)
    }

    /// Returns true if the gradients of this loss and of `other` have the same turning point.
    pub(super) fn turns_with(&self, other: &LossCell) -> bool {
        self.shared.turn == other.shared.turn
    }

    /// Returns true if native code covers both sweeps. Gradients then interpret nothing, unless a reverse sweep is
    /// recomputed with a history.
    pub fn is_native(&self) -> bool {
        self.shared.call(&self.seeds).is_some()
    }
}

/// Returns all real inputs of a program.
pub(super) fn inputs(program: &Program, executable: u64, begin: &State) -> Result<Vec<RealCells>, Error> {
    let globals = program.module().globals.iter();
    let given = globals.filter(|global| global.class == Class::Real && Role::is_given(global.role));
    given
        .map(|global| NamedCells::find(program, begin, executable, &global.name, Class::Real).map(RealCells))
        .collect()
}
