//! Fills in the texts of the rows: each twice, with names and with numbers.

use super::template::fill;
use super::transport::{FACTOR, PARTIAL, Transport};
use super::{Line, Role, Term, Way};
use crate::formula::{Expr, Formula, Formulas, Spelled, form};
use crate::function::{Form, Function};
use crate::instruction::Class;
use crate::update::{Shape, Update};

/// An instruction that is being described, in one direction.
pub(super) struct Describer<'a> {
    update: Update,
    function: Function,
    targets: &'a [Term],
    sources: &'a [Term],
    formulas: Formulas,
}

/// How placeholders are filled in.
#[derive(Clone, Copy)]
enum Reading {
    Names,
    /// With what the operands hold. `moved` says whether the adjoints of the targets are those that the
    /// instruction leaves.
    Numbers {
        moved: bool,
    },
}

/// The function's value and its partial derivatives in one reading.
struct Filling {
    value: Option<Formula>,
    /// As many as there are transports.
    factors: Vec<Formula>,
    parts: Vec<String>,
}

impl Filling {
    fn new(mut spelled: Spelled, has_value: bool) -> Filling {
        let factors = spelled.formulas.split_off(usize::from(has_value));
        Filling { value: spelled.formulas.pop(), factors, parts: spelled.parts }
    }
}

impl<'a> Describer<'a> {
    pub fn new(update: Update, function: Function, operands: &'a [Term]) -> Describer<'a> {
        let count = update.shape().targets().min(operands.len());
        let (targets, sources) = operands.split_at(count);
        Describer { update, function, targets, sources, formulas: Formulas::as_written() }
    }

    /// The description, and the parts of its formulas that have names of their own.
    pub fn way(&self) -> (Way, Vec<Line>) {
        let value = self.value();
        let transports = self.transports();
        let roots: Vec<Expr> = value.into_iter().chain(transports.iter().map(|t| t.factor)).collect();
        let names = Filling::new(self.formulas.spell(&roots), value.is_some());
        let numbers = self.formulas.spell_with(&roots, &|leaf| self.number_of(leaf));
        let numbers = self.is_known().then(|| Filling::new(numbers, value.is_some()));
        let parts = parts(&names, numbers.as_ref());
        let equation = line(
            self.say(self.update.meaning(), &names, Reading::Names),
            numbers.as_ref().and_then(|numbers| self.equation(numbers)),
        );
        let adjoint = self.adjoint(&transports, &names, numbers.as_ref().filter(|_| self.is_carried()));
        (Way { equation, adjoint }, parts)
    }

    /// The equation with numbers; where it is about a condition, that alone.
    fn equation(&self, numbers: &Filling) -> Option<String> {
        match self.update.shape() {
            Shape::Condition | Shape::Branch if self.function == Function::Always => None,
            Shape::Condition | Shape::Branch => numbers.value.as_ref().map(|value| value.text.clone()),
            _ => Some(self.work_out(self.update.meaning(), numbers, false)),
        }
    }

    fn operands(&self) -> impl Iterator<Item = &'a Term> {
        self.targets.iter().chain(self.sources)
    }

    /// Whether the values of all operands are known.
    fn is_known(&self) -> bool {
        self.operands().all(|term| term.before.value.is_some())
    }

    /// Whether the adjoints of all operands that have one are known on both sides. What can't be undone
    /// carries adjoints only on the way back, for which it needs a history.
    fn is_carried(&self) -> bool {
        let mut cells = self.operands().filter(|t| t.role == Role::Cell && t.class == Class::Real);
        self.update.is_reversible()
            && cells.all(|term| term.before.adjoint.is_some() && term.after.adjoint.is_some())
    }

    /// What a source of this name holds; other leaves are numbers already.
    fn number_of(&self, leaf: &str) -> String {
        let source = self.sources.iter().find(|source| source.name == leaf);
        source.and_then(|source| source.before.value.clone()).unwrap_or_else(|| leaf.to_owned())
    }

    /// The form in which the function is applied; `None` where the update takes none, or there is none.
    fn form(&self) -> Option<Form> {
        let classes: Vec<Class> = self.sources.iter().map(|term| term.class).collect();
        let result = self.targets.first().map_or(Class::Int, |target| target.class);
        let applies = self.update.takes_function() && classes.len() == self.function.arity();
        applies.then(|| form(self.function, result, &classes)).flatten()
    }

    /// The sources as leaves; a missing one is never looked at.
    fn leaves(&self) -> [Expr; 2] {
        [0, 1].map(|n| self.formulas.leaf(self.sources.get(n).map_or("?", |source| &source.name)))
    }

    fn value(&self) -> Option<Expr> {
        let [a, b] = self.leaves();
        self.formulas.value(self.function, self.form()?, a, b).ok()
    }

    /// The operand that a placeholder names. A single target is y, two are x and y.
    fn operand(&self, word: &str) -> Option<&'a Term> {
        match word {
            "x" if self.targets.len() == 2 => self.targets.first(),
            "y" if self.update.shape() == Shape::Show => self.sources.first(),
            "y" => self.targets.last(),
            "θ" if self.update.shape() == Shape::Rotate => self.sources.first(),
            _ => None,
        }
    }

    /// What stands for a placeholder: an operand's name or what it holds, its adjoint, its value at a time,
    /// or the function's value.
    fn filling(&self, word: &str, filling: &Filling, reading: Reading) -> Option<Formula> {
        if word == "f" {
            let always = self.function == Function::Always;
            return if always { Some(Formula::leaf("true")) } else { filling.value.clone() };
        }
        if let Some(name) = word.strip_suffix('\'') {
            let term = self.operand(name)?;
            return Some(Formula::leaf(match reading {
                Reading::Names => term.adjoint_name(),
                Reading::Numbers { moved: true } if name != "θ" => known(&term.after.adjoint),
                Reading::Numbers { .. } => known(&term.before.adjoint),
            }));
        }
        let (name, time) = word.split_once('_').unwrap_or((word, ""));
        let term = self.operand(name)?;
        let text = match (reading, time) {
            (Reading::Names, "") => term.name.clone(),
            (Reading::Names, _) => format!("{}_{time}", term.name),
            (Reading::Numbers { .. }, "new") => known(&term.after.value),
            (Reading::Numbers { .. }, _) => known(&term.before.value),
        };
        Some(Formula::leaf(text))
    }

    fn say(&self, template: &str, filling: &Filling, reading: Reading) -> String {
        fill(template, |word| self.filling(word, filling, reading))
    }

    /// A row's text with numbers. Of an assignment the left side keeps its names, and what comes of it is
    /// added where the right side doesn't say it already.
    fn work_out(&self, template: &str, filling: &Filling, moved: bool) -> String {
        let reading = Reading::Numbers { moved };
        let clauses = template.split("; ").map(|clause| match clause.split_once(" ← ") {
            None => self.say(clause, filling, reading),
            Some((left, right)) => {
                let result = self.result(left, right);
                let left = self.say(left, filling, Reading::Names);
                equated(left, self.say(right, filling, reading), result)
            }
        });
        clauses.collect::<Vec<_>>().join("; ")
    }

    /// What the left side of an assignment holds afterwards, unless the right side is a number itself.
    fn result(&self, left: &str, right: &str) -> Option<String> {
        if right.parse::<f64>().is_ok() {
            return None;
        }
        let held = |word: &str| match word.strip_suffix('\'') {
            Some(name) => self.operand(name)?.after.adjoint.clone(),
            None => self.operand(word)?.after.value.clone(),
        };
        left.split(", ").map(held).collect::<Option<Vec<_>>>().map(|numbers| numbers.join(", "))
    }

    /// How the cotangent reaches each source; nothing where the instruction does nothing to adjoints.
    fn transports(&self) -> Vec<Transport> {
        let [a, b] = self.leaves();
        let Some(form) = self.form().filter(|_| self.has_adjoint()) else { return Vec::new() };
        let cells = self.sources.iter().enumerate().filter(|(_, source)| source.role == Role::Cell);
        cells
            .filter_map(|(n, _)| {
                let partial = self.formulas.partial(self.function, form, n, a, b).ok()?;
                Transport::new(&self.formulas, n, partial)
            })
            .collect()
    }

    /// Whether the instruction does anything to adjoints.
    fn has_adjoint(&self) -> bool {
        self.targets.iter().all(|term| term.class == Class::Real)
            && self.operands().all(|term| term.role != Role::Adjoint)
            && !(self.targets.is_empty() && self.update.shape().targets() > 0)
            && !self.update.adjoint().is_empty()
    }

    fn adjoint(&self, transports: &[Transport], names: &Filling, numbers: Option<&Filling>) -> Vec<Line> {
        if !self.has_adjoint() {
            return Vec::new();
        }
        let constant_angle = self.operand("θ").is_some_and(|angle| angle.role != Role::Cell);
        let mut lines = Vec::new();
        let mut moved = false;
        for clause in self.update.adjoint().split(", then ") {
            if clause.contains(PARTIAL) {
                lines.extend(self.carry(clause, transports, names, numbers, moved));
            } else if !(constant_angle && clause.starts_with("θ'")) {
                let numbers = numbers.map(|numbers| self.work_out(clause, numbers, moved));
                lines.push(line(self.say(clause, names, Reading::Names), numbers));
            }
            moved |= clause.starts_with(['x', 'y']);
        }
        lines
    }

    /// What a clause about any source says of each. One that stands twice gets both shares at once.
    fn carry(
        &self,
        clause: &str,
        transports: &[Transport],
        names: &Filling,
        numbers: Option<&Filling>,
        moved: bool,
    ) -> Vec<Line> {
        let mut receivers: Vec<&Term> =
            transports.iter().filter_map(|t| self.sources.get(t.source)).collect();
        receivers.dedup_by_key(|receiver| &receiver.name);
        let lines = receivers.into_iter().map(|receiver| {
            let shares =
                |filling: &Filling, reading| self.shares(clause, receiver, transports, filling, reading);
            let name = receiver.adjoint_name();
            let formula = format!("{name} ← {name}{}", shares(names, Reading::Names));
            let numbers = numbers.map(|numbers| {
                let shares = shares(numbers, Reading::Numbers { moved });
                let right = known(&receiver.before.adjoint) + &shares;
                equated(name, right, receiver.after.adjoint.clone())
            });
            line(formula, numbers)
        });
        lines.collect()
    }

    /// What is added to a source's adjoint, and taken from it: ` - y'·b`.
    fn shares(
        &self,
        clause: &str,
        receiver: &Term,
        transports: &[Transport],
        filling: &Filling,
        reading: Reading,
    ) -> String {
        let mut text = String::new();
        for (transport, factor) in transports.iter().zip(&filling.factors) {
            if self.sources.get(transport.source).is_some_and(|source| source.name == receiver.name) {
                let clause = transport.simplified(clause);
                let share = clause.split_once(" ← a'").map_or("", |(_, share)| share);
                text += &fill(share, |word| match word {
                    FACTOR => Some(factor.clone()),
                    _ => self.filling(word, filling, reading),
                });
            }
        }
        text
    }
}

/// The parts that have names of their own.
fn parts(names: &Filling, numbers: Option<&Filling>) -> Vec<Line> {
    let numbered = |n: usize| numbers.and_then(|numbers| numbers.parts.get(n).cloned());
    names.parts.iter().enumerate().map(|(n, part)| line(part.clone(), numbered(n))).collect()
}

fn known(number: &Option<String>) -> String {
    number.clone().unwrap_or_else(|| "?".to_owned())
}

/// An assignment and what comes of it, unless its right side is just that.
fn equated(left: String, right: String, result: Option<String>) -> String {
    match result.filter(|result| *result != right) {
        Some(result) => format!("{left} ← {right} = {result}"),
        None => format!("{left} ← {right}"),
    }
}

/// A line whose numbers say more than its formula.
fn line(formula: String, numbers: Option<String>) -> Line {
    let numbers = numbers.filter(|numbers| *numbers != formula);
    Line { formula, numbers }
}
