//! Benchmark of the interpreter and of native code next to handwritten Rust for the same reversible programs.
//!
//! The native versions perform the same checks (join conditions, bounds) and the same operations, in the same order.
//! Compare the printed ratios; absolute times depend on the computer.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use reviver_vm::{CheckLevel, Travel};

use harness::clock::{Best, time};
use harness::driven;
use harness::machines::{machine, machine_of, to_the_end};
use harness::measures::measures;
use harness::operands;

mod harness {
    pub mod clock;
    pub mod driven;
    pub mod machines;
    pub mod measures;
    pub mod operands;
}
mod native {
    pub mod fibonacci;
    pub mod leapfrog;
    pub mod matrix;
}

/// Program with its native version. `bound` is the upper bound on the ratio interpreter ÷ native.
struct Case {
    name: &'static str,
    program: &'static str,
    native: fn(),
    bound: f64,
    /// Upper bounds on the ratio native code ÷ native: of checked native code, and of unchecked native code.
    asked: (f64, f64),
}

const CASES: [Case; 3] = [
    Case {
        name: "fibonacci",
        program: "benches/fibonacci.rasm",
        native: native::fibonacci::run,
        bound: 20.0,
        asked: (1.5, 1.5),
    },
    Case {
        name: "leapfrog",
        program: "benches/leapfrog.rasm",
        native: native::leapfrog::run,
        bound: 4.5,
        asked: (1.1, 1.0),
    },
    Case {
        name: "matrix",
        program: "benches/matrix.rasm",
        native: native::matrix::run,
        bound: 8.0,
        asked: (1.3, 1.3),
    },
];

fn criterion_groups(criterion: &mut Criterion) {
    for case in &CASES {
        let mut there = machine(case.program);
        to_the_end(&mut there, Travel::Forward);
        let mut group = criterion.benchmark_group(case.name);
        group.throughput(Throughput::Elements(there.state().step.unsigned_abs()));
        group.measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1)).sample_size(20);
        group.bench_function(BenchmarkId::from_parameter("native"), |b| b.iter(case.native));
        group.bench_function(BenchmarkId::from_parameter("forward"), |b| {
            b.iter_batched_ref(
                || machine(case.program),
                |m| to_the_end(m, Travel::Forward),
                criterion::BatchSize::PerIteration,
            )
        });
        group.bench_function(BenchmarkId::from_parameter("backward"), |b| {
            b.iter_batched_ref(
                || there.try_clone().unwrap(),
                |m| to_the_end(m, Travel::Backward),
                criterion::BatchSize::PerIteration,
            )
        });
        group.finish();
    }
}

fn ratios() {
    println!("\n| program | native (ms) | forward ÷ native (asked) | backward ÷ forward (asked) |");
    println!("|---|---|---|---|");
    for case in &CASES {
        let mut best = Best::none();
        let mut m = machine(case.program);
        for _ in 0..40 {
            best.round([
                time(case.native),
                time(|| to_the_end(&mut m, Travel::Forward)),
                time(|| to_the_end(&mut m, Travel::Backward)),
            ]);
        }
        let [native, forward, backward] = best.seconds();
        println!(
            "| {} | {:.3} | {:.1} (≤ {}) | {:.2} (≤ 1.05) |",
            case.name,
            native * 1e3,
            forward / native,
            case.bound,
            backward / forward
        );
    }
}

/// Returns the shortest time of several runs of a program.
fn best_run(text: String) -> f64 {
    let start = machine_of("operands.rasm", text.into_bytes());
    let mut best = Best::none();
    for _ in 0..20 {
        let mut machine = start.try_clone().unwrap();
        best.round([time(|| to_the_end(&mut machine, Travel::Forward))]);
    }
    let [seconds] = best.seconds();
    seconds
}

/// Prints the time of a step for each kind of operands. The steps of the loop itself don't count.
fn by_operands() {
    println!("\n| operands | ns a step |");
    println!("|---|---|");
    let rounds = best_run(operands::text(None));
    for &(name, add, sub) in operands::KINDS {
        let steps = if add.starts_with("call") { 2 * operands::STEPS } else { operands::STEPS };
        let own = best_run(operands::text(Some((add, sub)))) - rounds;
        println!("| {name} | {:.1} |", own * 1e9 / (operands::ROUNDS * steps) as f64);
    }
}

/// Prints the times of the same programs in native code. Compilation isn't timed.
fn by_native_code() {
    println!(
        "\n| program | native (ms) | native code ÷ native (asked) | unchecked ÷ native (asked) | backward ÷ forward (asked) |"
    );
    println!("|---|---|---|---|---|");
    for case in &CASES {
        let [mut m, mut bold] =
            CheckLevel::ALL.map(|level| driven::by_native_code(&machine(case.program), level));
        for machine in [&mut m, &mut bold] {
            to_the_end(machine, Travel::Forward);
            to_the_end(machine, Travel::Backward);
        }
        let mut best = Best::none();
        for _ in 0..40 {
            best.round([
                time(case.native),
                time(|| to_the_end(&mut m, Travel::Forward)),
                time(|| to_the_end(&mut m, Travel::Backward)),
                time(|| to_the_end(&mut bold, Travel::Forward)),
            ]);
            to_the_end(&mut bold, Travel::Backward);
        }
        let [native, forward, backward, unchecked] = best.seconds();
        let (ratio, back) = (forward / native, backward / forward);
        println!(
            "| {} | {:.3} | {ratio:.2} (≤ {}) | {:.2} (≤ {}) | {back:.2} (≤ 1.15) |",
            case.name,
            native * 1e3,
            case.asked.0,
            unchecked / native,
            case.asked.1,
        );
    }
}

fn main() {
    if !measures() {
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    criterion_groups(&mut criterion);
    criterion.final_summary();
    ratios();
    by_operands();
    by_native_code();
}
