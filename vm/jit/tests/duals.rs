//! Call functions of gradients on dual numbers: the evaluator and native code give the interpreter's Hessian–vector
//! products.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_compile::backend::{Backend, Code};
use reviver_compile::call::{CallMemory, GradientCall};
use reviver_compile::check::check;
use reviver_compile::evaluate::Evaluator;
use reviver_compile::function::SsaFunction;
use reviver_compile::start::RunStart;
use reviver_jit::Jit;
use reviver_vm::differentiate::matrices::hessian_products;
use reviver_vm::differentiate::{Origin, SeededCell, Subject, Variable, early_turn};
use reviver_vm::stops::Stops;
use reviver_vm::values::Value;
use reviver_vm::{CheckLevel, Machine, Program, ShownMark};

const MOST_STEPS: u64 = 200_000;
/// Upper bound on the directions of a program.
const MOST_DIRECTIONS: usize = 6;

/// The evaluator, for valid SSA functions.
#[derive(Debug)]
struct Checked;

impl Backend for Checked {
    fn compile(&self, function: SsaFunction) -> Option<Box<dyn Code>> {
        check(&function).unwrap_or_else(|fault| panic!("{fault}\n{function:#?}"));
        Evaluator.compile(function)
    }
}

/// A Hessian–vector product, with the loss and the gradient.
#[derive(Clone, Debug, PartialEq)]
struct Product {
    value: f64,
    gradient: Vec<f64>,
    product: Vec<f64>,
}

struct Trial {
    subject: Subject,
    start: RunStart,
    seeds: Vec<SeededCell>,
    turn: u32,
    inputs: Vec<Variable>,
}

impl Trial {
    fn of(program: Arc<Program>) -> Option<Trial> {
        let state = Machine::at_begin(program.clone()).ok()?.into_state();
        let subject = Subject::new(program.clone(), state.try_clone().ok()?, false, MOST_STEPS).ok()?;
        let mut inputs = subject.inputs();
        inputs.retain(|input| matches!(input.origin, Origin::Cell(_)));
        let loss = subject.outputs().first().and_then(|loss| subject.cell(loss).ok())?;
        let seeds = vec![SeededCell::loss(&program, loss)];
        let subject = subject.prepared_for_seeds(&seeds, &inputs, false);
        let mut state = state;
        state.counters.shown = ShownMark::SILENT;
        let start = RunStart::new(&subject.program, state)?;
        let stops = early_turn(&program, &[loss]);
        let turn = stops.as_ref().and_then(Stops::only).map_or(program.end(), |node| node.position);
        Some(Trial { subject, start, seeds, turn, inputs })
    }

    fn cells(&self) -> Vec<usize> {
        self.inputs.iter().filter_map(|input| self.subject.cell(input).ok()).collect()
    }

    fn moved(&self) -> Vec<Range<u32>> {
        self.cells().into_iter().map(|cell| cell as u32..cell as u32 + 1).collect()
    }

    fn number(&self, bits: u64) -> f64 {
        self.subject.program.approximate(Value::Real(bits))
    }

    /// Returns the interpreter's product. The error is true if there is one that the interpreter doesn't vouch for.
    fn interpreted(&self, direction: &[f64]) -> Result<Product, bool> {
        let directions = [direction.to_vec()];
        let found = hessian_products(&self.subject, &self.seeds, &self.inputs, &directions);
        let Ok(mut found) = found else { return Err(false) };
        let report = &found.verification_report;
        if report.recomputed.is_some() || report.reports.iter().next().is_some() {
            return Err(true);
        }
        let value = self.number(found.values[0]);
        Ok(Product { value, gradient: found.gradient, product: found.products.swap_remove(0) })
    }

    fn called(&self, call: &GradientCall, direction: &[f64], memory: &mut CallMemory) -> Option<Product> {
        let components: Vec<(usize, u64)> = self
            .cells()
            .into_iter()
            .zip(direction.iter().map(|&component| self.subject.number(component)))
            .collect();
        call.run_along(&self.start, &components, &[&self.seeds], memory, MOST_STEPS)?;
        let of = |k: usize| {
            let all = memory.coefficients(k);
            self.cells().into_iter().map(|cell| self.number(all[cell])).collect()
        };
        Some(Product { value: self.number(memory.values(0)[0]), gradient: of(0), product: of(1) })
    }

    /// Compares all engines. Returns the number of equal products; adds to `left` what the code leaves to the
    /// interpreter, although that has a result without reservations.
    fn compare(&self, name: &str, jit: &Jit, left: &mut Vec<String>) -> usize {
        let cells = (&[self.seeds[0].cell][..], &self.moved()[..]);
        let Some(evaluated) = GradientCall::dual(&self.subject.program, &Checked, self.turn, cells) else {
            // A program that plain code can't run either is the interpreter's.
            let plan = (self.turn, CheckLevel::Checked);
            if GradientCall::new(&self.subject.program, &Checked, plan, (cells.0, 1)).is_some() {
                left.push(format!("{name}: no function"));
            }
            return 0;
        };
        let native = GradientCall::dual(&self.subject.program, jit, self.turn, cells).unwrap();
        let count = self.inputs.len();
        let units = (0..count).map(|n| (0..count).map(|m| f64::from(u8::from(n == m))).collect());
        let all = (0..count).map(|n| 0.5 - (n as f64 * 0.618).fract()).collect();
        let directions: Vec<Vec<f64>> = units.take(MOST_DIRECTIONS).chain([all]).collect();
        let mut memory = CallMemory::default();
        let mut equal = 0;
        for direction in directions {
            let interpreted = self.interpreted(&direction);
            let by_evaluator = self.called(&evaluated, &direction, &mut memory);
            let by_code = self.called(&native, &direction, &mut memory);
            assert_eq!(by_evaluator, by_code, "{name} {direction:?}");
            match (interpreted, by_code) {
                (Ok(interpreted), Some(called)) => {
                    assert_eq!(interpreted, called, "{name} {direction:?}");
                    equal += 1;
                }
                (Ok(_), None) => left.push(format!("{name} {direction:?}")),
                (Err(false), Some(called)) => panic!("{name} {direction:?}: {called:?}"),
                (Err(_), _) => {}
            }
        }
        equal
    }
}

#[test]
fn products_of_shipped_programs_equal_those_of_the_interpreter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let jit = Jit::new().unwrap();
    let (mut equal, mut left) = (0, Vec::new());
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rasm")) {
        let name = path.file_name().unwrap().display().to_string();
        let module = assemble(&path.display().to_string(), std::fs::read(path).unwrap(), &Disk).module.unwrap();
        let Ok(program) = Program::new(module, 0) else { continue };
        let Some(trial) = Trial::of(Arc::new(program)) else { continue };
        equal += trial.compare(&name, &jit, &mut left);
    }
    assert!(left.is_empty() && equal >= 100, "{equal} products; the interpreter has to make {left:#?}");
}

/// Returns the trial of a program's text.
fn trial(text: &str) -> Trial {
    let module = assemble("trial.rasm", text.into(), &Disk);
    let module = module.module.unwrap_or_else(|| panic!("{:?}", module.diagnostics));
    Trial::of(Arc::new(Program::new(module, 0).unwrap())).unwrap()
}

/// Each function of the language, in each number system.
#[test]
fn products_of_single_functions_equal_those_of_the_interpreter() {
    let functions = [
        "a * b", "a / b", "a - b", "-a * b", "powi(a, 3)", "powi(a, -2)", "pow(a, b)", "pow(a, 2.5) * b", "sqrt(a) * b", "exp(a) * b", "log(a) * b",
        "sin(a * b)", "cos(a * b)", "tan(a) * b", "asin(a * 0.5) * b", "acos(a * 0.5) * b", "atan(a * b)",
        "sinh(a) * b", "cosh(a) * b", "tanh(a * b)", "atan2(a, b)", "hypot(a, b)", "max(a, b) * a", "min(a, b) * a",
        "abs(a) * b * a", "cbrt(a) * b", "erf(a) * b", "sigmoid(a * b)", "exp_m1(a) * b", "ln_1p(a) * b",
        "floor(a) * b * b", "square(a) * b", "a * a * a / (1.0 + b * b)",
    ];
    let jit = Jit::new().unwrap();
    let (mut equal, mut left) = (0, Vec::new());
    for system in ["f64", "f32", "fixed 24"] {
        for function in functions {
            for (a, b) in [(0.75, 0.5), (0.25, 1.5), (0.5, -0.75)] {
                let text = format!(
                    ".real {system}\n.in a: real default {a}, b: real default {b}\n.out y: real\nadd y, {function}\n"
                );
                let module = assemble("trial.rasm", text.clone().into(), &Disk);
                if module.module.is_none() {
                    panic!("{text}: {:?}", module.diagnostics);
                }
                equal += trial(&text).compare(&text, &jit, &mut left);
            }
        }
    }
    assert!(left.is_empty(), "{equal} products; the interpreter has to make {left:#?}");
}
