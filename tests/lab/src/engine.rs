//! The engines: whoever moves a machine's state. Each test that runs programs runs them on every engine of
//! the list, and says which one it was that failed. To test one more engine is to add it to the list.

use std::sync::Arc;

use reviver_compile::driver::Driver;
use reviver_compile::evaluate::Evaluator;
use reviver_jit::Jit;
use reviver_vm::differentiate;
use reviver_vm::state::State;
use reviver_vm::stops::Stops;
use reviver_vm::travel::{Leg, Stop};
use reviver_vm::{CheckLevel, Machine, Program, Runner, Trap, checkpoint};

/// An engine under test.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    pub name: &'static str,
    /// Of so many things to try it is given one, so that a slow engine doesn't hold the tests up.
    every: usize,
    /// How many threads make tasks, always.
    pub threads: u32,
    /// Prepares a program to be run; none where the machine's own interpreter runs it.
    pub prepare: fn(&Arc<Program>) -> Option<Arc<dyn Runner>>,
    /// The same with checks left out; none where it checks everything.
    pub unchecked: fn(&Arc<Program>) -> Option<Arc<dyn Runner>>,
}

/// Forms as they are built.
fn forms(program: &Arc<Program>, level: CheckLevel) -> Option<Arc<dyn Runner>> {
    Some(Arc::new(Driver::new(program, Evaluator).improving(&[]).checking(level)))
}

fn native(program: &Arc<Program>, level: CheckLevel) -> Option<Arc<dyn Runner>> {
    let jit = Jit::new().expect("a machine that is known");
    Some(Arc::new(Driver::new(program, jit).checking(level)))
}

/// Every engine. The first one is the reference.
pub const ALL: &[Engine] = &[
    Engine { name: "the interpreter", every: 1, threads: 1, prepare: |_| None, unchecked: |_| None },
    Engine {
        name: "the interpreter step by step",
        every: 10,
        threads: 1,
        prepare: |_| Some(Arc::new(Stepwise)),
        unchecked: |_| None,
    },
    Engine {
        name: "SSA forms as they stand",
        every: 4,
        threads: 1,
        prepare: |program| forms(program, CheckLevel::Checked),
        unchecked: |program| forms(program, CheckLevel::Unchecked),
    },
    Engine {
        name: "native code",
        every: 4,
        threads: 1,
        prepare: |program| native(program, CheckLevel::Checked),
        unchecked: |program| native(program, CheckLevel::Unchecked),
    },
    Engine {
        name: "three threads",
        every: 4,
        threads: 3,
        prepare: |program| native(program, CheckLevel::Checked),
        unchecked: |_| None,
    },
];

/// The engine that users have.
pub const REFERENCE: Engine = ALL[0];

impl Engine {
    /// What it is given of many things to try.
    pub fn share<T>(self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        all.into_iter().step_by(self.every)
    }

    /// Has it move a machine.
    pub fn drive(self, mut machine: Machine) -> Machine {
        if let Some(runner) = (self.prepare)(machine.program()) {
            machine.run_by(runner);
        }
        machine.run_on_threads(self.threads, 0);
        machine
    }

    /// Has it make the passes of what is differentiated.
    pub fn differentiate(self, subject: differentiate::Subject) -> differentiate::Subject {
        differentiate::Subject { runner: (self.prepare)(&subject.program), threads: self.threads, ..subject }
    }
}

/// The interpreter, where every step is a run of its own, and the state becomes bytes and is read again, ever
/// more rarely: nothing that a longer run may remember from step to step is there.
#[derive(Debug)]
struct Stepwise;

impl Runner for Stepwise {
    fn run(&self, machine: &mut Machine, stops: Option<&Stops>, leg: Leg) -> Result<Stop, Trap> {
        if stops.is_some() {
            return machine.interpret(stops, leg);
        }
        let Leg { travel, budget } = leg;
        let alone = |machine: &mut Machine, budget| machine.interpret(None, Leg { travel, budget });
        let mut outcome = if budget == 0 { alone(machine, 0) } else { Ok(Stop::Budget) };
        for made in 1..=budget {
            outcome = alone(machine, 1);
            if outcome != Ok(Stop::Budget) {
                break;
            }
            if made.is_power_of_two() {
                *machine.state_mut() = reread(machine);
            }
        }
        *machine.state_mut() = reread(machine);
        outcome
    }
}

/// The state as a state file tells it. Whoever wants nothing shown counts more steps as shown than a file does.
fn reread(machine: &mut Machine) -> State {
    let shown = std::mem::take(&mut machine.state_mut().counters.shown);
    let bytes =
        checkpoint::encode(machine.program(), machine.state(), None).expect("memory for a state file");
    let (mut state, _) = checkpoint::decode(machine.program(), &bytes).expect("a state that a run came to");
    assert!(state == *machine.state(), "a state reads back as another");
    state.counters.shown = shown;
    state
}
