//! The card of one instruction, in the names of its operands and, if known, with their values. A card shows
//! the equation, its inverse, and the effect of both on adjoints.
//!
//! The formulas are a text reading of the rows and of the templates that execute them. The values of the
//! operands before and after the instruction are supplied by the caller; nothing is computed here. This module
//! is independent of programs, machines and page layouts.

mod lines;
mod writing;

use crate::function::Function;
use crate::instruction::Class;
use crate::names::adjoint_name;
use crate::update::{OperandShape, Over, Update};

use crate::formula::Formulas;
use lines::Lines;

/// The role of an operand on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermRole {
    /// A cell. If it is real, the card shows the changes of its adjoint.
    Cell,
    /// The adjoint of a cell. An instruction with such an operand doesn't propagate adjoints.
    Adjoint,
    /// An immediate value, or the mode bit.
    Constant,
}

/// The known contents of an operand before or after the instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The value as text; `None` if it is unknown.
    pub value: Option<String>,
    /// The adjoint of the cell, in gradient mode.
    pub adjoint: Option<String>,
}

/// An operand as a card shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardTerm {
    /// The spelling in source text: `x`, `A[i]`, `3`.
    pub name: String,
    /// The class of the operand. The class of an adjoint is real.
    pub class: Class,
    /// The role, which decides on the lines about adjoints: constants have none.
    pub role: TermRole,
    /// The contents before the instruction; each part is `None` if it is unknown.
    pub before: Held,
    /// The contents after the instruction; each part is `None` if it is unknown.
    pub after: Held,
}

impl CardTerm {
    /// Returns a cell of unknown contents, for example `A[i]`.
    pub fn cell(name: impl Into<String>, class: Class) -> CardTerm {
        CardTerm {
            name: name.into(),
            class,
            role: TermRole::Cell,
            before: Held::default(),
            after: Held::default(),
        }
    }

    /// Returns an operand that is an adjoint, given its full name (`x'`). Its contents are unknown.
    pub fn adjoint(name: impl Into<String>) -> CardTerm {
        CardTerm { role: TermRole::Adjoint, ..CardTerm::cell(name, Class::Real) }
    }

    /// Returns an operand that is an immediate value or the mode bit. The text is used as its name, and as
    /// its value before and after the instruction.
    pub fn constant(text: impl Into<String>, class: Class) -> CardTerm {
        let text = text.into();
        CardTerm { role: TermRole::Constant, ..CardTerm::cell(text.clone(), class).with_values(&text, &text) }
    }

    /// Sets the operand's values before and after the instruction.
    pub fn with_values(mut self, before: impl Into<String>, after: impl Into<String>) -> CardTerm {
        (self.before.value, self.after.value) = (Some(before.into()), Some(after.into()));
        self
    }

    /// Sets the operand's adjoints before and after the instruction.
    pub fn with_adjoints(mut self, before: impl Into<String>, after: impl Into<String>) -> CardTerm {
        (self.before.adjoint, self.after.adjoint) = (Some(before.into()), Some(after.into()));
        self
    }

    /// Replaces the text of each known value and adjoint, for example by a shorter one.
    pub fn map_numbers(mut self, text: impl Fn(&str) -> String) -> CardTerm {
        for held in [&mut self.before, &mut self.after] {
            for number in [&mut held.value, &mut held.adjoint].into_iter().flatten() {
                *number = text(number);
            }
        }
        self
    }

    /// Returns the operand for the card of the inverse instruction: the contents before and after are
    /// exchanged.
    fn seen_from_inverse(self) -> CardTerm {
        CardTerm { before: self.after, after: self.before, ..self }
    }

    /// Returns the name of the operand's adjoint: `x'`, `A'[i]`.
    fn adjoint_name(&self) -> String {
        adjoint_name(&self.name)
    }
}

/// One statement of a card, with names and with numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardLine {
    /// The formula with names: `y ← y + a·b`
    pub formula: String,
    /// The formula with numbers and, if known, the result: `y ← 1 + 2·3 = 7`. For a condition, only the
    /// comparison: `3 <= 5`. `None` if a number is unknown or there are none.
    pub numbers: Option<String>,
}

/// The effect of an instruction in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardDirection {
    /// The equation of the values: `y ← y + a·b`
    pub equation: CardLine,
    /// The effects on adjoints in gradient mode, in order of execution: `a' ← a' - y'·b`.
    pub adjoint: Vec<CardLine>,
}

/// The description of one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The effect of the instruction on values and, in gradient mode, on adjoints.
    pub does: CardDirection,
    /// The effect of the inverse; `None` for an irreversible instruction.
    pub undone: Option<CardDirection>,
    /// Definitions of the named parts of the formulas in `does` and `undone`: `t = a < 0 ? -a : a`.
    pub parts: Vec<CardLine>,
}

/// Describes an update applied to a function. As in an instruction, targets come first in `operands`.
pub fn describe(update: Update, function: Function, operands: &[CardTerm]) -> Card {
    card(update, Some(function), operands)
}

/// Describes an update whose function is left open: the card shows f and its derivative ∂f/∂a.
pub fn describe_row(update: Update) -> Card {
    let over_reals = update.over().iter().any(|over| *over != Over::Integers);
    let class = if over_reals { Class::Real } else { Class::Int };
    let names: &[&str] = match update.shape() {
        OperandShape::Accumulate => &["y", "a"],
        OperandShape::Single | OperandShape::Show => &["y"],
        OperandShape::Exchange => &["x", "y"],
        OperandShape::Rotate => &["x", "y", "θ"],
        OperandShape::Condition
        | OperandShape::Branch
        | OperandShape::Boundary
        | OperandShape::Call
        | OperandShape::Tasks
        | OperandShape::Switch => &[],
    };
    let operands: Vec<CardTerm> = names.iter().map(|name| CardTerm::cell(*name, class)).collect();
    card(update, None, &operands)
}

fn card(update: Update, function: Option<Function>, operands: &[CardTerm]) -> Card {
    let described = |update, operands: &[CardTerm]| {
        Lines::of(&Formulas::as_written(), update, function, operands).described()
    };
    let (does, parts) = described(update, operands);
    let behind: Vec<CardTerm> = operands.iter().cloned().map(CardTerm::seen_from_inverse).collect();
    Card { does, undone: update.is_reversible().then(|| described(update.inverse(), &behind).0), parts }
}
