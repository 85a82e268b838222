//! Gradients of seeded sums. Values and derivatives have the same bits as the interpreter's, for any seeds.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::Arc;

use reviver_ctext::error::NoText;
use reviver_ctext::text::{CGradient, CText};
use reviver_isa::module::RealSystem;
use reviver_isa::number::literal_bits;
use reviver_lab::c_programs::{compile, compiler};
use reviver_lab::subject::Subject;
use reviver_vm::differentiate::{self, SeededCell, seeded_gradient};
use reviver_vm::{CheckLevel, Machine, Program};

/// Programs with one real input `x[3]` and the real results `y[2]` and `z`.
const TEXTS: [&str; 3] = [
    // Straight-line code.
    ".in x[3]: real\n.out y[2]: real, z: real\nadd y[0], x[0]*x[1]\nsub y[1], x[1]*x[2]\nadd z, sin(x[0]) * y[1]\n",
    // Addresses are computed, and intermediate values are uncomputed.
    ".in x[3]: real\n.out y[2]: real, z: real\nfor i in 0..3\n    compute\n        local s = x[i] * 0.5 + 1\n    apply\n        \
     add y[i % 2], s * s\n        add z, s / 4\n    uncompute\nrof\nadd z, y[1]\n",
    // Rounding in the reverse sweep may change the sum: a small term after a large one.
    ".in x[3]: real\n.out y[2]: real, z: real\nadd z, x[0]\nadd z, x[1] * 1e4\nadd y[0], z*z * x[2]\nsub z, x[1] * 1e4\nadd y[1], x[1]\n",
];

/// Seeds of y[0], y[1] and z.
const SEEDS: [[f64; 3]; 5] =
    [[1.0, 0.0, 0.0], [0.5, -2.0, 3.0], [0.0, 0.0, 1.0], [-0.0, 128.0, -0.125], [0.0, 0.0, 0.0]];
const INPUTS: [[f64; 3]; 2] = [[0.25, 1.5, -2.0], [0.1, 0.3, 1.7]];

fn program(text: &str, system: &str) -> Arc<Program> {
    Subject::new(&format!(".real {system}\n{text}")).unwrap().program
}

fn bits(system: RealSystem, numbers: [f64; 3]) -> [u64; 3] {
    numbers.map(|number| literal_bits(system, number))
}

/// Returns the words that a call should print: y[0], y[1], z, and the derivatives. Returns no word if the gradient
/// isn't verified.
fn expected(program: &Arc<Program>, inputs: [f64; 3], seeds: [f64; 3], level: CheckLevel) -> Vec<u64> {
    let system = program.module().real;
    let cells = |name: &str| program.cells(program.global(name).unwrap().0);
    let (x, y, z) = (cells("x"), cells("y"), cells("z"));
    let mut state = Machine::at_begin(program.clone()).unwrap().into_state();
    state.reals[x.clone()].copy_from_slice(&bits(system, inputs));
    let subject = differentiate::Subject::new(program.clone(), state, false, 1 << 20).unwrap();
    let cells = y.chain(z).zip(bits(system, seeds));
    let seeds: Vec<SeededCell> = cells.map(|(cell, seed)| SeededCell::new(program, cell, seed)).collect();
    match seeded_gradient(&subject, &seeds) {
        Ok(found) if found.verification_report.recomputed.is_none() || !level.is_checked() => {
            found.values.iter().copied().chain(found.adjoints.cells[x].iter().copied()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a C function that prints the results of one call, in hexadecimal.
fn caller(prefix: &str, number: &str, system: RealSystem) -> String {
    let of = |numbers: [f64; 3]| match system {
        RealSystem::Fixed(_) => bits(system, numbers).map(|word| (word as i64).to_string()).join(", "),
        RealSystem::F64 | RealSystem::F32 => numbers.map(|number| format!("{number:?}")).join(", "),
    };
    let mut text = format!(
        "static void call_{prefix}(const {number} *x, const {number} *seeds) {{\n    static struct {prefix}_memory m;\n    \
         {number} all[6];\n    int status = {prefix}_gradient(&m, x, seeds, seeds + 2, all, all + 2, all + 3);\n    \
         printf(\"%d\", status);\n    for (size_t i = 0; i < 6; i++) {{\n        uint64_t word = 0;\n        \
         memcpy(&word, all + i, sizeof all[i]);\n        printf(\" %llx\", status == 0 ? (unsigned long long)word : 0);\n    }}\n    \
         printf(\"\\n\");\n}}\nstatic void calls_of_{prefix}(void) {{\n"
    );
    for inputs in INPUTS {
        for seeds in SEEDS {
            let (x, seeds) = (of(inputs), of(seeds));
            let _ = writeln!(
                text,
                "    call_{prefix}((const {number}[]){{{x}}}, (const {number}[]){{{seeds}}});"
            );
        }
    }
    text + "}\n"
}

#[test]
fn seeded_sums_have_the_interpreters_derivatives() {
    let Some(compiler) = compiler() else { return };
    let systems = [("f64", "double"), ("f32", "float"), ("fixed", "int64_t")];
    let names = ["y".to_owned(), "z".to_owned()];
    let (mut texts, mut callers, mut wanted) = (Vec::new(), String::new(), Vec::new());
    for (n, text) in TEXTS.iter().enumerate() {
        for (system, number) in systems {
            for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
                let program = program(text, system);
                let name = format!("p{n}_{system}_{}", level.name());
                let text = CText::of(&program, &name, Some(CGradient::Seeds(&names)), level).unwrap();
                callers.push_str(&caller(text.prefix(), number, program.module().real));
                let calls = INPUTS.iter().flat_map(|&x| SEEDS.iter().map(move |&seeds| (x, seeds)));
                wanted.extend(
                    calls.map(|(x, seeds)| (name.clone(), level, expected(&program, x, seeds, level))),
                );
                texts.push(text);
            }
        }
    }
    let main: String = texts.iter().map(|text| format!("    calls_of_{}();\n", text.prefix())).collect();
    let source = format!(
        "{}\n#include <stdio.h>\n{callers}int main(void) {{\n{main}    return 0;\n}}\n",
        CText::source_of(&texts)
    );
    let folder = tempfile::tempdir().unwrap();
    let (file, executable) = (folder.path().join("seeds.c"), folder.path().join("seeds"));
    std::fs::write(&file, source).unwrap();
    compile(&compiler, &["-O1"], &file, &executable).unwrap();
    let printed = String::from_utf8(Command::new(&executable).output().unwrap().stdout).unwrap();
    assert_eq!(printed.lines().count(), wanted.len());
    let mut verified = 0;
    for (line, (name, level, wanted)) in printed.lines().zip(&wanted) {
        let (status, words) = line.split_once(' ').unwrap();
        let words: Vec<u64> = words.split(' ').map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
        match status {
            "0" if level.is_checked() || !wanted.is_empty() => {
                assert_eq!(&words, wanted, "{name}: {line}");
                verified += 1;
            }
            // Unchecked code doesn't verify the reverse sweep.
            "0" => {}
            _ => assert!(wanted.is_empty(), "{name}: {line}, expected {wanted:x?}"),
        }
    }
    assert!(verified * 2 > wanted.len(), "only {verified} of {} calls were compared", wanted.len());
}

#[test]
fn seeds_name_real_variables() {
    let program = program(".in n\n.out y[2]: real, k\nadd k, n\n", "f64");
    let of = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        CText::of(&program, "p", Some(CGradient::Seeds(&names)), CheckLevel::Checked).err()
    };
    assert_eq!(of(&["y"]), None);
    assert_eq!(of(&["k"]), Some(NoText::NotReal { name: "k".into() }));
    assert_eq!(of(&["w"]), Some(NoText::NoCell { name: "w".into() }));
    assert_eq!(of(&["y", "y"]), Some(NoText::Twice { name: "y".into() }));
    assert_eq!(of(&[]), Some(NoText::NoSeed));
}
