//! Expectations about runs: `run … -> …` and `back … -> …`. Each run is followed by a run in the opposite direction.

use reviver_isa::Module;
use reviver_vm::{Cause, Machine, drift};

use crate::assessment::{Mismatch, MissReason};
use crate::bounded::{Halt, go, is_meant};
use crate::comparison;
use crate::given::ReadyProgram;
use crate::grammar::{ExpectedEnd, ExpectedRun, RunResult};
use crate::properties::{OwnLines, unrestored, usual};
use crate::round_trip::{RoundTrip, RoundTripEnd};
use crate::settings::{TestLimits, TestSettings};
use crate::words::counted;

/// Outcome of checking a line about a run.
#[derive(Default)]
pub(crate) struct RunOutcome {
    pub misses: Vec<Mismatch>,
    /// The observations of the run, if it reached the end and the line expects results.
    pub round_trip: Option<RoundTrip>,
}

impl RunOutcome {
    fn missed(miss: Mismatch) -> RunOutcome {
        RunOutcome { misses: vec![miss], round_trip: None }
    }
}

/// Line about a run, with the data that its check needs.
pub(crate) struct RunAssessor<'a> {
    pub run: &'a ExpectedRun,
    pub own: OwnLines,
    pub limits: TestLimits,
}

/// Runs the program as a line says, and compares the outcome with the line.
pub(crate) fn assess(
    run: &ExpectedRun,
    module: &Module,
    own: OwnLines,
    settings: &TestSettings<'_>,
) -> RunOutcome {
    let ready = ReadyProgram::new(module, &run.given, settings);
    let machine = ready.and_then(|ready| ready.machine(&run.given, run.travel));
    let assessor = RunAssessor { run, own, limits: settings.limits };
    match (machine, &run.end) {
        (Err(error), ExpectedEnd::Refused(text)) if error.to_string().contains(text) => RunOutcome::default(),
        (Err(error), ExpectedEnd::Refused(text)) => {
            RunOutcome::missed(Mismatch::new(format!("an error with \"{text}\""), error.to_string()))
        }
        (Err(error), _) => RunOutcome::missed(error.missed()),
        (Ok(_), ExpectedEnd::Refused(text)) => {
            RunOutcome::missed(Mismatch::new(format!("an error with \"{text}\""), "no error"))
        }
        (Ok(machine), ExpectedEnd::Trap(text)) => {
            RunOutcome { misses: assessor.trap(machine, text).into_iter().collect(), round_trip: None }
        }
        (Ok(machine), ExpectedEnd::Results(results)) => assessor.results(machine, results),
    }
}

impl RunAssessor<'_> {
    /// Checks that a run traps as expected, and that running backward from the trap restores the start.
    fn trap(&self, mut machine: Machine, text: &str) -> Option<Mismatch> {
        let expected = format!("a trap with \"{text}\"");
        machine.keep_residues();
        let first = match machine.state().try_clone() {
            Ok(first) => first,
            Err(error) => return Some(Mismatch::new(expected, error.to_string())),
        };
        match go(&mut machine, self.run.travel, self.limits) {
            Ok(()) => return Some(Mismatch::new(expected, "a run without a trap")),
            Err(Halt::Trap { explanation, .. }) if is_meant(&explanation, text) => {}
            Err(halt) => return Some(halt.missed(expected)),
        }
        let clean = "a backward run that restores the start";
        match go(&mut machine, self.run.travel.reversed(), self.limits) {
            Err(halt) => Some(halt.missed(clean)),
            Ok(()) if drift::same(&first, machine.state()) => None,
            Ok(()) => Some(Mismatch::new(clean, "the start was not restored")),
        }
    }

    fn says(&self, word: &RunResult) -> bool {
        self.run.end.results().contains(word)
    }

    fn erases(&self) -> bool {
        self.run.end.results().iter().any(|result| matches!(result, RunResult::Erases(_)))
    }

    /// Returns true if the line has a word that permits an initial state that isn't restored exactly: `drifts`,
    /// `unrestored` or `erases`.
    fn is_lossy(&self) -> bool {
        self.says(&RunResult::Drifts) || self.says(&RunResult::Unrestored) || self.erases()
    }

    fn results(&self, mut machine: Machine, results: &[RunResult]) -> RunOutcome {
        let halted = |halt: Halt| RunOutcome::missed(halt.missed("the end"));
        let exact = if self.is_lossy() { machine.try_clone().map(Some) } else { Ok(None) };
        let exact = match exact {
            Ok(exact) => exact,
            Err(error) => return halted(error.into()),
        };
        let turned = match RoundTrip::begin(&mut machine, self.run.travel, self.limits) {
            Ok(turned) => turned,
            Err(halt) => return halted(halt),
        };
        let mut misses: Vec<Mismatch> =
            results.iter().filter_map(|result| self.result(&machine, result)).collect();
        let round_trip = match turned.back(&mut machine) {
            Ok(round_trip) => round_trip,
            Err(halt) => return halted(halt),
        };
        misses.extend(usual(&round_trip, self.own, self.run.given.exact));
        misses.extend(self.homecoming(&round_trip));
        misses.extend(exact.and_then(|exact| self.exactly(exact)));
        RunOutcome { misses, round_trip: Some(round_trip) }
    }

    fn result(&self, machine: &Machine, result: &RunResult) -> Option<Mismatch> {
        let program = machine.program();
        let unknown = |name: &str| {
            Some(
                Mismatch::new(format!("a cell `{name}`"), "no cell has this name")
                    .because(MissReason::MissingCell),
            )
        };
        match result {
            RunResult::Near { name, values } => match comparison::values(machine, name) {
                Some(found) => {
                    let found: Vec<f64> = found.into_iter().map(|value| program.approximate(value)).collect();
                    comparison::near(name, &found, values)
                }
                None => unknown(name),
            },
            RunResult::Equals { name, values } => match comparison::values(machine, name) {
                Some(found) => comparison::equal(program, name, &found, values),
                None => unknown(name),
            },
            RunResult::Tape(values) => {
                comparison::equal(program, "tape", &comparison::tape(machine, self.run.travel), values)
            }
            RunResult::Erases(bits) => {
                let found = machine.state().counters.erased_bits;
                (found != *bits).then(|| {
                    Mismatch::new(counted(*bits, "bit") + " erased", counted(found, "bit") + " erased")
                })
            }
            RunResult::Drifts | RunResult::Unrestored => None,
        }
    }

    /// Checks the final state of the round trip: restored, or different in the way that a word of the line expects.
    fn homecoming(&self, round_trip: &RoundTrip) -> Option<Mismatch> {
        let home = &round_trip.homecoming;
        if self.erases() {
            let expected = "a trap of the backward run at the erased value";
            return match home {
                RoundTripEnd::Halted(Halt::Trap { trap, .. }) if trap.cause == Cause::Irreversible => None,
                RoundTripEnd::Halted(halt) => Some(halt.missed(expected)),
                _ => Some(Mismatch::new(expected, "a backward run to the start")),
            };
        }
        if self.says(&RunResult::Unrestored) {
            let came_back = matches!(home, RoundTripEnd::Same | RoundTripEnd::Near(_));
            return came_back.then(|| Mismatch::new("a start that isn't restored", "a restored start"));
        }
        if self.says(&RunResult::Drifts) {
            return match home {
                RoundTripEnd::Near(_) => None,
                RoundTripEnd::Same => {
                    Some(Mismatch::new("a start that is restored approximately", "the start, bit for bit"))
                }
                RoundTripEnd::Elsewhere(_) | RoundTripEnd::Halted(_) => unrestored(round_trip),
            };
        }
        if self.own.restored { None } else { unrestored(round_trip) }
    }

    /// Checks that a run that loses bits restores its initial state exactly if it keeps a history.
    fn exactly(&self, mut machine: Machine) -> Option<Mismatch> {
        machine.keep_residues();
        let expected = "with a history, the initial state bit for bit";
        let journey = RoundTrip::begin(&mut machine, self.run.travel, self.limits);
        match journey.and_then(|turned| turned.back(&mut machine)) {
            Err(halt) => Some(halt.missed(expected)),
            Ok(round_trip) if machine.history_bytes() != 0 => {
                unrestored(&round_trip).or_else(|| Some(Mismatch::new(expected, "a leftover history")))
            }
            Ok(round_trip) => {
                unrestored(&round_trip).map(|miss| Mismatch { expected: expected.to_owned(), ..miss })
            }
        }
    }
}
