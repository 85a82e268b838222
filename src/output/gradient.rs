//! A gradient: text for people, one JSON object for programs, warnings.

use std::fmt::Write as _;

use reviver_vm::differentiate::check::Check;
use reviver_vm::differentiate::{Gradient, Subject, Variable};
use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::{Value, adjoint_name};
use serde_json::{Map, Value as Json};

use super::json::{cells_json, number};
use super::text::cells_text;
use super::trust::Said;
use super::verified;
use crate::subject::Selection;

/// Everything that is said about a gradient.
pub struct Page {
    pub subject: Subject,
    pub loss: Variable,
    pub inputs: Vec<Selection>,
    pub gradient: Gradient,
    pub verified: Option<Check>,
}

impl Page {
    pub fn text(&self) -> String {
        let (program, gradient) = (&self.subject.program, &self.gradient);
        let mut text = String::new();
        let _ = writeln!(text, "{} = {}", self.loss_name(), program.text(Value::Real(gradient.value)));
        for input in &self.inputs {
            let adjoints = cells_text(program, input.shape, &self.adjoints(input));
            let _ = writeln!(text, "{} = {adjoints}", adjoint_name(&input.name));
        }
        if self.has_tape() {
            let entries = self.tape().into_iter().map(|entry| entry.unwrap_or_else(|| "·".into()));
            let _ = writeln!(text, "tape' = [{}]", entries.collect::<Vec<_>>().join(", "));
        }
        let _ = writeln!(
            text,
            "steps: {} there, {} back, drops: {}, history: {} bytes, memory: {} bytes",
            gradient.steps,
            gradient.steps_back,
            gradient.drops,
            gradient.history_bytes,
            gradient.memory_bytes,
        );
        if let Some(check) = self.verified.as_ref().filter(|check| check.agrees()) {
            text.push_str(&verified::line(check));
        }
        text
    }

    /// What it tells programs, but for what the command fails with.
    pub fn members(&self) -> Map<String, Json> {
        let (program, gradient) = (&self.subject.program, &self.gradient);
        let grad = self
            .inputs
            .iter()
            .map(|input| (input.name.clone(), cells_json(program, input.shape, &self.adjoints(input))));
        let mut object = Map::new();
        object.insert("value".into(), number(&program.text(Value::Real(gradient.value))));
        object.insert("grad".into(), Json::Object(grad.collect()));
        if self.has_tape() {
            let entries = self.tape().into_iter().map(|entry| entry.map_or(Json::Null, |text| number(&text)));
            object.insert("tape".into(), entries.collect());
        }
        object.insert("steps".into(), gradient.steps.into());
        object.insert("steps_back".into(), gradient.steps_back.into());
        object.insert("drops".into(), gradient.drops.into());
        object.append(&mut self.said().members());
        object.insert("memory_bytes".into(), gradient.memory_bytes.into());
        object.insert("history_bytes".into(), gradient.history_bytes.into());
        if let Some(check) = &self.verified {
            object.insert("verify".into(), verified::json(&self.input_names(), check));
        }
        object
    }

    /// How far the gradient can be trusted.
    pub fn said(&self) -> Said<'_> {
        Said::new(&self.subject.program, &self.gradient.trust)
    }

    /// For stderr: what was lost or mended, and what makes a gradient doubtful.
    pub fn warnings(&self, file: &str) -> String {
        let mut text = self.said().warnings(file);
        if self.is_unreached() {
            let _ = writeln!(
                text,
                "warning: every adjoint is 0: the inputs don't reach `{}`, or it doesn't change with them here",
                self.loss_name()
            );
        }
        text
    }

    pub fn loss_name(&self) -> String {
        self.subject.name(&self.loss)
    }

    /// The name of every number that is differentiated by: cells, then reals on the tape.
    pub fn input_names(&self) -> Vec<String> {
        let variables = self.inputs.iter().flat_map(|input| &input.variables);
        let cells = variables.map(|variable| self.subject.name(variable));
        let entries = &self.subject.start.input;
        // Where each entry is told; the machine reads from the end.
        let places = self.subject.program.told(Tape::Input, (0..entries.len()).collect());
        let reals = entries.iter().zip(places).rev().filter(|(entry, _)| matches!(entry, TapeEntry::Real(_)));
        cells.chain(reals.map(|(_, n)| format!("tape[{n}]"))).collect()
    }

    fn adjoints(&self, input: &Selection) -> Vec<Value> {
        let bits = |variable: &Variable| self.gradient.adjoints.cells.get(variable.cell).copied();
        input.variables.iter().map(|variable| Value::Real(bits(variable).unwrap_or_default())).collect()
    }

    fn has_tape(&self) -> bool {
        !self.subject.start.input.is_empty()
    }

    /// The adjoints of the input tape in the order in which it is told; integers have none.
    fn tape(&self) -> Vec<Option<String>> {
        let entries = self.subject.start.input.iter().enumerate().collect();
        let entries = self.subject.program.told(Tape::Input, entries);
        entries
            .into_iter()
            .map(|(n, entry)| match entry {
                TapeEntry::Int(_) => None,
                TapeEntry::Real(_) => {
                    let bits = self.gradient.adjoints.input.get(n).copied().unwrap_or_default();
                    Some(self.subject.program.text(Value::Real(bits)))
                }
            })
            .collect()
    }

    fn is_unreached(&self) -> bool {
        let zero = |bits: &u64| self.subject.program.approximate(Value::Real(*bits)) == 0.0;
        let cells = self.inputs.iter().flat_map(|input| self.adjoints(input));
        let cells = cells.map(|value| self.subject.program.approximate(value) == 0.0);
        cells.chain(self.gradient.adjoints.input.iter().map(zero)).all(|is_zero| is_zero)
    }
}
