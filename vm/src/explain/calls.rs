//! The calls that are open where a machine has trapped, from the innermost outward: who called, and which task it was. Says nothing of
//! the trap itself.

use reviver_isa::instruction::{Base, Link, Place};
use reviver_isa::structure::{BlockKind, Counting};

use super::{Explainer, Spot};
use crate::state::lookup::{frame_at, place};
use crate::state::values::Value;
use crate::trap::Trap;

/// The most calls that are told: of a recursion the others say nothing new.
const MOST_CALLS: usize = 16;

/// A call that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The procedure that calls.
    pub caller: String,
    /// The statement: `call down(b)`; of a task what it calls: `down(b)`.
    pub words: String,
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

impl Explainer<'_> {
    /// The innermost calls, but no more than [`MOST_CALLS`].
    pub(super) fn open_calls(&self) -> Vec<OpenCall> {
        let depths = (0..self.state.calls.len()).rev().take(MOST_CALLS);
        depths.filter_map(|depth| self.open_call(depth)).collect()
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
            words: called.unwrap_or_else(|| there.words(site)),
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
