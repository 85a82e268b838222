//! Benchmark of large texts: time and memory for two sizes of each kind of text. The larger text is four times as long
//! as the smaller one. Linear costs grow by a factor of about four; the benchmark fails if they grow much faster.
//! `cargo bench --bench growth -- lines` measures only kinds whose name contains `lines`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;

use allocation_counter::measure;
use reviver_assembler::assemble::{Assembly, assemble};
use reviver_assembler::files::Disk;
use reviver_assembler::render::render;
use reviver_vm::{Machine, Program, Stop, Travel};

use harness::clock::{Best, time};
use harness::measures::measures;
use harness::wanted::is_wanted;

mod harness {
    pub mod clock;
    pub mod measures;
    pub mod wanted;
}

/// Ratio of the two sizes.
const FACTOR: usize = 4;
/// Upper bound on the ratio of the times.
const MOST_TIME: f64 = 6.0;
/// Upper bound on the ratio of the memory. It exceeds [`FACTOR`], because the capacity of a list doubles when the list
/// is full.
const MOST_MEMORY: f64 = 5.0;
/// Minimum time, in seconds, for which growth is computed. Shorter times are noise.
const SHORTEST: f64 = 1e-3;
const ROUNDS: usize = 10;

/// Kind of generated text, with the size of the smaller text.
struct Kind {
    name: &'static str,
    text: fn(usize) -> String,
    n: usize,
}

const KINDS: [Kind; 5] = [
    Kind { name: "unused outputs", text: outputs, n: 16_000 },
    Kind { name: "distinct arguments of one call", text: arguments, n: 10_000 },
    Kind { name: "lines of instructions", text: instructions, n: 250_000 },
    Kind { name: "lines of blocks", text: blocks, n: 25_000 },
    Kind { name: "values on one line", text: values, n: 30_000 },
];

fn list(prefix: &str, n: usize) -> String {
    (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>().join(", ")
}

fn outputs(n: usize) -> String {
    format!(".out {}\n", list("o", n))
}

fn arguments(n: usize) -> String {
    let names = list("o", n);
    format!(".out {names}\n call p({names})\n.proc p({})\n add a1, 1\n.end\n", list("inout a", n))
}

fn instructions(n: usize) -> String {
    format!(".inout a\n{}", "\tadd a, 1\n".repeat(n))
}

fn blocks(n: usize) -> String {
    let mut text = String::from(".inout a, b default 1\n");
    for _ in 0..n {
        text += "if a < b and b > 0\n    add a, 0\nfi a < b and b > 0\n";
    }
    text
}

fn values(n: usize) -> String {
    let mut text = format!(".inout A[{n}] default {{");
    for i in 0..n {
        let _ = write!(text, "{}{i}", if i == 0 { "" } else { ", " });
    }
    text + "}\nadd A[0], 1\n"
}

fn assembled(text: &str) -> Assembly {
    assemble("text", text.as_bytes().to_vec(), &Disk)
}

/// Assembles a text and renders its diagnostics.
fn check(text: &str) -> Assembly {
    let assembly = assembled(text);
    black_box(render(&assembly.sources, &assembly.diagnostics, false));
    assembly
}

fn load(assembly: Assembly) -> Arc<Program> {
    let module = assembly.module.expect("the benchmark's text is a program");
    Arc::new(Program::new(module, 0).expect("the benchmark's program is sound"))
}

fn run(program: &Arc<Program>) {
    let mut machine = Machine::at_begin(Arc::clone(program)).expect("memory for the benchmark's program");
    let stop = machine.run(Travel::Forward, u64::MAX).expect("the benchmark doesn't trap");
    assert_eq!(stop, Stop::Bound);
}

/// Returns the time of each part, in seconds: check, load, forward run.
fn seconds(text: &str) -> [f64; 3] {
    let mut best = Best::none();
    for _ in 0..ROUNDS {
        let (mut assembly, mut program) = (None, None);
        best.round([
            time(|| assembly = Some(check(text))),
            time(|| program = assembly.take().map(load)),
            time(|| program.iter().for_each(run)),
        ]);
    }
    best.seconds()
}

/// Returns the peak memory in bytes of a check, and of check, load and run together.
fn bytes(text: &str) -> [f64; 2] {
    let checked = measure(|| drop(check(text)));
    let all = measure(|| run(&load(assembled(text))));
    [checked.bytes_max as f64, all.bytes_max as f64]
}

impl Kind {
    /// Measures, prints a row of the table, and returns the costs that grow too fast.
    fn measure(&self) -> Vec<String> {
        let texts = [self.n, self.n * FACTOR].map(self.text);
        let [few, many] = [&texts[0], &texts[1]].map(|text| (seconds(text), bytes(text)));
        let mut line = format!("| {} | {} |", self.name, self.n * FACTOR);
        let mut faults = Vec::new();
        for (part, (few, many)) in ["check", "load", "run"].into_iter().zip(few.0.into_iter().zip(many.0)) {
            let ratio = many / few;
            let _ = write!(line, " {:.1} | {ratio:.1} |", many * 1e3);
            if ratio > MOST_TIME && many > SHORTEST {
                faults.push(format!("{}, {part}: {ratio:.1} times as long", self.name));
            }
        }
        for (part, (few, many)) in ["check", "load and run"].into_iter().zip(few.1.into_iter().zip(many.1)) {
            let ratio = many / few;
            let _ = write!(line, " {:.0} | {ratio:.1} |", many / 1e6);
            if ratio > MOST_MEMORY {
                faults.push(format!("{}, {part}: {ratio:.1} times as much memory", self.name));
            }
        }
        println!("{line}");
        faults
    }
}

fn main() {
    if !measures() {
        return;
    }
    println!(
        "| kind | 4n | check of 4n (ms) | check, 4n ÷ n | load of 4n (ms) | load, 4n ÷ n | run of 4n (ms) | run, 4n ÷ n \
         | memory of check (MB) | memory of check, 4n ÷ n | memory of all (MB) | memory of all, 4n ÷ n |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let kinds = KINDS.iter().filter(|kind| is_wanted(kind.name));
    let faults: Vec<String> = kinds.flat_map(Kind::measure).collect();
    assert!(faults.is_empty(), "costs grow faster than the text:\n{}", faults.join("\n"));
}
