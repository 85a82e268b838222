//! Running programs the way laws look at them: whole runs with every state's digest, and travel that
//! doesn't stop at what is shown.

use reviver_vm::digest::{Digest, state_digest};
use reviver_vm::{Machine, Stop, Trap, Travel};

use crate::subject::Subject;

/// Runs that take longer are cut off here; generated programs are far shorter.
pub const LONGEST: u64 = 20_000;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// It arrived.
    Bound,
    /// It was cut off.
    Budget,
    Trap(Trap),
}

impl End {
    pub fn arrived(self) -> bool {
        self == End::Bound
    }
}

/// Makes at most `budget` steps, however often something is shown on the way.
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

/// A run from the beginning, step by step.
pub struct Trace {
    /// The digest of the state at each step, the first one before any.
    pub digests: Vec<Digest>,
    pub end: End,
    /// Where the run stopped.
    pub machine: Machine,
}

impl Trace {
    /// Number of steps made.
    pub fn steps(&self) -> u64 {
        self.digests.len() as u64 - 1
    }
}

/// Runs forward from the beginning.
pub fn trace(subject: &Subject, exact: bool) -> Trace {
    follow(subject.machine(exact), Travel::Forward)
}

/// Runs to the bound, or until a trap, and notes every state.
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
