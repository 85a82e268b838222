//! Properties that must hold for every run of a file. Properties are checked during the runs, and reported at their own
//! lines. Some properties are checked by default, and reported at the lines of runs. If a property has its own line, it
//! is reported only there.

use reviver_vm::explain::Explanation;

use crate::assessment::{Assessment, Mismatch, MissReason, NO_GARBAGE};
use crate::bounded::Halt;
use crate::expected::Expectations;
use crate::grammar::{Expectation, Property};
use crate::round_trip::{RoundTrip, RoundTripEnd};
use crate::words::counted;

/// Flags of the properties that are checked by default: true if the file has a line for the property.
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

/// Returns the mismatches with the properties that are checked by default: no garbage and no history. A property with
/// its own line is skipped here.
pub(crate) fn usual(round_trip: &RoundTrip, own: OwnLines, exact: bool) -> Vec<Mismatch> {
    let garbage = (!own.no_garbage).then(|| undeclared(round_trip)).flatten();
    let history = (!own.no_history && !exact && round_trip.history_bytes > 0).then(|| kept(round_trip));
    garbage.into_iter().chain(history).collect()
}

/// Result of checking a property on all runs so far.
#[derive(Debug)]
pub(crate) struct PropertyTally {
    property: Property,
    runs: u64,
    first: Option<Mismatch>,
}

impl PropertyTally {
    /// Creates a tally for each property line, in the order of the lines.
    pub fn all(expectations: &Expectations) -> Vec<PropertyTally> {
        let properties = expectations.read().filter_map(|line| match line {
            Expectation::Property(property) => Some(property.clone()),
            _ => None,
        });
        properties.map(|property| PropertyTally { property, runs: 0, first: None }).collect()
    }

    /// Checks the property on a run.
    pub fn see(&mut self, round_trip: &RoundTrip, inputs: &str) {
        self.runs += 1;
        if self.first.is_none() {
            self.first = miss(&self.property, round_trip).map(|miss| miss.on(inputs));
        }
    }

    /// Returns the verdict over all runs. `has_runs` is true if the file has lines on whose runs properties are
    /// checked.
    pub fn assessment(&self, has_runs: bool) -> Assessment {
        match &self.first {
            Some(miss) => Assessment::Missed(vec![miss.clone()]),
            None if self.runs > 0 => Assessment::Met,
            None if has_runs => Assessment::Unjudged("no run has reached its end".to_owned()),
            None => {
                let miss =
                    Mismatch::new("a run that can be checked", "no line that begins with `run` or `same as`");
                Assessment::Missed(vec![miss])
            }
        }
    }
}

/// Returns the mismatch if a run violates a property, otherwise `None`.
fn miss(property: &Property, round_trip: &RoundTrip) -> Option<Mismatch> {
    match property {
        Property::Restored => unrestored(round_trip),
        Property::NoGarbage => undeclared(round_trip).or_else(|| declared(round_trip)),
        Property::ErasesNothing => erased(round_trip),
        Property::NoHistory if round_trip.needs_history() => Some(Mismatch::new(
            "0 bytes of history",
            "a backward run that needs a history of the erased bits",
        )),
        Property::NoHistory => (round_trip.history_bytes > 0).then(|| kept(round_trip)),
        Property::AtMost(steps) => {
            let miss = || Mismatch::new(property.to_string(), counted(round_trip.steps, "step"));
            (round_trip.steps > *steps).then(miss)
        }
        // This property concerns the text, not a run.
        Property::UsesNo(_) => None,
    }
}

/// Returns a mismatch if the run doesn't restore its initial state bit for bit.
pub(crate) fn unrestored(round_trip: &RoundTrip) -> Option<Mismatch> {
    let expected = "the initial state, bit for bit";
    match &round_trip.homecoming {
        RoundTripEnd::Same => None,
        RoundTripEnd::Near(cell) => Some(Mismatch::new(expected, format!("{cell}: floats have lost bits"))),
        RoundTripEnd::Elsewhere(cell) => Some(Mismatch::new(expected, cell.clone())),
        RoundTripEnd::Halted(halt) => Some(halted(expected, halt)),
    }
}

/// Returns the mismatch for a backward run that stopped early. A trap of the backward run counts as a wrong value,
/// because the line expects the restored state.
fn halted(expected: &str, halt: &Halt) -> Mismatch {
    let reason = match halt.reason() {
        MissReason::Trap => MissReason::Value,
        reason => reason,
    };
    let trap: Option<Box<Explanation>> = halt.explanation();
    Mismatch::new(expected, format!("in the backward run: {halt}")).because(reason).trapped(trap)
}

fn undeclared(round_trip: &RoundTrip) -> Option<Mismatch> {
    (!round_trip.garbage.is_empty()).then(|| Mismatch::new(NO_GARBAGE, round_trip.garbage.join("; ")))
}

fn declared(round_trip: &RoundTrip) -> Option<Mismatch> {
    let found = || format!("declared garbage: {}", round_trip.declared_garbage.join("; "));
    (!round_trip.declared_garbage.is_empty()).then(|| Mismatch::new(NO_GARBAGE, found()))
}

fn erased(round_trip: &RoundTrip) -> Option<Mismatch> {
    let miss =
        || Mismatch::new("nothing erased", format!("{} erased", counted(round_trip.erased_bits, "bit")));
    (round_trip.erased_bits > 0).then(miss)
}

fn kept(round_trip: &RoundTrip) -> Mismatch {
    Mismatch::new("0 bytes of history", counted(round_trip.history_bytes as u64, "byte"))
}
