//! What the comparison of a gradient with tangents and differences came to: in words, and as JSON.

use std::fmt::Write as _;

use reviver_vm::differentiate::Subject;
use reviver_vm::differentiate::check::{Check, Comparison, Estimate};
use serde_json::{Value as Json, json};

/// One line for stdout.
pub fn line(check: &Check) -> String {
    match &check.comparisons[..] {
        [] => "not verified: there is no real input\n".into(),
        [one] => format!("verified: tangent {:?}, {}\n", one.tangent.value, differences(one)),
        many => summary(many),
    }
}

fn differences(comparison: &Comparison) -> String {
    match comparison.difference {
        Some(Estimate { value, error }) => format!("differences {value:?} ± {}", size(error)),
        None => PATH.into(),
    }
}

/// One digit of an error.
fn size(error: f64) -> String {
    if error == 0.0 { "0".into() } else { format!("{error:.0e}") }
}

/// Why there are no differences.
const PATH: &str = "no differences (the slightest change of the inputs takes another path)";

fn summary(comparisons: &[Comparison]) -> String {
    let deviation = |estimate: Estimate, comparison: &Comparison| (estimate.value - comparison.adjoint).abs();
    let tangent = comparisons.iter().map(|c| deviation(c.tangent, c)).fold(0.0, f64::max);
    let compared: Vec<f64> =
        comparisons.iter().filter_map(|c| c.difference.map(|d| deviation(d, c))).collect();
    let (directions, tangent) = (comparisons.len(), size(tangent));
    let mut text = format!("verified: {directions} directions, tangents differ by at most {tangent}");
    if let Some(most) = compared.iter().copied().reduce(f64::max) {
        let _ = write!(text, ", differences by at most {}", size(most));
    }
    match comparisons.len() - compared.len() {
        0 => {}
        without if without == comparisons.len() => {
            let _ = write!(text, ", {PATH}");
        }
        without => {
            let _ = write!(text, "; {without} without differences: the slightest change takes another path");
        }
    }
    text + "\n"
}

/// Every disagreement, one a line: which input, both numbers, and the error that would have been fine.
pub fn disagreements(
    subject: &Subject,
    name: impl Fn(usize) -> Option<String>,
    check: &Check,
) -> Vec<String> {
    let mut lines = Vec::new();
    for comparison in &check.comparisons {
        let input = match comparison.input.and_then(&name) {
            Some(name) => format!("for `{name}`"),
            None => "moving all inputs at once".into(),
        };
        let others = [("dual numbers", Some(comparison.tangent)), ("differences", comparison.difference)];
        for (how, estimate) in others {
            let Some(Estimate { value, error }) = estimate else { continue };
            if (value - comparison.adjoint).abs() > error {
                let adjoint = comparison.adjoint;
                let error = size(error);
                lines.push(format!("{input}: the gradient says {adjoint:?}, {how} say {value:?} ± {error}"));
            }
        }
        if comparison.difference.is_none() && !comparison.agrees() {
            lines.push(format!("{input}: {PATH}"));
        }
    }
    lines.extend(rules(subject));
    lines
}

/// Where there are custom rules, one of them may be wrong.
fn rules(subject: &Subject) -> Option<String> {
    let procedures = &subject.program.module().procedures;
    let named: Vec<String> =
        procedures.iter().filter(|p| p.rule.is_some()).map(|p| format!("`{}`", p.name)).collect();
    let custom = named.join(", ");
    (!named.is_empty()).then(|| format!("the adjoint of {custom} is a rule of its own: is it right?"))
}

pub fn json(check: &Check, name: impl Fn(usize) -> Option<String>) -> Json {
    let estimate = |e: Estimate| json!({ "value": e.value, "error": e.error });
    let comparison = |c: &Comparison| {
        json!({
            "input": c.input.and_then(&name),
            "adjoint": c.adjoint,
            "tangent": estimate(c.tangent),
            "difference": c.difference.map(estimate),
        })
    };
    let comparisons: Vec<Json> = check.comparisons.iter().map(comparison).collect();
    json!({ "agrees": check.agrees(), "comparisons": comparisons })
}
