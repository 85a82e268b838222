//! Samples for plots: the minimum and the maximum of cells in each of many equal parts of a branch. If observing
//! every write takes no longer than executing the steps, every write is observed. Otherwise only the writes in
//! windows are observed. Windows are short intervals at irregular distances. At regular distances, a fast
//! oscillation could look like a slow one (aliasing).

use reviver_isa::update::OperandShape;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::stops::{Node, Stops};
use reviver_vm::{Cause, Stop, Trap, Travel};

use super::Session;
use crate::memory::Target;
use crate::outcome::{Printed, Reason};
use crate::points::{WatchMode, candidates};
use crate::scale::{column_of, step_of};

/// Maximum number of columns, more than any screen has.
const MOST_COLUMNS: usize = 10_000;

/// Maximum number of observed writes in runs of less than [`MOST_WRITES`] · [`STEPS_PER_WRITE`] steps. In longer
/// runs, the maximum is one write for each [`STEPS_PER_WRITE`] steps, because observing a write takes about as long
/// as executing that many steps.
const MOST_WRITES: u64 = 1 << 21;
const STEPS_PER_WRITE: u64 = 64;

/// Number of windows in each column of the plot.
const WINDOWS: u64 = 8;

/// Range of a cell's values over some steps, rounded to f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRange {
    /// The least value in the range.
    pub low: f64,
    /// The greatest value in the range.
    pub high: f64,
}

impl SampleRange {
    /// Returns a range of a single value.
    fn of(value: f64) -> SampleRange {
        SampleRange { low: value, high: value }
    }

    /// Returns the smallest range that contains both ranges.
    #[must_use]
    pub fn and(self, other: SampleRange) -> SampleRange {
        SampleRange { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// The samples of one column of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Range of the number of open calls.
    pub depth: Option<SampleRange>,
    /// Range of each requested cell. `None` if the frame of the cell wasn't open, or the column wasn't
    /// sampled.
    pub values: Vec<Option<SampleRange>>,
}

/// The ranges of cells' values over the steps of a branch, for plots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The first and the last step that the columns cover.
    pub steps: (i64, i64),
    /// One sample for each column, in the order of time. All columns have the same number of steps.
    pub columns: Vec<Sample>,
    /// True if every write was observed, so that the ranges contain all values.
    pub is_exact: bool,
    /// True if the sampling reached its last step; false if the user interrupted it.
    pub is_whole: bool,
}

/// State of an unfinished sampling.
struct Survey {
    targets: Vec<Target>,
    samples: Samples,
    /// The values seen last, which belong to the column `column`.
    seen: Sample,
    column: usize,
}

impl Session {
    /// Samples cells and the number of open calls. The range `steps` is divided into `columns` equal parts; only
    /// steps that the current branch has reached are sampled. Sampling takes at most about three times as long as
    /// running over the steps.
    ///
    /// # Errors
    /// There is no memory for the required copies of the state.
    pub fn samples(
        &mut self,
        targets: &[Target],
        steps: (i64, i64),
        columns: usize,
    ) -> Result<Samples, OutOfMemory> {
        let count = columns.clamp(1, MOST_COLUMNS);
        let empty = Sample { depth: None, values: vec![None; targets.len()] };
        let columns = vec![empty.clone(); count];
        let samples = Samples { steps, columns, is_exact: true, is_whole: false };
        let mut survey = Survey { targets: targets.to_vec(), samples, seen: empty, column: 0 };
        self.excursion(|session| session.survey(&mut survey))??;
        Ok(survey.samples)
    }

    fn survey(&mut self, survey: &mut Survey) -> Result<(), OutOfMemory> {
        let steps = survey.samples.steps;
        let (first, last) = self.timeline.branch().extent();
        let (first, last) = (first.max(steps.0), last.min(steps.1));
        if first > last {
            return Ok(());
        }
        match self.travel_to(first, &mut Printed::default()) {
            Reason::Arrived => {}
            Reason::Trap(explanation) if matches!(explanation.cause, Cause::NoMemory(_)) => {
                return Err(OutOfMemory);
            }
            _ => return Ok(()),
        }
        survey.column = column_of(steps, first, survey.samples.columns.len()).unwrap_or(0);
        let plan = self.changes(&survey.targets);
        let windows = survey.samples.columns.len() as u64 * WINDOWS;
        let writes = MOST_WRITES.max(first.abs_diff(last) / STEPS_PER_WRITE) / windows;
        let mut left = 0;
        survey.look(self);
        for end in window_ends((first, last), windows) {
            left += writes;
            if !self.follow(survey, &plan, end, &mut left)? {
                return Ok(());
            }
        }
        survey.samples.is_whole = true;
        Ok(())
    }

    /// Runs to step `end`, and observes at most `left` changes. Returns true if the step was reached, false
    /// after an interrupt.
    fn follow(
        &mut self,
        survey: &mut Survey,
        plan: &Stops,
        end: i64,
        left: &mut u64,
    ) -> Result<bool, OutOfMemory> {
        loop {
            let here = self.step_number();
            if here >= end {
                return Ok(true);
            }
            if !self.may_continue(here) {
                return Ok(false);
            }
            let is_change = plan.contains(Node::of(self.state(), Travel::Forward));
            let steps = here.abs_diff(end).min(self.slice());
            let outcome = match *left {
                0 => self.timeline.run(Travel::Forward, steps),
                _ if is_change => self.timeline.run(Travel::Forward, 1),
                _ => self.timeline.run_until(Some(plan), Travel::Forward, steps),
            };
            survey.samples.is_exact &= *left > 0;
            *left -= u64::from(is_change).min(*left);
            survey.look(self);
            match outcome {
                Ok(Stop::Budget | Stop::Shown { .. }) => {}
                Err(Trap { cause: Cause::NoMemory(_), .. }) => return Err(OutOfMemory),
                // Any other trap ends the branch here, and so does the start or the end of the program.
                _ => return Ok(self.step_number() >= end),
            }
        }
    }

    /// Returns the stops at instructions that may write one of the targets, or enter or leave a call.
    fn changes(&self, targets: &[Target]) -> Stops {
        let code = (0..).zip(&self.program().module().code);
        let calls =
            code.filter(|(_, i)| matches!(i.update.shape(), OperandShape::Call | OperandShape::Boundary));
        let mut instructions: Vec<u32> = calls.map(|(at, _)| at).collect();
        instructions
            .extend(targets.iter().flat_map(|t| candidates(&self.memory, (*t).into(), WatchMode::Write)));
        Stops::new(self.program(), instructions.into_iter().flat_map(Node::over))
    }
}

impl Survey {
    /// Adds the current values of the cells to the ranges of the current column. If the run has passed whole
    /// columns since the previous call, these columns get the values that the previous call has seen.
    fn look(&mut self, session: &Session) {
        let columns = &mut self.samples.columns;
        let found = column_of(self.samples.steps, session.step_number(), columns.len());
        let column = found.unwrap_or(self.column);
        for sample in columns.iter_mut().take(column).skip(self.column + 1) {
            sample.clone_from(&self.seen);
        }
        self.column = column;
        let state = session.state();
        let value = |target: &Target| {
            let value = session.memory.resolve(state, *target)?.value(state)?;
            Some(SampleRange::of(session.program().approximate(value)))
        };
        self.seen.depth = Some(SampleRange::of(state.calls.len() as f64));
        for (seen, target) in self.seen.values.iter_mut().zip(&self.targets) {
            *seen = value(target);
        }
        columns.get_mut(column).into_iter().for_each(|sample| sample.add(&self.seen));
    }
}

impl Sample {
    /// Extends the ranges so that they contain the ranges of `seen`, which are of the same column.
    fn add(&mut self, seen: &Sample) {
        let add = |range: &mut Option<SampleRange>, seen: Option<SampleRange>| {
            *range = range.iter().copied().chain(seen).reduce(SampleRange::and);
        };
        add(&mut self.depth, seen.depth);
        for (range, seen) in self.values.iter_mut().zip(&seen.values) {
            add(range, *seen);
        }
    }
}

/// Returns the last steps of the windows. The steps are divided into `count` equal parts, and a window ends
/// at a pseudorandom step of each part. The last window ends at the last step.
fn window_ends((first, last): (i64, i64), count: u64) -> impl Iterator<Item = i64> {
    let count = count.min(first.abs_diff(last)).max(1) as usize;
    let start = move |n| if n < count { step_of((first, last), n, count) } else { last };
    (1..=count).map(move |n| match n {
        n if n == count => last,
        n => start(n) + scattered(n as u64, start(n).abs_diff(start(n + 1))) as i64,
    })
}

/// Returns a pseudorandom number below `below`, deterministic in `n` (SplitMix64).
fn scattered(n: u64, below: u64) -> u64 {
    let mix = |z: u64, shift: u32, factor: u64| (z ^ (z >> shift)).wrapping_mul(factor);
    let z = mix(n.wrapping_mul(0x9e37_79b9_7f4a_7c15), 30, 0xbf58_476d_1ce4_e5b9);
    let z = mix(z, 27, 0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).checked_rem(below).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_ascend_and_end_with_the_steps() {
        for (extent, count) in [((0, 0), 8), ((0, 3), 8), ((-7, 1_000), 8), ((0, 1 << 40), 1_000)] {
            let ends: Vec<i64> = window_ends(extent, count).collect();
            assert!(ends.is_sorted() && ends.iter().all(|end| (extent.0..=extent.1).contains(end)));
            assert_eq!(ends.last(), Some(&extent.1));
        }
    }
}
