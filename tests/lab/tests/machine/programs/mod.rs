//! Every program in `programs/` meets the expectations in its header, there and back, on every engine.
//!
//! An expectation is a comment line, explained in `programs/README.md`:
//! `;! run n=10 -> a=55 b=89`, `;! back a=55 b=89 -> n=10`, `;! grad y x=2 -> x~12`. Here are the runs.

mod bits;
mod derivatives;
mod given;
mod strategies;

use std::path::{Path, PathBuf};

use reviver_assembler::assemble::assemble;
use reviver_assembler::diagnostic::Severity;
use reviver_assembler::files::Disk;
use reviver_assembler::render::render;
use reviver_isa::Module;
use reviver_lab::engine::{self, Engine};
use reviver_lab::tree::in_tree;
use reviver_vm::explain::explain;
use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;
use reviver_vm::{Cause, Machine, Program, Stop, Travel, drift};

use given::Given;

/// More steps than any example takes.
const STEP_LIMIT: u64 = 200_000_000;

#[test]
fn programs_meet_their_expectations() {
    let mut failures = Vec::new();
    let programs = programs();
    assert!(programs.len() >= 25, "there are only {} programs", programs.len());
    for (&engine, path) in
        engine::ALL.iter().flat_map(|engine| programs.iter().map(move |path| (engine, path)))
    {
        if let Err(reasons) = check_program(engine, path) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let on = engine.name;
            failures.extend(reasons.into_iter().map(|reason| format!("{name} on {on}: {reason}")));
        }
    }
    assert!(failures.is_empty(), "{} expectations are not met:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn programs_are_formatted_and_explained() {
    for path in programs() {
        let text = std::fs::read_to_string(&path).unwrap();
        let comments = text.lines().take_while(|line| line.starts_with(';')).count();
        assert!(comments >= 5, "{} needs a header that teaches", path.display());
        let mut sources = reviver_assembler::source::Sources::default();
        let file = sources.add_bytes("program", text.clone().into_bytes()).unwrap();
        let formatted = reviver_assembler::format::format(&sources, file).unwrap();
        assert_eq!(text, formatted, "{} is not in the canonical layout", path.display());
    }
}

fn programs() -> Vec<PathBuf> {
    let folder = in_tree("programs");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rasm"))
        .collect();
    paths.sort();
    paths
}

fn check_program(engine: Engine, path: &Path) -> Result<(), Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let expectations: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(";! ")).collect();
    if !expectations.iter().any(|line| line.starts_with("run ->")) {
        return Err(vec!["no expectation says what a run with the defaults gives".into()]);
    }
    let assembly = assemble(&path.display().to_string(), text.clone().into_bytes(), &Disk);
    let flawless = assembly.diagnostics.iter().all(|d| d.severity < Severity::Warning);
    let Some(module) = assembly.module.filter(|_| flawless) else {
        return Err(vec![render(&assembly.sources, &assembly.diagnostics, false)]);
    };
    let failures: Vec<String> = engine
        .share(expectations)
        .filter_map(|line| {
            check_line(engine, line, &module).err().map(|reason| format!("`{line}`: {reason}"))
        })
        .collect();
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

fn check_line(engine: Engine, line: &str, module: &Module) -> Result<(), String> {
    let (before, behind) = line.split_once("->").ok_or("no arrow")?;
    let mut words = before.split_whitespace();
    let command = words.next().unwrap_or_default();
    let outcome = Outcome::parse(behind.trim());
    if let "run" | "back" = command {
        let expectation =
            Expectation { back: command == "back", given: Given { engine, words: words.collect() }, outcome };
        return expectation.check(module);
    }
    derivatives::check(engine, command, words.collect(), &outcome, module)
}

/// What must come of something: the part of a line behind the arrow.
enum Outcome<'a> {
    /// `a=55`, `x~0.5`, `drifts`, `erases=64`.
    Results(Vec<&'a str>),
    Trap(&'a str),
    Error(&'a str),
}

impl<'a> Outcome<'a> {
    fn parse(text: &'a str) -> Outcome<'a> {
        if let Some(message) = text.strip_prefix("trap ") {
            Outcome::Trap(message.trim_matches('"'))
        } else if let Some(message) = text.strip_prefix("error ") {
            Outcome::Error(message.trim_matches('"'))
        } else {
            Outcome::Results(text.split_whitespace().collect())
        }
    }

    fn results(&self) -> &[&'a str] {
        match self {
            Outcome::Results(words) => words,
            _ => &[],
        }
    }
}

/// A line about a run.
struct Expectation<'a> {
    back: bool,
    given: Given<'a>,
    outcome: Outcome<'a>,
}

impl Expectation<'_> {
    fn says(&self, word: &str) -> bool {
        self.given.says(word) || self.outcome.results().contains(&word)
    }

    fn check(&self, module: &Module) -> Result<(), String> {
        let machine = self.given.machine(module, self.back);
        match (machine, &self.outcome) {
            (Err(found), Outcome::Error(error)) if found.contains(error) => Ok(()),
            (Err(found), _) => Err(found),
            (Ok(_), Outcome::Error(error)) => Err(format!("it was not refused with \"{error}\"")),
            (Ok(machine), Outcome::Trap(message)) => self.check_trap(machine, message),
            (Ok(machine), Outcome::Results(_)) => self.check_run(machine),
        }
    }

    fn travel(&self) -> Travel {
        if self.back { Travel::Backward } else { Travel::Forward }
    }

    /// A trap says what it should, and the way back from it is clean.
    fn check_trap(&self, mut machine: Machine, message: &str) -> Result<(), String> {
        machine.keep_residues();
        let first = machine.state().try_clone().unwrap();
        let trap = match go(&mut machine, self.travel()) {
            Ok(()) => return Err("it did not trap".into()),
            Err(trap) => trap,
        };
        let found = explain(machine.program(), machine.state(), trap).message;
        if !found.contains(message) {
            return Err(format!("the trap says \"{found}\""));
        }
        go(&mut machine, self.travel().reversed())
            .map_err(|trap| format!("trap on the way back: {trap:?}"))?;
        if drift::same(&first, machine.state()) { Ok(()) } else { Err("the start did not come back".into()) }
    }

    fn check_run(&self, mut machine: Machine) -> Result<(), String> {
        let first = machine.state().try_clone().unwrap();
        let mut exact = machine.try_clone().unwrap();
        go(&mut machine, self.travel()).map_err(|trap| message(&machine, trap))?;
        self.check_results(&machine)?;
        let garbage = machine.program().garbage(machine.state(), self.travel());
        if !garbage.is_empty() {
            return Err(format!("garbage: {garbage:?}"));
        }
        let way_back = go(&mut machine, self.travel().reversed());
        self.check_way_back(&machine, &first, way_back)?;
        if !self.says("exact") && machine.history_bytes() != 0 {
            return Err("a history was kept".into());
        }
        if self.says("drifts") || self.says("unrestored") || self.erases().is_some() {
            exact.keep_residues();
            go(&mut exact, self.travel()).map_err(|trap| message(&exact, trap))?;
            go(&mut exact, self.travel().reversed()).map_err(|trap| message(&exact, trap))?;
            if !drift::same(&first, exact.state()) || exact.history_bytes() != 0 {
                return Err("with residues the start did not come back bit for bit".into());
            }
        }
        Ok(())
    }

    fn erases(&self) -> Option<&str> {
        self.outcome.results().iter().find_map(|word| word.strip_prefix("erases="))
    }

    fn check_way_back(
        &self,
        machine: &Machine,
        first: &reviver_vm::State,
        way_back: Result<(), reviver_vm::Trap>,
    ) -> Result<(), String> {
        if self.erases().is_some() {
            return match way_back {
                Err(trap) if trap.cause == Cause::Irreversible => Ok(()),
                other => Err(format!("the way back over an erasure gave {other:?}")),
            };
        }
        let arrived = way_back.is_ok();
        let same = arrived && drift::same(first, machine.state());
        let restored = arrived && drift::restored(machine.program(), first, machine.state());
        if self.says("unrestored") {
            return if restored { Err("the start did come back".into()) } else { Ok(()) };
        }
        way_back.map_err(|trap| message(machine, trap))?;
        match (self.says("drifts"), same, restored) {
            (false, true, _) | (true, false, true) => Ok(()),
            (false, false, _) => Err("the start did not come back bit for bit".into()),
            (true, true, _) => Err("it does not drift".into()),
            (true, false, false) => Err("it drifts beyond the tolerance".into()),
        }
    }

    fn check_results(&self, machine: &Machine) -> Result<(), String> {
        let program = machine.program();
        for word in self.outcome.results() {
            if let Some((name, approximation)) = word.split_once('~') {
                let found = values(machine, name)?;
                check_close(program, name, &found, approximation)?;
                continue;
            }
            match word.split_once('=') {
                Some(("erases", bits)) => {
                    let found = machine.state().counters.erased_bits.to_string();
                    equal("erased bits", &found, bits)?;
                }
                Some(("tape", expected)) => equal("tape", &tape(machine, self.back), expected)?,
                Some((name, expected)) => {
                    let found: Vec<String> =
                        values(machine, name)?.iter().map(|&v| program.text(v)).collect();
                    equal(name, &found.join(","), expected)?;
                }
                None if ["drifts", "unrestored"].contains(word) => {}
                None => return Err(format!("`{word}` means nothing")),
            }
        }
        Ok(())
    }
}

fn message(machine: &Machine, trap: reviver_vm::Trap) -> String {
    let explanation = explain(machine.program(), machine.state(), trap);
    format!("trap: {} at `{}` {:?}", explanation.message, explanation.instruction, explanation.notes)
}

fn go(machine: &mut Machine, travel: Travel) -> Result<(), reviver_vm::Trap> {
    loop {
        match machine.run(travel, STEP_LIMIT)? {
            Stop::Bound => return Ok(()),
            Stop::Budget | Stop::Interrupted => panic!("the program takes more than {STEP_LIMIT} steps"),
            Stop::Shown { .. } => {}
        }
    }
}

fn tape(machine: &Machine, back: bool) -> String {
    let (program, state) = (machine.program(), machine.state());
    let entries: Vec<TapeEntry> = match back {
        true => program.told(Tape::Input, state.input.clone()),
        false => program.told(Tape::Output, state.output.clone()),
    };
    let texts = entries.into_iter().map(|entry| match entry {
        TapeEntry::Int(value) => machine.program().text(Value::Int(value)),
        TapeEntry::Real(bits) => machine.program().text(Value::Real(bits)),
    });
    texts.collect::<Vec<_>>().join(",")
}

fn values(machine: &Machine, name: &str) -> Result<Vec<Value>, String> {
    let (global, _) = machine.program().global(name).ok_or(format!("no cell `{name}`"))?;
    Ok(machine.program().read(machine.state(), global))
}

fn equal(what: &str, found: &str, expected: &str) -> Result<(), String> {
    let numbers = |text: &str| text.split(',').map(|n| n.parse::<f64>().ok()).collect::<Option<Vec<f64>>>();
    // `1` and `1.0` are the same number; integers are compared as text, digit by digit.
    let same = found == expected || found.contains('.') && numbers(found) == numbers(expected);
    if same { Ok(()) } else { Err(format!("{what} is {found}")) }
}

fn check_close(program: &Program, name: &str, found: &[Value], expected: &str) -> Result<(), String> {
    let expected: Vec<f64> = expected.split(',').map(|n| n.parse().unwrap_or(f64::NAN)).collect();
    let found: Vec<f64> = found.iter().map(|&value| program.approximate(value)).collect();
    let close = |(f, e): (&f64, &f64)| (f - e).abs() <= 1e-9 * e.abs().max(1.0);
    if found.len() == expected.len() && found.iter().zip(&expected).all(close) {
        Ok(())
    } else {
        Err(format!("{name} is {found:?}"))
    }
}
