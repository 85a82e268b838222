//! Calls on dual numbers and truncated Taylor series by an engine other than the interpreter. This module defines the
//! request and the result of such a call. The call returns the same numbers as the interpreter would, or no result.

use std::sync::atomic::Ordering;

use crate::allocation::{self, OutOfMemory};
use crate::program::Program;
use crate::state::State;

use super::origin::Origin;
use super::seeds::SeededCell;
use super::turning::TurningPoint;
use super::{DifferentiateError, Subject, Variable};

/// Goal of a call on series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesGoal {
    /// The final values of the seeded cells as series, by a run to the end of the program.
    Run {
        /// The highest order of the coefficients.
        order: usize,
        /// True if the engine must return no result for a run with ties, because only the interpreter reports ties.
        rejects_ties: bool,
    },
    /// The gradient of the seeded sum and its derivative along the direction.
    Gradient {
        /// The position of the turning point, at which the primal sweep ends.
        turn: u32,
    },
}

/// Request for a call on series along a direction.
#[derive(Clone, Copy, Debug)]
pub struct SeriesCall<'c> {
    /// The program, prepared for the losses and the independent variables.
    pub program: &'c Program,
    /// The start of the run, in plain numbers.
    pub start: &'c State,
    /// The cells of the independent variables.
    pub inputs: &'c [usize],
    /// The bits of the direction's component for each independent variable.
    pub direction: &'c [u64],
    /// The seeded cells, each once.
    pub seeds: &'c [SeededCell],
    /// The numbers that the call computes.
    pub goal: SeriesGoal,
    /// Upper bound on the steps of each sweep.
    pub most_steps: u64,
    /// Number of steps that the interpreter would execute for this call and for later calls of the same kind, as far as
    /// known. An engine compares this number with the cost of compiling.
    pub avoided_steps: u64,
}

/// Result of a call on series.
#[derive(Clone, Debug, Default)]
pub struct SeriesResult {
    /// Number of steps of the primal sweep.
    pub steps: u64,
    /// For each order of coefficients, the coefficient of each seeded cell's value, as bits.
    pub values: Vec<Vec<u64>>,
    /// Coefficients 0 and 1 of the adjoint of each independent variable, as bits; empty for a run.
    pub adjoints: [Vec<u64>; 2],
    /// Error bound of the seeded sum, see [`VerificationReport::loss_error`](super::VerificationReport::loss_error).
    pub loss_error: Option<f64>,
}

/// Maximum number of steps that an engine may execute in a sweep without reading the interrupt flag.
const MOST_STEPS: u64 = 1 << 30;

/// The independent variables of a subject, as engines other than the interpreter need them.
pub(super) struct SeriesInputs {
    cells: Vec<usize>,
    direction: Vec<u64>,
}

impl SeriesInputs {
    /// Returns the independent variables; `None` if one of them isn't a cell.
    pub fn of(inputs: &[Variable]) -> Result<Option<SeriesInputs>, OutOfMemory> {
        let (mut cells, direction) = (allocation::with_capacity(inputs.len())?, Vec::new());
        for input in inputs {
            match input.origin {
                Origin::Cell(cell) => cells.push(cell),
                Origin::Stack(_) | Origin::Tape(_) => return Ok(None),
            }
        }
        Ok(Some(SeriesInputs { cells, direction }))
    }
}

impl Subject {
    /// Returns the goal of a Hessian–vector product of a seeded sum; `None` if the primal sweep can end in several
    /// places.
    pub(super) fn product_goal(&self, seeds: &[SeededCell]) -> Result<Option<SeriesGoal>, OutOfMemory> {
        let losses = allocation::mapped(seeds, |seed| seed.cell)?;
        let turning = TurningPoint::of(self, &losses);
        let turn = turning.stops().map_or(Some(self.program.end()), |stops| Some(stops.only()?.position));
        Ok(turn.map(|turn| SeriesGoal::Gradient { turn }))
    }

    /// Executes a call by compiled code. Returns `None` if the subject's engine can't execute the call. `direction` has
    /// a component for each input.
    ///
    /// # Errors
    /// A request to stop, or a refused memory request.
    pub(super) fn series_call(
        &self,
        (goal, seeds): (SeriesGoal, &[SeededCell]),
        inputs: &mut SeriesInputs,
        direction: impl Iterator<Item = f64>,
        avoided_steps: u64,
    ) -> Result<Option<SeriesResult>, DifferentiateError> {
        let Some(runner) = &self.runner else { return Ok(None) };
        if self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(DifferentiateError::Interrupted { backward: false, step: self.start.step });
        }
        inputs.direction.clear();
        allocation::more(&mut inputs.direction, inputs.cells.len())?;
        inputs.direction.extend(direction.map(|component| self.number(component)));
        Ok(runner.series_call(&SeriesCall {
            program: &self.program,
            start: &self.start,
            inputs: &inputs.cells,
            direction: &inputs.direction,
            seeds,
            goal,
            most_steps: self.max_steps.min(MOST_STEPS),
            avoided_steps,
        }))
    }
}
