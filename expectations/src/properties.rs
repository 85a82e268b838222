//! Properties that are to hold for every run of a file. They are judged as the runs are made, and each by its own line: what
//! has a line of its own is no business of the lines that are run.

use reviver_vm::explain::Explanation;

use crate::assessment::{Assessment, Mismatch, MissReason, NO_GARBAGE};
use crate::bounded::Halt;
use crate::excursion::{Excursion, Homecoming};
use crate::expected::Expectations;
use crate::grammar::{Expectation, Property};
use crate::words::counted;

/// Which of the properties that every run has anyway have lines of their own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnLines {
    pub restored: bool,
    pub no_garbage: bool,
    pub no_history: bool,
}

impl OwnLines {
    pub fn of(expectations: &Expectations) -> OwnLines {
        let says = |wanted: Property| {
            expectations
                .read()
                .any(|line| matches!(line, Expectation::Property(property) if *property == wanted))
        };
        OwnLines {
            restored: says(Property::Restored),
            no_garbage: says(Property::NoGarbage),
            no_history: says(Property::NoHistory),
        }
    }
}

/// What a run differs in from what every run has that no word of its line excuses.
pub(crate) fn usual(excursion: &Excursion, own: OwnLines, exact: bool) -> Vec<Mismatch> {
    let garbage = (!own.no_garbage).then(|| undeclared(excursion)).flatten();
    let history = (!own.no_history && !exact && excursion.history_bytes > 0).then(|| kept(excursion));
    garbage.into_iter().chain(history).collect()
}

/// How a property fares over all runs.
#[derive(Debug)]
pub(crate) struct PropertyTally {
    property: Property,
    runs: u64,
    first: Option<Mismatch>,
}

impl PropertyTally {
    /// One for each line, in their order.
    pub fn all(expectations: &Expectations) -> Vec<PropertyTally> {
        let properties = expectations.read().filter_map(|line| match line {
            Expectation::Property(property) => Some(property.clone()),
            _ => None,
        });
        properties.map(|property| PropertyTally { property, runs: 0, first: None }).collect()
    }

    /// Judges a run.
    pub fn see(&mut self, excursion: &Excursion, inputs: &str) {
        self.runs += 1;
        if self.first.is_none() {
            self.first = miss(&self.property, excursion).map(|miss| miss.on(inputs));
        }
    }

    /// What is to be said in the end. `has_runs` tells whether the file has any that could have been judged.
    pub fn assessment(&self, has_runs: bool) -> Assessment {
        match &self.first {
            Some(miss) => Assessment::Missed(vec![miss.clone()]),
            None if self.runs > 0 => Assessment::Met,
            None if has_runs => Assessment::Unjudged("no run has arrived".to_owned()),
            None => {
                let miss = Mismatch::new(
                    "a run that it could hold for",
                    "no line that begins with `run` or `same as`",
                );
                Assessment::Missed(vec![miss])
            }
        }
    }
}

/// In which way a run doesn't have a property.
fn miss(property: &Property, excursion: &Excursion) -> Option<Mismatch> {
    match property {
        Property::Restored => unrestored(excursion),
        Property::NoGarbage => undeclared(excursion).or_else(|| declared(excursion)),
        Property::ErasesNothing => erased(excursion),
        Property::NoHistory if excursion.needs_history() => {
            Some(Mismatch::new("0 bytes of history", "a way back that needs a history of what was erased"))
        }
        Property::NoHistory => (excursion.history_bytes > 0).then(|| kept(excursion)),
        Property::AtMost(steps) => {
            let miss = || Mismatch::new(property.to_string(), counted(excursion.steps, "step"));
            (excursion.steps > *steps).then(miss)
        }
        // It is a matter of the text.
        Property::UsesNo(_) => None,
    }
}

/// That the way back doesn't lead to the start, bit for bit.
pub(crate) fn unrestored(excursion: &Excursion) -> Option<Mismatch> {
    let expected = "the start again, bit for bit";
    match &excursion.homecoming {
        Homecoming::Same => None,
        Homecoming::Near(cell) => Some(Mismatch::new(expected, format!("{cell}: floats have lost bits"))),
        Homecoming::Elsewhere(cell) => Some(Mismatch::new(expected, cell.clone())),
        Homecoming::Halted(halt) => Some(halted(expected, halt)),
    }
}

/// A trap on the way back is how the start doesn't come back, and no reason of its own.
fn halted(expected: &str, halt: &Halt) -> Mismatch {
    let reason = match halt.reason() {
        MissReason::Trap => MissReason::Value,
        reason => reason,
    };
    let trap: Option<Box<Explanation>> = halt.explanation();
    Mismatch::new(expected, format!("on the way back {halt}")).because(reason).trapped(trap)
}

fn undeclared(excursion: &Excursion) -> Option<Mismatch> {
    (!excursion.garbage.is_empty()).then(|| Mismatch::new(NO_GARBAGE, excursion.garbage.join("; ")))
}

fn declared(excursion: &Excursion) -> Option<Mismatch> {
    let found = || format!("declared garbage: {}", excursion.declared_garbage.join("; "));
    (!excursion.declared_garbage.is_empty()).then(|| Mismatch::new(NO_GARBAGE, found()))
}

fn erased(excursion: &Excursion) -> Option<Mismatch> {
    let miss =
        || Mismatch::new("nothing erased", format!("{} erased", counted(excursion.erased_bits, "bit")));
    (excursion.erased_bits > 0).then(miss)
}

fn kept(excursion: &Excursion) -> Mismatch {
    Mismatch::new("0 bytes of history", counted(excursion.history_bytes as u64, "byte"))
}
