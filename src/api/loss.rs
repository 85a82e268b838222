//! Losses: a real cell, or a sum of real cells, each times a seed; the turning point of its gradient, and the code of both sweeps. Makes
//! no step.

use std::sync::{Arc, OnceLock};

use reviver_compile::call::GradientCall;
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
use super::executable::Shared;
use super::vectors;

/// A loss of a program: a real cell, or a seeded sum of real cells ([`super::executable::Executable::seeded`]). A copy is another name for
/// the same one.
#[derive(Clone, Debug)]
pub struct LossCell {
    pub(super) shared: Arc<CompiledLoss>,
    /// The adjoints of the cells where the reverse sweep begins: 1 of a real cell alone.
    pub(super) seeds: Arc<[SeededCell]>,
}

/// The part of a loss that calls with other seeds for the same cells share.
#[derive(Debug)]
pub(super) struct CompiledLoss {
    /// The executable that the cells were looked up in.
    pub of: Arc<Shared>,
    pub variables: Vec<Variable>,
    /// Where the way there ends, and what makes a run stop there; none at the end of the program.
    pub turn: u32,
    pub stops: Option<Stops>,
    /// The sweeps by code where native code is wanted, compiled when they are first needed: the same for all losses that turn there.
    routes: OnceLock<Option<Arc<TurningRoutes>>>,
    /// Both sweeps as one function, compiled when it is first called.
    call: OnceLock<Option<GradientCall>>,
}

impl CompiledLoss {
    /// The sweeps by code, if the executable has native code.
    pub fn routes(&self) -> Option<&Arc<TurningRoutes>> {
        self.routes.get_or_init(|| self.of.turning(self.turn)).as_ref()
    }

    /// Both sweeps as one function, if they need no machine. `seeds` are those of the loss.
    pub fn call(&self, seeds: &[SeededCell]) -> Option<&GradientCall> {
        let made = || {
            let cells: Vec<usize> = seeds.iter().map(|seed| seed.cell).collect();
            self.of.gradient_call(self.turn, &cells, 1)
        };
        self.call.get_or_init(made).as_ref()
    }
}

impl LossCell {
    /// The sum of some reals of an executable, each with the bits of its seed.
    pub(super) fn new(
        of: &Arc<Shared>,
        seeds: Vec<(Variable, u64)>,
    ) -> Result<LossCell, Error> {
        let (program, begin) = (&of.program, &of.begin);
        if seeds.is_empty() {
            return Err(Error::NoSeeds);
        }
        // The subject refuses cells that can't be differentiated.
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
        let (of, routes, call) = (Arc::clone(of), OnceLock::new(), OnceLock::new());
        let shared = Arc::new(CompiledLoss { of, variables, turn, stops, routes, call });
        Ok(LossCell { shared, seeds: seeded.into() })
    }

    /// The same cells in their order with other seeds, without compiling anything.
    ///
    /// # Errors
    /// Another number of seeds than of cells, or one that the number system hasn't got.
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

    /// The value of the loss, or the seeded sum in binary64; `values` are the bits of the cells.
    pub(super) fn sum(&self, values: &[u64]) -> f64 {
        seeded_sum(&self.shared.of.program, &self.seeds, values)
    }

    /// The cell of a loss that is no sum, and whose seed is 1.
    #[cfg(feature = "gpu")]
    pub(super) fn alone(&self) -> Option<usize> {
        match &self.seeds[..] {
            [seed] if *seed == SeededCell::loss(&self.shared.of.program, seed.cell) => Some(seed.cell),
            _ => None,
        }
    }

    /// True if the gradient of another loss turns at the same position.
    pub(super) fn turns_with(&self, other: &LossCell) -> bool {
        self.shared.turn == other.shared.turn
    }

    /// Whether native code leads to the turn and back, so that gradients interpret nothing, unless their way back has to be made
    /// again with a history.
    pub fn is_native(&self) -> bool {
        let is_native = |routes: &Arc<TurningRoutes>| routes.there().is_some() && routes.back().is_some();
        self.shared.call(&self.seeds).is_some() || self.shared.routes().is_some_and(is_native)
    }
}

/// All real inputs.
pub(super) fn inputs(program: &Program, executable: u64, begin: &State) -> Result<Vec<RealCells>, Error> {
    let globals = program.module().globals.iter();
    let given = globals.filter(|global| global.class == Class::Real && Role::is_given(global.role));
    given
        .map(|global| NamedCells::find(program, begin, executable, &global.name, Class::Real).map(RealCells))
        .collect()
}
