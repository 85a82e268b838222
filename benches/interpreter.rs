//! The interpreter beside hand-written Rust of the same reversible programs, in one run.
//!
//! The native versions make the same checks (join conditions, bounds) and the same operations in
//! the same order. At the end the ratios are printed: they are what to compare, times are not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_vm::{Machine, Program, Stop, Travel};

mod native;

/// A program of this folder, ready at its beginning.
fn machine(name: &str) -> Machine {
    let path = format!("{}/benches/{name}.rasm", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect("the benchmark's program is there");
    let assembly = assemble(&path, bytes, &Disk);
    let module = assembly.module.expect("the benchmark's program assembles");
    Machine::at_begin(Arc::new(Program::new(module, 0).expect("the benchmark's program is sound")))
}

fn to_the_end(machine: &mut Machine, travel: Travel) {
    let stop = machine.run(travel, u64::MAX).expect("the benchmark doesn't trap");
    assert_eq!(stop, Stop::Bound);
}

/// One program with its native reference and the bound that is promised.
struct Case {
    name: &'static str,
    native: fn(),
    bound: f64,
}

const CASES: [Case; 3] = [
    Case { name: "fibonacci", native: native::fibonacci, bound: 25.0 },
    Case { name: "leapfrog", native: native::leapfrog, bound: 6.0 },
    Case { name: "matrix", native: native::matrix, bound: 12.0 },
];

fn criterion_groups(criterion: &mut Criterion) {
    for case in &CASES {
        let mut there = machine(case.name);
        to_the_end(&mut there, Travel::Forward);
        let mut group = criterion.benchmark_group(case.name);
        group.throughput(Throughput::Elements(there.state().step.unsigned_abs()));
        group.measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1)).sample_size(20);
        group.bench_function(BenchmarkId::from_parameter("native"), |b| b.iter(case.native));
        group.bench_function(BenchmarkId::from_parameter("forward"), |b| {
            b.iter_batched_ref(
                || machine(case.name),
                |m| to_the_end(m, Travel::Forward),
                criterion::BatchSize::PerIteration,
            )
        });
        group.bench_function(BenchmarkId::from_parameter("backward"), |b| {
            b.iter_batched_ref(
                || there.clone(),
                |m| to_the_end(m, Travel::Backward),
                criterion::BatchSize::PerIteration,
            )
        });
        group.finish();
    }
}

/// The fastest of several runs, taken in turns so that a noisy moment hits all alike.
fn ratios() {
    println!("\n| program | native (ms) | forward ÷ native | promised | backward ÷ forward | promised |");
    println!("|---|---|---|---|---|---|");
    for case in &CASES {
        let mut best = [Duration::MAX; 3];
        let mut m = machine(case.name);
        for _ in 0..40 {
            let timings = [
                time(case.native),
                time(|| to_the_end(&mut m, Travel::Forward)),
                time(|| to_the_end(&mut m, Travel::Backward)),
            ];
            best.iter_mut().zip(timings).for_each(|(best, timing)| *best = timing.min(*best));
        }
        let [native, forward, backward] = best.map(|duration| duration.as_secs_f64());
        println!(
            "| {} | {:.3} | {:.1} | ≤ {} | {:.2} | ≤ 1.2 |",
            case.name,
            native * 1e3,
            forward / native,
            case.bound,
            backward / forward
        );
    }
}

fn time(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn main() {
    // `cargo test` builds and calls benches too, with `--test`: then nothing needs measuring.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    criterion_groups(&mut criterion);
    criterion.final_summary();
    ratios();
}
