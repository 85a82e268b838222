//! Verification reports of derivatives: the reason if the reverse sweep was repeated, and the lost derivatives. Notes
//! and warnings for users, JSON members for programs, and the verdict of `--strict`.

use std::fmt::Write as _;

use reviver_vm::differentiate::{Divergence, VerificationReport};
use reviver_vm::{CheckLevel, Program};
use serde_json::{Map, Value as Json};

use super::losses::{self, LossSpot, ReportedLoss, reported};
use crate::failure::{Exit, Failure, Fallible, counted};

/// Verification report of derivatives, prepared for output.
pub struct VerificationText<'a> {
    verification_report: &'a VerificationReport,
    reported: Vec<ReportedLoss>,
    /// Source place at which the reverse sweep diverged, if the divergence was detected at a single instruction.
    spot: Option<LossSpot>,
}

impl<'a> VerificationText<'a> {
    pub fn new(program: &Program, verification_report: &'a VerificationReport) -> VerificationText<'a> {
        let spot =
            verification_report.recomputed.as_ref().and_then(place).and_then(|at| LossSpot::of(program, at));
        VerificationText {
            verification_report,
            reported: reported(program, &verification_report.reports),
            spot,
        }
    }

    /// Returns the warnings for standard error.
    pub fn warnings(&self, file: &str) -> String {
        let mut text = losses::warnings(&self.reported, file);
        if let Some(divergence) = &self.verification_report.recomputed {
            let _ = writeln!(
                text,
                "note: the reverse sweep was repeated with a history, so the derivatives are those of the primal sweep"
            );
            text.extend(self.spot.as_ref().map(|spot| spot.text(file)));
            let _ = writeln!(text, "   = without a history, {divergence}");
        }
        text
    }

    /// Returns a line of text if the reverse sweep wasn't verified, otherwise an empty text.
    pub fn line(&self) -> &'static str {
        match self.verification_report.loss_error {
            Some(_) => "",
            None => "unchecked: the reverse sweep wasn't verified\n",
        }
    }

    /// Returns the JSON members of the report. `level` is among them only for unchecked derivatives.
    pub fn members(&self) -> Map<String, Json> {
        let mut members = Map::new();
        if self.verification_report.loss_error.is_none() {
            members.insert("level".into(), CheckLevel::Unchecked.name().into());
        }
        members.insert("reported".into(), self.reported());
        members.insert("loss_error".into(), self.verification_report.loss_error.into());
        members.insert("mended".into(), self.recomputed());
        members
    }

    /// Returns the lost derivatives as JSON, one entry for each place.
    pub fn reported(&self) -> Json {
        self.reported.iter().map(ReportedLoss::json).collect()
    }

    /// Returns the verdict of `--strict`: a failure if `strict` is true and relevant derivatives were lost.
    pub fn verdict(&self, strict: bool) -> Fallible {
        if !strict || self.reported.is_empty() {
            return Ok(());
        }
        let places = counted(self.reported.len(), "place");
        let message =
            format!("the derivatives may be wrong: values that affect the derivatives were lost at {places}");
        Err(Failure::new(Exit::Check, message)
            .help("see the warnings for the places; leave `--strict` out to get only warnings"))
    }

    fn recomputed(&self) -> Json {
        let Some(divergence) = &self.verification_report.recomputed else { return Json::Null };
        let mut members = Map::new();
        members.insert("why".into(), divergence.name().into());
        members.insert("message".into(), divergence.to_string().into());
        members.extend(self.spot.iter().flat_map(LossSpot::json));
        Json::Object(members)
    }
}

/// Returns the index of the instruction at which a reverse sweep diverged. `None` if the divergence wasn't detected at
/// a single instruction.
fn place(divergence: &Divergence) -> Option<u32> {
    match divergence {
        Divergence::Freed(freed) => Some(freed.at),
        Divergence::Trap(explanation) => Some(explanation.at),
        Divergence::Path
        | Divergence::Before
        | Divergence::Missed { .. }
        | Divergence::Sensitive { .. }
        | Divergence::Changed { .. } => None,
    }
}
