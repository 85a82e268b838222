//! Benchmark of a gradient's memory and time for the overwriting program `programs/checkpoint_listing.rasm`, with a
//! history and with snapshots, over the number n of its iterations. Prints a table and character plots, and writes
//! `benches/strategies.svg`. Fails if a gradient is wrong, or takes more memory, time or steps than its bound.

use std::fs;
use std::path::Path;

use reviver_vm::differentiate::{Gradient, Subject, gradient};
use reviver_vm::strategy::{Retention, Strategy};
use reviver_vm::values::Value;
use reviver_vm::{Machine, Travel};

use harness::chart::{Chart, Series, svg};
use harness::clock::{Best, time};
use harness::machines::{machine, to_the_end};
use harness::measures::measures;

mod harness {
    pub mod chart;
    pub mod clock;
    pub mod machines;
    pub mod measures;
}

const PROGRAM: &str = "programs/checkpoint_listing.rasm";
/// Measured numbers n of iterations of the outer loop.
const ROUNDS: [i64; 7] = [100, 1_000, 3_000, 10_000, 31_000, 100_003, 1_000_003];
/// Maximum number of iterations for which a gradient with a history is measured. For more iterations, a history needs
/// too much memory.
const MOST_OF_A_HISTORY: i64 = 100_003;

/// Upper bound on the bytes of snapshots, for every n.
const MOST_BYTES: u64 = 128 << 10;
/// Upper bound on the time of a step at 10⁶ + 3 iterations ÷ the time of a step at 10⁴ iterations.
const MOST_GROWTH: f64 = 1.7;
/// Upper bound on the steps of a gradient ÷ the steps of a forward run, for 100,003 iterations.
const MOST_STEPS: f64 = 4.75;

/// Measurements of one gradient.
struct Measured {
    n: i64,
    steps: u64,
    all_steps: u64,
    bytes: u64,
    seconds: f64,
}

impl Measured {
    fn of(n: i64, strategy: Strategy) -> Measured {
        let mut machine = machine(PROGRAM);
        let program = machine.program().clone();
        let cell = |name| program.global(name).map(|(global, _)| program.cells(global).start).unwrap();
        let (rounds, x) = (cell("n"), cell("x"));
        machine.state_mut().ints[rounds] = n;
        let subject = Subject::new(program.clone(), machine.into_state(), true, u64::MAX).unwrap();
        let retention = Some(Retention { strategy, memory: None });
        let subject = Subject { retention, ..subject };
        let loss = subject.outputs().into_iter().find(|real| subject.name(real) == "y").unwrap();
        let (mut found, mut best) = (None, Best::none());
        for _ in 0..repeats(n) {
            best.round([time(|| found = Some(gradient(&subject, &loss).unwrap()))]);
        }
        let [seconds] = best.seconds();
        let Gradient { values, adjoints, steps, cost, verification_report, .. } = found.unwrap();
        let real = |bits| program.approximate(Value::Real(bits));
        assert!((real(values[0]) - 3.0).abs() < 1e-9, "y is {}", real(values[0]));
        assert!((real(adjoints.cells[x]) - 1.0).abs() < 1e-9, "x' is {}", real(adjoints.cells[x]));
        assert!(verification_report.reports.is_empty());
        Measured { n, steps, all_steps: cost.steps, bytes: cost.peak_bytes, seconds }
    }

    fn line(&self, name: &str) -> String {
        let Measured { n, steps, all_steps, bytes, seconds } = self;
        let (ratio, nanoseconds) = (*all_steps as f64 / *steps as f64, seconds * 1e9 / *steps as f64);
        format!("| {name} | {n} | {steps} | {ratio:.2} | {bytes} | {seconds:.3} | {nanoseconds:.1} |")
    }

    fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / self.steps as f64
    }
}

/// Returns the number of repetitions; the shortest time counts.
fn repeats(n: i64) -> usize {
    if n > 100_000 { 1 } else { 3 }
}

/// Returns the steps and seconds of a forward run.
fn plain(n: i64) -> (u64, f64) {
    let mut machine: Machine = machine(PROGRAM);
    let program = machine.program().clone();
    let rounds = program.global("n").map(|(global, _)| program.cells(global).start).unwrap();
    machine.state_mut().ints[rounds] = n;
    let seconds = time(|| to_the_end(&mut machine, Travel::Forward)).as_secs_f64();
    (machine.state().step.unsigned_abs(), seconds)
}

fn main() {
    if !measures() {
        return;
    }
    println!("| strategy | n | forward steps | all steps ÷ forward steps | bytes | s | ns a forward step |");
    println!("|---|---|---|---|---|---|---|");
    for n in ROUNDS {
        let (steps, seconds) = plain(n);
        let nanoseconds = seconds * 1e9 / steps as f64;
        println!("| none, only forward | {n} | {steps} | 1.00 | 0 | {seconds:.3} | {nanoseconds:.1} |");
    }
    let measured = |name: &str, strategy, most| -> Vec<Measured> {
        let rounds = ROUNDS.into_iter().filter(|&n| n <= most);
        let all = rounds.map(|n| Measured::of(n, strategy));
        all.inspect(|measured| println!("{}", measured.line(name))).collect()
    };
    let reverse = measured("reverse", Strategy::Reverse, MOST_OF_A_HISTORY);
    let thirty = Strategy::Checkpoint { slots: Some(30), leaf: None };
    let checkpoint = measured("checkpoint=30", thirty, i64::MAX);
    let lines = |of: fn(&Measured) -> f64| {
        let points = |all: &[Measured]| all.iter().map(|one| (one.n as f64, of(one))).collect();
        vec![
            Series { name: "a history", points: points(&reverse) },
            Series { name: "30 kept states", points: points(&checkpoint) },
        ]
    };
    let charts = [
        Chart { title: "space (bytes)", x: "n", series: lines(|one| one.bytes as f64) },
        Chart { title: "time (s)", x: "n", series: lines(|one| one.seconds) },
    ];
    charts.iter().for_each(|chart| println!("\n{}", chart.text()));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/strategies.svg");
    fs::write(path, svg(&charts)).unwrap();
    check(&checkpoint);
}

/// Checks the bounds for snapshots.
fn check(all: &[Measured]) {
    let of = |n: i64| all.iter().find(|one| one.n == n).unwrap();
    for one in all {
        assert!(one.bytes <= MOST_BYTES, "{} bytes at {} iterations", one.bytes, one.n);
    }
    let growth = of(1_000_003).nanoseconds() / of(10_000).nanoseconds();
    assert!(
        growth <= MOST_GROWTH,
        "a step at n = 1,000,003 takes {growth:.2} times as long as at n = 10,000"
    );
    let ratio = of(100_003).all_steps as f64 / of(100_003).steps as f64;
    assert!(ratio <= MOST_STEPS, "a gradient takes {ratio:.2} times the steps of a run");
}
