//! Compares every fixed-point function with the interpreter, at edge cases and at numbers between them. The results
//! must have the same bits. If the interpreter traps, the C function must return a failure status.

use std::sync::Arc;

use reviver_ctext::text::CText;
use reviver_isa::Function;
use reviver_isa::function::Signature;
use reviver_lab::c_programs::{CAsked, CQuestion, CompiledPrograms, compiler};
use reviver_lab::run::{End, travel};
use reviver_lab::subject::Subject;
use reviver_vm::{CheckLevel, Machine, Program, Travel};

/// Returns a program for each function of reals, and for rotations and powers with integer exponents.
fn texts(system: &str) -> Vec<String> {
    let of_reals = Function::ALL
        .iter()
        .filter(|function| function.signatures().any(|signature| signature == Signature::Real));
    let lines = of_reals.map(|function| {
        let sources = ["", ", a", ", a, b"][function.arity()];
        format!("add.{} y{sources}", function.name())
    });
    let others = ["add.powi y, a, n", "rot a, b, y", "rot y, a, b", "irot y, a, b"].map(str::to_owned);
    let text = |line| {
        format!(
            ".real {system}\n.inout a: real = 0.5, b: real = 0.25, n = 3\n.inout y: real = 0.125\n{line}\n"
        )
    };
    lines.chain(others).map(text).collect()
}

/// Returns edge cases and numbers between them, for a number of fraction bits.
fn arguments(frac: u32) -> Vec<i64> {
    let one = 1_i64 << frac;
    let near = [0, one / 32, one / 2, one, one + one / 2, 2 * one, 3 * one, 6 * one + one / 5, 16 * one]
        .into_iter()
        .flat_map(|a| [a - 1, a, a + 1]);
    let far = (0..63).step_by(5).map(|bits| (1_i64 << bits) + (0x5a5a_5a5a_5a5a_5a5a >> (63 - bits)));
    let positive: Vec<i64> = near.chain(far).chain([i64::MAX - 1, i64::MAX]).collect();
    let negative: Vec<i64> = positive.iter().map(|a| -a).collect();
    positive.into_iter().chain(negative).chain([i64::MIN]).collect()
}

/// Returns a question for a run with these inputs, and the interpreter's reals at the end of the run. The reals are
/// `None` if the interpreter traps.
fn asked(number: usize, program: &Arc<Program>, a: i64, b: i64) -> (CQuestion, Option<Vec<u64>>) {
    let mut machine = Machine::at_begin(program.clone()).unwrap();
    for (name, value) in [("a", a), ("b", b)] {
        let (global, _) = program.global(name).unwrap();
        machine.state_mut().reals[program.cells(global).start] = value as u64;
    }
    let (n, _) = program.global("n").unwrap();
    machine.state_mut().ints[program.cells(n).start] = b >> 40;
    let question = CQuestion::of(number, CAsked::There, machine.state());
    let arrives = travel(&mut machine, Travel::Forward, 1000) == End::Bound;
    (question, arrives.then(|| machine.state().reals.clone()))
}

#[test]
fn functions_of_fixed_point_have_the_same_bits() {
    let Some(compiler) = compiler() else { return };
    for frac in [16, 32, 43, 56] {
        let texts = texts(&format!("fixed {frac}"));
        let programs: Vec<(Arc<Program>, CText)> = texts
            .iter()
            .enumerate()
            .map(|(n, text)| {
                let program = Subject::new(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).program;
                let text = CText::of(&program, &format!("p{n}"), None, CheckLevel::Checked).unwrap();
                (program, text)
            })
            .collect();
        let named: Vec<_> = programs.iter().map(|(program, text)| (&**program, text, false)).collect();
        let compiled = CompiledPrograms::new(&compiler, &["-O1"], &named);
        let arguments = arguments(frac);
        let mut all = Vec::new();
        for (number, (program, _)) in programs.iter().enumerate() {
            for (n, &a) in arguments.iter().enumerate() {
                let b = arguments[(7 * n + 3) % arguments.len()];
                all.push((number, a, b, asked(number, program, a, b)));
            }
        }
        let questions: Vec<CQuestion> = all.iter().map(|(.., (question, _))| question.clone()).collect();
        let mut arrived = 0;
        for ((number, a, b, (_, expected)), found) in all.iter().zip(compiled.ask(&questions)) {
            let what = format!("{}a = {a}, b = {b}: {found:x?}, expected {expected:x?}", texts[*number]);
            match expected {
                Some(reals) => assert!(found.status == 0 && found.reals == *reals, "{what}"),
                None => assert!(found.status != 0, "{what}"),
            }
            arrived += usize::from(expected.is_some());
        }
        // At least a third of the arguments have a result.
        assert!(3 * arrived > all.len(), "{arrived} of {}", all.len());
    }
}
