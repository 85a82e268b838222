//! What came of tests: lines for people, one JSON object for programs. Runs nothing.

use std::fmt::Write as _;

use clap::builder::styling::AnsiColor;
use reviver_assembler::render::render;
use reviver_expectations::assessment::{AssessedLine, Assessment, Mismatch};
use serde_json::{Map, Value as Json, json};

use super::told::Object;
use super::{diagnostics, trap};
use crate::failure::counted;
use crate::testing::tested::TestedFile;

/// How many lines came to what.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestCounts {
    pub files: usize,
    pub expectations: usize,
    pub met: usize,
    pub missed: usize,
}

impl TestCounts {
    pub fn of(tested: &[TestedFile]) -> TestCounts {
        let lines = || tested.iter().flat_map(|file| &file.lines);
        TestCounts {
            files: tested.len(),
            expectations: lines().count(),
            met: lines().filter(|line| line.is_met()).count(),
            missed: lines().filter(|line| line.is_missed()).count(),
        }
    }

    pub fn summary(&self) -> String {
        let TestCounts { files, expectations, met, missed } = *self;
        let unjudged = match expectations - met - missed {
            0 => String::new(),
            unjudged => format!(", {unjudged} not judged"),
        };
        let (expectations, files) = (counted(expectations, "expectation"), counted(files, "file"));
        format!("{expectations} in {files}: {met} met, {missed} missed{unjudged}\n")
    }
}

/// A file and its lines, in colours or not; `only_missed` leaves out those that are met.
pub fn file(tested: &TestedFile, only_missed: bool, colors: bool) -> String {
    let mut text = format!("{}\n", tested.name);
    if tested.program.module.is_none() {
        text.push_str(&render(&tested.program.sources, &tested.program.diagnostics, colors));
    }
    let told = tested.lines.iter().filter(|line| !only_missed || !line.is_met());
    for assessed in told {
        text.push_str(&line(assessed, &format!("line {}: ", assessed.line), colors));
    }
    text
}

/// A line, and below it what was expected and what was found. `place` stands in front of what it says.
pub fn line(line: &AssessedLine, place: &str, colors: bool) -> String {
    let word = |word: &str, color: AnsiColor| match colors {
        true => format!("{0}{word}{0:#}", color.on_default()),
        false => word.to_owned(),
    };
    match &line.assessment {
        Assessment::Met => format!("  {}  {place}{}\n", word("ok", AnsiColor::Green), line.text),
        Assessment::Unjudged(why) => {
            format!("  {}  {place}{} (not judged: {why})\n", word("--", AnsiColor::Yellow), line.text)
        }
        Assessment::Missed(misses) => {
            let mut text = format!("  {}  {place}{}\n", word("no", AnsiColor::Red), line.text);
            for miss in misses {
                let _ = writeln!(text, "      {}", told(miss));
            }
            text
        }
    }
}

/// What was expected and what was found, on one line.
pub fn told(miss: &Mismatch) -> String {
    let on = miss.on.as_ref().map_or_else(String::new, |inputs| format!("on {inputs}: "));
    format!("{on}expected {}, found {}", miss.expected, miss.found)
}

/// Everything that was found.
pub fn members(tested: &[TestedFile], counts: &TestCounts) -> Object<'static> {
    let mut object = Object::default();
    object.insert("expectations", counts.expectations);
    object.insert("met", counts.met);
    object.insert("missed", counts.missed);
    object.insert("files", tested.iter().map(file_object).collect::<Json>());
    object
}

fn file_object(tested: &TestedFile) -> Json {
    let mut members = Map::new();
    members.insert("file".into(), tested.name.clone().into());
    members.insert("met".into(), tested.is_met().into());
    if tested.program.module.is_none() {
        members.insert("diagnostics".into(), program_diagnostics(tested));
    }
    members.insert("expectations".into(), tested.lines.iter().map(line_object).collect());
    Json::Object(members)
}

/// What keeps a text from being a program.
pub fn program_diagnostics(tested: &TestedFile) -> Json {
    diagnostics::json(&tested.program.sources, &tested.program.diagnostics)
}

/// A line as an object: `met` is null where it couldn't be judged.
pub fn line_object(line: &AssessedLine) -> Json {
    let mut members = Map::new();
    members.insert("line".into(), line.line.into());
    members.insert("expectation".into(), line.text.clone().into());
    let met = match &line.assessment {
        Assessment::Met => Json::Bool(true),
        Assessment::Missed(_) => Json::Bool(false),
        Assessment::Unjudged(_) => Json::Null,
    };
    members.insert("met".into(), met);
    if let Assessment::Unjudged(why) = &line.assessment {
        members.insert("not_judged".into(), why.clone().into());
    }
    if line.is_missed() {
        members.insert("missed".into(), line.misses().iter().map(miss_object).collect());
    }
    members.insert("seconds".into(), json!(line.took.as_secs_f64()));
    Json::Object(members)
}

fn miss_object(miss: &Mismatch) -> Json {
    let mut members = Map::new();
    members.insert("expected".into(), miss.expected.clone().into());
    members.insert("found".into(), miss.found.clone().into());
    if let Some(on) = &miss.on {
        members.insert("on".into(), on.clone().into());
    }
    if let Some(explanation) = &miss.trap {
        members.insert("trap".into(), trap::object(explanation));
    }
    Json::Object(members)
}
