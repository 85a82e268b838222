//! Bit reproducibility on all platforms. For each release and each program with reals, two digests are recorded in f64
//! and in f32: of the state after a forward run, and of the state after the backward run, with adjoints.
//!
//! `UPDATE_BITS=1 cargo test --workspace --test machine programs::bits` records the digests for the version in
//! Cargo.toml.

use std::path::PathBuf;
use std::{env, fs};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::Disk;
use reviver_expectations::given::ReadyProgram;
use reviver_expectations::grammar::GivenWords;
use reviver_expectations::settings::TestSettings;
use reviver_isa::Module;
use reviver_isa::instruction::Class;
use reviver_lab::engine::{self, Engine};
use reviver_lab::tree::in_tree;
use reviver_vm::digest::state_digest;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Stop, Trap, Travel};

fn path() -> PathBuf {
    let version = env!("CARGO_PKG_VERSION");
    in_tree(&format!("tests/lab/tests/machine/programs/bits/{version}.txt"))
}

/// Returns the words of each run in a program's header, except runs with an error before the start, and runs that set
/// a number system.
fn runs(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(";! run "));
    let begun = lines.filter_map(|line| line.split_once("->"));
    let begun = begun.filter(|(_, outcome)| !outcome.trim().starts_with("error"));
    let words = begun.map(|(words, _)| words.split_whitespace().collect::<Vec<&str>>());
    words.filter(|words| !words.iter().any(|word| word.starts_with("real="))).collect()
}

/// Returns the digests at the end of a forward run, and at the end of the backward run after it. A digest at a trap
/// is marked.
fn digests(engine: Engine, module: &Module, words: &[&str], system: &str) -> String {
    let real = format!("real={system}");
    let words = words.iter().copied().filter(|word| *word != GivenWords::EXACT).chain([real.as_str()]);
    let given = GivenWords::parse(words).unwrap();
    let settings =
        TestSettings { prepare: &|program| Ok((engine.prepare)(program)), ..TestSettings::interpreted() };
    let machine = ReadyProgram::new(module, &given, &settings);
    let machine = machine.and_then(|ready| ready.machine(&given, Travel::Forward));
    let Ok(mut machine) = machine else { return "isn't run".into() };
    let there = segment(&mut machine, Travel::Forward);
    carry(&mut machine);
    let back = segment(&mut machine, Travel::Backward);
    format!("{there} {back}")
}

/// Runs in one direction, and returns the digest at the end or at a trap.
fn segment(machine: &mut Machine, travel: Travel) -> String {
    let trapped = arrives(machine, travel).is_err();
    format!("{}{}", if trapped { "trapped:" } else { "" }, state_digest(machine.state()))
}

/// Step limit of runs, which no program reaches.
const STEP_LIMIT: u64 = 200_000_000;

fn arrives(machine: &mut Machine, travel: Travel) -> Result<(), Trap> {
    while machine.run(travel, STEP_LIMIT)? != Stop::Bound {
        assert!(
            machine.state().step.abs_diff(0) < STEP_LIMIT,
            "the program takes more than {STEP_LIMIT} steps"
        );
    }
    Ok(())
}

/// Switches gradient mode on, and sets the adjoint of every real global to 1.
fn carry(machine: &mut Machine) {
    let program = machine.program().clone();
    let Ok(Value::Real(one)) = program.parse(Class::Real, "1.0") else { panic!("1.0 is a real") };
    let globals = program.module().globals.iter().enumerate();
    let reals = globals.filter(|(_, global)| global.class == Class::Real).map(|(n, _)| n);
    let state = machine.state_mut();
    state.set_mode(true);
    let adjoints = state.adjoints_mut();
    reals.flat_map(|global| program.cells(global)).for_each(|cell| adjoints.cells[cell] = one);
}

/// Returns the lines of digests whose numbers satisfy `wanted`, each with its number.
fn lines(engine: Engine, wanted: impl Fn(usize) -> bool) -> Vec<(usize, String)> {
    let (mut lines, mut number) = (Vec::new(), 0);
    for path in super::programs("programs") {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(&path).unwrap();
        let module = assemble(&path.display().to_string(), text.clone().into_bytes(), &Disk).module.unwrap();
        let has_reals = module.globals.iter().any(|global| global.class == Class::Real);
        for words in runs(&text).iter().filter(|_| has_reals) {
            for system in ["f64", "f32"] {
                if wanted(number) {
                    let digests = digests(engine, &module, words, system);
                    lines.push((number, format!("{name} {system} [{}] {digests}", words.join(" "))));
                }
                number += 1;
            }
        }
    }
    lines
}

#[test]
fn programs_have_the_bits_that_were_recorded() {
    let recorded = fs::read_to_string(path());
    if env::var_os("UPDATE_BITS").is_some() {
        let found = lines(engine::REFERENCE, |_| true).into_iter().map(|(_, line)| line + "\n");
        fs::write(path(), found.collect::<String>()).unwrap();
        return;
    }
    let recorded = recorded.expect("recorded for this version by UPDATE_BITS=1");
    let recorded: Vec<&str> = recorded.lines().collect();
    for &engine in engine::ALL {
        // A run has a line for each number system, and an engine takes both.
        let takes = |number: usize| engine.takes(number / 2);
        let found = lines(engine, takes);
        for (number, line) in &found {
            assert_eq!(Some(&line.as_str()), recorded.get(*number), "on {}", engine.name);
        }
        let expected = (0..recorded.len()).filter(|&number| takes(number)).count();
        assert_eq!(found.len(), expected, "on {}", engine.name);
    }
}
