//! The machine agrees with the independent oracle: on every shipped program with all the inputs
//! that its header names, and on small cases that cover each construct and each class of trap.

use std::path::{Path, PathBuf};

use reviver_assembler::files::Disk;
use reviver_isa::module::{RealSystem, Word};
use reviver_oracle::{Agreement, Case, Inputs, Settings};

/// Statements after which a run is not compared any more.
const FUEL: u64 = 3_000_000;

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
    for path in texts("programs") {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix(";! ")).filter(|l| !l.contains("-> error")) {
            let run = Run::parse(&path, line);
            let start = std::time::Instant::now();
            let outcome = run.compare();
            println!("{} {:?} `{}` {outcome:?}", path.file_name().unwrap().display(), start.elapsed(), run.line);
            if let Err(reason) = outcome {
                failures.push(format!("{}: `{}`: {reason}", path.display(), run.line));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
