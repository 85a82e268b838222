//! Comparison of derivatives with tangents and finite differences, in words and as JSON.

use std::fmt::Write as _;

use reviver_vm::Program;
use reviver_vm::differentiate::check::{Check, Comparison, Estimate, Unverified, Verdict};
use serde_json::{Map, Value as Json, json};

use crate::failure::{Exit, Failure, Fallible};

/// Comparison of derivatives, with the names of the program's inputs and results.
pub struct CheckReport<'a> {
    pub program: &'a Program,
    pub check: &'a Check,
    /// Noun phrase for the compared derivatives, for example ``the gradient of `y` ``.
    pub what: &'a str,
    /// Returns the name of the input at an index.
    pub input: &'a dyn Fn(usize) -> Option<String>,
    /// Returns the name of the result at an index. Returns `None` if there is only one result.
    pub output: &'a dyn Fn(usize) -> Option<String>,
}

impl CheckReport<'_> {
    /// Returns a line for standard output if all derivatives are verified. Otherwise returns an empty text;
    /// [`CheckReport::verdict`] has the mismatches.
    pub fn line(&self) -> String {
        match (self.check.verdict(), &self.check.comparisons[..]) {
            (Verdict::Differs | Verdict::NotVerified(_), _) | (_, []) => String::new(),
            (Verdict::Verified, [one]) => {
                let tangent = one.tangent.map(|tangent| format!("tangent {:?}, ", tangent.value));
                format!("verified: {}{}\n", tangent.unwrap_or_default(), differences(one))
            }
            (Verdict::Verified, many) => summary(many),
        }
    }

    /// Returns a failure unless all derivatives are verified.
    pub fn verdict(&self) -> Fallible {
        let message = match self.check.verdict() {
            Verdict::Verified => return Ok(()),
            Verdict::Differs => format!("{} failed the verification", self.what),
            Verdict::NotVerified(Unverified::NoInput) => {
                format!("{} is not verified: there is no real input", self.what)
            }
            Verdict::NotVerified(_) => format!("{} is not verified", self.what),
        };
        let mut failure = Failure::new(Exit::Check, message);
        for line in self.lines() {
            failure.push_line(&format!("  = {line}"));
        }
        Err(failure)
    }

    /// Lists the mismatches or, if there are none, the derivatives that couldn't be compared. Each line has the
    /// input, both numbers, and the tolerated error.
    pub fn lines(&self) -> Vec<String> {
        let differs = self.check.verdict() == Verdict::Differs;
        let shown = |comparison: &&Comparison| (comparison.verdict() == Verdict::Differs) == differs;
        let mut lines = Vec::new();
        for comparison in self.check.comparisons.iter().filter(shown) {
            match comparison.verdict() {
                Verdict::Verified => {}
                Verdict::Differs => self.disagreements(comparison, &mut lines),
                Verdict::NotVerified(Unverified::Kink) => lines.push(self.kink(comparison)),
                Verdict::NotVerified(_) => {
                    lines.push(format!("{}: {NO_DIFFERENCES}", self.direction(comparison)))
                }
            }
        }
        if differs {
            lines.extend(rules(self.program));
        }
        lines
    }

    fn disagreements(&self, comparison: &Comparison, lines: &mut Vec<String>) {
        let (direction, derivative) = (self.direction(comparison), comparison.derivative);
        let tangents = comparison.tangent.into_iter().map(|tangent| ("dual numbers", tangent));
        let differences = comparison.differences().map(|difference| ("differences", difference));
        for (how, estimate) in tangents.chain(differences) {
            if !comparison.is_close(estimate) {
                let Estimate { value, error } = estimate;
                let error = size(error);
                lines.push(format!(
                    "{direction}: {} says {derivative:?}, {how} say {value:?} ± {error}",
                    self.noun(comparison)
                ));
            }
        }
        if comparison.differences().next().is_none() {
            lines.push(format!("{direction}: {NO_DIFFERENCES}"));
        }
    }

    fn kink(&self, comparison: &Comparison) -> String {
        let side = |side: Option<Estimate>| side.map_or_else(String::new, |side| format!("{:?}", side.value));
        let [below, above] = comparison.sides.map(side);
        format!(
            "{}: there is a kink: {} says {:?}, differences say {below} below and {above} above",
            self.direction(comparison),
            self.noun(comparison),
            comparison.derivative
        )
    }

    /// Returns the noun for the compared derivative: "the derivative" if there are several outputs, otherwise "the
    /// gradient".
    fn noun(&self, comparison: &Comparison) -> &'static str {
        if (self.output)(comparison.output).is_some() { "the derivative" } else { "the gradient" }
    }

    /// Describes the compared derivative: the output, and the input that was changed, or that all inputs were changed
    /// at once.
    fn direction(&self, comparison: &Comparison) -> String {
        let output = (self.output)(comparison.output).map(|name| format!("`{name}` ")).unwrap_or_default();
        match comparison.input.and_then(self.input) {
            Some(name) => format!("{output}for `{name}`"),
            None => format!("{output}for all inputs changed at once"),
        }
    }

    /// Returns the member `verify` of the command's object.
    pub fn member(&self) -> Map<String, Json> {
        [("verify".to_owned(), Json::Object(self.members()))].into_iter().collect()
    }

    /// Returns the members `agrees`, `why` and `comparisons`.
    pub fn members(&self) -> Map<String, Json> {
        let estimate = |e: Estimate| json!({ "value": e.value, "error": e.error });
        let comparison = |c: &Comparison| {
            let mut members = Map::new();
            members.extend((self.output)(c.output).map(|output| ("output".to_owned(), output.into())));
            members.insert("input".into(), c.input.and_then(self.input).into());
            members.insert("adjoint".into(), c.derivative.into());
            members.insert("tangent".into(), c.tangent.map(estimate).into());
            members.insert("difference".into(), c.difference.map(estimate).into());
            for (name, side) in ["below", "above"].into_iter().zip(c.sides) {
                members.insert(name.into(), side.map(estimate).into());
            }
            Json::Object(members)
        };
        let why = match self.check.verdict() {
            Verdict::Verified | Verdict::Differs => None,
            Verdict::NotVerified(why) => Some(why.name()),
        };
        let mut members = Map::new();
        members.insert("agrees".into(), self.check.agrees().into());
        members.insert("why".into(), why.into());
        members.insert("comparisons".into(), self.check.comparisons.iter().map(comparison).collect());
        members
    }
}

fn differences(comparison: &Comparison) -> String {
    let reported =
        comparison.differences().map(|Estimate { value, error }| format!("{value:?} ± {}", size(error)));
    format!("differences {}", reported.collect::<Vec<_>>().join(" and "))
}

/// Formats an error with one digit.
fn size(error: f64) -> String {
    if error == 0.0 { "0".into() } else { format!("{error:.0e}") }
}

/// Message for a derivative that no finite difference can confirm.
const NO_DIFFERENCES: &str =
    "no finite differences: at nearby inputs the program traps, or its result jumps or is too inexact";

fn summary(comparisons: &[Comparison]) -> String {
    let most = |estimates: &dyn Fn(&Comparison) -> Vec<Estimate>| {
        let deviations =
            comparisons.iter().flat_map(|c| estimates(c).into_iter().map(|e| (e.value - c.derivative).abs()));
        deviations.reduce(f64::max)
    };
    let mut text = format!("verified: {} directions", comparisons.len());
    if let Some(most) = most(&|c| c.tangent.into_iter().collect()) {
        let _ = write!(text, ", tangents differ by at most {}", size(most));
    }
    if let Some(most) = most(&|c| c.differences().collect()) {
        let _ = write!(text, ", differences by at most {}", size(most));
    }
    text + "\n"
}

/// Returns advice that names the procedures with custom derivative rules, because a rule may be wrong. `None` if
/// there are none.
fn rules(program: &Program) -> Option<String> {
    let procedures = &program.module().procedures;
    let named: Vec<String> =
        procedures.iter().filter(|p| p.rule.is_some()).map(|p| format!("`{}`", p.name)).collect();
    let custom = named.join(", ");
    (!named.is_empty()).then(|| format!("a rule computes the adjoint of {custom}: check the rule"))
}
