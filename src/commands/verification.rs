//! `--verify` for the commands that differentiate.

use reviver_vm::CheckLevel;
use reviver_vm::differentiate::check::Check;
use reviver_vm::differentiate::{DifferentiateError, Subject};
use reviver_vm::reports::{Loss, Reports};

use crate::cli::Start;
use crate::failure::{Failure, Fallible};
use crate::output::verified::CheckReport;
use crate::subject;

/// Outcome of `--verify`.
#[derive(Default)]
pub struct Verification {
    /// Comparison of the derivatives; `None` if it wasn't requested, or couldn't be completed.
    pub check: Option<Check>,
    /// Failure for derivatives that were computed, but couldn't be verified.
    unverified: Option<Failure>,
}

impl Verification {
    /// Runs `compare`, which compares derivatives with tangents and finite differences. An unchecked subject is
    /// compared in checked mode.
    pub fn of(
        start: &Start,
        subject: &Subject,
        compare: impl FnOnce(&Subject) -> Result<Check, DifferentiateError>,
    ) -> Verification {
        let check = match subject.level {
            CheckLevel::Checked => compare(subject),
            CheckLevel::Unchecked => compare(&subject.checked()),
        };
        match check {
            Ok(check) => Verification { check: Some(check), unverified: None },
            Err(error) => Verification { check: None, unverified: Some(unverified(start, subject, error)) },
        }
    }

    /// Adds to `reports` the lost derivatives that only the tangent runs of the comparison detect.
    pub fn add_seen(&self, reports: &mut Reports) {
        let seen = self.check.iter().flat_map(|check| check.reports.iter());
        for (at, loss, tally) in seen.filter(|(_, loss, _)| ONLY_SEEN_FORWARD.contains(loss)) {
            reports.add(at, loss, tally);
        }
    }

    /// Returns a failure if the derivatives couldn't be verified, or if the comparison found a mismatch. Otherwise
    /// returns `otherwise`, the verdict on the rest of the command.
    pub fn verdict(&mut self, reported: Option<&CheckReport>, otherwise: Fallible) -> Fallible {
        if let Some(unverified) = self.unverified.take() {
            return Err(unverified);
        }
        reported.map_or(Ok(()), CheckReport::verdict).and(otherwise)
    }
}

/// Failure for derivatives that were computed, but couldn't be verified.
fn unverified(start: &Start, subject: &Subject, error: DifferentiateError) -> Failure {
    match error {
        DifferentiateError::Interrupted { .. } => {
            subject::interrupted(&"stopped before the derivatives were verified")
        }
        error => subject::failure(start, &subject.program, error),
    }
}

/// Kinds of lost derivatives that only forward mode detects. For example, a freed cell with adjoint 0 seems irrelevant
/// to a reverse sweep, but may still depend on an input.
const ONLY_SEEN_FORWARD: [Loss; 2] = [Loss::FreedWithTangent, Loss::ConvertedWithTangent];
