//! Explanations of traps in `callvia`, a call of the procedure whose number is in a cell. A module has no instruction
//! for `callvia`. Instead it has an `if` for each procedure that may be called, and assertions. All these instructions
//! have the text line of the `callvia`.

use reviver_isa::instruction::{Instruction, Link, Operand};
use reviver_isa::predicate::Predicate;
use reviver_isa::structure::{BlockKind, TextPlace};
use reviver_isa::update::{Action, Update};

use super::{Explainer, ExplanationText};
use crate::trap::Cause;

impl Explainer<'_> {
    /// Explains a wrong procedure number; returns `None` if the trap has another cause.
    pub(super) fn choice(&self) -> Option<ExplanationText> {
        let is_of_choice = matches!(
            self.trap.cause,
            Cause::AssertFailed
                | Cause::UnexpectedFall
                | Cause::UnexpectedJump { .. }
                | Cause::NotVacant { .. }
        );
        let place = self.place(self.trap.at).filter(|place| is_of_choice && place.line > 0)?;
        let calls = self.calls_at(place);
        let (first, last) = (calls.first()?.0, calls.last()?.0);
        // A plain call is the only call at its place in the text, so a trap of a plain call is at the call itself.
        let is_chosen = !calls.iter().any(|(at, _)| *at == self.trap.at);
        let cell = self.choosing_cell().filter(|_| is_chosen)?;
        let (name, values) = (self.renderer().operand(&cell), self.named_values([&cell]));
        let value = values.first().map_or("?", |(_, value)| value.as_str());
        let begins = if self.is_backward() { self.trap.at > last } else { self.trap.at < first };
        let (message, help) = if begins {
            let numbers: Vec<String> = calls.iter().filter_map(|(_, call)| self.numbered(call)).collect();
            (
                format!("`{name}` is {value}, and no procedure with that number takes these arguments"),
                format!("set `{name}` to the number of one of these procedures: {}", numbers.join(", ")),
            )
        } else {
            (
                format!("`{name}` is {value} after the call, but had another value before"),
                "leave the cell that selects the callee unchanged in the call: a backward run selects the callee by the value of this cell"
                    .to_owned(),
            )
        };
        let words = self.chosen_words(&name, calls.first()?.1);
        let label = format!("{name} is {value}");
        Some(ExplanationText {
            message,
            words: Some(words),
            label,
            values,
            help: Some(help),
            ..ExplanationText::default()
        })
    }

    /// Returns the calls on the text line of a place, in the order of the code. The line identifies the `callvia`,
    /// because instructions record no more precise place.
    fn calls_at(&self, place: TextPlace) -> Vec<(u32, &Instruction)> {
        let procedure = self.procedure(self.trap.at);
        let code = self.program.module().code.get(..procedure.exit as usize).unwrap_or_default();
        let own = (0..).zip(code).skip(procedure.entry as usize);
        let calls = own.filter(|(_, instruction)| matches!(instruction.update.action(), Action::Call(_)));
        let is_there = |other: TextPlace| (other.file, other.line) == (place.file, place.line);
        calls.filter(|(at, _)| self.place(*at).is_some_and(is_there)).collect()
    }

    /// Returns the cell that holds the procedure number compared at the trap.
    fn choosing_cell(&self) -> Option<Operand> {
        let first = |predicate: &Predicate| predicate.operands().first().map(|&operand| operand.clone());
        match self.program.seam(self.trap.at).map(|(block, _)| &block.kind) {
            Some(BlockKind::Assert { condition }) => first(condition),
            Some(BlockKind::If { entry, .. }) => first(entry),
            Some(_) => None,
            None => self.instruction(self.trap.at).operands.first().cloned(),
        }
    }

    /// Formats the procedure number of a call, for example "`p` is 1".
    fn numbered(&self, call: &Instruction) -> Option<String> {
        let Link::Calls(calls) = &call.link else { return None };
        let number = calls.first()?.procedure;
        let callee = self.program.module().procedures.get(number as usize)?;
        Some(format!("`{}` is {number}", callee.name))
    }

    /// Formats the statement as in the text, for example `callvia c(x)`.
    fn chosen_words(&self, cell: &str, call: &Instruction) -> String {
        let word = if call.update == Update::Uncall { "uncallvia" } else { "callvia" };
        let arguments = match &call.link {
            Link::Calls(calls) => calls.first().map(|call| self.renderer().call(call)),
            Link::None | Link::Partner(_) => None,
        };
        let arguments = arguments.unwrap_or_default();
        format!(
            "{word} {cell}{}",
            arguments.split_once('(').map_or(String::new(), |(_, rest)| format!("({rest}"))
        )
    }
}
