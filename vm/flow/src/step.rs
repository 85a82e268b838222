//! A step: what an instruction does, on which slots, and which of them must be told apart when it is made. Knows
//! no other step.

use std::sync::LazyLock;

use arrayvec::ArrayVec;
use reviver_isa::formula;
use reviver_isa::function::{Form, Function};
use reviver_isa::instruction::Class;
use reviver_isa::number::{Arithmetic, F64, Wide};
use reviver_isa::step::Operation;
use reviver_isa::update::{OperandShape, Update};

use crate::alias::{Alias, Aliases};
use crate::slot::{ArrayElement, Location, Slot};

/// One instruction, in the direction of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub operation: Operation,
    /// Targets first, then sources.
    pub slots: ArrayVec<Slot, 3>,
    /// Which slots must be told apart.
    pub guards: Guards,
    pub link: StepLink,
}

/// What a step leads to besides cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepLink {
    None,
    /// The step that is the other half of a branch pair.
    Partner(u32),
    /// The number of a call of the flow.
    Call(u32),
}

impl Step {
    /// The inverse step, which leads back over this one.
    pub fn inverse(&self) -> Operation {
        let update = self.operation.update.inverse();
        Operation { update, undoes: !update.is_reversible(), ..self.operation }
    }

    /// The class of the first operand; an integer where there is none.
    pub fn class(&self) -> Class {
        self.slots.first().map_or(Class::Int, |slot| slot.class)
    }

    /// Whether any operand is an adjoint. Such a step acts plainly in either mode.
    pub fn names_adjoint(&self) -> bool {
        self.slots.iter().any(|slot| slot.adjoint)
    }

    /// The orderings of its sources under which its condition holds.
    pub fn orderings(&self) -> Orderings {
        Orderings::of(self.operation.function)
    }
}

/// Pairs of a step's operands that may be one cell, and must not: a target is none of its sources and no index,
/// because its old value would be needed to undo the step (but see [`reviver_isa::update::Action::may_read_target`]). Only pairs that may be
/// one cell are here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Guards(u8);

impl Guards {
    /// The first operand is not the second, or the third; the second is not the third.
    pub const FIRST_SECOND: Guards = Guards(1);
    pub const FIRST_THIRD: Guards = Guards(2);
    pub const SECOND_THIRD: Guards = Guards(4);
    /// The first operand (or the second) is no index cell of any operand.
    pub const FIRST_NO_INDEX: Guards = Guards(8);
    pub const SECOND_NO_INDEX: Guards = Guards(16);

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of these are among them.
    #[inline(always)]
    pub fn contains(self, others: Guards) -> bool {
        self.0 & others.0 == others.0
    }

    fn with(self, other: Guards, applies: bool) -> Guards {
        if applies { Guards(self.0 | other.0) } else { self }
    }

    /// Those of an operation's slots.
    pub(crate) fn of(operation: Operation, slots: &[Slot], elements: &[ArrayElement]) -> Guards {
        let Operation { update, function, form, .. } = operation;
        let found = Found { slots, aliases: Aliases { elements } };
        let is_apart = !update.action().may_read_target();
        let like_target =
            |source: usize| is_apart && function.arity() > source && form.source(source) == form.result();
        let is_int = form.result() == Class::Int;
        let none = Guards::default();
        match update.shape() {
            OperandShape::Accumulate => none
                .with(Guards::FIRST_SECOND, like_target(0) && found.may_meet(0, 1))
                .with(Guards::FIRST_THIRD, like_target(1) && found.may_meet(0, 2))
                .with(Guards::FIRST_NO_INDEX, is_int && found.may_be_index(0)),
            OperandShape::Single => none.with(Guards::FIRST_NO_INDEX, is_int && found.may_be_index(0)),
            OperandShape::Exchange => none
                .with(Guards::FIRST_NO_INDEX, is_int && found.may_be_index(0))
                .with(Guards::SECOND_NO_INDEX, is_int && found.may_be_index(1)),
            OperandShape::Rotate => none
                .with(Guards::FIRST_SECOND, found.may_meet(0, 1))
                .with(Guards::FIRST_THIRD, found.may_meet(0, 2))
                .with(Guards::SECOND_THIRD, found.may_meet(1, 2)),
            OperandShape::Condition
            | OperandShape::Branch
            | OperandShape::Boundary
            | OperandShape::Call
            | OperandShape::Tasks
            | OperandShape::Show
            | OperandShape::Switch => none,
        }
    }
}

/// The slots of one step, told apart.
struct Found<'s> {
    slots: &'s [Slot],
    aliases: Aliases<'s>,
}

impl Found<'_> {
    fn may_meet(&self, target: usize, other: usize) -> bool {
        let pair = self.slots.get(target).zip(self.slots.get(other));
        // What `verify` lets through is never the same cell for certain.
        pair.is_some_and(|(target, other)| self.aliases.of(target, other) != Alias::Never)
    }

    fn may_be_index(&self, target: usize) -> bool {
        let Some(target) = self.slots.get(target) else { return false };
        let elements = self.slots.iter().filter_map(|slot| match slot.location {
            Location::Element(number) => self.aliases.elements.get(number as usize),
            Location::Cell(_) => None,
        });
        let mut cells = elements.flat_map(ArrayElement::subscripts).filter_map(|subscript| subscript.cell);
        cells.any(|cell| self.aliases.of(target, &Slot::int(cell)) != Alias::Never)
    }
}

/// The orderings of two numbers under which a comparison holds: a bit each for below, equal and above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orderings(pub u8);

/// Of each function, by its byte: found by asking the rows, once.
static ORDERINGS: LazyLock<[Orderings; 256]> = LazyLock::new(|| {
    let words = Arithmetic { words: Wide, reals: F64 };
    let mut all = [Orderings::default(); 256];
    for function in Function::ALL {
        let holds = |a, b, bit: u8| u8::from(function.int(&words, a, b) == Ok(1)) << bit;
        all[usize::from(function.byte())] = Orderings(holds(0, 1, 0) | holds(0, 0, 1) | holds(1, 0, 2));
    }
    all
});

impl Orderings {
    /// Of a comparison.
    pub fn of(comparison: Function) -> Orderings {
        ORDERINGS[usize::from(comparison.byte())]
    }
}

/// The form in which a verified instruction applies its function; of one without a function, the form of its
/// operands, which are all of one class.
pub(crate) fn form(update: Update, function: Function, classes: &[Class]) -> Form {
    let first = classes.first().copied().unwrap_or(Class::Int);
    let plain = if first == Class::Int { Form::Int } else { Form::Real };
    if !update.takes_function() {
        return plain;
    }
    let targets = update.shape().targets();
    let result = if targets == 0 { Class::Int } else { first };
    formula::form(function, result, classes.get(targets..).unwrap_or_default()).unwrap_or(plain)
}
