//! What one instruction does, in the names (and, where known, the values) of its operands: the
//! equation, the one that undoes it, and what happens to the adjoints.
//!
//! The texts are those of the rows with their placeholders filled in. Knows no module, no machine and
//! no layout of a page.

mod template;

use template::fill;

use crate::formula::{Expr, Formula, Formulas, form};
use crate::function::{Form, Function};
use crate::instruction::Class;
use crate::update::{Shape, Update};

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Cell,
    /// The adjoint of a cell: an instruction that names one acts plainly.
    Adjoint,
    /// An immediate, or the mode bit.
    Constant,
}

/// An operand as a card shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// As in source text: `x`, `A[i]`, `3`.
    pub name: String,
    pub class: Class,
    pub role: Role,
    /// Its value, where it is known.
    pub value: Option<String>,
}

impl Term {
    pub fn cell(name: impl Into<String>, class: Class) -> Term {
        Term { name: name.into(), class, role: Role::Cell, value: None }
    }

    pub fn adjoint(name: impl Into<String>) -> Term {
        Term { name: name.into(), class: Class::Real, role: Role::Adjoint, value: None }
    }

    pub fn constant(text: impl Into<String>, class: Class) -> Term {
        let name = text.into();
        Term { value: Some(name.clone()), name, class, role: Role::Constant }
    }

    pub fn with_value(self, value: impl Into<String>) -> Term {
        Term { value: Some(value.into()), ..self }
    }

    /// The name of its adjoint: `x'`, `A'[i]`.
    fn adjoint_name(&self) -> String {
        match self.name.split_once('[') {
            Some((array, index)) => format!("{array}'[{index}"),
            None => format!("{}'", self.name),
        }
    }
}

/// The description of one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// `y ← y + a·b`
    pub equation: String,
    /// The equation with values in place of sources, where all of them are known: `y ← 1 + 2·3`.
    pub numbers: Option<String>,
    /// The equation that undoes it; `None` for an irreversible instruction.
    pub inverse: Option<String>,
    /// What it does to the adjoints in gradient mode, line by line: `a' ← a' - y'·b`.
    pub adjoint: Vec<String>,
    /// Parts of the formulas above that have names of their own: `t = a < 0 ? -a : a`.
    pub parts: Vec<String>,
}

/// Describes an update applied to a function; the operands are targets first, as in an instruction.
pub fn describe(update: Update, function: Function, operands: &[Term]) -> Card {
    Describer::new(update, function, operands).card()
}

struct Describer<'a> {
    update: Update,
    function: Function,
    targets: &'a [Term],
    sources: &'a [Term],
    formulas: Formulas,
}

/// The placeholder of a partial derivative in the rows.
const PARTIAL: &str = "∂f/∂a";
/// What stands for it once signs and trivial factors are gone.
const FACTOR: &str = "∂";

impl<'a> Describer<'a> {
    fn new(update: Update, function: Function, operands: &'a [Term]) -> Describer<'a> {
        let count = update.shape().targets().min(operands.len());
        let (targets, sources) = operands.split_at(count);
        Describer { update, function, targets, sources, formulas: Formulas::new() }
    }

    fn card(&self) -> Card {
        let value = self.value(|term| term.name.clone());
        let transports = if self.transports() { self.partials() } else { Vec::new() };
        let roots: Vec<Expr> = value.into_iter().chain(transports.iter().map(|t| t.factor)).collect();
        let mut spelled = self.formulas.spell(&roots);
        let factors = spelled.formulas.split_off(value.iter().len());
        let value = spelled.formulas.pop();
        let inverse = self.update.inverse();
        Card {
            equation: self.equation(self.update, value.as_ref()),
            numbers: self.numbers(),
            inverse: self.update.is_reversible().then(|| self.equation(inverse, value.as_ref())),
            adjoint: self.adjoint(value.as_ref(), &transports, &factors),
            parts: spelled.parts,
        }
    }

    /// The form in which the function is applied; `None` where the update takes none, or there is none.
    fn form(&self) -> Option<Form> {
        let classes: Vec<Class> = self.sources.iter().map(|term| term.class).collect();
        let result = self.targets.first().map_or(Class::Int, |target| target.class);
        let applies = self.update.takes_function() && classes.len() == self.function.arity();
        applies.then(|| form(self.function, result, &classes)).flatten()
    }

    /// The sources as leaves; a missing one is never looked at.
    fn leaves(&self, spell: impl Fn(&Term) -> String) -> [Expr; 2] {
        [0, 1].map(|n| self.formulas.leaf(self.sources.get(n).map_or_else(|| "?".into(), &spell)))
    }

    /// The function's value.
    fn value(&self, spell: impl Fn(&Term) -> String) -> Option<Expr> {
        let [a, b] = self.leaves(spell);
        self.formulas.value(self.function, self.form()?, a, b).ok()
    }

    /// The operand that a placeholder names. A single target is y, two are x and y.
    fn operand(&self, word: &str) -> Option<&'a Term> {
        match word {
            "x" if self.targets.len() == 2 => self.targets.first(),
            "y" => self.targets.last(),
            "θ" if self.update.shape() == Shape::Rotate => self.sources.first(),
            _ => None,
        }
    }

    /// What stands for a placeholder: the operand as `spell` says, its adjoint, its value at some time,
    /// or the function's value.
    fn filling(
        &self,
        word: &str,
        value: Option<&Formula>,
        spell: impl Fn(&Term) -> String,
    ) -> Option<Formula> {
        if word == "f" {
            let always = self.function == Function::Always;
            return if always { Some(Formula::leaf("true")) } else { value.cloned() };
        }
        if let Some(name) = word.strip_suffix('\'') {
            return self.operand(name).map(|term| Formula::leaf(term.adjoint_name()));
        }
        if let Some((name, time)) = word.split_once('_') {
            return self.operand(name).map(|term| Formula::leaf(format!("{}_{time}", term.name)));
        }
        self.operand(word).map(|term| Formula::leaf(spell(term)))
    }

    fn equation(&self, update: Update, value: Option<&Formula>) -> String {
        fill(update.meaning(), |word| self.filling(word, value, |term| term.name.clone()))
    }

    /// The equation with values on its right side.
    fn numbers(&self) -> Option<String> {
        let known = |term: &Term| term.value.clone().unwrap_or_default();
        let (left, right) = self.update.meaning().split_once(" ← ")?;
        if self.targets.iter().chain(self.sources).any(|term| term.value.is_none()) {
            return None;
        }
        let value = self.value(known).and_then(|value| self.formulas.spell(&[value]).formulas.pop());
        let left = fill(left, |word| self.filling(word, None, |term| term.name.clone()));
        let right = fill(right, |word| self.filling(word, value.as_ref(), known));
        Some(format!("{left} ← {right}"))
    }

    /// Whether the instruction does anything to adjoints.
    fn transports(&self) -> bool {
        !self.targets.is_empty()
            && self.targets.iter().all(|term| term.class == Class::Real)
            && self.targets.iter().chain(self.sources).all(|term| term.role != Role::Adjoint)
    }

    fn partials(&self) -> Vec<Transport> {
        let [a, b] = self.leaves(|term| term.name.clone());
        let Some(form) = self.form() else { return Vec::new() };
        let cells = self.sources.iter().enumerate().filter(|(_, source)| source.role == Role::Cell);
        cells
            .filter_map(|(n, _)| {
                let partial = self.formulas.partial(self.function, form, n, a, b).ok()?;
                Transport::new(&self.formulas, n, partial)
            })
            .collect()
    }

    fn adjoint(&self, value: Option<&Formula>, transports: &[Transport], factors: &[Formula]) -> Vec<String> {
        if !self.transports() || self.update.adjoint().is_empty() {
            return Vec::new();
        }
        let constant_angle = self.operand("θ").is_some_and(|angle| angle.role != Role::Cell);
        let mut lines = Vec::new();
        for clause in self.update.adjoint().split(", then ") {
            if clause.contains(PARTIAL) {
                let pairs = transports.iter().zip(factors);
                lines.extend(pairs.map(|(transport, factor)| self.carry(clause, value, transport, factor)));
            } else if !(constant_angle && clause.contains('θ')) {
                lines.push(fill(clause, |word| self.filling(word, value, |term| term.name.clone())));
            }
        }
        lines
    }

    /// What a clause about any source says of one.
    fn carry(
        &self,
        clause: &str,
        value: Option<&Formula>,
        transport: &Transport,
        factor: &Formula,
    ) -> String {
        fill(&transport.simplified(clause), |word| match word {
            "a'" => self.sources.get(transport.source).map(|source| Formula::leaf(source.adjoint_name())),
            FACTOR => Some(factor.clone()),
            _ => self.filling(word, value, |term| term.name.clone()),
        })
    }
}

/// How a cotangent reaches one source: the partial derivative without signs and trivial factors.
struct Transport {
    source: usize,
    negative: bool,
    operation: Operation,
    factor: Expr,
}

enum Operation {
    /// The partial is 1.
    Nothing,
    Times,
    /// The partial is a reciprocal, and the factor its divisor.
    Over,
}

impl Transport {
    /// `None` where the partial is 0.
    fn new(formulas: &Formulas, source: usize, partial: Expr) -> Option<Transport> {
        if let Some(positive) = formulas.negated(partial) {
            let transport = Transport::new(formulas, source, positive)?;
            return Some(Transport { negative: !transport.negative, ..transport });
        }
        let (operation, factor) = match formulas.reciprocal(partial) {
            _ if formulas.is(partial, "0") => return None,
            _ if formulas.is(partial, "1") => (Operation::Nothing, partial),
            Some(divisor) => (Operation::Over, divisor),
            None => (Operation::Times, partial),
        };
        Some(Transport { source, negative: false, operation, factor })
    }

    /// A row's clause with the sign and the operation that are left.
    fn simplified(&self, clause: &str) -> String {
        let flipped = match self.negative {
            true if clause.contains(" - ") => clause.replace(" - ", " + "),
            true => clause.replace(" + ", " - "),
            false => clause.to_owned(),
        };
        let product = format!("·{PARTIAL}");
        match self.operation {
            Operation::Nothing => flipped.replace(&product, ""),
            Operation::Times => flipped.replace(&product, &format!("·{FACTOR}")),
            Operation::Over => flipped.replace(&product, &format!("/{FACTOR}")),
        }
    }
}
