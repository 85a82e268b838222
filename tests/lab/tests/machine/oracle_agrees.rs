//! Agreement of the machine with the independent oracle, on every engine: the repository's programs with the inputs
//! in their headers, small cases for each construct and class of trap, the smallest programs of each row, and random
//! programs. Skipped comparisons are counted.
//!
//! The header of a small case has the outcome of its runs: `;! run a=1 -> arrives`, `;! back a=1 -> alias`,
//! `;! run a=1 -> arrives back irreversible`. With the word `gradient`, gradient mode is on from the start.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::{Disk, FilesInMemory};
use reviver_isa::module::{RealSystem, Word};
use reviver_isa::{Function, Update};
use reviver_lab::campaign::seeds;
use reviver_lab::engine::{ALL, Engine, REFERENCE};
use reviver_lab::generate::{Profile, program};
use reviver_lab::known::{UNKNOWN, compared, compared_on, known};
use reviver_lab::shrink::shrink;
use reviver_lab::specimens;
use reviver_lab::subject::Subject;
use reviver_lab::tree::in_tree;
use reviver_oracle::{Agreement, Case, Ending, ExpectedCase, Inputs, Settings, Trap};

/// Maximum number of statements that the oracle executes in a small case.
const FUEL: u64 = 500_000;
/// Maximum number of statements that the oracle executes in a program of the repository. Some need millions, which
/// takes the oracle too long.
const FUEL_OF_PROGRAMS: u64 = 150_000;
/// Number of random programs, except in campaigns.
const RANDOM: u64 = 400;

/// A program file, with one of the runs in its header.
struct Run {
    path: PathBuf,
    line: String,
    settings: Settings,
    values: Vec<(String, Vec<String>)>,
    tape: Vec<String>,
    /// True if gradient mode is on from the start.
    gradient: bool,
    fuel: u64,
}

impl Run {
    /// Parses an expectation in the file's header: `;! run n=10 tape=1,2 real=fixed -> …`.
    fn parse(path: &Path, line: &str, fuel: u64) -> Run {
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
            fuel,
        };
        let given = line.split("->").next().unwrap_or("").split_whitespace().skip(1);
        for (name, value) in given.filter_map(|word| word.split_once('=')) {
            // The assignment `trail=` gives an empty stack.
            let values = value.split(',').filter(|text| !text.is_empty()).map(str::to_owned).collect();
            match name {
                "real" => run.settings.real = Some(real_system(value)),
                "word" => run.settings.word = value.parse().ok().and_then(Word::from_bits),
                "tape" => run.tape = values,
                _ => run.values.push((name.to_owned(), values)),
            }
        }
        run
    }

    /// Checks that the runs end as the header says: with `arrives`, or with the class of a trap. The header may also
    /// give the outcome of the backward run, after the word `back`.
    fn expect(&self, agreement: &Agreement) -> Result<(), String> {
        let round = if self.line.starts_with("back") { &agreement.backward } else { &agreement.forward };
        let expected: Vec<&str> = self.line.split("->").nth(1).unwrap_or("").split_whitespace().collect();
        let back = round.back.as_ref().map(name);
        let found = [Some(name(&round.there)), back.filter(|end| end != "arrives")];
        let expected = [expected.first(), expected.get(2)].map(|word| word.map(|w| (*w).to_owned()));
        if found == expected { Ok(()) } else { Err(format!("both machines: {found:?}")) }
    }

    fn complaint<T>(&self, engine: Engine, outcome: &Result<T, String>) -> Option<String> {
        let reason = outcome.as_ref().err()?;
        Some(format!("{}: `{}` on {}: {reason}", self.path.display(), self.line, engine.name))
    }

    /// Compares machines on some engines with the oracle, with gradient mode off and on. Returns the agreement of each
    /// engine for the mode that the header line requests. The oracle runs once for all engines.
    fn compare(&self, engines: &[Engine]) -> Vec<Result<Agreement, String>> {
        let text = std::fs::read_to_string(&self.path).unwrap();
        let name = self.path.display().to_string();
        let expected = |gradient| {
            let inputs = Inputs { values: &self.values, tape: &self.tape, gradient };
            let (settings, fuel) = (self.settings, self.fuel);
            Case { name: &name, text: &text, files: &Disk, settings, inputs, fuel }.expected()
        };
        let (own, other) = (expected(self.gradient), expected(!self.gradient));
        let compare = |engine: &Engine| {
            let on = |case: &Result<ExpectedCase, String>| {
                case.as_ref().map_err(String::clone)?.compare(engine.prepare)
            };
            let agreement = on(&own)?;
            let other =
                on(&other).map_err(|reason| format!("gradient mode on: {}: {reason}", !self.gradient));
            other.map(|_| agreement)
        };
        engines.iter().map(compare).collect()
    }
}

/// Returns the name by which headers refer to an outcome.
fn name(ending: &Ending) -> String {
    match ending {
        Ending::Finished => "arrives".into(),
        Ending::Trapped(trap) => format!("{trap:?}").to_lowercase(),
        Ending::Skipped(reason) => format!("skipped: {reason}"),
    }
}

/// Number of comparisons by their outcome.
#[derive(Default)]
struct Tally {
    compared: u64,
    /// Number of lines that the oracle doesn't support, and that were removed from programs.
    left_out: usize,
    /// Counts of skipped runs, by reason.
    skipped: BTreeMap<String, u64>,
}

impl Tally {
    fn count(&mut self, agreement: &Agreement) {
        match &agreement.forward.there {
            Ending::Skipped(what) => *self.skipped.entry(what.clone()).or_default() += 1,
            Ending::Finished | Ending::Trapped(_) => self.compared += 1,
        }
    }

    /// Panics if there were fewer than `least` comparisons. `cargo test -- --nocapture` shows the skipped ones.
    fn demand(&self, what: &str, least: u64) {
        let Tally { compared, left_out, skipped } = self;
        let not = skipped.values().sum::<u64>();
        println!("{what}: {compared} compared, without {left_out} lines; {not} not: {skipped:?}");
        assert!(*compared >= least, "only {compared} {what} were compared; not known: {skipped:#?}");
    }
}

/// Returns the runs in a file's header, except those that end in an error before they start.
fn runs(path: &Path, fuel: u64) -> Vec<Run> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix(";! "));
    lines.filter(|line| !line.contains("-> error")).map(|line| Run::parse(path, line, fuel)).collect()
}

fn real_system(name: &str) -> RealSystem {
    match name {
        "f64" => RealSystem::F64,
        "f32" => RealSystem::F32,
        _ => RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS),
    }
}

/// Returns the program texts in a folder.
fn texts(folder: &str) -> Vec<PathBuf> {
    let folder = in_tree(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "rasm")).collect();
    paths.sort();
    paths
}

/// Compares machine and oracle on the random programs of the campaign's seeds. `risk` is the risk of their profile in
/// percent, see [`Profile`].
fn on_random_programs(risk: u32) {
    let mut tallies: Vec<(Tally, u64)> = ALL.iter().map(|_| Default::default()).collect();
    for (n, seed) in seeds(RANDOM).enumerate() {
        let (text, left_out) = known(&program(seed, &Profile { risk, ..Profile::of_seed(seed) }));
        let engines: Vec<Engine> = ALL.iter().copied().filter(|engine| engine.takes(n)).collect();
        let tallies = ALL.iter().zip(&mut tallies).filter(|(engine, _)| engine.takes(n));
        for ((&engine, (tally, tried)), agreement) in tallies.zip(compared_on(&engines, &text)) {
            tally.left_out += left_out;
            tally.count(
                &agreement.unwrap_or_else(|reason| panic!("{}", report(engine, seed, &text, &reason))),
            );
            *tried += 1;
        }
    }
    for (engine, (tally, tried)) in ALL.iter().zip(&tallies) {
        tally.demand(&format!("random programs on {}", engine.name), tried * 2 / 3);
    }
}

fn report(engine: Engine, seed: u64, text: &str, reason: &str) -> String {
    let differs = |text: &str| Subject::new(text).is_ok() && compared(engine, text).is_err();
    let small = shrink(text, differs);
    let reason_of_small = compared(engine, &small).err();
    format!("seed {seed} on {}: {reason}\n\nA small program:\n\n{small}\n{reason_of_small:?}", engine.name)
}

/// `REVIVER_CAMPAIGN=20000 cargo test --workspace --test machine oracle_agrees::` compares that many programs of each
/// kind.
#[test]
fn on_random_programs_that_end() {
    on_random_programs(0);
}

#[test]
fn on_random_programs_that_trap() {
    on_random_programs(30);
}

#[test]
fn on_programs() {
    let mut failures = Vec::new();
    let mut tallies: BTreeMap<&str, (Tally, u64)> = BTreeMap::new();
    let runs = texts("programs").into_iter().flat_map(|path| runs(&path, FUEL_OF_PROGRAMS));
    for (n, run) in runs.enumerate() {
        let engines: Vec<Engine> = ALL.iter().copied().filter(|engine| engine.takes(n)).collect();
        for (&engine, outcome) in engines.iter().zip(run.compare(&engines)) {
            failures.extend(run.complaint(engine, &outcome));
            let (tally, runs) = tallies.entry(engine.name).or_default();
            outcome.iter().for_each(|agreement| tally.count(agreement));
            *runs += 1;
        }
    }
    for (name, (tally, runs)) in &tallies {
        tally.demand(&format!("runs of programs on {name}"), runs * 2 / 3);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn on_small_cases() {
    let mut failures = Vec::new();
    for run in texts("tests/cases/oracle").iter().flat_map(|path| runs(path, FUEL)) {
        for (&engine, agreement) in ALL.iter().zip(run.compare(ALL)) {
            let outcome = agreement.and_then(|agreement| run.expect(&agreement));
            failures.extend(run.complaint(engine, &outcome));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Compares machine and oracle on the smallest programs of each row. Prints the rows that the oracle doesn't support.
#[test]
fn on_every_row() {
    let mut tallies: Vec<Tally> = ALL.iter().map(|_| Tally::default()).collect();
    for specimen in &specimens::all() {
        for text in &specimen.texts {
            for ((engine, tally), agreement) in ALL.iter().zip(&mut tallies).zip(compared_on(ALL, text)) {
                tally.count(&agreement.unwrap_or_else(|reason| {
                    panic!("{} on {}: {reason}\n{text}", specimen.row, engine.name)
                }));
            }
        }
    }
    for (engine, tally) in ALL.iter().zip(&tallies) {
        tally.demand(&format!("smallest programs on {}", engine.name), 200);
    }
}

/// Checks that the small cases use every row that the oracle supports, and that they end in each class of trap, in
/// both directions. The other rows aren't released yet, or no machine executes them.
#[test]
fn small_cases_cover_the_language() {
    let mut endings = HashSet::new();
    let mut rows = (HashSet::new(), HashSet::new());
    for path in texts("tests/cases/oracle") {
        let text = std::fs::read_to_string(&path).unwrap();
        let module = assemble("case.rasm", text.into_bytes(), &FilesInMemory::new()).module.unwrap();
        rows.0.extend(module.code.iter().map(|instruction| instruction.update));
        rows.1.extend(module.code.iter().map(|instruction| instruction.function));
        for agreement in runs(&path, FUEL).iter().flat_map(|run| run.compare(&[REFERENCE])).flatten() {
            endings.insert(("forward", name(&agreement.forward.there)));
            endings.insert(("backward", name(&agreement.backward.there)));
            endings.extend(agreement.forward.back.iter().map(|end| ("backward", name(end))));
        }
    }
    let updates: Vec<_> =
        Update::ALL.iter().filter(|u| !rows.0.contains(u) && !UNKNOWN.updates.contains(u)).collect();
    let functions: Vec<_> =
        Function::ALL.iter().filter(|f| !rows.1.contains(f) && !UNKNOWN.functions.contains(f)).collect();
    assert!(updates.is_empty() && functions.is_empty(), "rows without a case: {updates:?} {functions:?}");
    let missing: Vec<_> = Trap::ALL
        .iter()
        .flat_map(|trap| ["forward", "backward"].map(|direction| (direction, name(&Ending::Trapped(*trap)))))
        // No forward run can end in an irreversible step.
        .filter(|end| *end != ("forward", "irreversible".into()) && !endings.contains(end))
        .collect();
    assert!(missing.is_empty(), "endings without a case: {missing:?}");
}
