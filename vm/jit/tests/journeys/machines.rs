//! Machines that run a program in step: the interpreter, forms after each pass, and native code. Whatever they are told to do, they stop for one reason in one state.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_compile::backend::{Backend, Code};
use reviver_compile::check::check;
use reviver_compile::driver::Driver;
use reviver_compile::evaluate::Evaluator;
use reviver_compile::form::SsaForm;
use reviver_compile::passes::PASSES;
use reviver_jit::Jit;
use reviver_vm::state::Counters;
use reviver_vm::stops::Stops;
use reviver_vm::{CheckLevel, Machine, Program, Runner, State, Travel};

/// Forms that are well made, as they stand.
#[derive(Debug)]
struct Checked;

impl Backend for Checked {
    fn compile(&self, form: SsaForm) -> Option<Box<dyn Code>> {
        check(&form).unwrap_or_else(|problem| panic!("{problem}\n{form}"));
        Evaluator.compile(form)
    }
}

/// Who runs a program in the interpreter's place: forms after each pass, and native code.
pub fn runners(program: &Program, level: CheckLevel) -> Vec<Arc<dyn Runner>> {
    let after = (0..=PASSES.len()).filter_map(|count| PASSES.get(..count));
    let forms = after.map(|passes| {
        Arc::new(Driver::new(program, Checked).improving(passes).checking(level)) as Arc<dyn Runner>
    });
    let native: Arc<dyn Runner> = Arc::new(Driver::new(program, Jit::new().unwrap()).checking(level));
    forms.chain([native]).collect()
}

/// A state without what only those count who check.
fn told(state: &State, level: CheckLevel) -> State {
    let mut state = state.try_clone().unwrap();
    if level == CheckLevel::Unchecked {
        state.counters = Counters::default();
    }
    state
}

/// The same machine several times: one is the interpreter's, the others are run by forms and by native code.
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

    /// Has drivers of a program run those that aren't the interpreter's.
    pub fn run_as(&mut self, program: &Program) {
        let runners = runners(program, self.level);
        self.driven.iter_mut().zip(runners).for_each(|(driven, runner)| driven.run_by(runner));
    }

    /// Each of them.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Machine> {
        std::iter::once(&mut self.plain).chain(&mut self.driven)
    }

    /// All run, stop for the same reason, and are the same then.
    #[track_caller]
    pub fn run(&mut self, travel: Travel, budget: u64) {
        self.run_until(None, travel, budget);
    }

    /// The same, to a place to stop at.
    #[track_caller]
    pub fn run_until(&mut self, stops: Option<&Stops>, travel: Travel, budget: u64) {
        let expected = self.plain.run_until(stops, travel, budget);
        for (n, driven) in self.driven.iter_mut().enumerate() {
            assert_eq!(driven.run_until(stops, travel, budget), expected, "{n}: {travel:?} {budget}");
            let [found, expected] = [driven.state(), self.plain.state()].map(|state| told(state, self.level));
            assert!(found == expected, "{n}: {travel:?} {budget}: {found:#?}, and not {expected:#?}");
            assert_eq!(driven.reports(), self.plain.reports(), "{n}: {travel:?} {budget}");
        }
    }

    /// Without those whose forms are improved by some passes but not by all: each place to stop at is code of its own for each of them.
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

/// Machines at the beginning of a program, and further on.
pub fn at_both_ends((text, steps): (&str, u64)) -> [Machines; 2] {
    both_ends((text, steps), CheckLevel::Checked)
}

pub fn both_ends((text, steps): (&str, u64), level: CheckLevel) -> [Machines; 2] {
    let begin = Machines::at(text, level);
    let mut far = begin.copy();
    while far.plain.state().step < steps as i64 {
        let before = far.plain.state().step;
        far.run(Travel::Forward, steps - before as u64);
        assert!(far.plain.state().step > before, "it has no so many steps: {before}");
    }
    [begin, far]
}
