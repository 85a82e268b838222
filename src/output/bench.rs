//! Results of `bench`: a table for users, a JSON object for programs. Measures nothing.

use std::io::{self, Write};

use reviver::{CheckLevel, CompileOptions};
use serde_json::{Map, Value as Json, json};

use super::json_values::Object;

/// Data of a benchmark report.
pub struct BenchPage {
    pub engines: Vec<(CompileOptions, EngineFigures)>,
    /// Reason why there is no native code.
    pub missing: Option<String>,
    pub rounds: u64,
    /// True if a signal ended the benchmark early; some figures are then missing.
    pub is_stopped: bool,
    /// Total time in seconds.
    pub seconds: f64,
}

/// Measurements of one engine.
#[derive(Default)]
pub struct EngineFigures {
    pub forward: Option<Figure>,
    pub back: Option<Figure>,
    pub gradient: Option<Figure>,
    /// Compile time in seconds, and true if native code covers the whole program. `None` for the interpreter.
    pub native: Option<(f64, bool)>,
    /// Reason why backward runs of the program can't be measured.
    pub no_way_back: Option<String>,
    /// True if the gradient's reverse sweep was recomputed with a history.
    pub is_recomputed: bool,
    /// True if relevant values may have been lost; `grad` shows details.
    pub is_doubtful: bool,
}

/// Returns the JSON key of an engine.
fn key(CompileOptions { engine, level }: CompileOptions) -> String {
    match level {
        CheckLevel::Checked => engine.name().to_owned(),
        CheckLevel::Unchecked => format!("{engine}_{level}"),
    }
}

/// Returns the name of an engine in text.
fn reported(CompileOptions { engine, level }: CompileOptions) -> String {
    match level {
        CheckLevel::Checked => engine.name().to_owned(),
        CheckLevel::Unchecked => format!("{engine} {level}"),
    }
}

/// Step count and time of a call; the time is that of the fastest run.
#[derive(Clone, Copy)]
pub struct Figure {
    pub steps: u64,
    pub seconds: f64,
}

impl Figure {
    fn steps_per_second(self) -> f64 {
        self.steps as f64 / self.seconds.max(1e-9)
    }

    fn json(self) -> Json {
        json!({ "steps": self.steps, "seconds": self.seconds, "steps_per_second": self.steps_per_second() })
    }
}

impl EngineFigures {
    fn named(&self) -> impl Iterator<Item = (&'static str, Figure)> {
        let figures = [("forward", self.forward), ("back", self.back), ("gradient", self.gradient)];
        figures.into_iter().filter_map(|(name, figure)| Some((name, figure?)))
    }

    /// Returns the time of a gradient divided by the time of a forward run.
    fn ratio(&self) -> Option<f64> {
        Some(self.gradient?.seconds / self.forward?.seconds.max(1e-9))
    }

    fn json(&self) -> Json {
        let mut members: Map<String, Json> =
            self.named().map(|(name, figure)| (name.to_owned(), figure.json())).collect();
        if let Some(ratio) = self.ratio() {
            members.insert("gradient_per_objective".into(), ratio.into());
            members.insert("mended".into(), self.is_recomputed.into());
            members.insert("doubtful".into(), self.is_doubtful.into());
        }
        if let Some((seconds, is_native)) = self.native {
            members.insert("compile_seconds".into(), seconds.into());
            members.insert("all_native".into(), is_native.into());
        }
        if let Some(why) = &self.no_way_back {
            members.insert("no_way_back".into(), why.clone().into());
        }
        Json::Object(members)
    }
}

impl BenchPage {
    pub fn members(&self) -> Object<'_> {
        let engines = self.engines.iter().map(|(compiled, figures)| (key(*compiled), figures.json()));
        let mut object = Object::default();
        object.insert("engines", Json::Object(engines.collect()));
        if let Some(missing) = &self.missing {
            object.insert("no_native_code", missing.clone());
        }
        object.insert("rounds", self.rounds);
        object.insert("seconds", self.seconds);
        object
    }

    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let names = self.engines.iter().map(|(compiled, _)| reported(*compiled).len());
        let width = names.max().unwrap_or(0).max(7);
        writeln!(
            out,
            "{:<width$} {:<9} {:>12} {:>14} {:>16}",
            "engine", "", "steps", "time", "steps a second"
        )?;
        for (compiled, figures) in &self.engines {
            let engine = reported(*compiled);
            for (name, figure) in figures.named() {
                let (time, speed) = (time(figure.seconds), grouped(figure.steps_per_second()));
                writeln!(out, "{engine:<width$} {name:<9} {:>12} {time:>14} {speed:>16}", figure.steps)?;
            }
        }
        for (compiled, figures) in &self.engines {
            figures.reported(&reported(*compiled), out)?;
        }
        if let Some(missing) = &self.missing {
            writeln!(out, "no native code: {missing}")?;
        }
        let (rounds, seconds) = (self.rounds, self.seconds);
        let plural = if rounds == 1 { "" } else { "s" };
        writeln!(
            out,
            "best of {rounds} round{plural} in {seconds:.1} s; times vary from call to call: compare only times of one table"
        )
    }
}

impl EngineFigures {
    /// Writes the facts about an engine that have no column in the table.
    fn reported(&self, engine: &str, out: &mut dyn Write) -> io::Result<()> {
        if let Some(ratio) = self.ratio() {
            let recomputed =
                if self.is_recomputed { "; its reverse sweep was repeated with a history" } else { "" };
            writeln!(out, "{engine}: a gradient takes {ratio:.2} times as long as a run{recomputed}")?;
            if self.is_doubtful {
                writeln!(out, "{engine}: this gradient may be wrong: `reviver grad` says why")?;
            }
        }
        if let Some((seconds, is_native)) = self.native {
            let rest =
                if is_native { "it executes every step" } else { "the interpreter executes some steps" };
            writeln!(out, "{engine}: native code was compiled in {}, and {rest}", time(seconds))?;
        }
        match &self.no_way_back {
            Some(why) => writeln!(out, "{engine}: can't run backward: {why}"),
            None => Ok(()),
        }
    }
}

/// Formats seconds in a suitable unit.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-5 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-2 => format!("{:.1} µs", s * 1e6),
        s if s < 10.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// Formats a speed, in steps per second, with separated thousands and a suitable number of digits.
fn grouped(speed: f64) -> String {
    let digits = format!("{speed:.0}");
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
