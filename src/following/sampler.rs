//! Samples of cells during a forward and a backward run, and their drift: the backward value minus the forward value
//! at the same step. Memory is bounded by the resolution of a picture, for runs of any length.

use reviver_inspect::follow::{self, RunObserver, changes};
use reviver_inspect::memory::{Memory, Target};
use reviver_inspect::points::BreakPlace;
use reviver_inspect::trace::{CellTrace, TracePoint};
use reviver_isa::instruction::Class;
use reviver_vm::stops::Stops;
use reviver_vm::{State, Travel};

use super::cells::ObservedCell;

/// The quantities to record.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    /// True if the adjoints of the real cells are recorded too.
    pub adjoints: bool,
    /// True if the drift is recorded: the value in the backward run minus the value in the forward run.
    pub drift: bool,
    /// The places at which values are recorded; empty for all places.
    pub at: Vec<BreakPlace>,
}

/// Observer that records cells during a run.
pub struct Sampler {
    memory: Memory,
    /// Observed cells, followed by the adjoints of those that are real.
    targets: Vec<Target>,
    cells: usize,
    sampled: Sampled,
    first_step: i64,
    turn: Option<u64>,
    /// Values at the previous observation, to detect changes.
    last: Vec<f64>,
    /// True if the next observation is recorded even if no value has changed.
    insists: bool,
    /// Last time point that was recorded with `--at`. The first member is true in the backward run; the second is the
    /// time in steps.
    met: Option<(bool, u64)>,
    pub there: CellTrace,
    pub back: CellTrace,
    pub drift: CellTrace,
    /// States of the forward run, for comparison with the backward run: step number and values. The latest state is
    /// last.
    marks: Vec<(i64, Vec<f64>)>,
}

impl Sampler {
    pub fn new(memory: Memory, cells: &[ObservedCell], sampled: Sampled, state: &State) -> Sampler {
        let own = cells.iter().map(|cell| cell.target);
        let adjoints = cells.iter().filter(|cell| sampled.adjoints && cell.class == Class::Real);
        let targets = own.chain(adjoints.filter_map(|cell| cell.target.adjoint())).collect();
        let (there, back, drift) = (CellTrace::new(), CellTrace::new(), CellTrace::new());
        let mut sampler = Sampler {
            memory,
            targets,
            cells: cells.len(),
            sampled,
            first_step: state.step,
            turn: None,
            last: Vec::new(),
            insists: true,
            met: None,
            there,
            back,
            drift,
            marks: Vec::new(),
        };
        if sampler.sampled.at.is_empty() {
            sampler.look(state, Travel::Forward, None);
        }
        sampler
    }

    /// Returns the places at which a run must stop for this observer.
    pub fn places(&self) -> Stops {
        if self.sampled.at.is_empty() {
            return follow::places(&self.memory, self.instructions());
        }
        let program = self.memory.program();
        let directions = [Travel::Forward, Travel::Backward];
        let nodes = self
            .sampled
            .at
            .iter()
            .flat_map(|place| directions.map(|direction| place.nodes(program, direction)));
        Stops::new(program, nodes.flatten())
    }

    /// Returns the instructions at which values may have to be recorded: instructions that may change an observed cell,
    /// and instructions that erase bits.
    fn instructions(&self) -> Vec<u32> {
        let code = (0..).zip(&self.memory.program().module().code);
        let erasing = code.filter(|(_, i)| !i.update.is_reversible()).map(|(at, _)| at);
        changes(&self.memory, &self.targets).into_iter().chain(erasing).collect()
    }

    /// Records the state at the turning point: the end of the forward run and the start of the backward run.
    pub fn turn_round(&mut self, state: &State) {
        self.arrive(state);
        self.turn = Some(state.step.abs_diff(self.first_step));
        if self.sampled.drift {
            let own = |time_point: &TracePoint| time_point.values.last().map_or(0, |own| *own as i64);
            let time_points = self.there.clone().time_points().into_iter();
            self.marks = time_points.map(|time_point| (own(&time_point), time_point.values)).collect();
        }
        self.arrive(state);
    }

    /// Returns the number of steps of the forward run, or `None` before the turning point.
    pub fn turned(&self) -> Option<u64> {
        self.turn
    }

    /// Records the state at the end of the forward or the backward run.
    pub fn arrive(&mut self, state: &State) {
        self.insists = true;
        match self.sampled.at.is_empty() {
            true => self.look(state, Travel::Forward, None),
            false => self.meet(state),
        }
    }

    /// Stores the values of a state in the trace of the current direction.
    fn keep(&mut self, time: u64, values: Vec<f64>) {
        if self.turn.is_none() { self.there.add(time, values) } else { self.back.add(time, values) }
    }

    /// Returns the time in a plot: the number of steps so far, forward and backward together.
    fn time(&self, state: &State) -> u64 {
        match self.turn {
            None => state.step.abs_diff(self.first_step),
            Some(turn) => {
                let end = self.first_step.saturating_add_unsigned(turn);
                turn.saturating_add(end.abs_diff(state.step))
            }
        }
    }

    /// Returns the number of observed cells and adjoints. In the recorded numbers of a state, the entry at this
    /// index is the number of erased bits.
    pub fn width(&self) -> usize {
        self.targets.len()
    }

    /// Returns the recorded numbers of a state: the values of cells and adjoints, the number of erased bits, and the
    /// program's own step number.
    fn values(&self, state: &State) -> Vec<f64> {
        let program = self.memory.program();
        let value = |target: &Target| {
            let value = self.memory.resolve(state, *target)?.value(state)?;
            Some(program.approximate(value))
        };
        let (erased, own) = (state.counters.erased_bits as f64, state.own_steps() as f64);
        self.targets.iter().map(|target| value(target).unwrap_or(f64::NAN)).chain([erased, own]).collect()
    }

    fn compare(&mut self, state: &State, time: u64, values: &[f64]) {
        let here = state.own_steps();
        while self.marks.last().is_some_and(|(step, _)| *step >= here) {
            let Some((step, there)) = self.marks.pop() else { break };
            if step == here {
                let missed = values.iter().zip(&there).take(self.cells).map(|(back, there)| back - there);
                self.drift.add(time, missed.collect());
            }
        }
    }
}

impl RunObserver for Sampler {
    fn look(&mut self, state: &State, _: Travel, _: Option<u32>) {
        if !self.sampled.at.is_empty() {
            return;
        }
        let (time, values) = (self.time(state), self.values(state));
        if self.turn.is_some() {
            self.compare(state, time, &values);
        }
        // Many instructions could change a cell that is passed as a parameter, but few of them do. So the values are
        // compared with the previous ones. They are compared as bits, so that NaNs, which mark gaps, can be equal.
        let is_new = |(old, new): (&f64, &f64)| old.to_bits() != new.to_bits();
        let is_changed = self.last.iter().zip(&values).take(self.width() + 1).any(is_new);
        if std::mem::take(&mut self.insists) || is_changed {
            self.last.clone_from(&values);
            self.keep(time, values);
        }
    }

    fn meet(&mut self, state: &State) {
        let (time, program) = (self.time(state), self.memory.program());
        let is_there = self.sampled.at.iter().any(|place| place.is_at(program, state));
        // When a run continues after a stop, the observer sees the same state again.
        if is_there && self.met != Some((self.turn.is_some(), time)) {
            self.met = Some((self.turn.is_some(), time));
            let values = self.values(state);
            self.keep(time, values);
        }
    }

    fn due(&self, state: &State) -> Option<u64> {
        let (step, _) = self.marks.last()?;
        Some(state.own_steps().abs_diff(*step))
    }
}
