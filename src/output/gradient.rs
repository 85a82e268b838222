//! Gradients: text for users, a JSON object for programs, and warnings.

use std::fmt::Write as _;
use std::io::{self, Write};

use reviver::Selection;
use reviver_isa::module::Shape;
use reviver_isa::names::adjoint_name;
use reviver_isa::structure::BlockKind;
use reviver_vm::differentiate::check::Check;
use reviver_vm::differentiate::seeds::seeded_sum;
use reviver_vm::differentiate::{Gradient, Subject};
use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::strategy::{Strategy, StrategyReason, UsedStrategy};
use reviver_vm::values::Value;

use super::json_values::{self, JsonCells, Object};
use super::strategy::StrategyReport;
use super::verification::VerificationText;
use super::verified::CheckReport;
use crate::failure::counted;
use crate::objective::Objective;

/// Data of the report on a gradient.
pub struct GradientPage {
    pub subject: Subject,
    pub objective: Objective,
    pub inputs: Vec<Selection>,
    pub gradient: Gradient,
    /// True if the cost of the reverse sweep is reported (`--stats`).
    pub stats: bool,
    /// Comparison of `--verify`.
    pub check: Option<Check>,
}

impl GradientPage {
    pub fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let gradient = &self.gradient;
        for (name, values) in self.by_result(|n| gradient.values.get(n).copied()) {
            writeln!(out, "{name} = {values}")?;
        }
        for input in &self.inputs {
            writeln!(out, "{} = {}", adjoint_name(&input.name), self.adjoints(input))?;
        }
        if self.has_tape() {
            writeln!(out, "tape' = {}", self.tape())?;
        }
        writeln!(
            out,
            "steps: {} forward, {} backward, drops: {}, history: {}, memory: {}",
            gradient.steps,
            gradient.steps_back,
            self.drops().map_or("not counted".to_owned(), |drops| drops.to_string()),
            counted(gradient.history_bytes, "byte"),
            counted(gradient.memory_bytes, "byte"),
        )?;
        if let Some(line) = self.turned_at() {
            writeln!(
                out,
                "turning point: before the `uncompute` of line {line} (`--whole` runs to the end)"
            )?;
        }
        self.strategy().text(out)?;
        if self.stats && gradient.thread_bytes > 0 {
            writeln!(
                out,
                "threads: {} for their copies of the state",
                counted(gradient.thread_bytes, "byte")
            )?;
        }
        out.write_all(self.said().line().as_bytes())?;
        out.write_all(
            self.reported(|reported| reported.map_or_else(String::new, CheckReport::line)).as_bytes(),
        )
    }

    /// Returns the JSON members, except those of a failure.
    pub fn members(&self) -> Object<'_> {
        let gradient = &self.gradient;
        let grad = self.inputs.iter().map(|input| (input.name.clone(), self.adjoints(input)));
        let mut object = Object::default();
        let values = |n: usize| gradient.values.get(n).copied();
        let seeds = &self.objective.seeds;
        match gradient.values[..] {
            [value] if !self.objective.is_sum => {
                object.insert("value", json_values::value(&self.subject.program, Value::Real(value)));
            }
            _ => {
                object.insert("value", seeded_sum(&self.subject.program, seeds, &gradient.values));
                object.insert("outputs", values_by_name(self.by_result(values)));
                let seed = |n: usize| seeds.get(n).map(|seed| seed.seed);
                object.insert("seeds", values_by_name(self.by_result(seed)));
            }
        }
        object.insert("grad", values_by_name(grad));
        if self.has_tape() {
            object.insert("tape", self.tape());
        }
        object.insert("steps", gradient.steps);
        object.insert("steps_back", gradient.steps_back);
        object.insert("turned", gradient.turned);
        object.insert("drops", self.drops());
        object.extend(self.said().members());
        object.insert("memory_bytes", gradient.memory_bytes);
        object.insert("history_bytes", gradient.history_bytes);
        object.extend(self.strategy().members());
        if self.stats && gradient.thread_bytes > 0 {
            object.insert("thread_bytes", gradient.thread_bytes);
        }
        object.extend(self.reported(|reported| reported.map(CheckReport::member)).unwrap_or_default());
        object
    }

    /// Calls `of` with a report on the comparison of `--verify`, or with `None` if there was no comparison. The report
    /// has the program's names.
    pub fn reported<T>(&self, of: impl FnOnce(Option<&CheckReport>) -> T) -> T {
        let what = format!("the gradient of {}", self.objective.name());
        let (input, output) = (|n| self.input_name(n), |_| None);
        let reported = |check| CheckReport {
            program: &self.subject.program,
            check,
            what: &what,
            input: &input,
            output: &output,
        };
        of(self.check.as_ref().map(reported).as_ref())
    }

    /// Returns the retention strategy of the reverse sweep.
    fn strategy(&self) -> StrategyReport {
        let Gradient { taken, cost, steps, .. } = self.gradient;
        // A strategy that the options request is reported. Without such options, the plain history of `--exact` isn't
        // reported, but any other strategy is: a resumed gradient has the strategy of its file.
        let is_told = |taken: &UsedStrategy| {
            self.subject.retention.is_some()
                || (taken.strategy, taken.why) != (Strategy::Reverse, StrategyReason::Asked)
        };
        let taken = taken.filter(is_told);
        StrategyReport { taken, cost, steps, stats: self.stats }
    }

    /// Returns the number of adjoints that were dropped because their cell became a constant. `None` for unchecked
    /// native code, which doesn't count them.
    fn drops(&self) -> Option<u64> {
        self.subject.level.is_checked().then_some(self.gradient.drops)
    }

    /// Returns the line of the `uncompute` where the reverse sweep began. `None` if it began at the end of the
    /// program.
    fn turned_at(&self) -> Option<u32> {
        let turned = self.gradient.turned?;
        let blocks = self.subject.program.module().structure.blocks.iter();
        let mut computes = blocks.filter(|block| block.kind == BlockKind::Compute);
        let block = computes.find(|block| block.seams.get(2).is_some_and(|seam| seam.start == turned))?;
        Some(block.place(2).line)
    }

    fn real(&self, bits: u64) -> String {
        self.subject.program.text(Value::Real(bits))
    }

    /// Returns the report on how far the gradient is verified.
    pub fn said(&self) -> VerificationText<'_> {
        VerificationText::new(&self.subject.program, &self.gradient.verification_report)
    }

    /// Returns warnings for standard error: lost values, recomputation, and reasons for doubt.
    pub fn warnings(&self, file: &str) -> String {
        let mut text = self.said().warnings(file);
        if self.is_unreached() {
            let _ = writeln!(
                text,
                "warning: every adjoint is 0: {} doesn't depend on the inputs, or its derivatives are 0 at these inputs",
                self.objective.name()
            );
        }
        text
    }

    /// Returns the name of each result with a number for each of its cells. `bits` returns the number for the seeded
    /// cell at an index.
    fn by_result<'a>(
        &'a self,
        bits: impl Fn(usize) -> Option<u64> + Copy + 'a,
    ) -> impl Iterator<Item = (String, JsonCells<'a>)> + 'a {
        self.objective.results.iter().scan(0, move |next, result| {
            let first = *next;
            *next += result.variables.len();
            let cells = JsonCells::new(result.shape, move |n| Some(self.real(bits(first + n)?)));
            Some((result.name.clone(), cells.of_numbers(&self.subject.program)))
        })
    }

    /// Returns the name of input `n` of the gradient: the cells are counted first, and then the reals on the tape.
    pub fn input_name(&self, n: usize) -> Option<String> {
        let mut variables = self.inputs.iter().flat_map(|input| &input.variables);
        let cells = variables.clone().count();
        if n < cells {
            return variables.nth(n).map(|variable| self.subject.name(variable));
        }
        let entries = &self.subject.start.input;
        // The machine reads the tape from its end, so the gradient lists the tape's reals in reverse order.
        let reals = entries.iter().enumerate().rev().filter(|(_, entry)| matches!(entry, TapeEntry::Real(_)));
        let (entry, _) = { reals }.nth(n - cells)?;
        Some(format!("tape[{}]", self.subject.program.index_in_text(Tape::Input, entries.len(), entry)))
    }

    fn adjoints<'a>(&'a self, input: &'a Selection) -> JsonCells<'a> {
        JsonCells::new(input.shape, |n| {
            let origin = input.variables.get(n)?.origin;
            Some(self.real(origin.adjoint(&self.gradient.adjoints)))
        })
        .of_numbers(&self.subject.program)
    }

    fn has_tape(&self) -> bool {
        !self.subject.start.input.is_empty()
    }

    /// Returns the adjoints of the input tape in display order; integers have none.
    fn tape(&self) -> JsonCells<'_> {
        let entries = &self.subject.start.input;
        let shape = Shape::Vector(u32::try_from(entries.len()).unwrap_or(u32::MAX));
        JsonCells::new(shape, |n| {
            let at = self.subject.program.index_in_text(Tape::Input, entries.len(), n);
            let bits = self.gradient.adjoints.input.get(at).copied().unwrap_or_default();
            matches!(entries.get(at), Some(TapeEntry::Real(_))).then(|| self.real(bits))
        })
        .of_numbers(&self.subject.program)
    }

    fn is_unreached(&self) -> bool {
        let zero = |bits: u64| self.subject.program.approximate(Value::Real(bits)) == 0.0;
        let variables = self.inputs.iter().flat_map(|input| &input.variables);
        let mut given = variables.map(|variable| variable.origin.adjoint(&self.gradient.adjoints));
        given.all(zero) && self.gradient.adjoints.input.iter().copied().all(zero)
    }
}

/// Returns cells as a JSON object by name.
fn values_by_name<'a>(cells: impl Iterator<Item = (String, JsonCells<'a>)>) -> Object<'a> {
    cells.map(|(name, cells)| (name, cells.into())).collect()
}
