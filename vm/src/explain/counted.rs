//! Explanations of traps in `for` loops: a counter misses the end, or the body has changed the counter or a bound.

use reviver_isa::instruction::{Base, Operand, Place};
use reviver_isa::structure::{Block, Counting};

use super::vacancy::ChangedValue;
use super::{Explainer, ExplanationText};
use crate::codes::TrapCode;
use crate::state::values::Value;
use crate::trap::Cause;

impl Explainer<'_> {
    /// Explains a trap at one of the loop's seams; returns `None` if the loop isn't the cause.
    pub(super) fn counted(&self, block: &Block, counting: &Counting, seam: usize) -> Option<ExplanationText> {
        let reported = match self.trap.cause {
            Cause::NotVacant { .. } if self.vacated() == Some(counting.counter) => {
                self.missed(block, counting)?
            }
            Cause::NotVacant { .. } => self.changed_bound(block)?,
            Cause::UnexpectedFall | Cause::UnexpectedJump { .. } => self.confused(block, counting),
            _ => return None,
        };
        let words = self.renderer().words(block, 0);
        let (head, here) = (block.place(0), block.place(seam));
        let end = self.other(block.place(1), "rof", "checked here");
        let others = if head == here { Vec::new() } else { end.into_iter().collect() };
        let place = (head.line > 0).then_some(head);
        Some(ExplanationText {
            code: Some(TrapCode::CountMissed),
            words: Some(words),
            place,
            others,
            ..reported
        })
    }

    /// Returns the counter's name and its value at the start of iteration `iteration`, counted from 0.
    pub(super) fn counter_in_iteration(&self, counting: &Counting, iteration: u32) -> Option<(String, i64)> {
        let up = self.is_backward() == counting.reversed;
        let (from, to) = (self.integer(&counting.from)?, self.integer(&counting.to)?);
        let step = i64::from(counting.step).wrapping_mul(if from <= to { 1 } else { -1 });
        let made = step.wrapping_mul(i64::from(iteration));
        let value = if up { from.wrapping_add(made) } else { to.wrapping_sub(step).wrapping_sub(made) };
        let name = self.renderer().name(Base::Frame(counting.counter));
        Some((name.to_owned(), self.wrapped(value)))
    }

    fn integer(&self, operand: &Operand) -> Option<i64> {
        match self.valued().value(operand)? {
            Value::Int(value) => Some(value),
            Value::Real(_) => None,
        }
    }

    /// Wraps an integer to the word size of the program.
    pub(super) fn wrapped(&self, value: i64) -> i64 {
        let shift = 64 - self.program.module().word.bits();
        (value << shift) >> shift
    }

    /// Formats a bound, for example "n, which is 10", or "10"; returns its value too.
    fn bound_text(&self, bound: &Operand) -> Option<(String, i64)> {
        let value = self.integer(bound)?;
        let text = self.renderer().operand(bound);
        let is_plain = matches!(bound, Operand::Int(_));
        Some((if is_plain { text } else { format!("{text}, which is {value}") }, value))
    }

    /// Explains a counter that doesn't have its end value after the last iteration.
    fn missed(&self, block: &Block, counting: &Counting) -> Option<ExplanationText> {
        // The trapped instruction has subtracted the end bound from the counter, so the bound is added back here.
        let up = self.is_backward() == counting.reversed;
        let (ends, begins) = if up { (&counting.to, &counting.from) } else { (&counting.from, &counting.to) };
        let (said, end) = self.bound_text(ends)?;
        let begin = self.integer(begins)?;
        let counter = Operand::Place(Place::scalar(Base::Frame(counting.counter)));
        let value = self.wrapped(self.integer(&counter)?.wrapping_add(end));
        let name = self.renderer().name(Base::Frame(counting.counter));
        let (step, distance) = (i128::from(counting.step), i128::from(end) - i128::from(begin));
        let misses = distance % step != 0;
        let words = self.renderer().words(block, 0);
        let undone = if self.undoes(block) { "in reverse, " } else { "" };
        let message = format!("{undone}`{words}` ends with {name} = {value}, not at {said}");
        let why = if misses {
            format!("steps of {step} from {begin} miss {end}")
        } else {
            format!("the body has changed {name} or a bound: {name} began at {begin}")
        };
        let help = if misses {
            let over = distance % step;
            let near = i128::from(end) - over;
            format!(
                "choose an end that is a whole number of steps away: {near} or {}",
                near + step * distance.signum()
            )
        } else {
            format!("change neither {name} nor the bounds in the body, not even through parameters or arrays")
        };
        Some(ExplanationText {
            message,
            label: why,
            values: vec![(name.to_owned(), self.program.text(Value::Int(value)))],
            help: Some(help),
            ..ExplanationText::default()
        })
    }

    /// Explains a bound that has a different value after the loop than before it.
    fn changed_bound(&self, block: &Block) -> Option<ExplanationText> {
        let ChangedValue { expression, was, values } = self.changed()?;
        let words = self.renderer().words(block, 0);
        let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(" or ");
        Some(ExplanationText {
            message: format!("the bound {expression} of `{words}` {was}: the body has changed {names}"),
            label: format!("{expression} {was}"),
            help: Some(format!(
                "leave {names} unchanged in the body: a backward run needs the value from the start of the loop"
            )),
            values,
            ..ExplanationText::default()
        })
    }

    /// Explains a loop that is entered or left although the values of its counter and its bounds don't permit that.
    fn confused(&self, block: &Block, counting: &Counting) -> ExplanationText {
        let counter = Operand::Place(Place::scalar(Base::Frame(counting.counter)));
        let values = self.named_values([&counter, &counting.from, &counting.to]);
        let words = self.renderer().words(block, 0);
        ExplanationText {
            message: format!(
                "the iterations of `{words}` don't fit its counter and bounds{}",
                super::because(&values)
            ),
            label: "the body has changed the counter or a bound".to_owned(),
            values,
            help: Some(
                "change neither the counter nor the bounds in the body, not even through parameters"
                    .to_owned(),
            ),
            ..ExplanationText::default()
        }
    }
}
