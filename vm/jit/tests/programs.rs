//! All shipped programs, run by the SSA evaluator and by native code, reach the interpreter's states in both
//! directions and both modes. Most steps are executed by compiled code.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_compile::backend::{Backend, Code};
use reviver_compile::check::check;
use reviver_compile::evaluate::Evaluator;
use reviver_compile::function::SsaFunction;
use reviver_compile::run::{CodeOutcome, Job};
use reviver_compile::tiered::TieredRuntime;
use reviver_jit::Jit;
use reviver_vm::{Machine, Program, Runner, Stop, Trap, Travel};

/// Backend that counts the steps that its code executes.
#[derive(Clone, Debug)]
struct Counting<B> {
    backend: B,
    steps: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Counted {
    code: Box<dyn Code>,
    steps: Arc<AtomicU64>,
}

impl<B: Backend> Backend for Counting<B> {
    fn compile(&self, function: SsaFunction) -> Option<Box<dyn Code>> {
        check(&function).unwrap_or_else(|problem| panic!("{problem}\n{function}"));
        let code = self.backend.compile(function).expect("the backend compiles every function");
        Some(Box::new(Counted { code, steps: self.steps.clone() }))
    }
}

impl Code for Counted {
    fn run(&self, job: Job) -> CodeOutcome {
        let outcome = self.code.run(job);
        if let CodeOutcome::Exit { steps, .. } = outcome {
            self.steps.fetch_add(steps, Ordering::Relaxed);
        }
        outcome
    }
}

fn programs() -> Vec<(String, Arc<Program>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rasm"));
    let runs = texts.filter_map(|path| {
        let name = path.display().to_string();
        let module = assemble(&name, std::fs::read(path).unwrap(), &Disk).module.unwrap();
        Some((name, Arc::new(Program::new(module, 0).ok()?)))
    });
    runs.collect()
}

/// Runs a machine to its final stop.
fn to_the_end(machine: &mut Machine, travel: Travel) -> Result<(), Trap> {
    while matches!(machine.run(travel, 3_000_000)?, Stop::Shown { .. }) {}
    Ok(())
}

/// Runs a watched machine forward and backward. All adjoints are 1 at the start of the backward run. Returns both
/// outcomes, the machine, and the number of forward steps.
fn round_trip(
    program: &Arc<Program>,
    runner: Option<Arc<dyn Runner>>,
) -> ([Result<(), Trap>; 2], Machine, u64) {
    let mut machine = Machine::at_begin(program.clone()).unwrap();
    if let Some(runner) = runner {
        machine.run_by(runner);
    }
    machine.watch();
    let forward = to_the_end(&mut machine, Travel::Forward);
    let steps = machine.state().step.unsigned_abs();
    if !program.reads_mode() && !program.switches_mode() {
        machine.state_mut().set_mode(true);
        machine.state_mut().adjoints_mut().cells.fill(1.0_f64.to_bits());
    }
    let backward = to_the_end(&mut machine, Travel::Backward);
    ([forward, backward], machine, steps)
}

/// Returns the fraction of all steps that a backend's code executes.
fn share<B: Backend + Clone + 'static>(backend: B) -> f64 {
    let counting = Counting { backend, steps: Arc::default() };
    let mut all = 0;
    for (name, program) in programs() {
        let (expected, plain, steps) = round_trip(&program, None);
        let runner = Arc::new(TieredRuntime::new(&program, counting.clone()));
        let (found, driven, _) = round_trip(&program, Some(runner));
        assert_eq!(found, expected, "{name}");
        assert!(driven.state() == plain.state(), "{name}: {:#?}", driven.state());
        assert_eq!(driven.reports(), plain.reports(), "{name}");
        // The sum of the forward and the backward steps. A backward run that traps ends at a step other than 0.
        all += steps + steps.abs_diff(plain.state().step.unsigned_abs());
    }
    counting.steps.load(Ordering::Relaxed) as f64 / all as f64
}

#[test]
fn compiled_code_agrees_and_executes_most_steps() {
    for share in [share(Evaluator), share(Jit::new().unwrap())] {
        println!("compiled code executes {share} of the steps");
        assert!(share > 0.8, "compiled code executes only {share} of the steps");
        assert!(share <= 1.0, "compiled code executes {share} of the steps");
    }
}
