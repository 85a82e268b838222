//! What one instruction does, in the names of its operands and, where they are known, with their
//! numbers: the equation, the one that undoes it, and what both do to the adjoints.
//!
//! The formulas are a reading of the rows and of the templates that carry them out. The numbers are what the
//! operands hold on both sides of the instruction; whoever has run it says them, nothing is computed here.
//! Knows no module, no machine and no layout of a page.

mod lines;
mod writing;

use crate::function::Function;
use crate::instruction::Class;
use crate::names::adjoint_name;
use crate::update::{OperandShape, Over, Update};

use crate::formula::Formulas;
use lines::Lines;

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermRole {
    Cell,
    /// The adjoint of a cell: an instruction that names one acts plainly.
    Adjoint,
    /// An immediate, or the mode bit.
    Constant,
}

/// What an operand holds on one side of the instruction, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub value: Option<String>,
    /// The adjoint of the cell, while adjoints are carried.
    pub adjoint: Option<String>,
}

/// An operand as a card shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardTerm {
    /// As in source text: `x`, `A[i]`, `3`.
    pub name: String,
    pub class: Class,
    pub role: TermRole,
    pub before: Held,
    pub after: Held,
}

impl CardTerm {
    pub fn cell(name: impl Into<String>, class: Class) -> CardTerm {
        CardTerm {
            name: name.into(),
            class,
            role: TermRole::Cell,
            before: Held::default(),
            after: Held::default(),
        }
    }

    pub fn adjoint(name: impl Into<String>) -> CardTerm {
        CardTerm { role: TermRole::Adjoint, ..CardTerm::cell(name, Class::Real) }
    }

    pub fn constant(text: impl Into<String>, class: Class) -> CardTerm {
        let text = text.into();
        CardTerm { role: TermRole::Constant, ..CardTerm::cell(text.clone(), class).with_values(&text, &text) }
    }

    /// With what it holds before and after the instruction.
    pub fn with_values(mut self, before: impl Into<String>, after: impl Into<String>) -> CardTerm {
        (self.before.value, self.after.value) = (Some(before.into()), Some(after.into()));
        self
    }

    /// With what its adjoint holds before and after the instruction.
    pub fn with_adjoints(mut self, before: impl Into<String>, after: impl Into<String>) -> CardTerm {
        (self.before.adjoint, self.after.adjoint) = (Some(before.into()), Some(after.into()));
        self
    }

    /// The same with other texts for its numbers: shorter ones.
    pub fn map_numbers(mut self, text: impl Fn(&str) -> String) -> CardTerm {
        for held in [&mut self.before, &mut self.after] {
            for number in [&mut held.value, &mut held.adjoint].into_iter().flatten() {
                *number = text(number);
            }
        }
        self
    }

    /// As the inverse instruction sees it.
    fn seen_from_behind(self) -> CardTerm {
        CardTerm { before: self.after, after: self.before, ..self }
    }

    /// The name of its adjoint: `x'`, `A'[i]`.
    fn adjoint_name(&self) -> String {
        adjoint_name(&self.name)
    }
}

/// One thing that a card says, with names and with numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardLine {
    /// `y ← y + a·b`
    pub formula: String,
    /// The same with numbers and, where it is known, what comes of them: `y ← 1 + 2·3 = 7`; of a condition
    /// only what is compared: `3 <= 5`. None where not all of them are known, or there are none to fill in.
    pub numbers: Option<String>,
}

/// What an instruction does, or its inverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardWay {
    /// `y ← y + a·b`
    pub equation: CardLine,
    /// What it does to the adjoints in gradient mode, one thing after the other: `a' ← a' - y'·b`.
    pub adjoint: Vec<CardLine>,
}

/// The description of one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    pub does: CardWay,
    /// What undoes it; `None` for an irreversible instruction.
    pub undone: Option<CardWay>,
    /// Parts of the formulas above that have names of their own: `t = a < 0 ? -a : a`.
    pub parts: Vec<CardLine>,
}

/// Describes an update applied to a function; the operands are targets first, as in an instruction.
pub fn describe(update: Update, function: Function, operands: &[CardTerm]) -> Card {
    card(update, Some(function), operands)
}

/// Describes an update applied to any function f, whose derivative is ∂f/∂a.
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
    let way =
        |update, operands: &[CardTerm]| Lines::of(&Formulas::as_written(), update, function, operands).way();
    let (does, parts) = way(update, operands);
    let behind: Vec<CardTerm> = operands.iter().cloned().map(CardTerm::seen_from_behind).collect();
    Card { does, undone: update.is_reversible().then(|| way(update.inverse(), &behind).0), parts }
}
