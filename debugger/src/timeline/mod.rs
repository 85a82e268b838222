//! The timeline: a tree of branches. The first branch begins with the program, every other one with an edit
//! of a state. A branch keeps its position while another one is the current branch.

mod branch;
mod census;
mod limits;
mod long_runs;
mod lossless;
mod past;

use std::sync::Arc;

use reviver_vm::allocation::OutOfMemory;
use reviver_vm::stops::Stops;
use reviver_vm::{Program, State, Stop, Trap, Travel};

pub use branch::{Branch, CallSegment, End};
pub use census::Calls;
pub use limits::TimelineLimits;
pub use long_runs::LongRuns;

/// The number by which a branch of a [`Timeline`] is named; 0 is the branch that begins with the program.
pub type BranchNumber = usize;

/// A branch, its parent, and the edits with which it began.
#[derive(Debug)]
struct BranchEntry {
    branch: Branch,
    /// The branch that this branch left; `None` for the program's own branch.
    parent: Option<BranchNumber>,
    /// The edits with which the branch began, as command lines such as `set a = 1`.
    edits: Vec<String>,
}

/// A time point: a step of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimePoint {
    /// Number of the branch; 0 is the program's own.
    pub branch: BranchNumber,
    /// Step number on the timeline; 0 is the session's initial state, and earlier steps are negative.
    pub step: i64,
}

/// Summary of a branch for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Number of the branch, as `timeline` accepts it.
    pub branch: BranchNumber,
    /// The branch that this branch left; `None` for the program's own branch.
    pub parent: Option<BranchNumber>,
    /// The step at which the branch begins.
    pub step: i64,
    /// The edits with which the branch began, as command lines such as `set a = 1`.
    pub edits: Vec<String>,
    /// The first and the last step reached on the branch.
    pub extent: (i64, i64),
    /// True if the session is on this branch.
    pub is_current: bool,
}

/// The known range of steps of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSpan {
    /// The first step of the branch. If the start of the branch isn't known, the lowest step that the branch or
    /// one of its ancestors has reached.
    pub first: i64,
    /// The last step of the branch. If the end of the branch isn't known, a substitute; `end` has its kind.
    pub last: i64,
    /// Meaning of `last`: the end of the branch, the furthest step reached, or an estimate.
    pub end: SpanEnd,
}

/// Meaning of the last step of a [`StepSpan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// The end of the branch.
    Known,
    /// The furthest step reached so far.
    Reached,
    /// An estimate: the end of the parent branch. This branch may end at another step.
    Expected,
}

impl StepSpan {
    /// Returns the first and the last step.
    pub fn steps(self) -> (i64, i64) {
        (self.first, self.last)
    }

    /// Returns the position of a step in the span, in percent. Returns `None` while the end of the branch is
    /// unknown.
    pub fn percent(self, step: i64) -> Option<f64> {
        let width = (self.last - self.first).max(1) as f64;
        let part = ((step - self.first) as f64 / width).clamp(0.0, 1.0);
        (self.end != SpanEnd::Reached).then_some(part * 100.0)
    }
}

/// All branches, with the current one.
#[derive(Debug)]
pub struct Timeline {
    entries: Vec<BranchEntry>,
    current: BranchNumber,
}

impl Timeline {
    /// Creates a timeline that begins with a state at step 0.
    ///
    /// # Errors
    /// There is no memory for the copy of the state that the branch begins with.
    pub fn new(program: Arc<Program>, state: State, limits: TimelineLimits) -> Result<Timeline, OutOfMemory> {
        let branch = Branch::new(program, state, 0, limits)?;
        let entries = vec![BranchEntry { branch, parent: None, edits: Vec::new() }];
        Ok(Timeline { entries, current: 0 })
    }

    /// Sets the engine for long runs on all branches.
    pub fn run_long_by(&mut self, long_runs: &LongRuns) {
        self.entries.iter_mut().for_each(|entry| entry.branch.run_long_by(long_runs.clone()));
    }

    /// Copies the timeline; checkpoints are shared.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn try_clone(&self) -> Result<Timeline, OutOfMemory> {
        let entry = |entry: &BranchEntry| {
            let branch = entry.branch.try_clone()?;
            Ok(BranchEntry { branch, parent: entry.parent, edits: entry.edits.clone() })
        };
        let entries = self.entries.iter().map(entry).collect::<Result<_, OutOfMemory>>()?;
        Ok(Timeline { entries, current: self.current })
    }

    /// Returns the current branch.
    pub fn branch(&self) -> &Branch {
        &self.entries[self.current].branch
    }

    pub(crate) fn branch_mut(&mut self) -> &mut Branch {
        &mut self.entries[self.current].branch
    }

    /// Returns the span of the current branch. If the end of the branch isn't known yet, the end of the parent
    /// branch is used as an estimate, so that an edit doesn't change the scale of the timeline bar.
    pub fn span(&self) -> StepSpan {
        let mut above = Vec::new();
        let mut entry = self.entries.get(self.current);
        while let Some(here) = entry {
            above.push(&here.branch);
            entry = here.parent.and_then(|parent| self.entries.get(parent));
        }
        let start = StepSpan { first: i64::MAX, last: i64::MIN, end: SpanEnd::Reached };
        above.into_iter().rev().fold(start, |above, branch| span_of(branch, above))
    }

    /// Returns the current state. The state's `step` counts from the origin of the branch.
    pub fn state(&self) -> &State {
        self.branch().state()
    }

    /// Returns the current time point.
    pub fn time_point(&self) -> TimePoint {
        TimePoint { branch: self.current, step: self.branch().step() }
    }

    /// Executes at most `budget` steps on the current branch.
    ///
    /// # Errors
    /// A trap; the state is then the one before the instruction that trapped.
    pub fn run(&mut self, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        self.branch_mut().run(travel, budget)
    }

    /// Executes steps like [`Timeline::run`], and stops before a step from a node in `stops`.
    ///
    /// # Errors
    /// A trap, as in [`Timeline::run`].
    pub fn run_until(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        self.branch_mut().run_until(stops, travel, budget)
    }

    /// Edits the current state, and begins a new branch with it. If `joins` is true and no step has been executed
    /// on the current branch, the edit is added to the current branch instead. `edit` is a command line that
    /// describes the edit, such as `set a = 1`.
    ///
    /// # Errors
    /// There is no memory for the states that a branch begins with. Then the timeline is unchanged.
    pub fn edit(
        &mut self,
        edit: String,
        joins: bool,
        change: impl FnOnce(&mut State) -> Result<(), OutOfMemory>,
    ) -> Result<BranchNumber, OutOfMemory> {
        let mut state = self.state().try_clone()?;
        change(&mut state)?;
        let begun = self.current != 0 && self.branch().is_untouched();
        if joins
            && begun
            && let Some(entry) = self.entries.get_mut(self.current)
        {
            entry.branch = entry.branch.edited(state)?;
            entry.edits.push(edit);
        } else {
            let branch = self.branch().edited(state)?;
            self.branch_mut().rest();
            self.entries.push(BranchEntry { branch, parent: Some(self.current), edits: vec![edit] });
            self.current = self.entries.len() - 1;
        }
        Ok(self.current)
    }

    /// Switches to the parent of the current branch, at the parent's last position. Returns `None` on the
    /// program's own branch.
    pub fn up(&mut self) -> Option<BranchNumber> {
        let parent = self.entries[self.current].parent?;
        self.switch(parent)
    }

    /// Switches to a branch, at its last position. Returns `None` if there is no such branch.
    pub fn switch(&mut self, branch: BranchNumber) -> Option<BranchNumber> {
        self.entries.get(branch)?;
        if branch != self.current {
            self.branch_mut().rest();
            self.current = branch;
        }
        Some(branch)
    }

    /// Returns all branches in the order of their creation.
    pub fn forks(&self) -> Vec<Fork> {
        let fork = |(branch, entry): (BranchNumber, &BranchEntry)| Fork {
            branch,
            parent: entry.parent,
            step: entry.branch.offset(),
            edits: entry.edits.clone(),
            extent: entry.branch.extent(),
            is_current: branch == self.current,
        };
        self.entries.iter().enumerate().map(fork).collect()
    }

    /// Returns the memory used by residues of all branches, in bytes.
    pub fn history_bytes(&self) -> usize {
        self.entries.iter().map(|entry| entry.branch.history_bytes()).sum()
    }

    /// Returns the memory used by checkpoints of all branches, in bytes.
    pub fn checkpoint_bytes(&self) -> usize {
        self.entries.iter().map(|entry| entry.branch.checkpoint_bytes()).sum()
    }
}

/// Returns the span of a branch, given the span of its parent (`above`).
fn span_of(branch: &Branch, above: StepSpan) -> StepSpan {
    let (first, last) = branch.extent();
    let first = if branch.end(Travel::Backward).is_some() { first } else { first.min(above.first) };
    match (branch.end(Travel::Forward), above.end) {
        (Some(_), _) => StepSpan { first, last, end: SpanEnd::Known },
        (None, SpanEnd::Reached) => StepSpan { first, last: last.max(above.last), end: SpanEnd::Reached },
        (None, _) if above.last > last => StepSpan { first, last: above.last, end: SpanEnd::Expected },
        (None, _) => StepSpan { first, last, end: SpanEnd::Reached },
    }
}
