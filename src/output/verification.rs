//! Verification reports of derivatives: recomputation and lost values. Notes and warnings for users, JSON members for
//! programs, and the verdict of `--strict`.

use std::fmt::Write as _;

use reviver_vm::differentiate::{Divergence, VerificationReport};
use reviver_vm::{CheckLevel, Program};
use serde_json::{Map, Value as Json};

use super::losses::{self, LossSpot, ReportedLoss, reported};
use crate::failure::{Exit, Failure, Fallible, counted};

/// Verification report of some derivatives.
pub struct VerificationText<'a> {
    verification_report: &'a VerificationReport,
    reported: Vec<ReportedLoss>,
    /// Place of the divergence of the reverse sweep, if one instruction shows it.
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
            let _ = writeln!(text, "   = without one, {divergence}");
        }
        text
    }

    /// Returns the line for derivatives that weren't verified; empty for others.
    pub fn line(&self) -> &'static str {
        match self.verification_report.loss_error {
            Some(_) => "",
            None => "unchecked: the reverse sweep wasn't verified\n",
        }
    }

    /// Returns the members `level` (unless checked), `reported`, `loss_error` and `recomputed`.
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

    /// Returns the losses by place.
    pub fn reported(&self) -> Json {
        self.reported.iter().map(ReportedLoss::json).collect()
    }

    /// Returns the verdict of `--strict`.
    pub fn verdict(&self, strict: bool) -> Fallible {
        if !strict || self.reported.is_empty() {
            return Ok(());
        }
        let places = counted(self.reported.len(), "place");
        let message =
            format!("the derivatives may be wrong: values that affect the loss were lost at {places}");
        Err(Failure::new(Exit::Check, message)
            .help("the warnings name the places; without `--strict` there are only the warnings"))
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

/// Returns the index of the instruction that shows a divergence, if there is only one.
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
