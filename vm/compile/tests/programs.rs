//! All programs that are shipped, run by their SSA forms: the same states as the interpreter's, on both ways and in both
//! modes, and most steps are those of forms.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_compile::check::check;
use reviver_compile::driver::{Backend, Code, Driver};
use reviver_compile::form::SsaForm;
use reviver_compile::run::{CodeOutcome, Job};
use reviver_vm::{Machine, Program, Runner, Stop, Trap, Travel};

/// The steps that forms have made.
#[derive(Clone, Debug, Default)]
struct Counting(Arc<AtomicU64>);

#[derive(Debug)]
struct Counted {
    form: SsaForm,
    steps: Arc<AtomicU64>,
}

impl Backend for Counting {
    fn compile(&self, form: SsaForm) -> Option<Box<dyn Code>> {
        check(&form).unwrap_or_else(|problem| panic!("{problem}\n{form:#?}"));
        Some(Box::new(Counted { form, steps: self.0.clone() }))
    }
}

impl Code for Counted {
    fn run(&self, job: Job) -> CodeOutcome {
        let outcome = self.form.run(job);
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

/// Runs a machine to where it stops for good.
fn to_the_end(machine: &mut Machine, travel: Travel) -> Result<(), Trap> {
    while matches!(machine.run(travel, 3_000_000)?, Stop::Shown { .. }) {}
    Ok(())
}

/// Both ways, watched; the adjoints of the way back begin with 1 everywhere.
fn journey(program: &Arc<Program>, runner: Option<Arc<dyn Runner>>) -> (Vec<Result<(), Trap>>, Machine) {
    let mut machine = Machine::at_begin(program.clone()).unwrap();
    if let Some(runner) = runner {
        machine.run_by(runner);
    }
    machine.watch();
    let mut outcomes = vec![to_the_end(&mut machine, Travel::Forward)];
    if !program.reads_mode() && !program.switches_mode() {
        machine.state_mut().set_mode(true);
        machine.state_mut().adjoints_mut().cells.fill(1.0_f64.to_bits());
    }
    outcomes.push(to_the_end(&mut machine, Travel::Backward));
    (outcomes, machine)
}

#[test]
fn forms_come_to_the_same() {
    let (mut by_forms, mut all) = (0, 0);
    for (name, program) in programs() {
        let counting = Counting::default();
        let expected = journey(&program, None);
        let found = journey(&program, Some(Arc::new(Driver::new(&program, counting.clone()))));
        assert_eq!(found.0, expected.0, "{name}");
        assert!(found.1.state() == expected.1.state(), "{name}: {:#?}", found.1.state());
        assert_eq!(found.1.reports(), expected.1.reports(), "{name}");
        let steps = 2 * (expected.1.state().step.unsigned_abs()).max(1);
        by_forms += counting.0.load(Ordering::Relaxed);
        all += steps;
    }
    assert!(by_forms > all / 2, "{by_forms} of {all} steps are those of forms");
}
