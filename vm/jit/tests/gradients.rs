//! Call functions of gradients: the evaluator and native code give the interpreter's gradients, to the last bit.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_compile::backend::{Backend, Code};
use reviver_compile::call::{CallMemory, CompiledCall};
use reviver_compile::evaluate::Evaluator;
use reviver_compile::function::{SsaEnd, SsaFunction};
use reviver_compile::op::{OpKind, Space};
use reviver_compile::start::RunStart;
use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_jit::Jit;
use reviver_vm::differentiate::{SeededCell, Subject, early_turn, seeded_gradient};
use reviver_vm::stops::Stops;
use reviver_vm::values::Value;
use reviver_vm::{CheckLevel, Machine, Program, ShownMark};

use support::Checked;

const MOST_STEPS: u64 = 2_000_000;
/// The only program whose code exits at a call, for a part of a row of a matrix. A machine continues there.
const EXITING_PROGRAM: &str = "lattice_boltzmann.rasm";

/// A gradient: steps, the bits of the losses, and the adjoint of each named real.
#[derive(Debug, PartialEq)]
struct Found {
    steps: [u64; 2],
    values: Vec<u64>,
    adjoints: Vec<u64>,
}

struct Trial {
    program: Arc<Program>,
    start: RunStart,
    /// At most three losses with the same turning point.
    losses: Vec<usize>,
    turn: u32,
    /// Addresses of the program's named reals.
    named: Vec<usize>,
}

impl Trial {
    fn of(program: Arc<Program>) -> Option<Trial> {
        let mut state = Machine::at_begin(program.clone()).ok()?.into_state();
        // A program that switches gradient mode can't be differentiated from outside.
        Subject::new(program.clone(), state.try_clone().ok()?, false, MOST_STEPS).ok()?;
        state.counters.shown = ShownMark::SILENT;
        let start = RunStart::new(&program, state)?;
        let globals = || program.module().globals.iter().enumerate();
        let reals =
            || globals().filter(|(_, global)| global.class == Class::Real && global.shape != Shape::Stack);
        let frame = program.flow().layout().main_frame(Class::Real);
        let named =
            reals().flat_map(|(n, _)| program.cells(n)).filter(|&cell| !frame.contains(&(cell as u32)));
        let named = named.collect();
        let turn = |cell: usize| {
            let stops = early_turn(&program, &[cell]);
            stops.as_ref().and_then(Stops::only).map_or(program.end(), |node| node.position)
        };
        let results = reals().filter(|(_, global)| global.role.is_result());
        let mut losses: Vec<usize> = results.flat_map(|(n, _)| program.cells(n)).collect();
        let first = turn(*losses.first()?);
        losses.retain(|&cell| turn(cell) == first);
        losses.truncate(3);
        Some(Trial { program: program.clone(), start, losses, turn: first, named })
    }

    fn seeds(&self) -> Vec<SeededCell> {
        let seed = |(n, &cell): (usize, &usize)| {
            let one = SeededCell::loss(&self.program, cell);
            if n == 0 { one } else { SeededCell { seed: 0, ..one } }
        };
        self.losses.iter().enumerate().map(seed).collect()
    }

    fn found(&self, steps: [u64; 2], values: &[u64], adjoints: &[u64]) -> Found {
        let adjoints = self.named.iter().map(|&cell| adjoints[cell]).collect();
        Found { steps, values: values.to_vec(), adjoints }
    }

    /// Returns the interpreter's gradient and error bound. Returns `None` if the interpreter repeats the reverse sweep
    /// with a history, or fails.
    fn interpreted(&self, seeds: &[SeededCell]) -> Option<(Found, Option<f64>)> {
        let start = Machine::at_begin(self.program.clone()).unwrap().into_state();
        let subject = Subject::new(self.program.clone(), start, false, MOST_STEPS).unwrap();
        let found = seeded_gradient(&subject, seeds)
            .ok()
            .filter(|found| found.verification_report.recomputed.is_none())?;
        let (steps, error) = ([found.steps, found.steps_back], found.verification_report.loss_error);
        Some((self.found(steps, &found.values, &found.adjoints.cells), error))
    }

    fn call(&self, call: &CompiledCall, memory: &mut CallMemory) -> Option<(Found, Option<f64>)> {
        Some(self.rows(call, &[&self.seeds()], memory)?.swap_remove(0))
    }

    /// Executes one call for several rows of seeds. Returns the gradient and the error bound of each row.
    fn rows(
        &self,
        call: &CompiledCall,
        seeds: &[&[SeededCell]],
        memory: &mut CallMemory,
    ) -> Option<Vec<(Found, Option<f64>)>> {
        let found = call.run(&self.start, seeds, memory, MOST_STEPS)?;
        let steps = [found.steps, found.steps_back];
        let row = |(row, &error): (usize, &Option<f64>)| {
            (self.found(steps, memory.values(row), memory.adjoints(row)), error)
        };
        Some(found.loss_errors.iter().enumerate().map(row).collect())
    }
}

impl Trial {
    /// Compares two gradients bit for bit. Code without checks restores cells instead of uncomputing them, so its
    /// gradients may differ by rounding.
    fn same(&self, name: &str, level: CheckLevel, interpreted: &Found, called: &Found) {
        if level == CheckLevel::Checked || self.program.module().real.is_exact() {
            return assert_eq!(interpreted, called, "{name}");
        }
        assert_eq!(interpreted.steps, called.steps, "{name}");
        let all = |found: &Found| found.values.iter().chain(&found.adjoints).copied().collect::<Vec<u64>>();
        for (a, b) in all(interpreted).into_iter().zip(all(called)) {
            let [a, b] = [a, b].map(|bits| self.program.approximate(Value::Real(bits)));
            assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{name}: {a:e} {b:e}");
        }
    }

    /// Asserts that the rows of one call equal the interpreter's gradients of single losses. Returns true if the call
    /// has several rows.
    fn holds_for_rows(&self, name: &str, jit: &Jit, level: CheckLevel) -> bool {
        let plan = (self.turn, level);
        let seeds: Vec<Vec<SeededCell>> =
            self.losses.iter().map(|&loss| vec![SeededCell::loss(&self.program, loss)]).collect();
        let lists: Vec<&[SeededCell]> = seeds.iter().map(Vec::as_slice).collect();
        let rows = (&self.losses[..], lists.len() as u32);
        let Some(evaluated) = CompiledCall::new(&self.program, &Checked, plan, rows) else { return false };
        let native = CompiledCall::new(&self.program, jit, plan, rows).unwrap();
        let mut memory = CallMemory::default();
        let found = self.rows(&native, &lists, &mut memory);
        assert_eq!(self.rows(&evaluated, &lists, &mut memory), found, "{name} {level:?}");
        let Some(found) = found else { return false };
        for (n, (row, error)) in found.iter().enumerate() {
            // Unchecked code returns a gradient even where the interpreter needs a history for it.
            let Some((alone, alone_error)) = self.interpreted(lists[n]) else {
                assert_eq!(level, CheckLevel::Unchecked, "{name} loss {n}");
                continue;
            };
            self.same(&format!("{name} {level:?} loss {n}"), level, &alone, row);
            agree(name, alone_error, *error);
        }
        lists.len() > 1
    }
}

/// Asserts that two error bounds differ by rounding at most. Unchecked code has no error bounds.
fn agree(name: &str, interpreted: Option<f64>, called: Option<f64>) {
    let (Some(a), Some(b)) = (interpreted, called) else { return };
    assert!((a - b).abs() <= 1e-9 * a, "{name}: {a:e} {b:e}");
}

#[test]
fn gradients_of_shipped_programs_equal_those_of_the_interpreter() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let jit = Jit::new().unwrap();
    let (mut called, mut several, mut left) = (0, 0, Vec::new());
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rasm")) {
        let name = path.display().to_string();
        let module = assemble(&name, std::fs::read(path).unwrap(), &Disk).module.unwrap();
        let Ok(program) = Program::new(module, 0) else { continue };
        let Some(trial) = Trial::of(Arc::new(program)) else { continue };
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            let interpreted = trial.interpreted(&trial.seeds());
            let plan = (trial.turn, level);
            let evaluated = CompiledCall::new(&trial.program, &Checked, plan, (&trial.losses, 1));
            let native = CompiledCall::new(&trial.program, &jit, plan, (&trial.losses, 1));
            assert_eq!(evaluated.is_some(), native.is_some(), "{name}");
            let (Some(evaluated), Some(native)) = (evaluated, native) else { continue };
            let mut memory = CallMemory::default();
            let by_evaluator = trial.call(&evaluated, &mut memory);
            // The second call uses the memory of the first one.
            let by_code = [trial.call(&native, &mut memory), trial.call(&native, &mut memory)];
            assert_eq!(by_code[0], by_code[1], "{name} {level:?}");
            assert_eq!(by_evaluator, by_code[0], "{name} {level:?}");
            several += usize::from(trial.holds_for_rows(&name, &jit, level));
            match (interpreted, by_evaluator) {
                (Some((interpreted, interpreted_error)), Some((found, error))) => {
                    trial.same(&format!("{name} {level:?}"), level, &interpreted, &found);
                    agree(&name, interpreted_error, error);
                    called += 1;
                }
                // Unchecked code returns a gradient even if the interpreter recomputes it with a history.
                (None, Some(_)) => assert_eq!(level, CheckLevel::Unchecked, "{name}"),
                // Rules with other steps than their procedures: a call can't verify its reverse sweep by counting.
                (Some((interpreted, _)), None) if interpreted.steps[0] != interpreted.steps[1] => {}
                (Some(_), None) if name.ends_with(EXITING_PROGRAM) => {}
                (Some(_), None) => left.push(format!("{name} {level:?}")),
                (None, None) => {}
            }
        }
    }
    assert!(left.is_empty(), "only a machine can execute these calls: {left:?}");
    assert!(called >= 60 && several >= 20, "{called} gradients by call functions, {several} Jacobians");
}

/// Returns the trial of a program's text.
fn trial(text: &str) -> Trial {
    let module = assemble("trial.rasm", text.into(), &Disk);
    let module = module.module.unwrap_or_else(|| panic!("{:?}", module.diagnostics));
    Trial::of(Arc::new(Program::new(module, 0).unwrap())).unwrap()
}

/// Unchecked code returns no gradient if a result or adjoint isn't finite. It also ends a loop that a NaN would keep
/// from ending.
#[test]
fn nonfinite_numbers_are_detected_without_checks() {
    let result = ".in x: real default 1e200\n.out y: real\nadd y, x * x\n";
    let adjoint = ".in x: real default 1e-200\n.out y: real\nadd y, log(x * 1e-120)\n";
    let array = ".in x: real default 1e200\n.out y[20]: real\nfor i in 0..20\n add y[i], x * x\nrof\n";
    let endless = ".in x: real default 1e300\n.out y: real, u: real\n.garbage n\nadd y, x\nfrom n == 0\n add u, y * 0.5\n \
                   add y, u * 0.5\n add n, 1\nuntil y < 0\n";
    let jit = Jit::new().unwrap();
    for text in [result, adjoint, array, endless] {
        let trial = trial(text);
        let (plan, losses) = ((trial.turn, CheckLevel::Unchecked), (&trial.losses[..], 1));
        let calls = [
            CompiledCall::new(&trial.program, &Checked, plan, losses),
            CompiledCall::new(&trial.program, &jit, plan, losses),
        ];
        for call in calls {
            let called = trial.call(&call.unwrap(), &mut CallMemory::default());
            assert!(called.is_none(), "{text}: {called:?}");
        }
    }
}

/// A loop copies an array of results at the turning point, so the length of the function doesn't depend on the length
/// of the array.
#[test]
fn an_array_of_losses_has_a_function_of_constant_length() {
    let length = |n: usize| {
        let text = format!(
            ".in x: real default 0.5\n.out y[{n}]: real\nfor i in 0..{n}\n add y[i], x * toreal(i)\nrof\n"
        );
        let mut trial = trial(&text);
        trial.losses = trial.program.cells(1).collect();
        let longest = Longest::default();
        let call = CompiledCall::new(
            &trial.program,
            &longest,
            (trial.turn, CheckLevel::Checked),
            (&trial.losses, 4),
        );
        let call = call.unwrap();
        let last = [SeededCell::loss(&trial.program, trial.losses[n - 1])];
        let mut memory = CallMemory::default();
        call.run(&trial.start, &[&last], &mut memory, MOST_STEPS).unwrap();
        let [value, slope] = [memory.values(0)[0], memory.adjoints(0)[trial.named[0]]].map(f64::from_bits);
        assert_eq!((value, slope), (0.5 * (n as f64 - 1.0), n as f64 - 1.0));
        longest.0.load(Ordering::Relaxed)
    };
    assert_eq!(length(100), length(5000));
}

/// Evaluator that records the number of operations in the longest function.
#[derive(Clone, Debug, Default)]
struct Longest(Arc<AtomicUsize>);

impl Backend for Longest {
    fn compile(&self, function: SsaFunction) -> Option<Box<dyn Code>> {
        self.0.fetch_max(function.length(), Ordering::Relaxed);
        Evaluator.compile(function)
    }
}

/// The call function of a recursive program contains out-of-line calls, and its memory grows with the number of open
/// calls. x^n takes n calls, which need more memory than is provided at first.
#[test]
fn recursions_have_gradients() {
    let text = ".limit depth 1000\n.in x: real default 1.01\n.in n default 100\n.out y: real\n.ancilla p[200]: real\ncompute\n \
                add p[0], 1\n call up(p, x, n)\napply\n add y, p[n]\nuncompute\n\
                .proc up(inout p[]: real, in x: real, in k)\n.ancilla less\nif k > 0\n add less, k - 1\n call up(p, x, less)\n \
                sub less, k - 1\n add.mul p[k], p[k-1], x\nfi k > 0\n.end\n";
    let trial = trial(text);
    for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
        let plan = (trial.turn, level);
        let evaluated = CompiledCall::new(&trial.program, &Checked, plan, (&trial.losses, 1)).unwrap();
        let native =
            CompiledCall::new(&trial.program, &Jit::new().unwrap(), plan, (&trial.losses, 1)).unwrap();
        let mut memory = CallMemory::default();
        let found = trial.call(&evaluated, &mut memory).unwrap();
        assert_eq!(found, trial.call(&native, &mut memory).unwrap(), "{level:?}");
        let [value, slope] = [found.0.values[0], found.0.adjoints[0]].map(f64::from_bits);
        assert!((value - 1.01_f64.powi(100)).abs() < 1e-13, "{value}");
        assert!((slope - 100.0 * 1.01_f64.powi(99)).abs() < 1e-11, "{slope}");
        // At the program's depth limit, the call fails, and a machine has to find the trap.
        let limited = self::trial(&text.replace("depth 1000", "depth 50"));
        for call in [
            CompiledCall::new(&limited.program, &Checked, plan, (&limited.losses, 1)),
            CompiledCall::new(&limited.program, &Jit::new().unwrap(), plan, (&limited.losses, 1)),
        ] {
            assert_eq!(limited.call(&call.unwrap(), &mut memory), None);
        }
    }
}

/// Evaluator that counts accesses to reals (index 0) and stores of adjoints (index 1) in memory, except in the blocks
/// at exits.
#[derive(Clone, Debug, Default)]
struct Accesses(Arc<[AtomicUsize; 2]>);

impl Backend for Accesses {
    fn compile(&self, function: SsaFunction) -> Option<Box<dyn Code>> {
        let inner = function.blocks.iter().filter(|block| !matches!(block.end, SsaEnd::Exit { .. }));
        for op in inner.flat_map(|block| &block.ops).filter_map(|&value| function.op(value)) {
            match op.kind {
                OpKind::Load(Space::Reals) | OpKind::Store(Space::Reals) => &self.0[0],
                OpKind::Store(Space::Adjoints) => &self.0[1],
                _ => continue,
            }
            .fetch_add(1, Ordering::Relaxed);
        }
        Checked.compile(function)
    }
}

impl Trial {
    /// Compares the evaluator and native code with the interpreter. Returns the accesses to reals and the stores of
    /// adjoints in the function.
    fn compare(&self, name: &str, level: CheckLevel) -> [usize; 2] {
        let (plan, losses) = ((self.turn, level), (&self.losses[..], 1));
        let accesses = Accesses::default();
        let evaluated = CompiledCall::new(&self.program, &accesses, plan, losses).unwrap();
        let native = CompiledCall::new(&self.program, &Jit::new().unwrap(), plan, losses).unwrap();
        let mut memory = CallMemory::default();
        let (found, _) = self.call(&evaluated, &mut memory).unwrap();
        assert_eq!(self.call(&native, &mut memory).unwrap().0, found, "{name} {level:?}");
        let (interpreted, _) = self.interpreted(&self.seeds()).unwrap();
        self.same(name, level, &interpreted, &found);
        accesses.0.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

/// The reverse sweep begins a procedure by computing its ancillas again. At that time, the adjoints of the ancillas are
/// 0, so the sweep propagates no adjoints.
#[test]
fn ancillas_without_adjoints_propagate_none() {
    for (n, loops) in [(0, 1), (1, 1), (7, 1), (3, 2), (0, 2)] {
        let inner = ["", "for k in 0..n\n", "rof\n"];
        let [begin, end] = if loops == 2 { [inner[1], inner[2]] } else { [inner[0]; 2] };
        let text = format!(
            ".in x[12]: real default 0.5\n.in n default {n}\n.out y: real\nfor i in 0..n\n{begin} call weigh(y, x, i)\n{end}rof\n\
             .proc weigh(inout y: real, in x[]: real, in i)\n.ancilla t[12]: real, s[13]: real\ncompute\n for j in 0..12\n  \
             add t[j], x[j] * toreal(i)\n  add s[j+1], s[j] + square(t[j])\n rof\napply\n add y, sqrt(s[12] + 1)\nuncompute\n.end\n"
        );
        let [_, stores] = trial(&text).compare(&text, CheckLevel::Checked);
        // The sweep stores four adjoints when it uncomputes ancillas: one of `x`, one of `t`, and two of `s`. It also
        // stores the adjoints of the last sum and of freed cells.
        assert!(stores <= 8, "{stores} stores of adjoints");
        trial(&text).compare(&text, CheckLevel::Unchecked);
    }
}

/// Reals whose loops are unrolled aren't in memory. Unchecked code doesn't restore such a real if no partial derivative
/// needs it.
#[test]
fn unrolled_reals_are_not_restored_without_checks() {
    for n in [0, 1, 9] {
        let text = format!(
            ".in n default {n}\n.inout x[2]: real default 0.5, v[2]: real default 0.25\n.out y: real\n.ancilla half: real\ncompute\n \
             for k in 0..n\n  for i in 0..2\n   add v[i], x[i] * 0.125\n   add x[i], v[i] * 0.3\n  rof\n  \
             if k > 3\n   sub x[0], v[1] * 0.25\n  fi k > 3\n rof\napply\n add y, x[0] * v[1]\nuncompute\n"
        );
        assert_eq!(trial(&text).compare(&text, CheckLevel::Unchecked)[0], 0, "n = {n}");
        trial(&text).compare(&text, CheckLevel::Checked);
    }
}
