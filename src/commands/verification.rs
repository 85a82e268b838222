//! `--verify`, of the commands that differentiate.

use reviver_vm::CheckLevel;
use reviver_vm::differentiate::check::Check;
use reviver_vm::differentiate::{DifferentiateError, Subject};
use reviver_vm::reports::{Loss, Reports};

use crate::cli::Start;
use crate::failure::{Failure, Fallible};
use crate::output::verified::CheckTold;
use crate::subject;

/// What `--verify` came to.
#[derive(Default)]
pub struct Verification {
    /// None if it isn't asked for, or was stopped.
    pub check: Option<Check>,
    /// Why derivatives that are known weren't compared with anything.
    unverified: Option<Failure>,
}

impl Verification {
    /// Compares derivatives with what is found with everything checked.
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

    /// Adds what only the tangent runs could see.
    pub fn add_seen(&self, reports: &mut Reports) {
        let seen = self.check.iter().flat_map(|check| check.reports.iter());
        for (at, loss, tally) in seen.filter(|(_, loss, _)| ONLY_SEEN_FORWARD.contains(loss)) {
            reports.add(at, loss, tally);
        }
    }

    /// Fails where derivatives aren't verified; else the verdict is `otherwise`.
    pub fn verdict(&mut self, told: Option<&CheckTold>, otherwise: Fallible) -> Fallible {
        if let Some(unverified) = self.unverified.take() {
            return Err(unverified);
        }
        told.map_or(Ok(()), CheckTold::verdict).and(otherwise)
    }
}

/// Why derivatives that are known weren't compared with anything.
fn unverified(start: &Start, subject: &Subject, error: DifferentiateError) -> Failure {
    match error {
        DifferentiateError::Interrupted { .. } => {
            subject::interrupted(&"stopped before the derivatives were verified")
        }
        error => subject::failure(start, &subject.program, error),
    }
}

/// A conversion whose result nothing depends on by its adjoint may still depend on an input.
const ONLY_SEEN_FORWARD: [Loss; 2] = [Loss::FreedWithTangent, Loss::ConvertedWithTangent];
