//! Explanations of cells that should be 0 but aren't: at a `delocal`, at the end of a frame, or before a
//! move.

use reviver_isa::instruction::{Base, Class, Operand, Place};
use reviver_isa::structure::{Block, BlockKind};
use reviver_isa::update::Update;

use super::{Explainer, ExplanationText, cell_name};
use crate::state::lookup::{frame_at, place_in_frame};
use crate::state::values::Value;
use crate::trap::Cause;

impl Explainer<'_> {
    /// Explains a `local` or `delocal` with a variable that doesn't have the stated value.
    pub(super) fn opened(&self, block: &Block) -> Option<ExplanationText> {
        let Cause::NotVacant { class, cell } = self.trap.cause else { return None };
        let (variable, instruction) = block.opened(&self.program.module().code)?;
        let name = self.renderer().name(Base::Frame(variable));
        let words = self.renderer().words(block, 0);
        let Some(instruction) = instruction else {
            return Some(self.ended_as_nothing(block, variable, &words, self.value(class, cell)));
        };
        // The statement subtracts a value from the variable. So in a state in which the variable is 0, undoing this
        // step sets the variable to that value.
        let stated = self.before_with(|state| match class {
            Class::Int => state.ints.iter_mut().skip(cell as usize).take(1).for_each(|value| *value = 0),
            Class::Real => state.reals.iter_mut().skip(cell as usize).take(1).for_each(|bits| *bits = 0),
        })?;
        let values = self.named_values(instruction.operands.iter().skip(1));
        let is_literal = matches!(instruction.operands.get(1..), Some([Operand::Int(_) | Operand::Real(_)]));
        let (said, found) = match class {
            Class::Int => {
                let stated = stated.ints.get(cell as usize).copied()?;
                let rest = self.state.ints.get(cell as usize).copied()?;
                let shift = 64 - self.program.module().word.bits();
                let found = (rest.wrapping_add(stated) << shift) >> shift;
                (self.program.text(Value::Int(stated)), format!("is {found}"))
            }
            // A float sum may differ from the earlier value, so the exact difference is reported instead.
            Class::Real => {
                let stated = stated.reals.get(cell as usize).copied()?;
                (
                    self.program.text(Value::Real(stated)),
                    format!("differs from that by {}", self.value(class, cell)),
                )
            }
        };
        let arguments =
            if values.is_empty() { String::new() } else { format!(" ({})", super::listed(&values)) };
        let said = if is_literal { String::new() } else { format!(" is {said}{arguments}") };
        let undone = backward_prefix(block);
        let declared = self.declared(variable);
        Some(ExplanationText {
            message: format!("{undone}`{words}`{said}, but {name} {found}"),
            words: Some(words),
            label: format!("{name} {found}"),
            others: declared.into_iter().collect(),
            values,
            help: Some(format!("write after the `=` the value that {name} has at this place")),
            ..ExplanationText::default()
        })
    }

    /// Explains a variable that isn't 0 at a `delocal` without a value, or at a `local` that is undone.
    fn ended_as_nothing(&self, block: &Block, variable: u32, words: &str, value: String) -> ExplanationText {
        let name = self.renderer().name(Base::Frame(variable));
        ExplanationText {
            message: format!(
                "{}`{words}` needs {name} to be 0, but {name} is {value}",
                backward_prefix(block)
            ),
            words: Some(words.to_owned()),
            label: format!("{name} is {value}"),
            others: self.declared(variable).into_iter().collect(),
            values: vec![(name.to_owned(), value)],
            help: Some(format!(
                "undo what was added to {name}, or write the value that {name} has at this place: `{words} = …`"
            )),
            ..ExplanationText::default()
        }
    }

    /// Returns the frame variable that the trapped instruction was to vacate.
    pub(super) fn vacated(&self) -> Option<u32> {
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

    /// Explains an expression that has one value when it is computed, and another value when it is uncomputed.
    pub(super) fn changed_value(&self) -> Option<ExplanationText> {
        let ChangedValue { expression, was, values } = self.changed()?;
        Some(ExplanationText {
            message: format!("`{expression}` {was}{}", super::because(&values)),
            label: format!("{expression} {was}"),
            values,
            help: Some(
                "an expression must have the same value before and after its statement: a backward run begins after the statement, and computes the expression from the cells there"
                    .to_owned(),
            ),
            ..ExplanationText::default()
        })
    }

    /// Returns the expression of the temporary that isn't vacant, if a temporary was to be vacated.
    pub(super) fn changed(&self) -> Option<ChangedValue> {
        let Cause::NotVacant { class, cell } = self.trap.cause else { return None };
        let holder = Operand::Place(Place::scalar(Base::Frame(self.vacated()?)));
        let valued = self.valued();
        valued.temporary(&holder)?;
        let now = valued.value(&holder)?;
        let was = match (class, now) {
            (Class::Int, Value::Int(value)) => {
                let rest = self.state.ints.get(cell as usize).copied()?;
                let before = self.wrapped(rest.wrapping_add(value));
                format!("was {before} and is {value}")
            }
            _ => format!(
                "is {}, and differed from that by {} before",
                self.program.text(now),
                self.value(class, cell)
            ),
        };
        let expression = self.renderer().operand(&holder);
        Some(ChangedValue { expression, was, values: self.named_values([&holder]) })
    }

    /// Returns the declaration of a variable of the trap's procedure, if it is on another line.
    fn declared(&self, variable: u32) -> Option<super::OtherPlace> {
        let number = self.program.procedure_of(self.trap.at) as u32;
        let scopes = self.structure().scopes_of_variable(number, variable);
        let at = self.trap.at;
        let open = scopes.iter().find(|scope| (scope.start..scope.end.saturating_add(1)).contains(&at));
        let scope = open.or(scopes.first())?;
        let here = self.place(at).map(|place| (place.file, place.line));
        let other = self.other(scope.place, scope.name.clone(), "declared here")?;
        (here != Some((scope.place.file, scope.place.line))).then_some(other)
    }

    /// Explains a cell that must be vacant, in a frame that ends or as the target of a move.
    pub(super) fn vacancy(&self) -> Option<ExplanationText> {
        match self.trap.cause {
            Cause::FrameNotVacant { class, cell } => Some(self.frame(class, cell)),
            Cause::NotVacant { class, cell } => Some(self.target(class, cell)),
            _ => None,
        }
    }

    fn frame(&self, class: Class, cell: u32) -> ExplanationText {
        let at = self.trap.at;
        let (name, value) = (cell_name(self.program, self.state, class, cell), self.value(class, cell));
        let procedure = &self.procedure(at).name;
        let whence =
            if self.instruction(at).update == Update::Exit { "at the end" } else { "back at the beginning" };
        let declared = self.variable_of(class, cell).and_then(|variable| self.declared(variable));
        ExplanationText {
            message: format!("{name} is {value} {whence} of `{procedure}`, and must be 0 again"),
            label: format!("{name} is {value}"),
            others: declared.into_iter().collect(),
            values: vec![(name.clone(), value)],
            help: Some(format!(
                "undo the statements that computed {name}, by `compute … uncompute` or by the inverse statements"
            )),
            ..ExplanationText::default()
        }
    }

    /// Returns the variable of the innermost frame that contains a cell.
    fn variable_of(&self, class: Class, cell: u32) -> Option<u32> {
        let open = frame_at(self.program, self.state, self.state.calls.len())?;
        let owner = self.program.module().procedures.get(open.procedure)?;
        let offset = cell.checked_sub(open.frame.start(class))?;
        let holds = |(n, variable): &(u32, &reviver_isa::module::FrameVariable)| {
            let first = place_in_frame(self.program, open.procedure, *n);
            let distance = first.and_then(|first| offset.checked_sub(first));
            variable.class == class && distance.is_some_and(|n| u64::from(n) < variable.shape.cells())
        };
        (0..).zip(&owner.frame).find(holds).map(|(n, _)| n)
    }

    fn target(&self, class: Class, cell: u32) -> ExplanationText {
        let instruction = self.instruction(self.trap.at);
        let update = if self.is_backward() { instruction.update.inverse() } else { instruction.update };
        let operand = match instruction.operands.first() {
            Some(operand @ Operand::Place(Place { index: None, .. })) => {
                Some(self.renderer().operand(operand))
            }
            _ => None,
        };
        let name = operand.unwrap_or_else(|| cell_name(self.program, self.state, class, cell));
        let value = self.value(class, cell);
        let (why, help) = match update {
            Update::Vacate => {
                ("and must be 0 here", "clear it by undoing the statements that computed its value")
            }
            Update::Pop => ("and `pop` moves a value into a cell that is 0", "pop into a cell that is 0"),
            _ => (
                "and a value can move only into a cell that is 0",
                "clear the cell first, or use another cell",
            ),
        };
        ExplanationText {
            message: format!("`{name}` must be vacant but is {value}"),
            label: format!("{name} is {value}, {why}"),
            values: vec![(name, value)],
            help: Some(help.to_owned()),
            ..ExplanationText::default()
        }
    }
}

/// An expression with a changed value.
pub(super) struct ChangedValue {
    pub(super) expression: String,
    /// The two values, for example "was 3 and is 6".
    pub(super) was: String,
    /// The operands of the expression, with their current values.
    pub(super) values: Vec<(String, String)>,
}

/// Returns the prefix for blocks that are executed backward, where a `local` ends the variable's lifetime.
fn backward_prefix(block: &Block) -> &'static str {
    if matches!(block.kind, BlockKind::Local) != block.undone { "when undone, " } else { "" }
}
