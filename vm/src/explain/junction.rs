//! Explanations of `if` and `from … until` whose condition contradicts the path that the machine took.

use reviver_isa::predicate::Predicate;
use reviver_isa::structure::{Block, BlockKind, Side, TextPlace};

use super::test::Tested;
use super::{Explainer, ExplanationText};
use crate::codes::TrapCode;
use crate::trap::Cause;

/// The advice if an `uncompute`, or an `undo` of a macro, reads other values than those that the undone statements
/// left.
const UNDONE: &str =
    "restore the values that the undone part left: a later statement has changed one of them";

impl Explainer<'_> {
    /// Explains a trap at one of the block's seams; returns `None` if the cause isn't one of the block's conditions.
    pub(super) fn junction(&self, block: &Block) -> Option<ExplanationText> {
        let is_wrong_way = matches!(
            self.trap.cause,
            Cause::UnexpectedFall | Cause::UnexpectedJump { .. } | Cause::NotVacant { .. }
        );
        let forward = !self.is_backward();
        let is_if = matches!(block.kind, BlockKind::If { .. });
        // Going forward, an `if` is checked at its `fi`, and a loop at its `from`. Going backward, an `if` is checked
        // at its beginning, and a loop at its `until`.
        let (failed, other) =
            if is_if == forward { (Side::Exit, Side::Entry) } else { (Side::Entry, Side::Exit) };
        let (predicate, place) = block.guard(failed).filter(|_| is_wrong_way)?;
        let tested = Tested { program: self.program, state: self.state, at: self.trap.at, predicate };
        let holds = tested.holds()?;
        let words = self.renderer().guard(block, failed);
        let verdict = if holds { "is true" } else { "is false" };
        let reasons = self.reasons(&tested);
        let path = if is_if {
            self.path_through_if(block, other, holds)
        } else {
            self.entry_of_loop(block, other, holds)
        };
        let came = path.phrase(self, place);
        let message = format!("{came}, but `{words}`{} {verdict}{reasons}", self.in_line(place));
        let other = path.place.and_then(|there| self.other(there, path.words.clone(), path.label()));
        Some(ExplanationText {
            code: Some(TrapCode::JoinRefused),
            message,
            words: Some(words),
            place: (place.line > 0).then_some(place),
            label: format!("{verdict}{reasons}"),
            others: other.into_iter().collect(),
            values: self.named_values(predicate.operands()),
            help: Some(if is_if { self.help_of_if(block) } else { self.help_of_loop(block) }),
            notes: Vec::new(),
        })
    }

    /// Explains a failed `assert` with several comparisons; returns `None` if the trap has another cause.
    pub(super) fn assertion_of(&self, condition: &Predicate) -> Option<ExplanationText> {
        if self.trap.cause != Cause::AssertFailed {
            return None;
        }
        let tested =
            Tested { program: self.program, state: self.state, at: self.trap.at, predicate: condition };
        let reasons = self.reasons(&tested);
        Some(ExplanationText {
            message: format!(
                "the assertion `{}` does not hold{reasons}",
                self.renderer().predicate(condition)
            ),
            label: format!("is false{reasons}"),
            values: self.named_values(condition.operands()),
            ..ExplanationText::default()
        })
    }

    /// Formats a line, for example " (line 31)"; empty if no line is known.
    fn in_line(&self, place: TextPlace) -> String {
        if place.line == 0 { String::new() } else { format!(" (line {})", place.line) }
    }

    /// Describes which body of an `if` was executed, and the condition that chose it.
    fn path_through_if(&self, block: &Block, chosen_by: Side, holds: bool) -> ConditionPath {
        let ran = !holds;
        let has_else = block.seams.len() > 2;
        let body = match (ran, has_else, self.undoes(block)) {
            (true, _, false) => "the first body ran",
            (false, true, false) => "the second body ran",
            (false, false, false) => "the first body didn't run",
            (true, _, true) => "the first body was undone",
            (false, true, true) => "the second body was undone",
            (false, false, true) => "the first body wasn't undone",
        };
        let position = match chosen_by {
            Side::Entry => block.start(),
            Side::Exit => block.end(),
        };
        ConditionPath { body, ..self.path(block, chosen_by, ran, Some(position)) }
    }

    /// Describes how the machine reached the start of a loop: from outside, or after an iteration.
    fn entry_of_loop(&self, block: &Block, goes_on_by: Side, holds: bool) -> ConditionPath {
        let body = match (holds, self.undoes(block)) {
            (false, false) => "the loop is entered here",
            (true, false) => "the loop begins another iteration",
            (false, true) => "the loop is entered from its end",
            (true, true) => "the loop begins to undo another iteration",
        };
        if !holds {
            return ConditionPath { body, ..ConditionPath::default() };
        }
        ConditionPath { body, ..self.path(block, goes_on_by, false, None) }
    }

    /// Describes a condition that decided the path, with its numbers at the time when the machine was at
    /// `position`. Without a position, the current numbers are used.
    fn path(&self, block: &Block, side: Side, held: bool, position: Option<u32>) -> ConditionPath {
        let Some((predicate, place)) = block.guard(side) else { return ConditionPath::default() };
        let words = self.renderer().guard(block, side);
        let then = position.map(|position| self.earlier(position));
        let state = match &then {
            None => Some(self.state),
            Some(state) => state.as_ref(),
        };
        let numbers = state.and_then(|state| {
            let tested = Tested { program: self.program, state, at: self.trap.at, predicate };
            // If the condition contradicts the path, the state has changed since the decision, so its numbers are
            // omitted.
            (tested.holds() == Some(held)).then(|| tested.in_numbers())
        });
        ConditionPath { body: "", words, place: Some(place), held, numbers }
    }

    fn help_of_if(&self, block: &Block) -> String {
        let has_else = block.seams.len() > 2;
        let help = match (self.undoes(block), has_else) {
            (false, false) => {
                "`fi` must be true after the body and false if the body was skipped: a backward run tests it to decide whether to undo the body"
            }
            (false, true) => {
                "`fi` must be true after the first body and false after the second: a backward run tests it to decide which body to undo"
            }
            (true, _) if block.undone => UNDONE,
            (true, _) => "no forward run ends with these values: `if` and `fi` disagree about which body ran",
        };
        help.to_owned()
    }

    fn help_of_loop(&self, block: &Block) -> String {
        let help = match self.undoes(block) {
            false => {
                "`from` must be true when the loop is entered and false after every iteration: a backward run tests it to decide where to stop"
            }
            true if block.undone => UNDONE,
            true => "no forward run ends with these values: `until` is true only after the last iteration",
        };
        help.to_owned()
    }
}

/// The path by which the machine reached a condition.
#[derive(Default)]
struct ConditionPath {
    body: &'static str,
    /// The condition that chose the path.
    words: String,
    place: Option<TextPlace>,
    held: bool,
    /// The condition with the numbers at the time of the decision.
    numbers: Option<String>,
}

impl ConditionPath {
    /// Formats the path, for example `the first body ran (line 28: 5 > 2)`.
    fn phrase(&self, explainer: &Explainer<'_>, here: TextPlace) -> String {
        let Some(place) = self.place else { return self.body.to_owned() };
        let numbers = self.numbers_text();
        let line = (place.line > 0).then(|| explainer.line(place, here));
        match (line, numbers) {
            (Some(line), Some(numbers)) => format!("{} ({line}: {numbers})", self.body),
            (Some(line), None) => format!("{} ({line})", self.body),
            (None, Some(numbers)) => format!("{} ({numbers})", self.body),
            (None, None) => self.body.to_owned(),
        }
    }

    fn numbers_text(&self) -> Option<String> {
        let numbers = self.numbers.as_ref()?;
        Some(if self.held { numbers.clone() } else { format!("{numbers} is false") })
    }

    fn label(&self) -> String {
        match self.numbers_text() {
            Some(numbers) => format!("{}: {numbers}", self.body),
            None => self.body.to_owned(),
        }
    }
}
