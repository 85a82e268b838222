//! Test results: lines for users, a JSON object for programs. Runs nothing.

use clap::builder::styling::AnsiColor;
use reviver_assembler::render::render;
use reviver_debugger::columns::hanging;
use reviver_escape as escape;
use reviver_expectations::assessment::{AssessedLine, Assessment, Mismatch};
use serde_json::{Map, Value as Json, json};

use super::json_values::Object;
use super::{diagnostics, trap};
use crate::failure::counted;
use crate::streams;
use crate::testing::tested::TestedFile;

/// Counts of lines by outcome.
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

/// Style of lines on an output.
#[derive(Clone, Copy, Debug)]
pub struct LineStyle {
    pub colors: bool,
    /// Width at which lines are wrapped; `None` for no wrapping.
    pub columns: Option<usize>,
}

impl LineStyle {
    /// Returns the style of standard output.
    pub fn of_output() -> LineStyle {
        LineStyle { colors: streams::colors(), columns: streams::columns() }
    }

    /// Escapes a line, and wraps it if it is too long.
    pub fn folded(self, line: &str) -> String {
        let line = escape::line(line);
        let rows = match self.columns {
            Some(columns) => hanging(&line, columns),
            None => vec![line.into_owned()],
        };
        rows.join("\n") + "\n"
    }

    /// Formats a line after a word such as the outcome; the word is colored if the output has colors.
    fn headed(self, word: &str, color: AnsiColor, line: &str) -> String {
        let text = self.folded(&format!("  {word}  {line}"));
        match self.colors {
            true => text.replacen(word, &format!("{0}{word}{0:#}", color.on_default()), 1),
            false => text,
        }
    }
}

/// Formats a file and its lines; `only_missed` omits lines that are met.
pub fn file(tested: &TestedFile, only_missed: bool, style: LineStyle) -> String {
    let mut text = style.folded(&tested.name);
    if tested.program.module.is_none() {
        text.push_str(&render(&tested.program.sources, &tested.program.diagnostics, style.colors));
    }
    let reported = tested.lines.iter().filter(|line| !only_missed || !line.is_met());
    for assessed in reported {
        text.push_str(&line(assessed, &format!("line {}: ", assessed.line), style));
    }
    text
}

/// Formats a line, followed by expected and actual values. `place` is a prefix of the line, such as its number.
pub fn line(line: &AssessedLine, place: &str, style: LineStyle) -> String {
    let said = format!("{place}{}", line.text);
    match &line.assessment {
        Assessment::Met => style.headed("ok", AnsiColor::Green, &said),
        Assessment::Unjudged(why) => {
            style.headed("--", AnsiColor::Yellow, &format!("{said} (not judged: {why})"))
        }
        Assessment::Missed(misses) => {
            let mut text = style.headed("no", AnsiColor::Red, &said);
            for miss in misses {
                let on = miss
                    .on
                    .as_deref()
                    .map_or_else(String::new, |inputs| format!("on {}: ", shortened(inputs)));
                text.push_str(&style.folded(&format!("      {on}{}", found(miss))));
            }
            text
        }
    }
}

/// Maximum number of values of an array that the text shows.
const MOST_VALUES: usize = 16;

/// Shortens long arrays in the text of a line's inputs: `A=1,0,1,… (256 values), n=3`.
fn shortened(inputs: &str) -> String {
    let short = |input: &str| {
        let count = input.split(',').count();
        if count <= MOST_VALUES {
            return input.to_owned();
        }
        let first: Vec<&str> = input.split(',').take(MOST_VALUES / 2).collect();
        format!("{},… ({count} values)", first.join(","))
    };
    inputs.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

/// Formats a mismatch on one line: expected and actual value, with all inputs.
pub fn reported(miss: &Mismatch) -> String {
    let on = miss.on.as_ref().map_or_else(String::new, |inputs| format!("on {inputs}: "));
    format!("{on}{}", found(miss))
}

fn found(miss: &Mismatch) -> String {
    format!("expected {}, found {}", miss.expected, miss.found)
}

/// Returns all results as a JSON object.
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

/// Returns the diagnostics of a text that doesn't assemble.
pub fn program_diagnostics(tested: &TestedFile) -> Json {
    diagnostics::json(&tested.program.sources, &tested.program.diagnostics)
}

/// Returns a line as a JSON object; `met` is null if the line couldn't be judged.
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
