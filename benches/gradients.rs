//! Benchmark of values and gradients of differentiable models: the interpreter next to handwritten Rust, in one
//! run.
//!
//! Each model has three Rust versions: a plain evaluation, one with the operations of the reversible program, and one
//! with a handwritten adjoint. Before timing, the values and gradients of all versions are compared with those of the
//! machine. Compare the printed ratios; absolute times depend on the computer.
//!
//! `cargo bench --bench gradients -- embedding` measures only models whose name contains `embedding`.

use std::hint::black_box;

use reviver::CheckLevel;
use reviver_vm::Travel;

use harness::clock::{Best, time};
use harness::measures::measures;
use harness::subject::Subject;
use harness::wanted::is_wanted;
use native::besselj::Bessel;
use native::gaussian_mixture::Mixture;
use native::graph_embedding::Embedding;
use native::model::Model;
use native::particles::Particles;

mod harness {
    pub mod c_program;
    pub mod clock;
    pub mod machines;
    pub mod measures;
    pub mod subject;
    pub mod wanted;
}
mod native {
    pub mod besselj;
    pub mod gaussian_mixture;
    pub mod graph_embedding;
    pub mod model;
    pub mod particles;
}

/// Maximum deviation of the value and gradient of a native version from those of the machine, relative to the largest
/// of the compared numbers.
const AGREEMENT: f64 = 1e-10;

/// Model with its program and bounds.
struct Case {
    name: String,
    model: Box<dyn Timed>,
    subject: Subject,
    loss: &'static str,
    /// Value, and Euclidean norm of the gradient, as other programs compute them.
    known: Option<(f64, f64)>,
    /// Number of evaluations in one timed part: enough for the resolution of the clock.
    evaluations: usize,
    rounds: usize,
    /// Upper bounds on the ratios objective ÷ native and gradient ÷ objective.
    promised: (f64, f64),
    /// Upper bounds on the ratios objective ÷ reversible and gradient ÷ handwritten, for checked native code.
    asked: (f64, f64),
    /// Upper bounds on the ratios objective ÷ reversible and gradient ÷ handwritten, for unchecked native code.
    asked_unchecked: (f64, f64),
    /// Upper bound on the ratio gradient ÷ handwritten, for unchecked C text.
    asked_of_c: f64,
}

/// Repeated evaluations of a model. A caller makes one dynamic call for all evaluations, so the time of the dispatch
/// hardly counts.
trait Timed: Model {
    /// Evaluates the plain value `n` times.
    fn objectives(&self, n: usize);
    /// Evaluates the value reversibly `n` times.
    fn reversibles(&self, n: usize);
    /// Evaluates value and gradient `n` times.
    fn gradients(&self, gradient: &mut [f64], n: usize);
}

impl<M: Model> Timed for M {
    fn objectives(&self, n: usize) {
        (0..n).for_each(|_| _ = black_box(black_box(self).objective()));
    }

    fn reversibles(&self, n: usize) {
        (0..n).for_each(|_| _ = black_box(black_box(self).reversible()));
    }

    fn gradients(&self, gradient: &mut [f64], n: usize) {
        (0..n).for_each(|_| _ = black_box(black_box(self).gradient(black_box(&mut *gradient))));
    }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![Case {
        known: Some((0.11490348492980634, 0.21024361585183118)),
        evaluations: 128,
        rounds: 400,
        promised: (250.0, 1.5),
        asked: (1.5, 2.5),
        asked_unchecked: (0.9, 2.2),
        asked_of_c: 1.9,
        ..Case::new("besselj", ("programs/besselj.rasm", "out"), &[("nu", 2)], Bessel { nu: 2, z: 1.0 })
    }];
    let embeddings = [
        (2, Some((1.2911514937769588, 0.9819995224942555))),
        (6, None),
        (10, Some((0.727165770595011, 0.4826155414638626))),
    ];
    cases.extend(embeddings.map(|(dimensions, known)| Case {
        known,
        evaluations: 16,
        rounds: 200,
        promised: (260.0, 1.5),
        asked: (2.0, if dimensions < 10 { 2.5 } else { 3.5 }),
        asked_unchecked: (1.3, if dimensions < 10 { 1.6 } else { 2.5 }),
        asked_of_c: 1.1,
        ..Case::new(
            &format!("graph embedding, k = {dimensions}"),
            ("programs/graph_embedding.rasm", "loss"),
            &[("dimensions", dimensions as i64)],
            Embedding::of_sines(dimensions),
        )
    }));
    let mixture = Mixture::of_sines();
    cases.push(Case {
        rounds: 10,
        promised: (350.0, 2.1),
        asked: (4.5, 12.0),
        asked_unchecked: (1.9, 8.0),
        asked_of_c: 3.5,
        ..Case::new(
            "Gaussian mixture, d = 10, K = 25",
            ("benches/mixture.rasm", "objective"),
            &[("m", mixture.m)],
            mixture,
        )
    });
    let particles = Particles { x: [0.5, 1.0, 1.5, 2.0], y: [0.1; 4], vx: [1.0; 4], vy: [1.0; 4] };
    cases.push(Case {
        known: Some((0.0010676233512900805, 0.0008148159652963083)),
        promised: (130.0, 1.5),
        asked: (2.0, 3.0),
        asked_unchecked: (1.0, 2.8),
        asked_of_c: 1.4,
        ..Case::new(
            "particles, 1,000 steps",
            ("programs/particles.rasm", "loss"),
            &[("steps", 1000)],
            particles,
        )
    });
    cases
}

impl Case {
    fn new<M: Model + 'static>(
        name: &str,
        program: (&str, &'static str),
        integers: &[(&str, i64)],
        model: M,
    ) -> Case {
        let subject = Subject::new(program, integers, &model.data(), &model.inputs());
        let promised = (f64::INFINITY, f64::INFINITY);
        let (name, model) = (name.into(), Box::new(model));
        Case {
            name,
            model,
            subject,
            loss: program.1,
            known: None,
            evaluations: 1,
            rounds: 40,
            promised,
            asked: promised,
            asked_unchecked: promised,
            asked_of_c: f64::INFINITY,
        }
    }

    /// Compares the results of the native versions with those of the machine, and the machine's results with known
    /// values.
    fn check(&self) {
        let (value, gradient) = self.subject.differentiate();
        let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        if let Some(known) = self.known {
            self.expect_close(value, known.0, known.0);
            self.expect_close(length, known.1, known.1);
        }
        let mut by_hand = vec![f64::NAN; gradient.len()];
        self.expect_close(self.model.objective(), value, value);
        self.expect_close(self.model.reversible(), value, value);
        self.expect_close(self.model.gradient(&mut by_hand), value, value);
        for (&found, &expected) in by_hand.iter().zip(&gradient) {
            self.expect_close(found, expected, length);
        }
    }

    fn expect_close(&self, found: f64, expected: f64, scale: f64) {
        let close = (found - expected).abs() <= AGREEMENT * scale.abs();
        assert!(close, "{}: found {found}, expected {expected}", self.name);
    }

    /// Returns the shortest time of each part, in seconds for one evaluation.
    fn measure(&self) -> Times {
        let n = self.evaluations;
        let (mut plain, mut carrying) = (self.subject.batch(n), self.subject.batch_with_adjoints(n));
        let mut silent = self.subject.batch_with_adjoints(n);
        let mut gradient = vec![0.0; self.subject.differentiate().1.len()];
        let mut best = Best::none();
        for _ in 0..self.rounds {
            best.round([
                time(|| self.model.objectives(n)),
                time(|| self.model.reversibles(n)),
                time(|| self.model.gradients(&mut gradient, n)),
                time(|| plain.run(Travel::Forward)),
                time(|| plain.run(Travel::Backward)),
                time(|| carrying.run_to_the_turn()),
                time(|| carrying.seed()),
                time(|| carrying.run(Travel::Backward)),
                {
                    silent.run(Travel::Forward);
                    silent.silence();
                    time(|| silent.run(Travel::Backward))
                },
            ]);
            plain.reset();
            carrying.reset();
            silent.reset();
        }
        let [objective, reversible, adjoint, there, back, first, seed, carried, silent] =
            best.seconds().map(|seconds| seconds / n as f64);
        let gradient = first + seed + carried;
        Times { steps: self.subject.steps(), objective, reversible, adjoint, there, back, gradient, silent }
    }

    /// Measures native code with all checks and without. The times include the overhead of library calls, but no
    /// compilation.
    fn measure_native_code(&self) -> NativeTimes {
        let n = self.evaluations;
        let mut gradient = vec![0.0; self.subject.differentiate().1.len()];
        let (mut call, loss) = self.subject.compiled(self.loss, CheckLevel::Checked);
        let (mut bold, loss_of_bold) = self.subject.compiled(self.loss, CheckLevel::Unchecked);
        let value = call.gradient(&loss).unwrap().value;
        self.expect_close(bold.gradient(&loss_of_bold).unwrap().value, value, value);
        let mut round = || {
            [
                time(|| self.model.reversibles(n)),
                time(|| self.model.gradients(&mut gradient, n)),
                time(|| (0..n).for_each(|_| _ = black_box(call.run().unwrap()))),
                time(|| (0..n).for_each(|_| _ = black_box(call.gradient(&loss).unwrap()))),
                time(|| (0..n).for_each(|_| _ = black_box(bold.run().unwrap()))),
                time(|| (0..n).for_each(|_| _ = black_box(bold.gradient(&loss_of_bold).unwrap()))),
            ]
        };
        round();
        let mut best = Best::none();
        (0..self.rounds).for_each(|_| best.round(round()));
        let [reversible, adjoint, there, gradient, bold_there, bold_gradient] =
            best.seconds().map(|seconds| seconds / n as f64);
        NativeTimes {
            reversible,
            adjoint,
            checked: (there, gradient),
            unchecked: (bold_there, bold_gradient),
        }
    }

    /// Measures C text, compiled by the system's C compiler. Returns `None` if there is no C compiler.
    fn measure_c_text(&self) -> Option<NativeTimes> {
        let n = self.evaluations;
        let (value, gradient) = self.subject.differentiate();
        let as_c = |level| self.subject.as_c(self.loss, level, n);
        let programs = [as_c(CheckLevel::Checked)?, as_c(CheckLevel::Unchecked)?];
        let mut gradient = vec![0.0; gradient.len()];
        let mut best = Best::none();
        let mut of_c = [(f64::INFINITY, f64::INFINITY); 2];
        for _ in 0..TURNS {
            for (program, best) in programs.iter().zip(&mut of_c) {
                let times = program.time();
                self.expect_close(times.value, value, value);
                *best = (best.0.min(times.objective), best.1.min(times.gradient));
            }
            for _ in 0..self.rounds / TURNS {
                best.round([
                    time(|| self.model.reversibles(n)),
                    time(|| self.model.gradients(&mut gradient, n)),
                ]);
            }
        }
        let [reversible, adjoint] = best.seconds().map(|seconds| seconds / n as f64);
        Some(NativeTimes { reversible, adjoint, checked: of_c[0], unchecked: of_c[1] })
    }
}

/// Number of rounds in which C text and Rust alternate.
const TURNS: usize = 5;

/// Seconds of one evaluation in native code, next to the native versions of the model.
struct NativeTimes {
    reversible: f64,
    adjoint: f64,
    /// Time of a forward run, and time of a gradient, in checked native code.
    checked: (f64, f64),
    /// Time of a forward run, and time of a gradient, in unchecked native code.
    unchecked: (f64, f64),
}

impl NativeTimes {
    fn print_of_c(&self, name: &str, asked: f64) {
        println!(
            "| {name} | {:.2} | {:.2} | {:.1} | {:.1} (≤ {asked}) |",
            self.checked.0 / self.reversible,
            self.unchecked.0 / self.reversible,
            self.checked.1 / self.adjoint,
            self.unchecked.1 / self.adjoint,
        );
    }

    fn print(&self, name: &str, checked: (f64, f64), unchecked: (f64, f64)) {
        println!(
            "| {name} | {:.3} | {:.2} (≤ {}) | {:.2} (≤ {}) | {:.3} | {:.1} (≤ {}) | {:.1} (≤ {}) |",
            self.reversible * 1e6,
            self.checked.0 / self.reversible,
            checked.0,
            self.unchecked.0 / self.reversible,
            unchecked.0,
            self.adjoint * 1e6,
            self.checked.1 / self.adjoint,
            checked.1,
            self.unchecked.1 / self.adjoint,
            unchecked.1,
        );
    }
}

/// Seconds of one evaluation in each engine.
struct Times {
    /// Steps of the interpreter in one direction.
    steps: u64,
    /// Plain objective in handwritten Rust.
    objective: f64,
    /// Reversible objective in handwritten Rust.
    reversible: f64,
    /// Gradient by the handwritten adjoint.
    adjoint: f64,
    /// Forward run by the interpreter.
    there: f64,
    /// Backward run by the interpreter, without adjoints.
    back: f64,
    /// Gradient by the interpreter: a forward run to the turning point, and a backward run with adjoints.
    gradient: f64,
    /// Backward run by the interpreter from the end, in gradient mode with zero adjoints.
    silent: f64,
}

impl Times {
    fn print(&self, name: &str, (objective, gradient): (f64, f64)) {
        println!(
            "| {name} | {:.3} | {:.1} | {} | {:.1} | {:.0} (≤ {objective}) | {:.2} (≤ {gradient}) | {:.2} (≤ 1.2) | {:.0} |",
            self.objective * 1e6,
            self.reversible / self.objective,
            self.steps,
            self.there / self.steps as f64 * 1e9,
            self.there / self.objective,
            self.gradient / self.there,
            self.silent / self.back,
            self.gradient / self.adjoint,
        );
    }
}

fn main() {
    let mut cases = cases();
    cases.retain(|case| is_wanted(&case.name));
    cases.iter().for_each(Case::check);
    if !measures() {
        return;
    }
    println!(
        "| model | native (µs) | reversible ÷ native | steps | ns a step | objective ÷ native (asked) \
         | gradient ÷ objective (asked) | zero-adjoint step ÷ plain step (asked) | gradient ÷ by hand |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    cases.iter().for_each(|case| case.measure().print(&case.name, case.promised));
    println!(
        "\n| model | reversible peer (µs) | native code's objective ÷ peer (asked) | unchecked objective ÷ peer (asked) \
         | gradient by hand (µs) | native code's gradient ÷ by hand (asked) | unchecked gradient ÷ by hand (asked) |"
    );
    println!("|---|---|---|---|---|---|---|");
    for case in &cases {
        case.measure_native_code().print(&case.name, case.asked, case.asked_unchecked);
    }
    println!(
        "\n| model | C's objective ÷ reversible peer | unchecked objective ÷ peer | C's gradient ÷ by hand \
         | unchecked gradient ÷ by hand (asked) |\n|---|---|---|---|---|"
    );
    for case in &cases {
        match case.measure_c_text() {
            Some(times) => times.print_of_c(&case.name, case.asked_of_c),
            None => println!("| {} | SKIPPED: no C compiler (`cc`) was found | | | |", case.name),
        }
    }
}
