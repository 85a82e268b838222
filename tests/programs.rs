//! Every program in `programs/` meets the expectations in its header, there and back.
//!
//! An expectation is a comment line, explained in `programs/README.md`:
//! `;! run n=10 -> a=55 b=89`, `;! back a=55 b=89 -> n=10`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::diagnostic::Severity;
use reviver_assembler::files::Disk;
use reviver_assembler::render::render;
use reviver_isa::Module;
use reviver_isa::module::{RealSystem, Word};
use reviver_vm::explain::explain;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;
use reviver_vm::{Cause, Machine, Program, Stop, Travel, drift};

/// More steps than any example takes.
const STEP_LIMIT: u64 = 200_000_000;

#[test]
fn programs_meet_their_expectations() {
    let mut failures = Vec::new();
    let programs = programs();
    assert!(programs.len() >= 25, "there are only {} programs", programs.len());
    for path in &programs {
        if let Err(reasons) = check_program(path) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            failures.extend(reasons.into_iter().map(|reason| format!("{name}: {reason}")));
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rasm"))
        .collect();
    paths.sort();
    paths
}

fn check_program(path: &Path) -> Result<(), Vec<String>> {
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
    let failures: Vec<String> = expectations
        .into_iter()
        .filter_map(|line| {
            let outcome = Expectation::parse(line).and_then(|e| e.check(&module));
            outcome.err().map(|reason| format!("`{line}`: {reason}"))
        })
        .collect();
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

/// One line of a header.
#[derive(Default)]
struct Expectation<'a> {
    back: bool,
    /// Words before the arrow: `n=10`, `tape=1,2`, `real=f64`, `exact`.
    given: Vec<&'a str>,
    /// Words behind it: `a=55`, `x~0.5`, `drifts`, `erases=64`.
    results: Vec<&'a str>,
    trap: Option<&'a str>,
    error: Option<&'a str>,
}

impl<'a> Expectation<'a> {
    fn parse(line: &'a str) -> Result<Expectation<'a>, String> {
        let (before, behind) = line.split_once("->").ok_or("no arrow")?;
        let mut given = before.split_whitespace();
        let back = match given.next() {
            Some("run") => false,
            Some("back") => true,
            other => return Err(format!("{other:?} is neither `run` nor `back`")),
        };
        let mut expectation = Expectation { back, given: given.collect(), ..Expectation::default() };
        let behind = behind.trim();
        if let Some(message) = behind.strip_prefix("trap ") {
            expectation.trap = Some(message.trim_matches('"'));
        } else if let Some(message) = behind.strip_prefix("error ") {
            expectation.error = Some(message.trim_matches('"'));
        } else {
            expectation.results = behind.split_whitespace().collect();
        }
        Ok(expectation)
    }

    fn says(&self, word: &str) -> bool {
        self.given.contains(&word) || self.results.contains(&word)
    }

    fn check(&self, module: &Module) -> Result<(), String> {
        let machine = match (self.machine(module), self.error) {
            (Ok(machine), None) => machine,
            (Ok(_), Some(error)) => return Err(format!("it was not refused with \"{error}\"")),
            (Err(found), Some(error)) if found.contains(error) => return Ok(()),
            (Err(found), _) => return Err(found),
        };
        match self.trap {
            Some(message) => self.check_trap(machine, message),
            None => self.check_run(machine),
        }
    }

    fn machine(&self, module: &Module) -> Result<Machine, String> {
        let mut module = module.clone();
        for word in &self.given {
            match word.split_once('=') {
                Some(("real", system)) => module.real = real_system(system, module.real)?,
                Some(("word", bits)) => {
                    module.word = bits.parse().ok().and_then(Word::from_bits).ok_or("no such width")?;
                }
                _ => {}
            }
        }
        let program = Program::new(module, 0).map_err(|violations| format!("{violations:?}"))?;
        let program = Arc::new(program);
        let mut machine =
            if self.back { Machine::at_end(program.clone()) } else { Machine::at_begin(program.clone()) };
        if self.says("exact") {
            machine.keep_residues();
        }
        for word in &self.given {
            match word.split_once('=') {
                Some(("real" | "word", _)) | None => {}
                Some(("tape", values)) => give_tape(&program, &mut machine, values, self.back)?,
                Some((name, values)) => {
                    let (global, _) = program.global(name).ok_or(format!("no cell `{name}`"))?;
                    let texts: Vec<&str> = values.split(',').collect();
                    program.give(machine.state_mut(), global, &texts).map_err(|error| error.to_string())?;
                }
            }
        }
        Ok(machine)
    }

    fn travel(&self) -> Travel {
        if self.back { Travel::Backward } else { Travel::Forward }
    }

    /// A trap says what it should, and the way back from it is clean.
    fn check_trap(&self, mut machine: Machine, message: &str) -> Result<(), String> {
        machine.keep_residues();
        let first = machine.state().clone();
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
        let first = machine.state().clone();
        let mut exact = machine.clone();
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
        self.results.iter().find_map(|word| word.strip_prefix("erases="))
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
        for word in &self.results {
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
            Stop::Budget => panic!("the program takes more than {STEP_LIMIT} steps"),
            Stop::Shown { .. } => {}
        }
    }
}

fn real_system(text: &str, own: RealSystem) -> Result<RealSystem, String> {
    match (text, own) {
        ("f64", _) => Ok(RealSystem::F64),
        ("f32", _) => Ok(RealSystem::F32),
        ("fixed", RealSystem::Fixed(bits)) => Ok(RealSystem::Fixed(bits)),
        ("fixed", _) => Ok(RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS)),
        _ => Err(format!("no number system `{text}`")),
    }
}

fn give_tape(program: &Program, machine: &mut Machine, values: &str, back: bool) -> Result<(), String> {
    let entries: Result<Vec<TapeEntry>, _> =
        values.split(',').map(|text| program.parse_entry(text)).collect();
    let mut entries = entries.map_err(|error| error.to_string())?;
    if back {
        machine.state_mut().output = entries;
    } else {
        entries.reverse();
        machine.state_mut().input = entries;
    }
    Ok(())
}

fn tape(machine: &Machine, back: bool) -> String {
    let state = machine.state();
    let entries: Vec<TapeEntry> =
        if back { state.input.iter().rev().copied().collect() } else { state.output.clone() };
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
