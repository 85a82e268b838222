//! Engines that execute a machine. Tests run their programs on every engine in the list, and name the engine that
//! fails. To test another engine, add it to the list.

use std::sync::Arc;

use reviver_compile::evaluate::Evaluator;
use reviver_compile::tiered::TieredRuntime;
use reviver_jit::Jit;
use reviver_vm::differentiate;
use reviver_vm::state::State;
use reviver_vm::stops::Stops;
use reviver_vm::travel::{Segment, Stop};
use reviver_vm::{CheckLevel, Machine, Program, Runner, Trap, checkpoint};

/// Engine that executes the machine's steps in tests.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    pub name: &'static str,
    /// Tests run only every `every`-th case on this engine, so that a slow engine doesn't delay the tests.
    every: usize,
    /// Number of threads for tasks, the same on every machine.
    pub threads: u32,
    /// Prepares an engine for a program. `None` selects the machine's own interpreter.
    pub prepare: fn(&Arc<Program>) -> Option<Arc<dyn Runner>>,
    /// Prepares an engine that runs the program unchecked. `None` if the engine always checks.
    pub unchecked: fn(&Arc<Program>) -> Option<Arc<dyn Runner>>,
}

/// Returns an engine that evaluates the compiler's SSA functions without optimization, as a reference for passes and
/// backends.
fn evaluated(program: &Arc<Program>, level: CheckLevel) -> Option<Arc<dyn Runner>> {
    Some(Arc::new(TieredRuntime::new(program, Evaluator).with_passes(&[]).with_check_level(level)))
}

fn native(program: &Arc<Program>, level: CheckLevel) -> Option<Arc<dyn Runner>> {
    let jit = Jit::new().expect("a machine that is known");
    Some(Arc::new(TieredRuntime::new(program, jit).with_check_level(level)))
}

/// All engines; the first is the reference.
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
        prepare: |program| evaluated(program, CheckLevel::Checked),
        unchecked: |program| evaluated(program, CheckLevel::Unchecked),
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

/// Engine that users have by default.
pub const REFERENCE: Engine = ALL[0];

impl Engine {
    /// Returns true if tests run the case with this number on this engine: every `every`-th.
    pub fn takes(self, case: usize) -> bool {
        case.is_multiple_of(self.every)
    }

    /// Returns the cases that tests run on this engine.
    pub fn share<T>(self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        all.into_iter().step_by(self.every)
    }

    /// Returns the machine, set up to run on this engine.
    pub fn drive(self, mut machine: Machine) -> Machine {
        if let Some(runner) = (self.prepare)(machine.program()) {
            machine.run_by(runner);
        }
        machine.run_on_threads(self.threads, 0);
        machine
    }

    /// Returns the subject of differentiation, set up to run on this engine.
    pub fn differentiate(self, subject: differentiate::Subject) -> differentiate::Subject {
        differentiate::Subject { runner: (self.prepare)(&subject.program), threads: self.threads, ..subject }
    }
}

/// Interpreter that starts a new run for every step. At growing intervals it also encodes and decodes the state. So a
/// run fails if the machine keeps data between steps outside of the state.
#[derive(Debug)]
struct Stepwise;

impl Runner for Stepwise {
    fn run(&self, machine: &mut Machine, stops: Option<&Stops>, segment: Segment) -> Result<Stop, Trap> {
        if stops.is_some() {
            return machine.interpret(stops, segment);
        }
        let Segment { travel, budget } = segment;
        let alone = |machine: &mut Machine, budget| machine.interpret(None, Segment { travel, budget });
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

/// Returns the state after encoding it as a state file and decoding it. A state file doesn't store the setting that
/// suppresses values of `show`, so the setting is copied.
fn reread(machine: &mut Machine) -> State {
    let shown = std::mem::take(&mut machine.state_mut().counters.shown);
    let bytes =
        checkpoint::encode(machine.program(), machine.state(), None).expect("memory for a state file");
    let (mut state, _) = checkpoint::decode(machine.program(), &bytes).expect("a state that a run came to");
    assert!(state == *machine.state(), "a state reads back as another");
    state.counters.shown = shown;
    state
}
