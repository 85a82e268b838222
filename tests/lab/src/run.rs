//! Runs of programs for laws: traces with the digest of every state, and runs that don't stop at shown values.

use reviver_vm::digest::{Digest, state_digest};
use reviver_vm::{Machine, Stop, Trap, Travel};

use crate::subject::Subject;

/// Step limit of runs; generated programs are much shorter.
pub const LONGEST: u64 = 20_000;

/// Reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// The end of the program was reached.
    Bound,
    /// The step limit was reached.
    Budget,
    Trap(Trap),
}

impl End {
    pub fn arrived(self) -> bool {
        self == End::Bound
    }
}

/// Runs at most `budget` steps, without stopping at shown values.
pub fn travel(machine: &mut Machine, travel: Travel, budget: u64) -> End {
    let target = machine.state().step + travel.sign() * budget as i64;
    loop {
        let left = machine.state().step.abs_diff(target);
        match machine.run(travel, left) {
            Ok(Stop::Bound) => return End::Bound,
            Ok(Stop::Budget | Stop::Interrupted) => return End::Budget,
            Ok(Stop::Shown { .. }) => {}
            Err(trap) => return End::Trap(trap),
        }
    }
}

/// Trace of a run from the start, step by step.
pub struct Trace {
    /// Digest of the state after each step, preceded by that of the start.
    pub digests: Vec<Digest>,
    pub end: End,
    /// Machine in the run's final state.
    pub machine: Machine,
}

impl Trace {
    /// Returns the number of steps.
    pub fn steps(&self) -> u64 {
        self.digests.len() as u64 - 1
    }
}

/// Runs forward from the start.
pub fn trace(subject: &Subject, exact: bool) -> Trace {
    follow(subject.machine(exact), Travel::Forward)
}

/// Runs to the end of the program or to a trap, and records every state.
pub fn follow(mut machine: Machine, direction: Travel) -> Trace {
    let mut digests = vec![state_digest(machine.state())];
    loop {
        let before = machine.state().step;
        let end = travel(&mut machine, direction, 1);
        if machine.state().step != before {
            digests.push(state_digest(machine.state()));
        }
        if end != End::Budget || digests.len() as u64 > LONGEST {
            return Trace { digests, end, machine };
        }
    }
}
