//! The timeline: a tree of lines of history. The first begins with the program, every other one with
//! an edit of a state. Each remembers where it was left. Knows no commands and prints nothing.

mod branch;
mod census;
mod checkpoints;
mod past;
mod spaced;

use std::sync::Arc;

use reviver_vm::stops::Stops;
use reviver_vm::{Program, State, Stop, Trap, Travel};

pub use branch::{Branch, CallStretch, End, Limits};
pub use census::Calls;

/// Number of a line in a [`Timeline`]; 0 is the program's own.
pub type LineNumber = usize;

/// A line, and how it came to be.
#[derive(Clone, Debug)]
struct Line {
    branch: Branch,
    /// The line that it left; none for the program's own.
    parent: Option<LineNumber>,
    /// What was edited, as commands that would do it again.
    edits: Vec<String>,
}

/// A place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub line: LineNumber,
    pub step: i64,
}

/// A line as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    pub line: LineNumber,
    pub parent: Option<LineNumber>,
    /// Where it begins.
    pub step: i64,
    pub edits: Vec<String>,
    /// The first and the last step reached in it.
    pub extent: (i64, i64),
    pub is_current: bool,
}

/// The steps that a line spans, as far as can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub first: i64,
    pub last: i64,
    pub end: SpanEnd,
}

/// What the last step of a [`Span`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// The line goes no further.
    Known,
    /// Nobody has been further.
    Reached,
    /// Where the line that it left ends: this one may end elsewhere.
    Expected,
}

impl Span {
    pub fn steps(self) -> (i64, i64) {
        (self.first, self.last)
    }

    /// How far a step is between the first and the last, in percent; none where the line may go on.
    pub fn percent(self, step: i64) -> Option<f64> {
        let width = (self.last - self.first).max(1) as f64;
        let part = ((step - self.first) as f64 / width).clamp(0.0, 1.0);
        (self.end != SpanEnd::Reached).then_some(part * 100.0)
    }
}

/// All lines, and which of them the session is on.
#[derive(Clone, Debug)]
pub struct Timeline {
    lines: Vec<Line>,
    current: LineNumber,
}

impl Timeline {
    /// Begins with a state at step 0.
    pub fn new(program: Arc<Program>, state: State, limits: Limits) -> Timeline {
        let branch = Branch::new(program, state, 0, limits);
        let lines = vec![Line { branch, parent: None, edits: Vec::new() }];
        Timeline { lines, current: 0 }
    }

    /// The current line.
    pub fn branch(&self) -> &Branch {
        &self.lines[self.current].branch
    }

    pub(crate) fn branch_mut(&mut self) -> &mut Branch {
        &mut self.lines[self.current].branch
    }

    /// The steps that the current line spans. Where it hasn't been followed to its end in a direction, that
    /// of the line that it left stands in, so that an edit doesn't change the scale of everything.
    pub fn span(&self) -> Span {
        let mut above = Vec::new();
        let mut line = self.lines.get(self.current);
        while let Some(here) = line {
            above.push(&here.branch);
            line = here.parent.and_then(|parent| self.lines.get(parent));
        }
        let start = Span { first: i64::MAX, last: i64::MIN, end: SpanEnd::Reached };
        above.into_iter().rev().fold(start, |above, branch| span_of(branch, above))
    }

    /// The current state; its own `step` counts from the line's origin.
    pub fn state(&self) -> &State {
        self.branch().state()
    }

    /// Where the session is.
    pub fn moment(&self) -> Moment {
        Moment { line: self.current, step: self.branch().step() }
    }

    /// Makes at most `budget` steps on the current line.
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

    /// Changes the current state. That begins a new line, unless the current one has just begun: then
    /// the edit joins those that it began with. `edit` describes it.
    pub fn edit(&mut self, edit: String, change: impl FnOnce(&mut State)) -> LineNumber {
        let mut state = self.state().clone();
        change(&mut state);
        let begun = self.current != 0 && self.branch().is_untouched();
        if begun && let Some(line) = self.lines.get_mut(self.current) {
            line.branch = line.branch.edited(state);
            line.edits.push(edit);
        } else {
            let branch = self.branch().edited(state);
            self.branch_mut().rest();
            self.lines.push(Line { branch, parent: Some(self.current), edits: vec![edit] });
            self.current = self.lines.len() - 1;
        }
        self.current
    }

    /// Goes to the line that the current one left, where it was left; `None` on the program's own.
    pub fn up(&mut self) -> Option<LineNumber> {
        let parent = self.lines[self.current].parent?;
        self.switch(parent)
    }

    /// Goes to a line, where it was left last; `None` where there is no such line.
    pub fn switch(&mut self, line: LineNumber) -> Option<LineNumber> {
        self.lines.get(line)?;
        if line != self.current {
            self.branch_mut().rest();
            self.current = line;
        }
        Some(line)
    }

    /// All lines in the order in which they began.
    pub fn forks(&self) -> Vec<Fork> {
        let fork = |(line, entry): (LineNumber, &Line)| Fork {
            line,
            parent: entry.parent,
            step: entry.branch.offset(),
            edits: entry.edits.clone(),
            extent: entry.branch.extent(),
            is_current: line == self.current,
        };
        self.lines.iter().enumerate().map(fork).collect()
    }

    /// Memory that residues of all lines take.
    pub fn history_bytes(&self) -> usize {
        self.lines.iter().map(|line| line.branch.history_bytes()).sum()
    }

    /// Memory that checkpoints of all lines take.
    pub fn checkpoint_bytes(&self) -> usize {
        self.lines.iter().map(|line| line.branch.checkpoint_bytes()).sum()
    }
}

/// What a line spans that left one with the span `above`.
fn span_of(branch: &Branch, above: Span) -> Span {
    let (first, last) = branch.extent();
    let first = if branch.end(Travel::Backward).is_some() { first } else { first.min(above.first) };
    match (branch.end(Travel::Forward), above.end) {
        (Some(_), _) => Span { first, last, end: SpanEnd::Known },
        (None, SpanEnd::Reached) => Span { first, last: last.max(above.last), end: SpanEnd::Reached },
        (None, _) if above.last > last => Span { first, last: above.last, end: SpanEnd::Expected },
        (None, _) => Span { first, last, end: SpanEnd::Reached },
    }
}
