//! The timeline: a tree of branches. The first begins with the program, every other one with
//! an edit of a state. Each remembers where it was left. Knows no commands and prints nothing.

mod branch;
mod census;
mod limits;
mod long_runs;
mod lossless;
mod past;

use std::sync::Arc;

use reviver_vm::room::OutOfMemory;
use reviver_vm::stops::Stops;
use reviver_vm::{Program, State, Stop, Trap, Travel};

pub use branch::{Branch, CallStretch, End};
pub use census::Calls;
pub use limits::TimelineLimits;
pub use long_runs::LongRuns;

/// Number of a branch in a [`Timeline`]; 0 is the program's own.
pub type BranchNumber = usize;

/// A branch, and how it came to be.
#[derive(Debug)]
struct BranchEntry {
    branch: Branch,
    /// The branch that it left; none for the program's own.
    parent: Option<BranchNumber>,
    /// What was edited, as commands that would do it again.
    edits: Vec<String>,
}

/// A place in the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    pub branch: BranchNumber,
    pub step: i64,
}

/// A branch as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    pub branch: BranchNumber,
    pub parent: Option<BranchNumber>,
    /// Where it begins.
    pub step: i64,
    pub edits: Vec<String>,
    /// The first and the last step reached in it.
    pub extent: (i64, i64),
    pub is_current: bool,
}

/// The steps that a branch spans, as far as can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSpan {
    pub first: i64,
    pub last: i64,
    pub end: SpanEnd,
}

/// What the last step of a [`StepSpan`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// The branch goes no further.
    Known,
    /// Nobody has been further.
    Reached,
    /// Where the branch that it left ends: this one may end elsewhere.
    Expected,
}

impl StepSpan {
    pub fn steps(self) -> (i64, i64) {
        (self.first, self.last)
    }

    /// How far a step is between the first and the last, in percent; none where the branch may go on.
    pub fn percent(self, step: i64) -> Option<f64> {
        let width = (self.last - self.first).max(1) as f64;
        let part = ((step - self.first) as f64 / width).clamp(0.0, 1.0);
        (self.end != SpanEnd::Reached).then_some(part * 100.0)
    }
}

/// All branches, and which of them the session is on.
#[derive(Debug)]
pub struct Timeline {
    entries: Vec<BranchEntry>,
    current: BranchNumber,
}

impl Timeline {
    /// Begins with a state at step 0.
    ///
    /// # Errors
    /// There is no memory for the copy of it that the branch begins with.
    pub fn new(program: Arc<Program>, state: State, limits: TimelineLimits) -> Result<Timeline, OutOfMemory> {
        let branch = Branch::new(program, state, 0, limits)?;
        let entries = vec![BranchEntry { branch, parent: None, edits: Vec::new() }];
        Ok(Timeline { entries, current: 0 })
    }

    /// Has somebody else than the interpreter make the steps of long runs.
    pub fn run_long_by(&mut self, long_runs: &LongRuns) {
        self.entries.iter_mut().for_each(|entry| entry.branch.run_long_by(long_runs.clone()));
    }

    /// A copy. Checkpoints are shared.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn try_clone(&self) -> Result<Timeline, OutOfMemory> {
        let entry = |entry: &BranchEntry| {
            let branch = entry.branch.try_clone()?;
            Ok(BranchEntry { branch, parent: entry.parent, edits: entry.edits.clone() })
        };
        let entries = self.entries.iter().map(entry).collect::<Result<_, OutOfMemory>>()?;
        Ok(Timeline { entries, current: self.current })
    }

    /// The branch that the session is on.
    pub fn branch(&self) -> &Branch {
        &self.entries[self.current].branch
    }

    pub(crate) fn branch_mut(&mut self) -> &mut Branch {
        &mut self.entries[self.current].branch
    }

    /// The steps that the current branch spans. Where it hasn't been followed to its end in a direction, that
    /// of the branch that it left stands in, so that an edit doesn't change the scale of everything.
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

    /// The current state; its own `step` counts from the branch's origin.
    pub fn state(&self) -> &State {
        self.branch().state()
    }

    /// Where the session is.
    pub fn moment(&self) -> Moment {
        Moment { branch: self.current, step: self.branch().step() }
    }

    /// Makes at most `budget` steps on the current branch.
    ///
    /// # Errors
    /// A trap; the state is then the one before the instruction that trapped.
    pub fn run(&mut self, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        self.branch_mut().run(travel, budget)
    }

    /// The same, but it stops before a step that a place to stop at is at.
    ///
    /// # Errors
    /// A trap, as [`Timeline::run`].
    pub fn run_until(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) -> Result<Stop, Trap> {
        self.branch_mut().run_until(stops, travel, budget)
    }

    /// Changes the current state. That begins a new branch, unless the current one has just begun and the
    /// edit may join those that it began with. `edit` describes it.
    ///
    /// # Errors
    /// There is no memory for the states that a branch begins with; nothing has changed.
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

    /// Goes to the branch that the current one left, where it was left; `None` on the program's own.
    pub fn up(&mut self) -> Option<BranchNumber> {
        let parent = self.entries[self.current].parent?;
        self.switch(parent)
    }

    /// Goes to a branch, where it was left last; `None` where there is no such branch.
    pub fn switch(&mut self, branch: BranchNumber) -> Option<BranchNumber> {
        self.entries.get(branch)?;
        if branch != self.current {
            self.branch_mut().rest();
            self.current = branch;
        }
        Some(branch)
    }

    /// All branches in the order in which they began.
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

    /// Memory that residues of all branches take.
    pub fn history_bytes(&self) -> usize {
        self.entries.iter().map(|entry| entry.branch.history_bytes()).sum()
    }

    /// Memory that checkpoints of all branches take.
    pub fn checkpoint_bytes(&self) -> usize {
        self.entries.iter().map(|entry| entry.branch.checkpoint_bytes()).sum()
    }
}

/// What a branch spans that left one with the span `above`.
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
