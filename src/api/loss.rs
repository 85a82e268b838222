//! A real that is differentiated: its cell, where its gradient turns round, and the code of both ways. Makes no step.

use std::sync::Arc;

use reviver_compile::turning::TurningRoutes;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_vm::differentiate::{Origin, Subject, Variable, early_turn};
use reviver_vm::stops::Stops;
use reviver_vm::{Program, State};

use super::cells::{NamedCells, RealCells};
use super::error::Error;

/// A loss of a program. A copy is another name for the same one.
#[derive(Clone, Debug)]
pub struct LossCell {
    pub(super) shared: Arc<CompiledLoss>,
}

/// What all calls that differentiate a loss have in common.
#[derive(Debug)]
pub(super) struct CompiledLoss {
    /// The number of the executable that it was looked up in.
    pub executable: u64,
    pub variable: Variable,
    /// Where it lies among the reals.
    pub cell: usize,
    /// Where the way there ends, and what makes a run stop there; none at the end of the program.
    pub turn: u32,
    pub stops: Option<Stops>,
    /// The way to the turn, and the way back from there, where native code is wanted: the same for all losses that turn there.
    pub routes: Option<Arc<TurningRoutes>>,
}

impl LossCell {
    pub(super) fn new(
        program: &Arc<Program>,
        begin: &State,
        routes: impl FnOnce(u32) -> Option<Arc<TurningRoutes>>,
        cells: NamedCells,
    ) -> Result<LossCell, Error> {
        if cells.count() != 1 {
            return Err(Error::Several { name: cells.name(program), cells: cells.count() });
        }
        // Whether it can be differentiated at all is for the subject to say.
        Subject::new(Arc::clone(program), begin.try_clone()?, false, u64::MAX)
            .map_err(|error| Error::of_derivative("", error))?;
        let cell = cells.range().start;
        let variable = Variable { global: cells.global, element: cells.element, origin: Origin::Cell(cell) };
        let stops = early_turn(program, &[cell]);
        let turn = stops.as_ref().and_then(Stops::only).map_or(program.end(), |node| node.position);
        let (executable, routes) = (cells.executable, routes(turn));
        Ok(LossCell { shared: Arc::new(CompiledLoss { executable, variable, cell, turn, stops, routes }) })
    }

    /// Whether another loss's gradient has the same ways by code.
    pub(super) fn turns_with(&self, other: &LossCell) -> bool {
        let routes = self.shared.routes.as_ref().zip(other.shared.routes.as_ref());
        routes.is_some_and(|(own, others)| Arc::ptr_eq(own, others))
    }

    /// Whether another loss is final in the same place.
    #[cfg(feature = "gpu")]
    pub(super) fn turns_where(&self, other: &LossCell) -> bool {
        self.shared.turn == other.shared.turn
    }

    /// Whether native code leads to the turn and back, so that gradients interpret nothing, unless their way back has to be made
    /// again with a history.
    pub fn is_native(&self) -> bool {
        let routes = self.shared.routes.as_deref();
        routes.is_some_and(|routes| routes.there().is_some() && routes.back().is_some())
    }
}

/// The variables of some reals, in order.
pub(super) fn variables(cells: &[RealCells]) -> impl Iterator<Item = Variable> {
    cells.iter().flat_map(|RealCells(cells)| {
        let elements = (cells.element..).zip(cells.range());
        elements.map(|(element, cell)| Variable { global: cells.global, element, origin: Origin::Cell(cell) })
    })
}

/// All real inputs.
pub(super) fn inputs(program: &Program, executable: u64, begin: &State) -> Result<Vec<RealCells>, Error> {
    let globals = program.module().globals.iter();
    let given = globals.filter(|global| global.class == Class::Real && Role::is_given(global.role));
    given
        .map(|global| NamedCells::find(program, begin, executable, &global.name, Class::Real).map(RealCells))
        .collect()
}
