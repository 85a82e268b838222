//! Effects of single instructions on adjoints. Programs of one line are compared with reference values, and with
//! tangents.

use std::collections::HashSet;

use reviver_isa::Function;
use reviver_isa::function::Signature;
use reviver_isa::instruction::Class;
use reviver_lab::engine::{ALL, Engine, REFERENCE};
use reviver_lab::pairing::{bits, paired_in_the_forward_sweep, paired_in_the_reverse_sweep};
use reviver_lab::rng::Rng;
use reviver_lab::subject::Subject;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Travel};

/// Reference data: instruction, then value and adjoint of each operand before and after.
const VECTORS: &str = include_str!("../../../cases/adjoint_vectors.csv");
const OPERANDS: [&str; 3] = ["x", "y", "z"];

/// Returns the index of a scalar's cell.
fn cell(machine: &Machine, name: &str) -> usize {
    let program = machine.program();
    program.cells(program.global(name).unwrap().0).start
}

fn is_close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs().max(1.0)
}

/// Runs one instruction. `before` has the values and adjoints of its operands; returns those after it.
fn after(instruction: &str, before: &[f64]) -> Vec<f64> {
    let names = &OPERANDS[..before.len() / 2];
    let declared: Vec<String> = names.iter().map(|name| format!("{name}: real")).collect();
    let text = format!(".inout {}\n{instruction} {}\n", declared.join(", "), names.join(", "));
    let mut machine = Subject::new(&text).unwrap().machine(false);
    let cells: Vec<usize> = names.iter().map(|name| cell(&machine, name)).collect();
    let state = machine.state_mut();
    state.set_mode(true);
    for (&cell, pair) in cells.iter().zip(before.chunks_exact(2)) {
        state.reals[cell] = pair[0].to_bits();
        state.adjoints_mut().cells[cell] = pair[1].to_bits();
    }
    machine.step(Travel::Forward).unwrap();
    let adjoints = &machine.state().adjoints.as_ref().unwrap().cells;
    cells.iter().flat_map(|&n| [machine.state().reals[n], adjoints[n]].map(f64::from_bits)).collect()
}

#[test]
fn single_instructions_match_independent_results() {
    let lines: Vec<&str> = VECTORS.lines().filter(|line| !line.starts_with(';')).collect();
    assert_eq!(lines.len(), 282);
    for line in lines {
        let (instruction, numbers) = line.split_once(',').unwrap();
        let numbers: Vec<f64> = numbers.split(',').map(|number| number.parse().unwrap()).collect();
        let (before, expected) = numbers.split_at(numbers.len() / 2);
        let found = after(instruction, before);
        let close = found.iter().zip(expected).all(|(&found, &expected)| is_close(found, expected));
        assert!(close, "{line}\nfound {found:?}");
    }
}

/// The reference data lacks some functions of reals; the tests below cover every row.
#[test]
fn vectors_exist_for_most_functions_of_reals() {
    let named: HashSet<&str> = VECTORS.lines().filter_map(|line| line.split(['.', ',']).nth(1)).collect();
    let with = Function::ALL.iter().filter(|f| named.contains(f.name()));
    assert_eq!(with.count(), 22);
}

const SYSTEMS: [&str; 3] = ["f64", "f32", "fixed 43"];

/// Arguments at the edges of the functions' domains.
const CORNERS: [f64; 10] = [-2.0, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 2.0, 1e-6, 3.7];

/// One-line program, run at many values of its reals and integers.
struct Line {
    subject: Subject,
    rng: Rng,
    compared: u64,
}

impl Line {
    fn on(engine: Engine, text: &str) -> Line {
        let subject = Subject::on(engine, text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        Line { subject, rng: Rng::new(text.len() as u64), compared: 0 }
    }

    fn broken(&self, what: &str) -> ! {
        panic!("on {}:\n{}{what}", self.subject.engine.name, self.subject.text)
    }

    /// Sets the globals in the order of their declarations. Checks that steps preserve the pairing of tangents with
    /// adjoints, in both directions.
    fn try_at(&mut self, reals: &[f64], ints: &[i64]) {
        let mut machine = self.subject.machine(true);
        let program = self.subject.program.clone();
        let (mut reals, mut ints) = (reals.iter(), ints.iter());
        for (n, global) in program.module().globals.iter().enumerate() {
            for cell in program.cells(n) {
                match global.class {
                    Class::Real => machine.state_mut().reals[cell] = bits(&program, *reals.next().unwrap()),
                    Class::Int => machine.state_mut().ints[cell] = *ints.next().unwrap(),
                }
            }
        }
        let comparisons = [
            paired_in_the_reverse_sweep(&program, machine.try_clone().unwrap(), &mut self.rng),
            paired_in_the_forward_sweep(&program, machine, &mut self.rng),
        ];
        for comparison in comparisons {
            self.compared += comparison.unwrap_or_else(|broken| self.broken(&broken));
        }
    }

    /// Tries all pairs of corner values, and random values between 0.1 and 0.9.
    fn try_everywhere(&mut self) {
        let ints = [-3, -1, 0, 1, 2, 5];
        for (&a, &b) in CORNERS.iter().flat_map(|a| CORNERS.iter().map(move |b| (a, b))) {
            let int = *self.rng.pick(&ints);
            self.try_at(&[1.5, a, b], &[int]);
        }
        let before = self.compared;
        for _ in 0..50 {
            let mut random = || self.rng.within(10..=90) as f64 / 100.0;
            let reals = [random(), random(), random()];
            let int = *self.rng.pick(&ints);
            self.try_at(&reals, &[int]);
        }
        if self.compared < before + 50 {
            self.broken("traps almost everywhere");
        }
    }
}

/// Returns the sources of a signature, from the globals `a`, `b` and `n`.
fn sources(function: Function, signature: Signature) -> String {
    let names = match signature {
        Signature::RealInt => [", a", ", n"],
        Signature::IntsToReal => [", n", ""],
        _ => [", a", ", b"],
    };
    names[..function.arity()].concat()
}

/// Checks the pairing for every function with a real value, with every update, in every number system.
#[test]
fn every_function_row_keeps_tangents_and_adjoints_paired() {
    let signatures = |f: &Function| {
        f.signatures().filter(|signature| signature.result() == Class::Real).collect::<Vec<_>>()
    };
    let rows =
        Function::ALL.iter().flat_map(|f| signatures(f).into_iter().map(move |signature| (*f, signature)));
    for (function, signature) in rows {
        for (system, update) in SYSTEMS.iter().flat_map(|s| ["add", "sub", "overwrite"].map(|u| (s, u))) {
            let sources = sources(function, signature);
            let text = |sources: &str| {
                let globals = ".inout y: real, a: real, b: real, n";
                format!(".real {system}\n{globals}\n{update}.{} y{sources}\n", function.name())
            };
            let mut texts = vec![text(&sources)];
            // Only an assignment may have its target as a source.
            if update == "overwrite" {
                let own = [("a", "y"), ("b", "y")].map(|(from, to)| sources.replace(from, to));
                let both = own[0].replace('b', "y");
                texts.extend(own.iter().chain([&both]).filter(|own| **own != sources).map(|own| text(own)));
            }
            for text in texts {
                ALL.iter().for_each(|&engine| Line::on(engine, &text).try_everywhere());
            }
        }
    }
}

/// Checks the pairing for every update of reals without a function, in a forward step and undone by an `uncall`.
#[test]
fn every_update_keeps_tangents_and_adjoints_paired() {
    let lines = [
        "swap y, a",
        "neg y",
        "rot y, a, b",
        "irot y, a, b",
        "rot y, a, 0.75",
        "push y\npush a\npop y\npop a",
        "unread y\nread y",
        "write y\nwrite a\nunwrite y\nunwrite a",
        "erase y",
        "add f0, a\nsub f0, a\nvacate f0\nadd f0, b",
        "add.toint n, a",
        "assert a == a",
        "show a",
    ];
    for (system, line) in SYSTEMS.iter().flat_map(|system| lines.map(|line| (system, line))) {
        let declared = format!(".real {system}\n.inout y: real, a: real, b: real, n, c[9]: real\n");
        ALL.iter().for_each(|&engine| Line::on(engine, &format!("{declared}{line}\n")).try_at_random());
    }
}

impl Line {
    fn try_at_random(&mut self) {
        for _ in 0..20 {
            let reals: Vec<f64> = (0..20).map(|_| self.rng.within(-90..=90) as f64 / 32.0).collect();
            self.try_at(&reals, &[1]);
        }
        if self.compared < 20 {
            self.broken("traps almost everywhere");
        }
    }
}

/// At either end of a tape, a value moves together with its adjoint.
#[test]
fn read_cells_keep_their_adjoints() {
    let text =
        "; tape: 2.5, 7\n.inout x: real = 0, n, y: real\nread x\nread n\nadd.square y, x\nwrite x\nwrite n\n";
    let mut line = Line::on(REFERENCE, text);
    line.try_at(&[0.0, 1.0], &[0]);
    // The comparison includes five backward steps. In the forward direction it ends at the first step that drops an
    // adjoint of a vacant cell.
    assert!(line.compared >= 5, "{}", line.compared);
    assert_eq!(line.subject.tape, [TapeEntry::Int(7), TapeEntry::Real(2.5f64.to_bits())]);
}

/// Program from NiLang's documentation, where the gradient was (1, 0). Here `local x = y` is a separate cell, so both
/// inputs have the derivative 1.
#[test]
fn a_copy_has_its_own_adjoint() {
    let text = ".inout out: real, x: real default 1, y: real default 2\n\
                local t = y\nadd out, x\nadd out, t\ndelocal t = y\n";
    assert_eq!(gradient(text), [1.0, 1.0]);
}

/// Returns the gradient of `out` by `x` and `y`.
fn gradient(text: &str) -> [f64; 2] {
    use reviver_vm::differentiate::{Subject as Differentiated, gradient};
    let subject = Subject::new(text).unwrap();
    let start = subject.machine(false).into_state();
    let subject = Differentiated::new(subject.program.clone(), start, true, 1000).unwrap();
    let variable = |name: &str| subject.variables(subject.program.global(name).unwrap().0).unwrap().remove(0);
    let gradient = gradient(&subject, &variable("out")).unwrap();
    ["x", "y"].map(|name| {
        subject.program.approximate(Value::Real(variable(name).origin.adjoint(&gradient.adjoints)))
    })
}

/// A derivative rule executes steps in the reverse sweep that the forward sweep didn't execute. Bits lost by earlier
/// steps are still restored from the history.
#[test]
fn cells_overwritten_before_a_rule_are_restored() {
    let text = "
.in  x: real default 0.1
.in  y: real default 0.7
.out out: real
.ancilla a: real
        add.mul a, x, y
        overwrite out, 3
        add.mul out, x, 0.3
        overwrite out, 5
        add.mul out, a, 0.3
        call log1p(out, a)
        call log1p(out, a)
        sub.mul a, x, y

.proc log1p(inout v: real, in u: real) rule log1p_adjoint
.ancilla t: real
        add.sum t, u, 1
        add.log v, t
        sub.sum t, u, 1
.end

.proc log1p_adjoint(inout v: real, in u: real)
.ancilla t: real
        add.sum t, u, 1
        add.div u', v', t
        sub.sum t, u, 1
.end
";
    // Expected value: out = 5 + 0.3·a + 2·ln(1 + a) with a = x·y.
    let by_a = 0.3 + 2.0 / 1.07;
    let [x, y] = gradient(text);
    assert!(is_close(x, 0.7 * by_a) && is_close(y, 0.1 * by_a), "{x} {y}");
}

/// An adjoint is written as an operand instead of a cell, or the mode instead of an integer. Either the assembler
/// refuses the text, or the program runs and is undone.
#[test]
fn adjoints_and_the_mode_are_allowed_in_some_operands() {
    let may = [
        "local t = x'\nadd y, t\ndelocal t = x'",
        "if x' == y'\nneg y\nfi x' == y'",
        "vacate x'",
        "write x'\nunwrite x'",
        "unread x'\nread y'\npush y'\npop x'",
        "call p(y, 1.5, mode)",
        "add A'[n], A'[n+1]",
        "swap A'[n], x",
        "rot x', x, A'[0]",
        "add.powi x', y', mode",
        "add.toreal x', mode",
        "xor.lt n, x', y'",
        "show x'",
    ];
    let may_not = ["call p(y', x, n)", "call p(y, x', n)", "add mode, 1", "add A[mode], 1.0", "add x', x'"];
    let text = |line: &str| {
        format!(
            ".inout x: real = 1, y: real = 2, n, A[3]: real\n{line}\n\
             .proc p(inout a: real, in b: real, in c)\nadd.mul a, b, 2.0\nadd.toreal a, c\n.end\n"
        )
    };
    for line in may {
        let subject = Subject::new(&text(line)).unwrap_or_else(|error| panic!("{line}\n{error}"));
        for name in ["a round trip restores the state", "a trap changes nothing", "the oracle agrees"] {
            let law = reviver_lab::laws::named(name).unwrap();
            assert_eq!((law.check)(&subject), Ok(()), "{line}: {name}");
        }
    }
    let accepted: Vec<_> = may_not.iter().filter(|line| Subject::new(&text(line)).is_ok()).collect();
    assert!(accepted.is_empty(), "{accepted:?}");
}
