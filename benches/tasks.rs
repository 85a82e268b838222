//! Benchmark of threaded tasks: a run and a gradient of four particles, by one thread, by two, and by sequential
//! calls. Prints a table, and notes missed bounds for a machine with two cores. Fails if the bits differ.

use reviver_vm::differentiate::{Subject, gradient};
use reviver_vm::digest::value_digest;
use reviver_vm::machine::MIN_STEPS_OF_REGION;
use reviver_vm::{CheckLevel, Machine, Travel};

use harness::clock::{Best, time};
use harness::driven::by_native_code;
use harness::machines::{machine, machine_of, to_the_end};
use harness::measures::measures;

mod harness {
    pub mod clock;
    pub mod driven;
    pub mod machines;
    pub mod measures;
}

/// Lower bound on the time of one thread ÷ the time of two threads.
const LEAST_GAIN: f64 = 1.9;
/// Upper bound on the time of tasks on one thread ÷ the time of sequential calls.
const MOST_COST: f64 = 1.05;
const ROUNDS: usize = 7;

/// Program with tasks, and the options of its runs.
struct Kind {
    forked: &'static str,
    steps: i64,
    exact: bool,
    native: bool,
}

const KINDS: [Kind; 4] = [
    // The first run takes only some milliseconds, so the time to start threads matters. The second run takes longer.
    Kind { forked: "particles_forked", steps: 30_000, exact: false, native: false },
    Kind { forked: "particles_forked", steps: 300_000, exact: false, native: false },
    Kind { forked: "particles_forked", steps: 3_000_000, exact: false, native: true },
    Kind { forked: "particles_forked_plain", steps: 30_000, exact: true, native: false },
];

/// Returns a machine for the program with its tasks, or with sequential calls instead.
fn prepared(kind: &Kind, has_tasks: bool) -> Machine {
    let path = format!("programs/{}.rasm", kind.forked);
    let mut machine = if has_tasks { machine(&path) } else { without_tasks(&path) };
    let program = machine.program().clone();
    let cell = program.global("steps").map(|(global, _)| program.cells(global).start).unwrap();
    machine.state_mut().ints[cell] = kind.steps;
    if kind.native { by_native_code(&machine, CheckLevel::Checked) } else { machine }
}

/// Returns a machine for the program with its `par for` replaced by a `for` around the same call.
fn without_tasks(path: &str) -> Machine {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let tasks = text.lines().find(|line| line.trim_start().starts_with("par ")).unwrap();
    let (head, call) = tasks.trim_start().trim_start_matches("par").trim().split_once(" call ").unwrap();
    machine_of(&path, text.replace(tasks, &format!("{head}\ncall {call}\nrof")).into_bytes())
}

/// Runs to the end with `threads` threads.
fn run(machine: &Machine, threads: u32) -> Machine {
    let mut machine = machine.try_clone().unwrap();
    machine.run_on_threads(threads, MIN_STEPS_OF_REGION);
    to_the_end(&mut machine, Travel::Forward);
    machine
}

fn differentiate(machine: &Machine, kind: &Kind, threads: u32) -> (u64, Vec<u64>) {
    let state = machine.state().try_clone().unwrap();
    let subject = Subject::new(machine.program().clone(), state, kind.exact, u64::MAX).unwrap();
    let subject = Subject { runner: machine.runner().cloned(), threads, ..subject };
    let loss = subject.outputs().into_iter().find(|real| subject.name(real) == "loss").unwrap();
    let found = gradient(&subject, &loss).unwrap();
    (found.values[0], found.adjoints.cells)
}

fn main() {
    if !measures() {
        return;
    }
    println!("| what | steps of a particle | one thread (ms) | one thread ÷ calls | one ÷ two threads |");
    println!("|---|---|---|---|---|");
    for kind in &KINDS {
        let (forked, plain) = (prepared(kind, true), prepared(kind, false));
        let digest = |threads| value_digest(forked.program(), run(&forked, threads).state());
        assert_eq!(digest(1), digest(2));
        let mut best = Best::none();
        for _ in 0..ROUNDS {
            best.round([
                time(|| drop(run(&plain, 1))),
                time(|| drop(run(&forked, 1))),
                time(|| drop(run(&forked, 2))),
            ]);
        }
        report(kind, "forward", best.seconds());
        assert_eq!(differentiate(&forked, kind, 1), differentiate(&forked, kind, 2));
        let mut best = Best::none();
        for _ in 0..ROUNDS {
            best.round([
                time(|| drop(differentiate(&plain, kind, 1))),
                time(|| drop(differentiate(&forked, kind, 1))),
                time(|| drop(differentiate(&forked, kind, 2))),
            ]);
        }
        report(kind, "gradient", best.seconds());
    }
}

fn report(kind: &Kind, what: &str, [plain, one, two]: [f64; 3]) {
    let engine = if kind.native { "native code" } else { "the interpreter" };
    let (milliseconds, cost, gain) = (one * 1e3, one / plain, one / two);
    let name = kind.forked;
    println!("| {name}, {what}, {engine} | {} | {milliseconds:.1} | {cost:.2} | {gain:.2} |", kind.steps);
    if cost > MOST_COST || gain < LEAST_GAIN {
        println!("(asked: at most {MOST_COST} and at least {LEAST_GAIN} in the last two columns)");
    }
}
