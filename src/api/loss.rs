//! Losses: a real cell, or a seeded sum of real cells, with the turning point of its gradient and the code of both
//! sweeps. This module executes nothing.

use std::sync::Arc;

use reviver_compile::turning::TurningRoutes;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_memory::ask;
use reviver_vm::differentiate::seeds::seeded_sum;
use reviver_vm::differentiate::{SeededCell, Subject, Variable, early_turn};
use reviver_vm::stops::Stops;
use reviver_vm::{Program, State};

use super::cells::{NamedCells, RealCells};
use super::error::Error;
use super::vectors;

/// Loss of a program: a real cell, or a seeded sum of real cells ([`super::executable::Executable::seeded`]). A clone
/// refers to the same loss.
#[derive(Clone, Debug)]
pub struct LossCell {
    pub(super) shared: Arc<CompiledLoss>,
    /// Adjoints of the cells at the start of the reverse sweep; 1 for a loss that isn't seeded.
    pub(super) seeds: Arc<[SeededCell]>,
}

/// Part of a loss that doesn't depend on the seeds.
#[derive(Debug)]
pub(super) struct CompiledLoss {
    /// Number of the executable in which the cells were looked up.
    pub executable: u64,
    program: Arc<Program>,
    pub variables: Vec<Variable>,
    /// Position of the turning point. `stops` makes a run stop there; it is `None` at the end of the program.
    pub turn: u32,
    pub stops: Option<Stops>,
    /// Native routes to the turning point and back, if there is a backend. All losses with this turning point share
    /// them.
    pub routes: Option<Arc<TurningRoutes>>,
}

impl LossCell {
    /// Creates the sum of some reals of an executable, each with the bits of its seed.
    pub(super) fn new(
        program: &Arc<Program>,
        (executable, begin): (u64, &State),
        routes: impl FnOnce(u32) -> Option<Arc<TurningRoutes>>,
        seeds: Vec<(Variable, u64)>,
    ) -> Result<LossCell, Error> {
        if seeds.is_empty() {
            return Err(Error::NoSeeds);
        }
        // [`Subject`] refuses cells that can't be differentiated.
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
        let (program, routes) = (Arc::clone(program), routes(turn));
        let shared = Arc::new(CompiledLoss { executable, program, variables, turn, stops, routes });
        Ok(LossCell { shared, seeds: seeded.into() })
    }

    /// Returns the same cells with other seeds, in the same order; compiles nothing.
    ///
    /// # Errors
    /// Not one seed per cell, or a seed that the number system can't represent.
    pub fn with_seeds(&self, seeds: &[f64]) -> Result<LossCell, Error> {
        let CompiledLoss { program, variables, .. } = &*self.shared;
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

    /// Computes the loss, or the seeded sum in binary64, from the bits of the cells.
    pub(super) fn sum(&self, values: &[u64]) -> f64 {
        seeded_sum(&self.shared.program, &self.seeds, values)
    }

    /// Returns the cell of a loss that is a single cell with seed 1.
    #[cfg(feature = "gpu")]
    pub(super) fn alone(&self) -> Option<usize> {
        match &self.seeds[..] {
            [seed] if *seed == SeededCell::loss(&self.shared.program, seed.cell) => Some(seed.cell),
            _ => None,
        }
    }

    /// Returns true if the other loss uses the same native routes.
    pub(super) fn turns_with(&self, other: &LossCell) -> bool {
        let routes = self.shared.routes.as_ref().zip(other.shared.routes.as_ref());
        routes.is_some_and(|(own, others)| Arc::ptr_eq(own, others))
    }

    /// Returns true if the other loss has the same turning point.
    #[cfg(feature = "gpu")]
    pub(super) fn turns_where(&self, other: &LossCell) -> bool {
        self.shared.turn == other.shared.turn
    }

    /// Returns true if native code covers both sweeps. Gradients then interpret nothing, unless a reverse sweep is
    /// recomputed with a history.
    pub fn is_native(&self) -> bool {
        let routes = self.shared.routes.as_deref();
        routes.is_some_and(|routes| routes.there().is_some() && routes.back().is_some())
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
