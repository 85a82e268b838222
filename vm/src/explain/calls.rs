//! The calls that are open where a machine has trapped, from the innermost outward: who called, and which task it was. Says nothing of
//! the trap itself.

use reviver_isa::instruction::{Base, Link, Place};
use reviver_isa::structure::{BlockKind, Counting};

use super::{Explainer, Explanation, Spot};
use crate::state::lookup::{frame_at, place};
use crate::state::values::Value;
use crate::trap::Trap;

/// Upper bound on the innermost calls that an explanation has: of a recursion the others say nothing new.
const MOST_CALLS: usize = 16;

/// Number of innermost calls that have a line each in [`Explanation::called`], repeated ones counted once.
const CALLS_IN_WORDS: usize = 3;

/// A call that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The procedure that calls.
    pub caller: String,
    /// The statement: `call down(b)`; of a task what it calls: `down(b)`.
    pub statement: String,
    /// Where it stands, if known.
    pub spot: Option<Spot>,
    /// Which task it is, if it is one.
    pub task: Option<OpenTask>,
}

/// A task among those that begin together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenTask {
    /// The number of the call in the text, from 1, of so many. One call alone may be made several times.
    Listed { number: usize, of: usize },
    /// A round of `par for`: the counter's name and value.
    Round { counter: String, value: String },
}

impl OpenCall {
    /// ``called by `call down(b)` on line 7``, ``in task 2 of 2, `down(b)` on line 7``
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
            Some(OpenTask::Round { counter, value }) => {
                format!("in the task with {counter} = {value}, `{words}`{place}")
            }
        }
    }
}

impl Explanation {
    /// The open calls in words, from the innermost outward, one line a call. A recursion's repeated call is one line. Of
    /// calls further out only tasks have lines, the others are counted.
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
            1 => lines.push("and one call more is open".to_owned()),
            others => lines.push(format!("and {others} calls more are open")),
        }
        lines
    }
}

impl Explainer<'_> {
    /// The innermost calls, at most [`MOST_CALLS`], then the tasks around those, at most as many.
    pub(super) fn open_calls(&self) -> Vec<OpenCall> {
        let is_task = |depth: &usize| {
            let call = self.state.calls.get(*depth);
            call.is_some_and(|call| self.program.flow().fork_around(call.site).is_some())
        };
        let outward = || (0..self.state.calls.len()).rev();
        let tasks = outward().skip(MOST_CALLS).filter(is_task).take(MOST_CALLS);
        outward().take(MOST_CALLS).chain(tasks).filter_map(|depth| self.open_call(depth)).collect()
    }

    /// The call that was made at a depth; 0 is main.
    fn open_call(&self, depth: usize) -> Option<OpenCall> {
        let site = self.state.calls.get(depth)?.site;
        let there = self.at(site);
        let task = self.open_task(depth, site);
        let called = match &there.instruction(site).link {
            Link::Calls(calls) if task.is_some() => calls.first().map(|call| there.speller().call(call)),
            Link::Calls(_) | Link::None | Link::Partner(_) => None,
        };
        Some(OpenCall {
            caller: there.procedure(site).name.clone(),
            statement: called.unwrap_or_else(|| there.words(site)),
            spot: there.place(site).map(|place| there.spot(place)),
            task,
        })
    }

    /// Whoever explains what stands at another instruction.
    fn at(&self, site: u32) -> Explainer<'_> {
        Explainer { trap: Trap { at: site, ..self.trap }, ..*self }
    }

    fn open_task(&self, depth: usize, site: u32) -> Option<OpenTask> {
        let fork = self.program.flow().fork_around(site)?;
        let own = self.program.blocks_around(site).take_while(|block| fork.stretch.contains(block.start()));
        let mut counted = own.filter_map(|block| match &block.kind {
            BlockKind::For(counting) => Some(counting),
            _ => None,
        });
        match counted.next() {
            Some(counting) => self.open_round(depth, site, counting),
            None => {
                let number = fork.calls.iter().position(|&call| call == site)? + 1;
                Some(OpenTask::Listed { number, of: fork.calls.len() })
            }
        }
    }

    fn open_round(&self, depth: usize, site: u32, counting: &Counting) -> Option<OpenTask> {
        let counter = Base::Frame(counting.counter);
        let frame = frame_at(self.program, self.state, depth)?;
        let (_, cell) = place(self.program, self.state, frame, &Place::scalar(counter))?;
        let value = Value::Int(*self.state.ints.get(cell as usize)?);
        let counter = self.at(site).speller().name(counter).to_owned();
        Some(OpenTask::Round { counter, value: self.program.text(value) })
    }
}
