//! The two ways of a gradient: the route to where it turns, and the route back from there, which takes for granted what the first one has left.
//! Judges nothing: whether the way back was the way there is for [`reviver_vm::differentiate`] to say.

use reviver_isa::instruction::Class;
use reviver_vm::differentiate::TurnedPass;
use reviver_vm::room::OutOfMemory;
use reviver_vm::{CheckLevel, Machine, Program};

use crate::backend::Backend;
use crate::route::{Route, RouteEnd, RoutePlan, RouteRoom};
use crate::start::RouteStart;

/// The ways of a gradient, as far as code leads them.
#[derive(Debug)]
pub struct TurningRoutes {
    there: Option<Route>,
    back: Option<Route>,
    /// The loss, by its place among the reals.
    loss: usize,
    /// Whether all that the way back asks of adjoints holds where the way there has come from a state without any.
    begin_as_asked: bool,
}

impl TurningRoutes {
    /// Compiles the ways of the gradient of a loss, a cell by its place among the reals, that turns at a position.
    pub fn new(
        program: &Program,
        backend: &impl Backend,
        (loss, turn): (usize, u32),
        level: CheckLevel,
    ) -> TurningRoutes {
        let [there, back] = RoutePlan::gradient(program, turn, level);
        let there = Route::new(program, backend, there);
        let left = there.as_ref().map(Route::left).unwrap_or_default();
        let back = Route::knowing(left, program, backend, back);
        let is_of_frame = program.flow().layout().main_frame(Class::Real).contains(&(loss as u32));
        TurningRoutes { there, back, loss, begin_as_asked: !is_of_frame && !program.names_adjoints() }
    }

    /// The way there, if code leads it.
    pub fn there(&self) -> Option<&Route> {
        self.there.as_ref()
    }

    /// The way back, if code leads it.
    pub fn back(&self) -> Option<&Route> {
        self.back.as_ref()
    }

    /// Sends a machine both ways, with at most `most` steps there and no more than that and `slack` back. None where it hasn't arrived, or not by
    /// code alone: then its cells hold anything.
    ///
    /// # Errors
    /// There is no memory for the state, or for adjoints.
    pub fn run(
        &self,
        start: &RouteStart,
        (machine, room): (&mut Machine, &mut RouteRoom),
        (most, slack): (u64, u64),
    ) -> Result<Option<TurnedPass>, OutOfMemory> {
        let (Some(there), Some(back)) = (&self.there, &self.back) else { return Ok(None) };
        if !self.begin_as_asked || start.state().adjoints.is_some() {
            return Ok(None);
        }
        if there.run_from(start, machine, room, most)? != RouteEnd::Arrived {
            return Ok(None);
        }
        let pass = TurnedPass::new(machine, start.state(), self.loss)?;
        // The machine has come here by code, and has now the mode and the one adjoint that the way back begins with: there is nothing to look at.
        let made = pass.step().abs_diff(start.state().step);
        let budget = made.saturating_add(slack).saturating_add(back.first_steps());
        Ok((back.go(machine, room, budget) == RouteEnd::Arrived).then_some(pass))
    }
}
