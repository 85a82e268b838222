//! Warnings about the errors that [certain](crate::certain) finds, in terms of the source text.

use std::collections::HashSet;

use reviver_isa::Module;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Operand;
use reviver_isa::module::{Global, Role, Values};
use reviver_isa::structure::{Block, BlockKind};
use reviver_isa::text::TextRenderer;

use super::own::is_own;
use crate::certain::{Finding, findings};
use crate::diagnostic::{Collection, Diagnostic};
use crate::lower::Lowered;
use crate::source::Span;

/// Adds a warning for each certain error. Returns the indices of the globals that have such a warning.
pub(super) fn globals(lowered: &Lowered, warnings: &mut Collection) -> HashSet<u32> {
    let mut spoken = HashSet::new();
    let mut said = HashSet::new();
    for finding in findings(&lowered.module) {
        let Some(warning) = in_words(lowered, finding) else { continue };
        let place = warning.primary.span;
        if is_own(place) && said.insert(place) {
            warnings.add(warning);
            if let Finding::Ends { global, .. } | Finding::EndsAsGiven { global, .. } = finding {
                spoken.insert(global);
            }
        }
    }
    spoken
}

fn in_words(lowered: &Lowered, finding: Finding) -> Option<Diagnostic> {
    let module = &lowered.module;
    let cell = |number: u32| {
        let global = module.globals.get(number as usize)?;
        Some((global, *lowered.globals.get(number as usize)?))
    };
    match finding {
        Finding::Ends { global, value } => {
            let (global, place) = cell(global)?;
            Some(left_over(global, place, &format!("always ends at {value}")))
        }
        Finding::EndsAsGiven { global, given, plus } => {
            let (own, place) = cell(global)?;
            let plus = match plus {
                0 => String::new(),
                plus if plus < 0 => format!(", minus {}", plus.unsigned_abs()),
                plus => format!(", plus {plus}"),
            };
            if global != given {
                let (given, given_place) = cell(given)?;
                let ends = format!("always ends with the input value of `{}`{plus}", given.name);
                return Some(left_over(own, place, &ends).with(given_place, "declared here"));
            }
            Some(left_over(own, place, &format!("ends with its input value{plus}")))
        }
        Finding::Falls { from, left } => broken(lowered, None, from, left),
        Finding::Jumps { br, from, left } => broken(lowered, Some(br), from, left),
    }
}

/// Returns the warning about a global that can't end as required.
fn left_over(global: &Global, place: Span, ends: &str) -> Diagnostic {
    let (name, directive) = (&global.name, global.role.directive());
    let must = match &global.initial {
        Values::Ints(list) => list.first().map_or_else(|| "0".to_owned(), ToString::to_string),
        Values::Reals(list) => list.first().map_or_else(|| "0".to_owned(), ToString::to_string),
    };
    let (message, help) = match global.role {
        Role::In => (
            format!("the input `{name}` isn't cleared: it {ends}"),
            format!(
                "restore the initial value of `{name}` from the results, or declare `.inout {name}`, so that it is also a result"
            ),
        ),
        _ => (
            format!("`{name}` is left over: it {ends}"),
            "undo the statements that changed it, in the opposite order, or declare it `.out` or `.garbage`"
                .to_owned(),
        ),
    };
    let label = format!("a `{directive}` cell must end at {must}");
    Diagnostic::warning(ProblemCode::LeftOver, message, place, label).help(help)
}

/// Returns the warning about a branch pair that must trap. If `br` is present, the pair traps whenever the
/// `br` jumps; otherwise it traps whenever control reaches the `from` from above. `left` is the value of the
/// condition's left side, if known.
fn broken(lowered: &Lowered, br: Option<u32>, from: u32, left: Option<i64>) -> Option<Diagnostic> {
    let module = &lowered.module;
    let place = *lowered.spans.get(from as usize)?;
    let (message, label, opener, help) = match statement(module, from) {
        Some(block) if matches!(block.kind, BlockKind::If { .. }) => of_if(block, br),
        Some(_) => of_loop(br),
        None => (
            "this `from` must trap".to_owned(),
            match br {
                Some(_) => "always false after a jump of its `br`",
                None => "always true when the `from` is reached from above",
            },
            br,
            "write a condition that holds exactly when the `br` jumped",
        ),
    };
    let value =
        left.and_then(|value| Some(format!(": `{}` is {value} at this point", left_name(module, from)?)));
    let label = format!("{label}{}", value.unwrap_or_default());
    let warning = Diagnostic::warning(ProblemCode::JoinBreaks, message, place, label).help(help);
    let opener = opener.and_then(|at| lowered.spans.get(at as usize)).filter(|span| **span != place);
    Some(match opener {
        Some(span) => warning.with(*span, "the other condition"),
        None => warning,
    })
}

type FindingWords = (String, &'static str, Option<u32>, &'static str);

fn of_if(block: &Block, br: Option<u32>) -> FindingWords {
    const HELP: &str = "write a condition that is true after the first body and false otherwise: `fi` must hold exactly when the first body ran";
    let has_else = block.seams.len() > 2;
    // Without an `else`, control reaches the `fi` from above after the first body. With an `else`, the first body ends
    // with a jump to the `fi`.
    let first_ran = br.is_some() == has_else;
    let (message, label) = match first_ran {
        true => ("this `fi` is false after the first body", "false whenever the first body has run"),
        false => ("this `fi` holds without the first body", "true although the first body has not run"),
    };
    (message.to_owned(), label, Some(block.start()), HELP)
}

fn of_loop(br: Option<u32>) -> FindingWords {
    const HELP: &str =
        "write a condition that is true on the first iteration, and false on every other iteration";
    let (message, label) = match br {
        None => ("this loop can't be entered", "false whenever the loop is reached"),
        Some(_) => ("this loop can't have a second iteration", "true whenever another iteration begins"),
    };
    (message.to_owned(), label, None, HELP)
}

/// Returns the block of a statement that tests its condition by this `from`.
fn statement(module: &Module, from: u32) -> Option<&Block> {
    let tests = |block: &&Block| match block.kind {
        BlockKind::If { .. } => block.seams.last().is_some_and(|seam| seam.contains(from)),
        BlockKind::Loop { .. } => block.seams.first().is_some_and(|seam| seam.contains(from)),
        _ => false,
    };
    module.structure.blocks.iter().rfind(tests)
}

/// Returns the text of the operand on the left of a condition if it is a cell or an adjoint, otherwise
/// `None`.
fn left_name(module: &Module, at: u32) -> Option<String> {
    let procedure = module.procedures.iter().find(|p| p.entry < at && at < p.exit)?;
    let operand = module.code.get(at as usize)?.operands.first()?;
    matches!(operand, Operand::Place(_)).then(|| TextRenderer { module, procedure }.operand(operand))
}
