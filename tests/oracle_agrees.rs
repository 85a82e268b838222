//! The machine agrees with the independent oracle: on every shipped program with all the inputs
//! that its header names, on small cases that cover each construct and each class of trap, and on
//! random programs.
//!
//! A small case says in its header how its runs end: `;! run a=1 -> arrives`, `;! back a=1 -> alias`,
//! `;! run a=1 -> arrives back irreversible`; with the word `gradient`, gradient mode is on from the start.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::{Disk, Memory};
use reviver_isa::module::{RealSystem, Word};
use reviver_isa::{Function, Update};
use reviver_lab::campaign::programs;
use reviver_lab::generate::{Profile, program};
use reviver_lab::shrink::shrink;
use reviver_lab::subject::{Subject, TAPE};
use reviver_oracle::{Agreement, Case, Ending, Inputs, Round, Settings, Trap, compare};

/// Statements after which a run is not compared any more.
const FUEL: u64 = 500_000;
/// Random programs in an ordinary run.
const RANDOM: u64 = 600;

/// A file, and one way to run it.
struct Run {
    path: PathBuf,
    line: String,
    settings: Settings,
    values: Vec<(String, Vec<String>)>,
    tape: Vec<String>,
    /// Gradient mode is on from the start.
    gradient: bool,
}

impl Run {
    /// From an expectation in the file's header: `;! run n=10 tape=1,2 real=fixed -> …`.
    fn parse(path: &Path, line: &str) -> Run {
        let mut run = Run {
            path: path.to_owned(),
            line: line.to_owned(),
            settings: Settings::default(),
            values: Vec::new(),
            tape: Vec::new(),
            gradient: line
                .split("->")
                .next()
                .is_some_and(|given| given.split_whitespace().any(|w| w == "gradient")),
        };
        let given = line.split("->").next().unwrap_or("").split_whitespace().skip(1);
        for (name, value) in given.filter_map(|word| word.split_once('=')) {
            let values = value.split(',').map(str::to_owned).collect();
            match name {
                "real" => run.settings.real = Some(real_system(value)),
                "word" => run.settings.word = value.parse().ok().and_then(Word::from_bits),
                "tape" => run.tape = values,
                _ => run.values.push((name.to_owned(), values)),
            }
        }
        run
    }

    /// How the text says that the run ends: `arrives`, or the class of a trap, perhaps with `back`
    /// and how the way back ends.
    fn expect(&self, agreement: &Agreement) -> Result<(), String> {
        let round = if self.line.starts_with("back") { &agreement.backward } else { &agreement.forward };
        let expected: Vec<&str> = self.line.split("->").nth(1).unwrap_or("").split_whitespace().collect();
        let back = round.back.as_ref().map(name);
        let found = [Some(name(&round.there)), back.filter(|end| end != "arrives")];
        let expected = [expected.first(), expected.get(2)].map(|word| word.map(|w| (*w).to_owned()));
        if found == expected { Ok(()) } else { Err(format!("both machines: {found:?}")) }
    }

    fn complaint<T>(&self, outcome: &Result<T, String>) -> Option<String> {
        let reason = outcome.as_ref().err()?;
        Some(format!("{}: `{}`: {reason}", self.path.display(), self.line))
    }

    /// With gradient mode off, and with gradient mode on from the start; what comes of the one that the line
    /// describes.
    fn compare(&self) -> Result<Agreement, String> {
        let other = self.compare_in(!self.gradient);
        let own = self.compare_in(self.gradient)?;
        other.map(|_| own).map_err(|reason| format!("gradient mode on: {}: {reason}", !self.gradient))
    }

    fn compare_in(&self, gradient: bool) -> Result<Agreement, String> {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let inputs = Inputs { values: &self.values, tape: &self.tape, gradient };
        let case = Case {
            name: &self.path.display().to_string(),
            text: &text,
            files: &Disk,
            settings: self.settings,
            inputs,
            fuel: FUEL,
        };
        case.compare()
    }
}

/// How the header of a small case calls an ending.
fn name(ending: &Ending) -> String {
    match ending {
        Ending::Finished => "arrives".into(),
        Ending::Trapped(trap) => format!("{trap:?}").to_lowercase(),
        Ending::Skipped(reason) => format!("skipped: {reason}"),
    }
}

fn is_compared(round: &Round) -> bool {
    !matches!(round.there, Ending::Skipped(_))
}

/// The runs that a file's header lists, but for those that can't begin.
fn runs(path: &Path) -> Vec<Run> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix(";! "));
    lines.filter(|line| !line.contains("-> error")).map(|line| Run::parse(path, line)).collect()
}

fn real_system(name: &str) -> RealSystem {
    match name {
        "f64" => RealSystem::F64,
        "f32" => RealSystem::F32,
        _ => RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS),
    }
}

/// The texts of a folder.
fn texts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "rasm")).collect();
    paths.sort();
    paths
}

/// Runs a random program on both machines.
fn random(text: &str) -> Result<Agreement, String> {
    let lists = text.lines().filter_map(|line| line.strip_prefix(TAPE));
    let tape: Vec<String> = lists.flat_map(|list| list.split(',')).map(|e| e.trim().to_owned()).collect();
    compare(text, &[], &tape)
}

/// Compares the programs of the seeds from 0. `risk` is that of [`Profile`].
fn on_random_programs(risk: u32) {
    let seeds = programs(RANDOM);
    let mut compared = 0;
    for seed in 0..seeds {
        let text = program(seed, &Profile { risk, ..Profile::of_seed(seed) });
        match random(&text) {
            Ok(agreement) => compared += u64::from(is_compared(&agreement.forward)),
            Err(reason) => {
                let differs = |text: &str| Subject::new(text).is_ok() && random(text).is_err();
                let small = shrink(&text, differs);
                panic!("seed {seed}: {reason}\n\nA small program:\n\n{small}\n{:?}", random(&small).err());
            }
        }
    }
    assert!(compared * 3 >= seeds * 2, "only {compared} of {seeds} programs were compared");
}

/// `REVIVER_CAMPAIGN=20000 cargo test --test oracle_agrees` compares so many programs of each kind.
#[test]
fn on_random_programs_that_arrive() {
    on_random_programs(0);
}

#[test]
fn on_random_programs_that_trap() {
    on_random_programs(30);
}

#[test]
fn on_programs() {
    let mut failures = Vec::new();
    let mut compared = 0;
    for path in texts("programs") {
        let runs = runs(&path);
        let outcomes: Vec<_> = runs.iter().map(Run::compare).collect();
        compared += outcomes.iter().flatten().filter(|a| is_compared(&a.forward)).count();
        failures.extend(runs.iter().zip(&outcomes).filter_map(|(run, outcome)| run.complaint(outcome)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(compared >= 200, "only {compared} runs were compared");
}

#[test]
fn on_small_cases() {
    let mut failures = Vec::new();
    for path in texts("tests/cases/oracle") {
        for run in runs(&path) {
            let outcome = run.compare().and_then(|agreement| run.expect(&agreement));
            failures.extend(run.complaint(&outcome));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Rows of updates that the machine doesn't carry out yet, or that no additive numbers have.
const NOT_YET: &[Update] =
    &[Update::Mul, Update::Div, Update::Conj, Update::CallVia, Update::UncallVia, Update::Par, Update::Unpar];

/// The small cases use every row, and end in each class of trap in both directions.
#[test]
fn small_cases_cover_the_language() {
    let mut endings = HashSet::new();
    let mut rows = (HashSet::new(), HashSet::new());
    for path in texts("tests/cases/oracle") {
        let text = std::fs::read_to_string(&path).unwrap();
        let module = assemble("case.rasm", text.into_bytes(), &Memory::new()).module.unwrap();
        rows.0.extend(module.code.iter().map(|instruction| instruction.update));
        rows.1.extend(module.code.iter().map(|instruction| instruction.function));
        for agreement in runs(&path).iter().map(Run::compare).filter_map(Result::ok) {
            endings.insert(("forward", name(&agreement.forward.there)));
            endings.insert(("backward", name(&agreement.backward.there)));
            endings.extend(agreement.forward.back.iter().map(|end| ("backward", name(end))));
        }
    }
    let updates: Vec<_> =
        Update::ALL.iter().filter(|u| !rows.0.contains(u) && !NOT_YET.contains(u)).collect();
    let functions: Vec<_> = Function::ALL.iter().filter(|f| !rows.1.contains(f)).collect();
    assert!(updates.is_empty() && functions.is_empty(), "rows without a case: {updates:?} {functions:?}");
    let missing: Vec<_> = Trap::ALL
        .iter()
        .flat_map(|trap| ["forward", "backward"].map(|way| (way, name(&Ending::Trapped(*trap)))))
        // Forward, everything can be done.
        .filter(|end| *end != ("forward", "irreversible".into()) && !endings.contains(end))
        .collect();
    assert!(missing.is_empty(), "endings without a case: {missing:?}");
}
