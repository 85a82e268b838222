//! Checks all expectations of a file, in their order. Properties are checked on the runs of the other lines, and
//! reported at their own lines.

use std::time::Instant;

use reviver_assembler::files::Files;
use reviver_isa::Module;
use reviver_vm::Travel;

use crate::assessment::{AssessedLine, Assessment, Mismatch, MissReason};
use crate::expected::Expectations;
use crate::grammar::{Expectation, ExpectedEnd, ExpectedRun, Property, SameAs};
use crate::program::ProgramUnderTest;
use crate::properties::{OwnLines, PropertyTally};
use crate::round_trip::RoundTrip;
use crate::settings::TestSettings;
use crate::{derivatives, reference, runs};

/// Checks all lines of a file. `files` provides the reference programs. Their paths are relative to the file that
/// contains the expectations.
pub fn examine(
    program: &ProgramUnderTest,
    expectations: &Expectations,
    files: &dyn Files,
    settings: &TestSettings<'_>,
) -> Vec<AssessedLine> {
    let (own, properties) = (OwnLines::of(expectations), PropertyTally::all(expectations));
    Examination { program, expectations, files, settings, own, properties }.lines()
}

/// Returns true if no line is missed. A line without a verdict isn't missed.
pub fn is_met(lines: &[AssessedLine]) -> bool {
    !lines.iter().any(AssessedLine::is_missed)
}

struct Examination<'a> {
    program: &'a ProgramUnderTest,
    expectations: &'a Expectations,
    files: &'a dyn Files,
    settings: &'a TestSettings<'a>,
    own: OwnLines,
    /// One tally for each property line, in the order of the lines.
    properties: Vec<PropertyTally>,
}

impl Examination<'_> {
    /// Checks all lines in two passes: first it runs them, then it judges the properties, which need all runs.
    fn lines(mut self) -> Vec<AssessedLine> {
        let expectations = self.expectations;
        let mut assessed: Vec<AssessedLine> = Vec::new();
        for line in &expectations.lines {
            let begun = Instant::now();
            let assessment = match &line.read {
                Ok(_) if self.settings.is_interrupted() => stopped(),
                Ok(expectation) => match self.ran(expectation) {
                    Assessment::Missed(_) if self.settings.is_interrupted() => stopped(),
                    assessment => assessment,
                },
                Err(error) => Assessment::Missed(vec![Mismatch::new("an expectation", error.to_string())]),
            };
            let (line, text) = (line.line, line.text.clone());
            assessed.push(AssessedLine { line, text, assessment, took: begun.elapsed() });
        }
        let has_runs = expectations.read().any(makes_runs);
        let mut properties = std::mem::take(&mut self.properties).into_iter();
        for (line, assessed) in expectations.lines.iter().zip(&mut assessed) {
            if let Ok(Expectation::Property(property)) = &line.read {
                let tally = properties.next().map(|tally| tally.assessment(has_runs));
                // A property isn't confirmed if a run was interrupted, because the rest of the run might violate the
                // property.
                let is_known = !self.settings.is_interrupted();
                assessed.assessment = if is_known { self.assessed(property, tally) } else { stopped() };
            }
        }
        assessed
    }

    /// Checks a line by running it. A property is met for now; the second pass judges it.
    fn ran(&mut self, expectation: &Expectation) -> Assessment {
        let Some(module) = &self.program.module else {
            return Assessment::Missed(vec![self.no_program()]);
        };
        match expectation {
            Expectation::Run(run) => self.run(run, module),
            Expectation::Derivative(line) => {
                let module = self.program.differentiable.as_ref().unwrap_or(module);
                Assessment::of(derivatives::assess(line, module, self.settings))
            }
            Expectation::SameAs(line) => self.same_as(line, module),
            Expectation::Property(_) => Assessment::Met,
        }
    }

    fn no_program(&self) -> Mismatch {
        let mut errors = self.program.errors();
        let first = errors.next().map_or_else(String::new, |error| error.message.clone());
        let more = match errors.count() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Mismatch::new("a program", format!("it can't be assembled: {first}{more}"))
            .because(MissReason::Syntax)
    }

    fn run(&mut self, run: &ExpectedRun, module: &Module) -> Assessment {
        let is_forward = run.travel == Travel::Forward;
        let own = if is_forward { self.own } else { OwnLines::default() };
        let outcome = runs::assess(run, module, own, self.settings);
        if let Some(round_trip) = outcome.round_trip.filter(|_| is_forward) {
            self.see(&round_trip, &reported(run));
        }
        Assessment::of(outcome.misses)
    }

    fn same_as(&mut self, line: &SameAs, module: &Module) -> Assessment {
        let reference =
            match reference::module(line, &self.expectations.name, self.files, self.settings.limits.assembly)
            {
                Ok(reference) => reference,
                Err(miss) => return Assessment::Missed(vec![miss]),
            };
        let (own, settings) = (self.own, self.settings);
        let mut see = |round_trip: &RoundTrip, inputs: &str| self.see(round_trip, inputs);
        Assessment::of(reference::assess(line, module, &reference, own, settings, &mut see))
    }

    fn see(&mut self, round_trip: &RoundTrip, inputs: &str) {
        self.properties.iter_mut().for_each(|property| property.see(round_trip, inputs));
    }

    /// Returns the verdict on a property. The verdict is based on the property's tally, or for `uses no` on the words
    /// of the text.
    fn assessed(&self, property: &Property, tally: Option<Assessment>) -> Assessment {
        match (property, tally) {
            (Property::UsesNo(word), _) if self.program.words.contains(word) => {
                Assessment::Missed(vec![Mismatch::new(
                    property.to_string(),
                    format!("the text contains `{word}`"),
                )])
            }
            (Property::UsesNo(_), _) => Assessment::Met,
            _ if self.program.module.is_none() => Assessment::Unjudged("the program has errors".to_owned()),
            (_, Some(assessment)) => assessment,
            (_, None) => Assessment::Unjudged("no line ran the program".to_owned()),
        }
    }
}

/// Returns the verdict on a line whose check was stopped by a signal, or not started because of it.
fn stopped() -> Assessment {
    Assessment::Unjudged("stopped before it was checked".to_owned())
}

/// Returns true if properties are checked on the runs of this line.
fn makes_runs(line: &Expectation) -> bool {
    match line {
        Expectation::Run(run) => run.travel == Travel::Forward && matches!(run.end, ExpectedEnd::Results(_)),
        Expectation::SameAs(_) => true,
        Expectation::Derivative(_) | Expectation::Property(_) => false,
    }
}

/// Returns the inputs of a run as text.
fn reported(run: &ExpectedRun) -> String {
    let cells = run.given.cells.iter().map(|(name, values)| format!("{name}={}", values.join(",")));
    let tape = run.given.tape.iter().map(|values| format!("tape={}", values.join(",")));
    let words = cells.chain(tape).collect::<Vec<_>>().join(" ");
    if words.is_empty() { "the defaults".to_owned() } else { words }
}
