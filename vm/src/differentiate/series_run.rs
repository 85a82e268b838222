//! Forward runs over truncated Taylor series: the start state, which moves along a direction, and a run that finds lost
//! derivatives.

use crate::allocation::{self, OutOfMemory};
use crate::interp::engine::Interpreted;
use crate::reports::Reports;
use crate::state::State;

use super::origin::Origin;
use super::pass::forward_until;
use super::seeds::{SeededCell, cells_of};
use super::series_state::series_state;
use super::turning::TurningPoint;
use super::{Subject, Variable};

/// Highest order of a Taylor series.
pub const MAX_ORDER: usize = 16;

/// Bits of a truncated Taylor series.
pub(super) type Series = [u64; MAX_ORDER + 1];

/// Returns the locations of the moved inputs, each with its component of the direction.
pub(super) fn origins_of(moving: &[(&Variable, f64)]) -> Result<Vec<(Origin, f64)>, OutOfMemory> {
    allocation::mapped(moving, |&(input, component)| (input.origin, component))
}

impl Subject {
    /// Returns the start state as series, whose inputs move along a direction.
    pub(super) fn series_start<B: Interpreted>(
        &self,
        direction: &[(Origin, f64)],
    ) -> Result<State<B>, OutOfMemory> {
        let mut state = series_state::<B>(&self.start)?;
        for &(origin, component) in direction {
            if let Some(bits) = origin.of(&mut state) {
                *bits = bits.with_lane(1, self.number(component));
            }
        }
        Ok(state)
    }
}

/// Finds losses of information in a primal sweep over series that move along a direction, up to an order of
/// derivatives. Returns `None` if the run fails. A failure isn't an error, because the run may need an undefined
/// derivative that the reverse sweep doesn't need.
pub(super) fn lost_along(
    subject: &Subject,
    outputs: &[Vec<SeededCell>],
    (direction, order): (&[(Origin, f64)], usize),
) -> Option<Reports> {
    let mut machine = subject.machine(subject.series_start::<Series>(direction).ok()?);
    machine.report_in(Reports::up_to(order));
    let turning = TurningPoint::of(subject, &cells_of(outputs).ok()?);
    Some(forward_until(subject, machine, turning.stops()).ok()?.reports().clone())
}
