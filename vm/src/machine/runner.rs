//! The interface of engines that replace the interpreter, and the splitting of runs for observers. The module reads no
//! instructions.

use std::fmt::Debug;

use super::Machine;
use crate::differentiate::series_call::{SeriesCall, SeriesResult};
use crate::observer::Observer;
use crate::stops::{Node, Stops};
use crate::trap::Trap;
use crate::travel::{Segment, Stop};

/// An engine that executes the steps of one program instead of the interpreter. The engine may let the interpreter
/// execute some steps ([`Machine::interpret`]). Machines over dual numbers are always interpreted.
pub trait Runner: Debug + Send + Sync {
    /// Executes the steps of a segment, but none at a breakpoint: see [`Machine::run_until`].
    ///
    /// # Errors
    /// Returns a trap; the state is then the one before the instruction that trapped.
    fn run(&self, machine: &mut Machine, stops: Option<&Stops>, segment: Segment) -> Result<Stop, Trap>;

    /// Executes the steps of a segment, and shows an observer the states that it wants to see.
    ///
    /// # Errors
    /// Returns a trap, as [`Runner::run`].
    fn run_observed(
        &self,
        machine: &mut Machine,
        stops: Option<&Stops>,
        segment: Segment,
        observer: &mut dyn Observer,
    ) -> Result<Stop, Trap> {
        in_parts(machine, stops, segment, observer, |machine, segment| self.run(machine, stops, segment))
    }

    /// Executes a call on dual numbers or Taylor series without the interpreter. Returns `None` if the engine can't
    /// execute the call, or if only the interpreter can decide the result, for example after a lost derivative.
    fn series_call(&self, _call: &SeriesCall) -> Option<SeriesResult> {
        None
    }

    /// Returns the number of steps that the engine has executed without the interpreter.
    fn steps_made(&self) -> u64 {
        0
    }
}

/// Executes a segment in parts, each of which ends at a state that the observer wants to see. `part` executes one part.
pub(super) fn in_parts(
    machine: &mut Machine,
    stops: Option<&Stops>,
    segment: Segment,
    observer: &mut dyn Observer,
    part: impl Fn(&mut Machine, Segment) -> Result<Stop, Trap>,
) -> Result<Stop, Trap> {
    let mut left = segment.budget;
    loop {
        let before = machine.state.step;
        let budget = left.min(observer.due(&machine.state).max(1));
        let stop = part(machine, Segment { budget, ..segment })?;
        left -= machine.state.step.abs_diff(before);
        observer.look(&machine.state);
        let is_there = stops.is_some_and(|stops| stops.contains(Node::of(&machine.state, segment.travel)));
        if stop != Stop::Budget || left == 0 || is_there {
            return Ok(stop);
        }
    }
}
