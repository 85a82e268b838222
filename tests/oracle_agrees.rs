//! The machine agrees with the independent oracle: on every shipped program with all the inputs
//! that its header names, and on small cases that cover each construct and each class of trap.

use std::path::{Path, PathBuf};

use reviver_assembler::files::Disk;
use reviver_isa::module::{RealSystem, Word};
use reviver_oracle::{Agreement, Case, Ending, Inputs, Round, Settings};

/// Statements after which a run is not compared any more.
const FUEL: u64 = 500_000;

/// A file, and one way to run it.
struct Run {
    path: PathBuf,
    line: String,
    settings: Settings,
    values: Vec<(String, Vec<String>)>,
    tape: Vec<String>,
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
        let expected: Vec<&str> =
            self.line.split("->").nth(1).unwrap_or("").split_whitespace().collect();
        let back = round.back.as_ref().map(name);
        let found = [Some(name(&round.there)), back.filter(|end| end != "arrives")];
        let expected = [expected.first(), expected.get(2)].map(|word| word.map(|w| (*w).to_owned()));
        if found == expected { Ok(()) } else { Err(format!("both machines: {found:?}")) }
    }

    fn complaint<T>(&self, outcome: &Result<T, String>) -> Option<String> {
        let reason = outcome.as_ref().err()?;
        Some(format!("{}: `{}`: {reason}", self.path.display(), self.line))
    }

    fn compare(&self) -> Result<Agreement, String> {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let inputs = Inputs { values: &self.values, tape: &self.tape };
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
