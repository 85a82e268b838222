//! The backtrace of a trap: the open calls from the innermost outward, with the caller and the task of each. The module
//! [`super`] explains the trap itself.

use reviver_isa::instruction::{Base, Link, Place};
use reviver_isa::structure::{BlockKind, Counting};

use super::{Explainer, Explanation, Spot};
use crate::state::lookup::{frame_at, place};
use crate::state::values::Value;
use crate::trap::Trap;

/// Maximum number of innermost calls in an explanation. In a deep recursion, further calls say nothing new.
const MOST_CALLS: usize = 16;

/// Number of innermost calls that each have a line in [`Explanation::called`]. Repeated calls count once.
const CALLS_IN_WORDS: usize = 3;

/// One open call of a backtrace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The name of the calling procedure.
    pub caller: String,
    /// The call statement, such as `call down(b)`; for a task, the call without the keyword: `down(b)`.
    pub statement: String,
    /// The position of the call statement in the text, if known.
    pub spot: Option<Spot>,
    /// The task, if the call is a task of a `par`.
    pub task: Option<OpenTask>,
}

/// The identification of a task within its task region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenTask {
    /// One of the calls that the text lists, such as `g(b)` in `par f(a), g(b)`. If the region lists a single call,
    /// that call may be executed several times.
    Listed {
        /// The number of the call in the order of the text, from 1.
        number: usize,
        /// The number of calls in the task region.
        of: usize,
    },
    /// An iteration of `par for`.
    Iteration {
        /// The name of the counter.
        counter: String,
        /// The value of the counter, formatted as in the text.
        value: String,
    },
}

impl OpenCall {
    /// Formats the call, for example ``called by `call down(b)` on line 7`` or ``in task 2 of 2, `down(b)` on
    /// line 7``.
    fn words(&self) -> String {
        let words = &self.statement;
        let place = match &self.spot {
            Some(Spot { line, file: None, .. }) => format!(" on line {line}"),
            Some(Spot { line, file: Some(file), .. }) => format!(" on line {line} of {file}"),
            None => String::new(),
        };
        match &self.task {
            None => format!("called by `{words}`{place}"),
            Some(OpenTask::Listed { of: 1, .. }) => format!("in a task, `{words}`{place}"),
            Some(OpenTask::Listed { number, of }) => format!("in task {number} of {of}, `{words}`{place}"),
            Some(OpenTask::Iteration { counter, value }) => {
                format!("in the task with {counter} = {value}, `{words}`{place}")
            }
        }
    }
}

impl Explanation {
    /// Formats the open calls, one line a call, from the innermost outward. Repeated calls of a recursion share one
    /// line. Of the calls further out, only those that are tasks have a line; the others are counted.
    pub fn called(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut others = self.depth;
        for (n, calls) in self.calls.chunk_by(|a, b| a.words() == b.words()).enumerate() {
            let Some(call) = calls.first().filter(|call| n < CALLS_IN_WORDS || call.task.is_some()) else {
                continue;
            };
            others = others.saturating_sub(calls.len());
            lines.push(match calls.len() {
                1 => call.words(),
                2 => call.words() + ", and once more from there",
                times => format!("{}, and {} times more from there", call.words(), times - 1),
            });
        }
        match others {
            0 => {}
            1 => lines.push("and one more call is open".to_owned()),
            others => lines.push(format!("and {others} more calls are open")),
        }
        lines
    }
}

impl Explainer<'_> {
    /// Returns the innermost calls, at most [`MOST_CALLS`], followed by the tasks around these calls, at most
    /// [`MOST_CALLS`] too.
    pub(super) fn open_calls(&self) -> Vec<OpenCall> {
        let is_task = |depth: &usize| {
            let call = self.state.calls.get(*depth);
            call.is_some_and(|call| self.program.flow().fork_around(call.site).is_some())
        };
        let outward = || (0..self.state.calls.len()).rev();
        let tasks = outward().skip(MOST_CALLS).filter(is_task).take(MOST_CALLS);
        outward().take(MOST_CALLS).chain(tasks).filter_map(|depth| self.open_call(depth)).collect()
    }

    /// Describes the call at a depth of the call stack, where depth 0 is the call that main executes.
    fn open_call(&self, depth: usize) -> Option<OpenCall> {
        let site = self.state.calls.get(depth)?.site;
        let at_site = self.at(site);
        let task = self.open_task(depth, site);
        let called = match &at_site.instruction(site).link {
            Link::Calls(calls) if task.is_some() => calls.first().map(|call| at_site.renderer().call(call)),
            Link::Calls(_) | Link::None | Link::Partner(_) => None,
        };
        Some(OpenCall {
            caller: at_site.procedure(site).name.clone(),
            statement: called.unwrap_or_else(|| at_site.program.statement(site)),
            spot: at_site.place(site).map(|place| at_site.spot(place)),
            task,
        })
    }

    /// Returns an explainer for the instruction at `site` in the same state.
    fn at(&self, site: u32) -> Explainer<'_> {
        Explainer { trap: Trap { at: site, ..self.trap }, ..*self }
    }

    fn open_task(&self, depth: usize, site: u32) -> Option<OpenTask> {
        let fork = self.program.flow().fork_around(site)?;
        let own = self.program.blocks_around(site).take_while(|block| fork.region.contains(block.start()));
        let mut counted = own.filter_map(|block| match &block.kind {
            BlockKind::For(counting) => Some(counting),
            _ => None,
        });
        match counted.next() {
            Some(counting) => self.open_iteration(depth, site, counting),
            None => {
                let number = fork.calls.iter().position(|&call| call == site)? + 1;
                Some(OpenTask::Listed { number, of: fork.calls.len() })
            }
        }
    }

    fn open_iteration(&self, depth: usize, site: u32, counting: &Counting) -> Option<OpenTask> {
        let counter = Base::Frame(counting.counter);
        let frame = frame_at(self.program, self.state, depth)?;
        let (_, cell) = place(self.program, self.state, frame, &Place::scalar(counter))?;
        let value = Value::Int(*self.state.ints.get(cell as usize)?);
        let counter = self.at(site).renderer().name(counter).to_owned();
        Some(OpenTask::Iteration { counter, value: self.program.text(value) })
    }
}
