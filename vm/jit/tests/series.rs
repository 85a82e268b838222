//! Call functions on series: the evaluator and native code give the interpreter's Hessian–vector products and Taylor
//! coefficients.

mod support;

use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_compile::call::{CallGoal, CallMemory, CompiledCall, Lift};
use reviver_compile::evaluate::Evaluator;
use reviver_compile::start::RunStart;
use reviver_jit::Jit;
use reviver_vm::differentiate::matrices::{hessian_products, taylor};
use reviver_vm::differentiate::{Origin, SeededCell, Subject, Variable, early_turn};
use reviver_vm::stops::Stops;
use reviver_vm::values::Value;
use reviver_vm::{CheckLevel, Machine, Program, ShownMark};

use support::Checked;

const MOST_STEPS: u64 = 200_000;
/// The only program whose code would be too long if each operation were lifted.
const LONG_PROGRAM: &str = "graph_newton.rasm";
/// Order of the Taylor series.
const ORDER: usize = 4;
/// Upper bound on the directions of a program.
const MOST_DIRECTIONS: usize = 6;

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

    /// Returns the interpreter's product. The error is true if the interpreter has a product but doesn't verify it.
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

    /// Returns the direction as cells with bits.
    fn components(&self, direction: &[f64]) -> Vec<(usize, u64)> {
        let bits = direction.iter().map(|&component| self.subject.number(component));
        self.cells().into_iter().zip(bits).collect()
    }

    fn called(&self, call: &CompiledCall, direction: &[f64], memory: &mut CallMemory) -> Option<Product> {
        call.run_along(&self.start, &self.components(direction), &[&self.seeds], memory, MOST_STEPS)?;
        let of = |k: usize| {
            let all = memory.adjoint_coefficients(k);
            self.cells().into_iter().map(|cell| self.number(all[cell])).collect()
        };
        Some(Product { value: self.number(memory.values(0)[0]), gradient: of(0), product: of(1) })
    }

    /// Returns the interpreter's Taylor coefficients of the result. The error is true if the interpreter has
    /// coefficients but doesn't verify them.
    fn interpreted_series(&self, direction: &[f64]) -> Result<Vec<f64>, bool> {
        let outputs = [self.subject.outputs()[0].clone()];
        let found = taylor(&self.subject, &outputs, &self.inputs, direction, ORDER);
        let Ok(mut found) = found else { return Err(false) };
        let is_sure = found.verification_report.reports.iter().next().is_none();
        if is_sure { Ok(found.coefficients.swap_remove(0)) } else { Err(true) }
    }

    fn called_series(
        &self,
        call: &CompiledCall,
        direction: &[f64],
        memory: &mut CallMemory,
    ) -> Option<Vec<f64>> {
        call.run_along(&self.start, &self.components(direction), &[&self.seeds], memory, MOST_STEPS)?;
        let lanes = call.coefficients(memory, self.seeds[0].cell);
        Some(lanes.map(|bits| self.number(bits)).collect())
    }

    /// Returns the call function of a goal, from the evaluator and from native code. Returns `None` if only the
    /// interpreter can run the program.
    fn functions(&self, name: &str, jit: &Jit, goal: CallGoal, lanes: u32) -> Option<[CompiledCall; 2]> {
        let (program, cells) = (&self.subject.program, &[self.seeds[0].cell][..]);
        let (turn, moved) = match goal {
            CallGoal::Run => (program.end(), self.moved()),
            CallGoal::Gradient => (self.turn, self.moved()),
        };
        let lift = Lift { lanes, rejects_ties: goal == CallGoal::Run, moved: &moved };
        let Some(evaluated) = CompiledCall::on_series(program, &Checked, (goal, turn), (cells, lift)) else {
            let plain = CompiledCall::new(program, &Checked, (self.turn, CheckLevel::Checked), (cells, 1));
            assert!(plain.is_none() || name == LONG_PROGRAM, "{name}: only plain code has a function");
            return None;
        };
        Some([evaluated, CompiledCall::on_series(program, jit, (goal, turn), (cells, lift)).unwrap()])
    }

    /// Compares all engines along several directions, and returns the number of equal results. If only the interpreter
    /// has a result, and has verified this result, adds a description of it to `left`.
    fn compare(&self, name: &str, jit: &Jit, left: &mut Vec<String>) -> usize {
        let Some(gradients) = self.functions(name, jit, CallGoal::Gradient, 2) else { return 0 };
        let runs = self.functions(name, jit, CallGoal::Run, ORDER as u32 + 1).unwrap();
        let count = self.inputs.len();
        let units = (0..count).map(|n| (0..count).map(|m| f64::from(u8::from(n == m))).collect());
        let all = (0..count).map(|n| 0.5 - (n as f64 * 0.618).fract()).collect();
        let directions: Vec<Vec<f64>> = units.take(MOST_DIRECTIONS).chain([all]).collect();
        let (mut memory, mut equal) = (CallMemory::default(), 0);
        for direction in directions {
            let name = format!("{name} {direction:?}");
            let products = gradients.each_ref().map(|call| self.called(call, &direction, &mut memory));
            equal += agreed(&name, self.interpreted(&direction), products, left);
            let series = runs.each_ref().map(|call| self.called_series(call, &direction, &mut memory));
            equal += agreed(&format!("{name} series"), self.interpreted_series(&direction), series, left);
        }
        equal
    }
}

/// Asserts that the evaluator and native code have the interpreter's result, or no result. Returns 1 if they have the
/// result. If only the interpreter has a result, adds the result to `left`.
fn agreed<T: PartialEq + Debug>(
    name: &str,
    interpreted: Result<T, bool>,
    [by_evaluator, by_code]: [Option<T>; 2],
    left: &mut Vec<String>,
) -> usize {
    assert_eq!(by_evaluator, by_code, "{name}");
    match (interpreted, by_code) {
        (Ok(interpreted), Some(called)) => {
            assert_eq!(interpreted, called, "{name}");
            return 1;
        }
        (Ok(_), None) => left.push(name.to_string()),
        (Err(false), Some(called)) => panic!("{name}: {called:?}"),
        (Err(_), _) => {}
    }
    0
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
        let module =
            assemble(&path.display().to_string(), std::fs::read(path).unwrap(), &Disk).module.unwrap();
        let Ok(program) = Program::new(module, 0) else { continue };
        let Some(trial) = Trial::of(Arc::new(program)) else { continue };
        equal += trial.compare(&name, &jit, &mut left);
    }
    // The rule of this program has other steps than its procedure: a call can't verify its reverse sweep by counting.
    left.retain(|product| !product.starts_with("truncated_bptt"));
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
        "a * b",
        "a / b",
        "a - b",
        "-a * b",
        "powi(a, 3)",
        "powi(a, -2)",
        "pow(a, b)",
        "pow(a, 2.5) * b",
        "sqrt(a) * b",
        "exp(a) * b",
        "log(a) * b",
        "sin(a * b)",
        "cos(a * b)",
        "tan(a) * b",
        "asin(a * 0.5) * b",
        "acos(a * 0.5) * b",
        "atan(a * b)",
        "sinh(a) * b",
        "cosh(a) * b",
        "tanh(a * b)",
        "atan2(a, b)",
        "hypot(a, b)",
        "max(a, b) * a",
        "min(a, b) * a",
        "abs(a) * b * a",
        "cbrt(a) * b",
        "erf(a) * b",
        "sigmoid(a * b)",
        "exp_m1(a) * b",
        "ln_1p(a) * b",
        "floor(a) * b * b",
        "square(a) * b",
        "a * a * a / (1.0 + b * b)",
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

/// Frames of recursive calls hold dual numbers, too. So do arrays with computed indices.
#[test]
fn products_through_recursions_and_arrays_equal_those_of_the_interpreter() {
    let power = ".in x: real default 1.25, n default 6\n.out y: real\ncall f(y, x, n)\n\
        .proc f(inout y: real, in x: real, in n)\nif n > 0\n compute\n  local m = n - 1\n  local r: real\n  call f(r, x, m)\n \
        apply\n  add y, r * x + sin(x)\n uncompute\nelse\n add y, 1.0\nfi n > 0\n.end\n";
    let array = ".in v[5]: real default {1, 0.5, -2, 3, 0.25}, k default 3\n.out y: real\n.ancilla w[5]: real\ncompute\n\
        for i in 0..5\n add w[i], v[i] * v[k]\nrof\napply\nfor i in 0..5\n add y, exp(w[i] * 0.125) * v[i]\nrof\nuncompute\n";
    let jit = Jit::new().unwrap();
    let mut left = Vec::new();
    for text in [power, array] {
        let equal = trial(text).compare(text, &jit, &mut left);
        assert!(equal >= 4, "{text}: only {equal} results; the interpreter has to make {left:#?}");
    }
    assert!(left.is_empty(), "{left:#?}");
}

/// A product of series takes a number of operations that grows with the square of the order. Functions that would become
/// too long are refused.
#[test]
fn functions_that_would_be_too_long_are_refused() {
    let statements = "add y, x * z\nadd z, x * y\n".repeat(600);
    let text =
        format!(".in x: real default 0.5, w: real default 1\n.out y: real, z: real\nadd y, w\n{statements}");
    let trial = trial(&text);
    let (cells, moved) = ([trial.seeds[0].cell], trial.moved());
    let compiled = |lanes: u32| {
        let lift = Lift { lanes, rejects_ties: false, moved: &moved };
        let program = &trial.subject.program;
        CompiledCall::on_series(program, &Evaluator, (CallGoal::Run, program.end()), (&cells, lift))
    };
    assert!(compiled(2).is_some() && compiled(17).is_none() && compiled(18).is_none());
}
