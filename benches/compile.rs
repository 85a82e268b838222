//! Benchmark of compilation: the time to compile a program's forward run and the call function of its gradient, and
//! the memory of a workspace for a gradient. Run by `cargo bench --bench compile`.

use std::fmt::Write as _;
use std::hint::black_box;

use allocation_counter::measure;
use reviver::{Assembled, CheckLevel, EngineChoice, Executable, assemble, open};
use reviver_compile::call::CompiledCall;
use reviver_compile::compiled_run::CompiledRun;
use reviver_jit::Jit;
use reviver_vm::differentiate::early_turn;
use reviver_vm::{Program, Travel};

use harness::clock::{Best, time};
use harness::measures::measures;

mod harness {
    pub mod clock;
    pub mod measures;
}

/// Number of instructions of the long program.
const MANY: usize = 10_000;
/// Number of variables in the long program.
const VARIABLES: usize = 40;
const ROUNDS: usize = 10;

/// Returns a program that adds many products to variables.
fn many_instructions() -> Assembled {
    let names: Vec<String> = (0..VARIABLES).map(|n| format!("v{n}: real default {n}")).collect();
    let mut text = format!(".inout {}\n", names.join(", "));
    for n in 0..MANY {
        let [target, a, b] = [n, n * 7 + 1, n * 3 + 2].map(|n| n % VARIABLES);
        let a = if a == target { (a + 1) % VARIABLES } else { a };
        let b = if b == target || b == a { (target + VARIABLES / 2) % VARIABLES } else { b };
        let _ = writeln!(text, "add.mul v{target}, v{a}, v{b}");
    }
    assemble("many.rasm", &text).unwrap()
}

/// Compiles the call function of a loss's gradient.
fn compile_gradient(program: &Program, jit: &Jit, loss: &str) {
    let (global, _) = program.global(loss).unwrap();
    let cells = [program.cells(global).start];
    let stops = early_turn(program, &cells);
    let turn = stops.and_then(|stops| stops.only()).map_or(program.end(), |node| node.position);
    black_box(CompiledCall::new(program, jit, (turn, CheckLevel::Checked), (&cells, 1)).unwrap());
}

/// Returns the peak memory of a workspace that computes the mixture's gradient, and the size of the mixture's cells, in
/// bytes.
fn memory_of_a_gradient() -> (u64, u64) {
    let assembled = open("benches/mixture.rasm").unwrap();
    let program = assembled.compile(EngineChoice::Jit).unwrap();
    let loss = program.loss("objective").unwrap();
    let cells = program.program().module().globals.iter().map(|global| global.shape.cells()).sum::<u64>();
    let taken = measure(|| find_gradient(&program, &loss));
    (taken.bytes_max, cells * size_of::<f64>() as u64)
}

fn find_gradient(program: &Executable, loss: &reviver::LossCell) {
    let mut call = program.workspace().unwrap();
    call.give_ints(program.ints("m").unwrap(), &[0]).unwrap();
    for name in ["alphas", "means", "icf", "x", "gamma"] {
        let cells = program.reals(name).unwrap();
        let values: Vec<f64> = (0..cells.len()).map(|n| 1.0 + (n as f64).sin() / 2.0).collect();
        call.give_reals(cells, &values).unwrap();
    }
    black_box(call.gradient_anyway(loss).unwrap());
}

fn main() {
    let jit = Jit::new().unwrap();
    let programs = [
        ("besselj", open("programs/besselj.rasm").unwrap(), "out"),
        ("graph embedding", open("programs/graph_embedding.rasm").unwrap(), "loss"),
        ("Gaussian mixture", open("benches/mixture.rasm").unwrap(), "objective"),
        ("10,000 instructions", many_instructions(), "v0"),
    ];
    if !measures() {
        return;
    }
    println!("| program | forward (ms) | gradient (ms) |\n|---|---|---|");
    for (name, assembled, loss) in &programs {
        let program = assembled.program();
        let mut best = Best::none();
        for _ in 0..ROUNDS {
            let forward = time(|| {
                _ = black_box(CompiledRun::new(program, &jit, Travel::Forward, CheckLevel::Checked).unwrap())
            });
            best.round([forward, time(|| compile_gradient(program, &jit, loss))]);
        }
        let [forward, gradient] = best.seconds().map(|seconds| seconds * 1e3);
        println!("| {name} | {forward:.1} | {gradient:.1} |");
    }
    let (taken, data) = memory_of_a_gradient();
    println!("\nThe mixture's gradient takes {taken} bytes, for {data} bytes of inputs and results.");
}
