//! Converts the effects of a step to the lines of a card. Each line has a formula with names and, if known,
//! one with numbers. This module doesn't depend on particular rows.

use super::writing::{AFTER, StepEffect, Writing};
use super::{CardDirection, CardLine, CardTerm, TermRole};
use crate::formula::{Expr, Formulas, Names, signature};
use crate::function::{Function, Signature};
use crate::instruction::Class;
use crate::step::Operation;
use crate::update::{OperandShape, Update};

/// The effects of an instruction in one direction, from which the lines of a card are written.
pub(super) struct Lines<'a> {
    formulas: &'a Formulas,
    operation: Operation,
    operands: &'a [CardTerm],
    values: Vec<StepEffect>,
    adjoints: Vec<StepEffect>,
    names: Names,
}

/// The text by which operands appear in a formula.
#[derive(Clone, Copy)]
enum Reading {
    /// The operand's name, in an equation of values.
    Values,
    /// The operand's name, in an equation of adjoints. The value of a target is marked as old or new:
    /// `y_old`, `y_new`. The name of an adjoint denotes its value after the preceding lines.
    Adjoints,
    /// The number that the operand holds, before or after the step.
    Numbers,
}

impl<'a> Lines<'a> {
    /// Describes an update applied to a function, or to an arbitrary function if `function` is `None`.
    pub fn of(
        formulas: &'a Formulas,
        update: Update,
        function: Option<Function>,
        operands: &'a [CardTerm],
    ) -> Lines<'a> {
        let operation = operation(update, function.unwrap_or(Function::Copy), operands);
        let write = |operation| {
            let writing = Writing::of(formulas, operation, operands, function.is_none());
            // A function without a signature for these operands is described like an arbitrary function.
            writing.or_else(|_| Writing::of(formulas, operation, operands, true))
        };
        let (values, adjoints) =
            write(operation).map_or((Vec::new(), Vec::new()), |writing| (writing.values, writing.adjoints));
        // An irreversible instruction propagates adjoints only in the reverse sweep.
        let adjoints = match update.is_reversible() {
            true => adjoints,
            false => write(Operation { undoes: true, ..operation }).map_or(Vec::new(), |back| back.adjoints),
        };
        let mut lines = Lines { formulas, operation, operands, values, adjoints, names: Names::default() };
        lines.adjoints = lines.those_that_act();
        let effects = lines.values.iter().chain(&lines.adjoints);
        let roots: Vec<Expr> = effects.filter_map(|effect| effect.expr()).collect();
        lines.names = formulas.name_parts(&roots);
        lines
    }

    /// Returns the effects on adjoints, without those that change nothing. If several effects set one
    /// adjoint, only the last one is returned. Returns no effects if the instruction doesn't propagate
    /// adjoints, because a target isn't real or an operand is an adjoint.
    fn those_that_act(&self) -> Vec<StepEffect> {
        let targets = self.targets();
        let is_plain = targets.iter().any(|term| term.class != Class::Real)
            || self.operands.iter().any(|term| term.role == TermRole::Adjoint)
            || targets.len() < self.operation.update.shape().targets();
        let mut kept: Vec<StepEffect> = Vec::new();
        for effect in self.adjoints.iter().filter(|_| !is_plain) {
            match kept.iter_mut().find(|earlier| self.sets_the_same(earlier, effect)) {
                Some(earlier) => *earlier = *effect,
                None => kept.push(*effect),
            }
        }
        kept.retain(|effect| !self.changes_nothing(effect));
        kept
    }

    fn sets_the_same(&self, one: &StepEffect, other: &StepEffect) -> bool {
        match (one, other) {
            (StepEffect::Sets { operand: a, .. }, StepEffect::Sets { operand: b, .. }) => {
                a == b || self.operands.get(*a).map(|t| &t.name) == self.operands.get(*b).map(|t| &t.name)
            }
            _ => false,
        }
    }

    fn changes_nothing(&self, effect: &StepEffect) -> bool {
        match effect {
            StepEffect::Sets { operand, value } => {
                let own = self.operands.get(*operand).map(|term| self.formulas.leaf(term.adjoint_name()));
                own == Some(*value)
            }
            StepEffect::Says { .. } => false,
        }
    }

    fn targets(&self) -> &'a [CardTerm] {
        let count = self.operation.update.shape().targets().min(self.operands.len());
        self.operands.get(..count).unwrap_or_default()
    }

    /// Returns the card's part for one direction, and the definitions of named parts of its formulas.
    pub fn described(&self) -> (CardDirection, Vec<CardLine>) {
        let known = self.operands.iter().all(|term| term.before.value.is_some());
        let equation = line(self.equation(Reading::Values), known.then(|| self.numbers()).flatten());
        let numbers = known && self.is_carried();
        (CardDirection { equation, adjoint: self.adjoint(numbers) }, self.parts(known))
    }

    fn parts(&self, known: bool) -> Vec<CardLine> {
        let spell = |reading| self.formulas.parts(&self.names, &move |leaf: &str| self.leaf(leaf, reading));
        let numbers = if known { spell(Reading::Numbers) } else { Vec::new() };
        let numbers = numbers.into_iter().map(Some).chain(std::iter::repeat(None));
        spell(Reading::Values).into_iter().zip(numbers).map(|(part, numbers)| line(part, numbers)).collect()
    }

    fn equation(&self, reading: Reading) -> String {
        // The sentence about lost information comes last on the card, although it is the step's first effect.
        let lost = |effect: &&StepEffect| matches!(effect, StepEffect::Says { after: " is lost", .. });
        let first = self.values.iter().filter(|effect| !lost(effect));
        let last = self.values.iter().filter(lost);
        let effects: Vec<&StepEffect> = first.chain(last).collect();
        let clauses: Vec<String> =
            self.clauses(&effects).into_iter().map(|clause| self.clause(&clause, false, reading)).collect();
        match clauses.is_empty() {
            true => "negates the imaginary part of a complex cell".to_owned(),
            false => clauses.join("; "),
        }
    }

    /// Returns the equation with numbers instead of names. For a condition it is only the comparison; for
    /// `always` it is `None`.
    fn numbers(&self) -> Option<String> {
        match self.operation.update.shape() {
            OperandShape::Condition | OperandShape::Branch if self.operation.function == Function::Always => {
                None
            }
            OperandShape::Condition | OperandShape::Branch => {
                let condition = self.values.iter().find_map(StepEffect::expr)?;
                Some(self.spell(condition, Reading::Numbers))
            }
            OperandShape::Accumulate
            | OperandShape::Single
            | OperandShape::Exchange
            | OperandShape::Rotate
            | OperandShape::Boundary
            | OperandShape::Call
            | OperandShape::Tasks
            | OperandShape::Show
            | OperandShape::Switch => Some(self.equation(Reading::Numbers)),
        }
    }

    /// Groups effects into clauses. The assignments of an instruction with two targets form one clause:
    /// `x, y ← y, x`.
    fn clauses<'d>(&self, effects: &[&'d StepEffect]) -> Vec<Vec<&'d StepEffect>> {
        let of_target = |effect: &StepEffect| matches!(effect, StepEffect::Sets { operand, .. } if *operand < 2 && self.targets().len() == 2);
        let mut clauses: Vec<Vec<&StepEffect>> = Vec::new();
        for &effect in effects {
            match clauses.last_mut() {
                Some(last) if of_target(effect) && last.iter().all(|other| of_target(other)) => {
                    last.push(effect)
                }
                _ => clauses.push(vec![effect]),
            }
        }
        clauses
    }

    /// Returns one clause as text: `y ← y + a·b`, with numbers `y ← 1 + 2·3 = 7`.
    fn clause(&self, effects: &[&StepEffect], of_adjoints: bool, reading: Reading) -> String {
        let (mut left, mut right, mut results) = (Vec::new(), Vec::new(), Vec::new());
        let zero = self.formulas.leaf("0");
        for effect in effects {
            match **effect {
                StepEffect::Says { before, about, after } => {
                    let about = about.map_or(String::new(), |expr| self.spell(expr, reading));
                    return format!("{before}{about}{after}");
                }
                StepEffect::Sets { operand, value } => {
                    let Some(term) = self.operands.get(operand) else { continue };
                    left.push(if of_adjoints { term.adjoint_name() } else { term.name.clone() });
                    right.push(self.spell(value, reading));
                    // The result of assigning 0 is obvious, so it isn't shown.
                    let after = if of_adjoints { &term.after.adjoint } else { &term.after.value };
                    results.push(after.clone().filter(|_| value != zero));
                }
            }
        }
        let (left, right) = (left.join(", "), right.join(", "));
        let results: Option<Vec<String>> = results.into_iter().collect();
        match results.map(|results| results.join(", ")) {
            Some(result) if matches!(reading, Reading::Numbers) && result != right => {
                format!("{left} ← {right} = {result}")
            }
            _ => format!("{left} ← {right}"),
        }
    }

    fn adjoint(&self, with_numbers: bool) -> Vec<CardLine> {
        let effects: Vec<&StepEffect> = self.adjoints.iter().collect();
        let clauses = self.clauses(&effects);
        // The line for a stack or tape combines the effect on its entry and the effect on the adjoint.
        let moves = self.operation.update.moves_values()
            || matches!(self.operation.update.shape(), OperandShape::Single);
        let spell = |reading| {
            let texts: Vec<String> =
                clauses.iter().map(|clause| self.clause(clause, true, reading)).collect();
            if moves && !texts.is_empty() { vec![texts.join("; ")] } else { texts }
        };
        let mut formulas = spell(Reading::Adjoints);
        if let (false, Some(last)) = (self.operation.update.is_reversible(), formulas.last_mut()) {
            last.push_str(" (backward only)");
        }
        let numbers = if with_numbers { spell(Reading::Numbers) } else { Vec::new() };
        let numbers = numbers.into_iter().map(Some).chain(std::iter::repeat(None));
        formulas.into_iter().zip(numbers).map(|(formula, numbers)| line(formula, numbers)).collect()
    }

    /// Returns true if lines with numbers can be written for adjoints: the adjoints of all real operands are
    /// known, before and after the step. Returns false for an irreversible instruction, because it propagates
    /// adjoints only in a reverse sweep with a history.
    fn is_carried(&self) -> bool {
        let mut cells = self.operands.iter().filter(|t| t.role == TermRole::Cell && t.class == Class::Real);
        self.operation.update.is_reversible()
            && cells.all(|term| term.before.adjoint.is_some() && term.after.adjoint.is_some())
    }

    fn spell(&self, expr: Expr, reading: Reading) -> String {
        self.formulas.spell_with(expr, &self.names, &|leaf| self.leaf(leaf, reading)).text
    }

    /// Returns the text that replaces a name in a formula.
    fn leaf(&self, leaf: &str, reading: Reading) -> String {
        let (name, is_after) = match leaf.strip_suffix(AFTER) {
            Some(name) => (name, true),
            None => (leaf, false),
        };
        let term = self.operands.iter().find(|term| term.name == name);
        let carried = || self.operands.iter().find(|term| term.adjoint_name() == name);
        let held = |term: &CardTerm| if is_after { term.after.clone() } else { term.before.clone() };
        match reading {
            Reading::Values => name.to_owned(),
            Reading::Adjoints if self.targets().iter().any(|target| target.name == name) => {
                format!("{name}_{}", if is_after { "new" } else { "old" })
            }
            Reading::Adjoints => name.to_owned(),
            Reading::Numbers => match (term, carried()) {
                (Some(term), _) => held(term).value.unwrap_or_else(|| "?".to_owned()),
                (None, Some(term)) => held(term).adjoint.unwrap_or_else(|| "?".to_owned()),
                (None, None) => name.to_owned(),
            },
        }
    }
}

impl StepEffect {
    fn expr(&self) -> Option<Expr> {
        match *self {
            StepEffect::Sets { value, .. } => Some(value),
            StepEffect::Says { about, .. } => about,
        }
    }
}

/// Returns the operation of an update applied to a function, in the form that fits the operands' classes.
fn operation(update: Update, function: Function, operands: &[CardTerm]) -> Operation {
    let targets = update.shape().targets().min(operands.len());
    let class = operands.first().map_or(Class::Int, |term| term.class);
    let sources: Vec<Class> = operands.iter().skip(targets).map(|term| term.class).collect();
    let result = if targets > 0 { class } else { Class::Int };
    let applied = update.takes_function() && sources.len() == function.arity();
    let plain = if class == Class::Int { Signature::Int } else { Signature::Real };
    let signature = if applied { signature(function, result, &sources).unwrap_or(plain) } else { plain };
    Operation { update, function, signature, undoes: false }
}

/// Returns a line; the numbers are omitted if they equal the formula.
fn line(formula: String, numbers: Option<String>) -> CardLine {
    let numbers = numbers.filter(|numbers| *numbers != formula);
    CardLine { formula, numbers }
}
