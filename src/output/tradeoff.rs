//! Results of `tradeoff`: a table and a picture for users, a JSON object for programs. Measures nothing.

use std::io::{self, Write};

use reviver_pictures::document::Words;
use reviver_pictures::numbers::{grouped, short};
use reviver_pictures::tradeoff::{Method, Tradeoff};
use serde_json::{Value as Json, json};

use super::json_values::Object;
use crate::account::landauer;

/// Method and its measurements.
pub struct TradeoffRow {
    pub name: String,
    pub steps: u64,
    pub bytes: u64,
    pub erased_bits: u64,
}

/// Measurements of all methods; the first is the original program.
pub struct TradeoffPage {
    /// Temperature for Landauer's bound, in kelvins.
    pub temperature: f64,
    pub rows: Vec<TradeoffRow>,
    /// Reason why Bennett's method is missing.
    pub uncut: Option<UncutProgram>,
}

/// Reason why Bennett's method has no measurements: the program can't be cut into segments, or its segments trap.
pub struct UncutProgram {
    /// Code of the error or trap.
    pub code: Option<&'static str>,
    pub message: String,
}

impl TradeoffPage {
    /// Returns the minimum heat of erasing the bits, in joules (Landauer's bound).
    fn energy(&self, row: &TradeoffRow) -> f64 {
        landauer(row.erased_bits as f64, self.temperature)
    }

    /// Returns log₂ of the quotient of a method's steps and the original program's steps.
    fn level(&self, row: &TradeoffRow) -> f64 {
        let own = self.rows.first().map_or(1, |row| row.steps).max(1);
        (row.steps.max(1) as f64 / own as f64).log2()
    }

    pub fn members(&self) -> Object<'static> {
        let mut object = Object::default();
        let rows: Vec<Json> = self.rows.iter().map(|row| self.json(row)).collect();
        object.insert("temperature", json!(self.temperature));
        object.insert("methods", Json::from(rows));
        if let Some(UncutProgram { code, message }) = &self.uncut {
            object.insert("no_bennett", json!({ "code": code, "message": message }));
        }
        object
    }

    fn json(&self, row: &TradeoffRow) -> Json {
        json!({
            "method": row.name,
            "steps": row.steps,
            "peak_bytes": row.bytes,
            "erased_bits": row.erased_bits,
            "joules": self.energy(row),
            "level": self.level(row),
        })
    }

    /// Plots steps over memory. Methods whose names begin with the same word are connected by a line.
    pub fn picture(&self, file: &str) -> Tradeoff {
        let family = |row: &TradeoffRow| row.name.split(' ').next().unwrap_or_default().to_owned();
        let mut families: Vec<String> = self.rows.iter().map(family).collect();
        families.dedup();
        let method = |row: &TradeoffRow| Method {
            name: row.name.clone(),
            steps: row.steps,
            bytes: row.bytes,
            erased_bits: row.erased_bits,
            family: families.iter().position(|known| *known == family(row)).unwrap_or_default(),
        };
        let reported = self.rows.iter().map(|row| {
            let counted = |count: u64, what: &str| {
                let plural = if count == 1 { "" } else { "s" };
                format!("{} {what}{plural}", grouped(count))
            };
            let (steps, bytes) = (counted(row.steps, "step"), counted(row.bytes, "byte"));
            format!("{}: {steps}, {bytes} at most, {} erased.", row.name, counted(row.erased_bits, "bit"))
        });
        let description = reported.collect::<Vec<_>>().join(" ");
        let words = Words { title: format!("{file}: steps, memory and erased bits, by method"), description };
        Tradeoff { words, methods: self.rows.iter().map(method).collect() }
    }

    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(6);
        writeln!(
            out,
            "{:name$}  {:>12}  {:>12}  {:>12}  {:>9}  {:>5}",
            "method", "steps", "peak bytes", "erased bits", "joules", "level"
        )?;
        for row in &self.rows {
            let (joules, level) = (short(self.energy(row)), self.level(row));
            writeln!(
                out,
                "{:name$}  {:>12}  {:>12}  {:>12}  {joules:>9}  {level:>5.2}",
                row.name, row.steps, row.bytes, row.erased_bits
            )?;
        }
        writeln!(out, "joules: at {} K; level: log₂ of (steps / steps of `erase`)", self.temperature)?;
        match &self.uncut {
            None => {
                writeln!(out, "checkpoint s: s states are kept; Bennett g, n: g segments on each of n levels")
            }
            Some(uncut) => {
                writeln!(out, "checkpoint s: s states are kept")?;
                writeln!(out, "Bennett's method is missing: {}", uncut.message)
            }
        }
    }
}
