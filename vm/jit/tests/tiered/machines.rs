//! Machines that run a program in parallel: by the interpreter, by the SSA evaluator after each pass, and by native
//! code. For every request they must stop for the same reason in the same state.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_compile::passes::PASSES;
use reviver_compile::tiered::TieredRuntime;
use reviver_jit::Jit;
use reviver_vm::state::Counters;
use reviver_vm::stops::Stops;
use reviver_vm::{CheckLevel, Machine, Program, Runner, State, Travel};

use crate::support::Checked;

/// Returns the runners of a program other than the interpreter: the evaluator after each pass, and native code.
pub fn runners(program: &Program, level: CheckLevel) -> Vec<Arc<dyn Runner>> {
    let after = (0..=PASSES.len()).filter_map(|count| PASSES.get(..count));
    let evaluated = after.map(|passes| {
        Arc::new(TieredRuntime::new(program, Checked).with_passes(passes).with_check_level(level))
            as Arc<dyn Runner>
    });
    let native: Arc<dyn Runner> =
        Arc::new(TieredRuntime::new(program, Jit::new().unwrap()).with_check_level(level));
    evaluated.chain([native]).collect()
}

/// Copies a state without the counts that only checked code keeps.
fn reported(state: &State, level: CheckLevel) -> State {
    let mut state = state.try_clone().unwrap();
    if level == CheckLevel::Unchecked {
        state.counters = Counters::default();
    }
    state
}

/// Copies of a machine: one is interpreted, the others are run by the evaluator and by native code.
pub struct Machines {
    pub level: CheckLevel,
    pub plain: Machine,
    pub driven: Vec<Machine>,
}

impl Machines {
    pub fn of(text: &str) -> Machines {
        Machines::at(text, CheckLevel::Checked)
    }

    pub fn at(text: &str, level: CheckLevel) -> Machines {
        let assembly = assemble("journey.rasm", text.into(), &FilesInMemory::new());
        let module = assembly.module.unwrap_or_else(|| panic!("{text}: {:?}", assembly.diagnostics));
        let program = Arc::new(Program::new(module, 0).unwrap());
        let plain = Machine::at_begin(program.clone()).unwrap();
        let driven = runners(&program, level).iter().map(|_| plain.try_clone().unwrap()).collect();
        let mut machines = Machines { level, driven, plain };
        machines.run_as(&program);
        machines
    }

    /// Sets tiered runtimes of a program on all machines but the interpreted one.
    pub fn run_as(&mut self, program: &Program) {
        let runners = runners(program, self.level);
        self.driven.iter_mut().zip(runners).for_each(|(driven, runner)| driven.run_by(runner));
    }

    /// Iterates over all machines.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Machine> {
        std::iter::once(&mut self.plain).chain(&mut self.driven)
    }

    /// Runs all machines, and asserts that they stop for the same reason in the same state.
    #[track_caller]
    pub fn run(&mut self, travel: Travel, budget: u64) {
        self.run_until(None, travel, budget);
    }

    /// Runs all machines up to a stop place, and asserts that they stop for the same reason in the same state.
    #[track_caller]
    pub fn run_until(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) {
        let expected = self.plain.run_until(stops, travel, budget);
        for (n, driven) in self.driven.iter_mut().enumerate() {
            assert_eq!(driven.run_until(stops, travel, budget), expected, "{n}: {travel:?} {budget}");
            let [found, expected] =
                [driven.state(), self.plain.state()].map(|state| reported(state, self.level));
            assert!(found == expected, "{n}: {travel:?} {budget}: {found:#?}, and not {expected:#?}");
            assert_eq!(driven.reports(), self.plain.reports(), "{n}: {travel:?} {budget}");
        }
    }

    /// Removes the machines with a strict subset of the passes, because every stop place is compiled separately for
    /// each of these machines.
    pub fn without_half_improved(mut self) -> Machines {
        let mut number = 0;
        self.driven.retain(|_| {
            number += 1;
            number == 1 || number > PASSES.len()
        });
        self
    }

    pub fn copy(&self) -> Machines {
        let driven = self.driven.iter().map(|driven| driven.try_clone().unwrap()).collect();
        Machines { level: self.level, plain: self.plain.try_clone().unwrap(), driven }
    }
}

/// Returns machines at the start of a program, and machines that have executed `steps` steps of it.
pub fn at_both_ends((text, steps): (&str, u64)) -> [Machines; 2] {
    both_ends((text, steps), CheckLevel::Checked)
}

pub fn both_ends((text, steps): (&str, u64), level: CheckLevel) -> [Machines; 2] {
    let begin = Machines::at(text, level);
    let mut far = begin.copy();
    while far.plain.state().step < steps as i64 {
        let before = far.plain.state().step;
        far.run(Travel::Forward, steps - before as u64);
        assert!(
            far.plain.state().step > before,
            "the program ends after fewer than {steps} steps, at step {before}"
        );
    }
    [begin, far]
}
