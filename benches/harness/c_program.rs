//! A program as C text with a `main` that times it, compiled by the system's compiler. This module depends on no model.

use std::fmt::{Display, Write as _};
use std::path::PathBuf;
use std::process::Command;

use reviver::CheckLevel;
use reviver_ctext::text::{CGradient, CText};
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_vm::{Machine, Program};
use tempfile::TempDir;

/// Compiled program in a temporary folder.
pub struct CProgram {
    _folder: TempDir,
    executable: PathBuf,
}

/// Results printed by the program's `main`.
pub struct CTimes {
    /// Seconds for one evaluation of the objective, the shortest time of several rounds.
    pub objective: f64,
    /// Seconds for one gradient together with the value of the objective, the shortest time of several rounds.
    pub gradient: f64,
    /// Value of the objective.
    pub value: f64,
}

/// Number of rounds in one execution of `main`.
const ROUNDS: usize = 20;

impl CProgram {
    /// Compiles the program of a machine with the machine's inputs. A round has `evaluations` evaluations. Returns
    /// `None` if there is no C compiler (`cc`).
    pub fn new(machine: &Machine, loss: &str, level: CheckLevel, evaluations: usize) -> Option<CProgram> {
        let program = machine.program();
        let text = CText::of(program, "benchmark", Some(CGradient::Loss(loss)), level)
            .expect("the benchmark's program has C text");
        let folder = tempfile::tempdir().expect("a folder for C text");
        let (source, executable) = (folder.path().join("benchmark.c"), folder.path().join("benchmark"));
        std::fs::write(&source, text.source() + &main_of(machine, evaluations)).expect("room for C text");
        let options = ["-std=c11", "-O3", "-ffp-contract=off", "-o"];
        let compiled = Command::new("cc").args(options).arg(&executable).arg(&source).arg("-lm").status();
        let is_compiled = compiled.ok()?.success();
        assert!(is_compiled, "the C compiler rejects the benchmark's C text");
        Some(CProgram { _folder: folder, executable })
    }

    /// Runs the program, which times itself.
    pub fn time(&self) -> CTimes {
        let output = Command::new(&self.executable).output().expect("the compiled benchmark runs");
        assert!(output.status.success(), "the compiled benchmark traps");
        let reported = String::from_utf8(output.stdout).expect("numbers");
        let numbers: Vec<f64> =
            reported.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        let &[objective, gradient, value] = numbers.as_slice() else {
            panic!("expected three numbers, found: {reported}")
        };
        CTimes { objective, gradient, value }
    }
}

/// Arguments of the C functions: arrays with initial values, and working copies.
struct Arguments {
    declared: String,
    /// Statements that reset the working copies before each run.
    copied: String,
    forward: Vec<String>,
    gradient: Vec<String>,
    slopes: Vec<String>,
}

fn arguments(machine: &Machine) -> Arguments {
    let (program, state): (&Program, _) = (machine.program(), machine.state());
    let [declared, copied] = [String::new(), String::new()];
    let mut all = Arguments { declared, copied, forward: vec![], gradient: vec![], slopes: vec![] };
    let globals = program.module().globals.iter().enumerate();
    for (n, global) in globals.filter(|(_, global)| global.role != Role::Private && global.shape.cells() > 0)
    {
        let cells = program.cells(n);
        let (of, held) = match global.class {
            Class::Int => ("int64_t", listed(&state.ints[cells.clone()])),
            Class::Real => {
                let reals: Vec<f64> =
                    state.reals[cells.clone()].iter().map(|bits| f64::from_bits(*bits)).collect();
                ("double", listed(&reals))
            }
        };
        let count = cells.len();
        let _ = writeln!(
            all.declared,
            "static const {of} from{n}[{count}] = {{{held}}};\nstatic {of} at{n}[{count}];"
        );
        let _ = writeln!(all.copied, "    memcpy(at{n}, from{n}, sizeof at{n});");
        all.forward.push(format!("at{n}"));
        if global.role.is_given() {
            all.gradient.push(format!("from{n}"));
            if global.class == Class::Real {
                let _ = writeln!(all.declared, "static double slope{n}[{count}];");
                all.slopes.push(format!("slope{n}"));
            }
        }
    }
    all
}

fn listed<T: std::fmt::Debug>(values: &[T]) -> String {
    values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ")
}

fn joined(arguments: &[impl Display]) -> String {
    arguments.iter().map(|argument| format!(", {argument}")).collect()
}

fn main_of(machine: &Machine, evaluations: usize) -> String {
    let Arguments { declared, copied, forward, gradient, slopes } = arguments(machine);
    let (forward, gradient, slopes) = (joined(&forward), joined(&gradient), joined(&slopes));
    format!(
        "
#include <stdio.h>
#include <time.h>
{declared}
static struct benchmark_memory memory;
static double loss;
static int objective(void) {{
{copied}    return benchmark_forward(&memory{forward});
}}
static int gradient(void) {{
    return benchmark_gradient(&memory{gradient}, &loss{slopes});
}}
static double now(void) {{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}}
static int status;
static double best(int (*evaluate)(void)) {{
    double best = 1e300;
    for (int round = 0; round < {ROUNDS}; round++) {{
        double from = now();
        for (int n = 0; n < {evaluations}; n++) {{
            status |= evaluate();
        }}
        double seconds = (now() - from) / {evaluations};
        best = seconds < best ? seconds : best;
    }}
    return best;
}}
int main(void) {{
    double of_objective = best(objective), of_gradient = best(gradient);
    printf(\"%.17g %.17g %.17g\\n\", of_objective, of_gradient, loss);
    return status;
}}
"
    )
}
