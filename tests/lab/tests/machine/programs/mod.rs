//! Every program in `programs/` meets the expectations in its header, on every engine. The crate
//! `reviver-expectations` runs the programs forward and backward; `docs/test.md` describes the lines.

mod bits;
mod strategies;
mod tangent;

use std::path::{Path, PathBuf};

use reviver_assembler::diagnostic::Severity;
use reviver_assembler::files::Disk;
use reviver_assembler::render::render;
use reviver_expectations::assessment::{AssessedLine, Assessment};
use reviver_expectations::examine;
use reviver_expectations::expected::Expectations;
use reviver_expectations::program::ProgramUnderTest;
use reviver_expectations::settings::TestSettings;
use reviver_lab::engine::{self, Engine};
use reviver_lab::tree::in_tree;

#[test]
fn programs_meet_their_expectations() {
    let mut failures = Vec::new();
    let programs = programs("programs");
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
    for path in programs("programs") {
        let text = std::fs::read_to_string(&path).unwrap();
        let comments = text.lines().take_while(|line| line.starts_with(';')).count();
        assert!(comments >= 5, "{} needs a header that teaches", path.display());
        assert_formatted(&path);
    }
}

/// Asserts that a text is in the canonical layout.
fn assert_formatted(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut sources = reviver_assembler::source::Sources::default();
    let file = sources.add_bytes("program", text.clone().into_bytes()).unwrap();
    let formatted = reviver_assembler::format::format(&sources, file).unwrap();
    assert_eq!(text, formatted, "{} is not in the canonical layout", path.display());
}

/// Returns the programs of a folder, sorted.
fn programs(folder: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(in_tree(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rasm"))
        .collect();
    paths.sort();
    paths
}

fn check_program(engine: Engine, path: &Path) -> Result<(), Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.display().to_string();
    let mut expectations = Expectations::of(&name, &text);
    if !expectations.lines.iter().any(|line| line.text.starts_with("run ->")) {
        return Err(vec!["no expectation says what a run with the defaults gives".into()]);
    }
    let program = ProgramUnderTest::assemble(&name, text.into_bytes(), &Disk);
    if program.diagnostics.iter().any(|diagnostic| diagnostic.severity >= Severity::Warning) {
        return Err(vec![render(&program.sources, &program.diagnostics, false)]);
    }
    expectations.lines = engine.share(expectations.lines).collect();
    let settings = TestSettings {
        prepare: &|program| Ok((engine.prepare)(program)),
        gradients: &strategies::disagreement,
        ..TestSettings::interpreted()
    };
    let lines = examine(&program, &expectations, &Disk, &settings);
    let failures: Vec<String> = lines.iter().filter(|line| !line.is_met()).map(reported).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

fn reported(line: &AssessedLine) -> String {
    let text = &line.text;
    match &line.assessment {
        Assessment::Missed(misses) => {
            let each = misses.iter().map(|miss| format!("expected {}, found {}", miss.expected, miss.found));
            format!("`{text}`: {}", each.collect::<Vec<_>>().join("; "))
        }
        other => format!("`{text}`: {other:?}"),
    }
}
