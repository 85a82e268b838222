//! `for`: loops that miss their end, and counters or bounds that have changed.

use reviver_isa::instruction::{Base, Class, Operand, Place};
use reviver_isa::structure::{Block, Bound, Counting};
use reviver_isa::update::Update;

use super::{Explainer, Told};
use crate::state::lookup::cell_of;
use crate::state::values::Value;
use crate::trap::Cause;

impl Explainer<'_> {
    /// What a loop says about a trap at one of its seams.
    pub(super) fn counted(&self, block: &Block, counting: &Counting, seam: usize) -> Option<Told> {
        let told = match self.trap.cause {
            Cause::NotVacant { .. } if self.vacated() == Some(counting.counter) => {
                self.missed(block, counting)?
            }
            Cause::NotVacant { .. } => self.changed_bound(block, counting)?,
            Cause::UnexpectedFall | Cause::UnexpectedJump { .. } => self.confused(block, counting),
            _ => return None,
        };
        let words = self.speller().words(block, 0);
        let (head, here) = (block.place(0), block.place(seam));
        let end = self.other(block.place(1), "rof", "checked here");
        let others = if head == here { Vec::new() } else { end.into_iter().collect() };
        Some(Told { words: Some(words), place: (head.line > 0).then_some(head), others, ..told })
    }

    /// The variable of the frame that the instruction which trapped was to vacate.
    fn vacated(&self) -> Option<u32> {
        let instruction = self.instruction(self.trap.at);
        match instruction.operands.first()? {
            Operand::Place(Place { base: Base::Frame(variable), .. })
                if instruction.update == Update::Vacate =>
            {
                Some(*variable)
            }
            _ => None,
        }
    }

    fn integer(&self, operand: &Operand) -> Option<i64> {
        match operand {
            Operand::Int(value) => Some(*value),
            _ => match cell_of(self.program, self.state, self.trap.at, operand)? {
                (Class::Int, cell) => self.state.ints.get(cell as usize).copied(),
                (Class::Real, _) => None,
            },
        }
    }

    /// An integer as wide as the program's.
    fn wrapped(&self, value: i64) -> i64 {
        let shift = 64 - self.program.module().word.bits();
        (value << shift) >> shift
    }

    /// "n, which is 10", or "10".
    fn bound_said(&self, bound: &Bound) -> Option<(String, i64)> {
        let value = self.integer(&bound.operand())?;
        let text = self.speller().bound(bound);
        let is_plain = matches!(bound, Bound::Value(Operand::Int(_)));
        Some((if is_plain { text } else { format!("{text}, which is {value}") }, value))
    }

    /// The counter isn't where it must be when the rounds are over.
    fn missed(&self, block: &Block, counting: &Counting) -> Option<Told> {
        // The counter has been compared with the bound by taking it away.
        let up = self.is_backward() == counting.reversed;
        let (ends, begins) = if up { (&counting.to, &counting.from) } else { (&counting.from, &counting.to) };
        let (said, end) = self.bound_said(ends)?;
        let begin = self.integer(&begins.operand())?;
        let counter = Operand::Place(Place::scalar(Base::Frame(counting.counter)));
        let value = self.wrapped(self.integer(&counter)?.wrapping_add(end));
        let name = self.speller().name(Base::Frame(counting.counter));
        let (step, distance) = (i128::from(counting.step), i128::from(end) - i128::from(begin));
        let misses = distance % step != 0;
        let words = self.speller().words(block, 0);
        let undone = if self.undoes(block) { "undone, " } else { "" };
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
                "let the end be a whole number of steps away: {near} or {}",
                near + step * distance.signum()
            )
        } else {
            format!(
                "the body must leave {name} and the bounds as they are, also through parameters and arrays"
            )
        };
        Some(Told {
            message,
            label: why,
            values: vec![(name.to_owned(), self.program.text(Value::Int(value)))],
            help: Some(help),
            ..Told::default()
        })
    }

    /// A bound that was computed before the loop isn't the same behind it.
    fn changed_bound(&self, block: &Block, counting: &Counting) -> Option<Told> {
        let vacated = self.vacated()?;
        let is_it = |bound: &&Bound| matches!(bound, Bound::Sum { variable, .. } if *variable == vacated);
        let bound = [&counting.from, &counting.to].into_iter().find(is_it)?;
        let Bound::Sum { cell, offset, .. } = bound else { return None };
        let source = Operand::Place(Place::scalar(*cell));
        let now = self.wrapped(self.integer(&source)?.wrapping_add(*offset));
        let before = self.wrapped(self.integer(&bound.operand())?.wrapping_add(now));
        let (text, name) = (self.speller().bound(bound), self.speller().name(*cell));
        let words = self.speller().words(block, 0);
        Some(Told {
            message: format!(
                "the bound {text} of `{words}` was {before} and is {now}: the body has changed {name}"
            ),
            label: format!("{text} was {before} and is {now}"),
            values: self.named_values([&source]),
            help: Some(format!("the way back must find {name} as it was when the loop began")),
            ..Told::default()
        })
    }

    /// Rounds or no rounds, against what the bounds say.
    fn confused(&self, block: &Block, counting: &Counting) -> Told {
        let counter = Operand::Place(Place::scalar(Base::Frame(counting.counter)));
        let bounds = [&counting.from, &counting.to].map(Bound::operand);
        let values = self.named_values(std::iter::once(&counter).chain(&bounds));
        let words = self.speller().words(block, 0);
        Told {
            message: format!(
                "the rounds of `{words}` don't fit its counter and bounds{}",
                super::because(&values)
            ),
            label: "the body has changed the counter or a bound".to_owned(),
            values,
            help: Some(
                "the body must leave the counter and the bounds as they are, also through parameters"
                    .to_owned(),
            ),
            ..Told::default()
        }
    }
}
