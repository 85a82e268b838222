//! Steps: an instruction's operation, its slots, and the guards for slots that must not alias.

use std::sync::LazyLock;

use arrayvec::ArrayVec;
use reviver_isa::formula;
use reviver_isa::function::{Function, Signature};
use reviver_isa::instruction::Class;
use reviver_isa::number::{Arithmetic, F64, Wide};
use reviver_isa::step::Operation;
use reviver_isa::update::{OperandShape, Update};

use crate::alias::{Alias, Aliases};
use crate::slot::{ArrayElement, Location, Slot};

/// One instruction, as a forward run executes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation in a forward run; for a backward step see [`Step::inverse`].
    pub operation: Operation,
    /// The operands: targets first, then sources.
    pub slots: ArrayVec<Slot, 3>,
    /// The pairs of slots that must not alias.
    pub guards: Guards,
    /// For a branch half, its partner; for a call, its call site.
    pub link: StepLink,
}

/// The step or call that a step refers to, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepLink {
    /// No reference: the step is neither a branch half nor a call.
    None,
    /// The step that is the other half of a branch pair.
    Partner(u32),
    /// The number of a call site of the flow.
    Call(u32),
}

impl Step {
    /// Returns the operation of the inverse step, which undoes this one.
    pub fn inverse(&self) -> Operation {
        let update = self.operation.update.inverse();
        Operation { update, undoes: !update.is_reversible(), ..self.operation }
    }

    /// Returns the class of the first operand; `Int` if there is none.
    pub fn class(&self) -> Class {
        self.slots.first().map_or(Class::Int, |slot| slot.class)
    }

    /// Returns true if any operand is an adjoint. Such a step acts in the same way whether gradient mode is
    /// on or off.
    pub fn names_adjoint(&self) -> bool {
        self.slots.iter().any(|slot| slot.adjoint)
    }

    /// Returns the orderings of the step's sources for which its condition is true.
    pub fn orderings(&self) -> Orderings {
        Orderings::of(self.operation.function)
    }
}

/// Pairs of a step's operands that may alias but must not, so an engine compares their addresses when it executes the
/// step. A target must be different from all sources and indices of the step. Otherwise undoing the step would need
/// the target's old value. For exceptions see [`reviver_isa::update::Action::may_read_target`]. Pairs that certainly
/// don't alias are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Guards(u8);

impl Guards {
    /// The first operand must not be the same cell as the second.
    pub const FIRST_SECOND: Guards = Guards(1);
    /// The first operand must not be the same cell as the third.
    pub const FIRST_THIRD: Guards = Guards(2);
    /// The second operand must not be the same cell as the third.
    pub const SECOND_THIRD: Guards = Guards(4);
    /// The first operand must not be an index cell of any operand.
    pub const FIRST_NO_INDEX: Guards = Guards(8);
    /// The second operand must not be an index cell of any operand.
    pub const SECOND_NO_INDEX: Guards = Guards(16);

    /// Returns true if the step needs no alias check at run time.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if this set contains all guards of `others`.
    #[inline(always)]
    pub fn contains(self, others: Guards) -> bool {
        self.0 & others.0 == others.0
    }

    fn with(self, other: Guards, applies: bool) -> Guards {
        if applies { Guards(self.0 | other.0) } else { self }
    }

    /// Returns the guards that an operation needs with these slots.
    pub(crate) fn of(operation: Operation, slots: &[Slot], elements: &[ArrayElement]) -> Guards {
        let Operation { update, function, signature, .. } = operation;
        let found = Found { slots, aliases: Aliases { elements } };
        let is_apart = !update.action().may_read_target();
        let like_target = |source: usize| {
            is_apart && function.arity() > source && signature.source(source) == signature.result()
        };
        let is_int = signature.result() == Class::Int;
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

/// The slots of one step, for alias queries.
struct Found<'s> {
    slots: &'s [Slot],
    aliases: Aliases<'s>,
}

impl Found<'_> {
    fn may_meet(&self, target: usize, other: usize) -> bool {
        let pair = self.slots.get(target).zip(self.slots.get(other));
        // `verify` rejects pairs that certainly alias, so any relation other than `Never` needs a guard.
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

/// The orderings of two numbers for which a comparison is true: bit 0 for less, bit 1 for equal, bit 2 for
/// greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Orderings(pub u8);

/// The orderings of each function, indexed by the function's byte. Each function is evaluated once for a smaller, an
/// equal and a larger first argument.
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
    /// Returns the orderings for which a comparison is true.
    pub fn of(comparison: Function) -> Orderings {
        ORDERINGS[usize::from(comparison.byte())]
    }
}

/// Returns the signature of the function that a verified instruction applies, for operands of these classes. For an
/// update without a function, all operands have one class, and the result is the signature of this class.
pub(crate) fn signature(update: Update, function: Function, classes: &[Class]) -> Signature {
    let first = classes.first().copied().unwrap_or(Class::Int);
    let plain = if first == Class::Int { Signature::Int } else { Signature::Real };
    if !update.takes_function() {
        return plain;
    }
    let targets = update.shape().targets();
    let result = if targets == 0 { Class::Int } else { first };
    formula::signature(function, result, classes.get(targets..).unwrap_or_default()).unwrap_or(plain)
}
