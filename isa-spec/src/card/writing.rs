//! The text reading of steps: an engine whose cells are the operands of a card and whose numbers are
//! formulas. The engine records the effects of a step in order, and doesn't depend on page layout or on values
//! of cells.

use std::collections::HashMap;

use super::{CardTerm, TermRole};
use crate::fault::{Eval, Fault};
use crate::formula::{Expr, Formulas};
use crate::function::Function;
use crate::instruction::Class;
use crate::step::{AnyFunction, Engine, Failed, Operation, step};
use crate::update::{Action, Direction, Erasure, Store, TaskBound};

/// The suffix of a name that denotes the value of a cell or an adjoint after the step, not before it.
pub(super) const AFTER: char = '\u{1}';

/// One effect of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepEffect {
    /// An assignment to the operand with this index, or to its adjoint if the effect is one on adjoints.
    Sets { operand: usize, value: Expr },
    /// Any other effect: the words `before`, the formula `about` and the words `after`.
    Says { before: &'static str, about: Option<Expr>, after: &'static str },
}

/// The recorder of one step.
pub(super) struct Writing<'a> {
    formulas: &'a Formulas,
    operands: &'a [CardTerm],
    /// The number of targets among the operands; targets come first.
    targets: usize,
    /// True if the function is left open: its value is f, and its derivative ∂f/∂a.
    is_any: bool,
    /// For each name of a target's new value, the formula of that value.
    named: HashMap<Expr, Expr>,
    /// Effects on values, in order.
    pub values: Vec<StepEffect>,
    /// Effects on adjoints, in order.
    pub adjoints: Vec<StepEffect>,
}

impl<'a> Writing<'a> {
    /// Records the effects of an operation on its operands.
    ///
    /// # Errors
    /// Returns an error if the operation has no signature for these operands.
    pub fn of(
        formulas: &'a Formulas,
        operation: Operation,
        operands: &'a [CardTerm],
        is_any: bool,
    ) -> Result<Self, Failed> {
        let targets = operation.update.shape().targets().min(operands.len());
        let (values, adjoints) = (Vec::new(), Vec::new());
        let mut writing =
            Writing { formulas, operands, targets, is_any, named: HashMap::new(), values, adjoints };
        writing.write(operation)?;
        Ok(writing)
    }

    fn write(&mut self, operation: Operation) -> Result<(), Failed> {
        match operation.update.action() {
            Action::Accumulate
            | Action::Replace
            | Action::Erase(_)
            | Action::Map
            | Action::Exchange
            | Action::Rotate
            | Action::Clear
            | Action::Test => step(self, operation, [0, 1, 2])?,
            Action::Put(store) => self.put(store),
            Action::Take(store) => self.take(store),
            Action::Jump => self.condition("jumps past its partner if ", operation)?,
            Action::Join => self.condition("reached from above: traps if ", operation)?,
            Action::Begin => self.words("the procedure begins"),
            Action::End => self.words("the procedure ends"),
            Action::Call(direction) => {
                self.words(match direction {
                    Direction::Forward => "runs the procedure forward",
                    Direction::Backward => "runs the procedure backward",
                });
                self.carried("propagated by the procedure's body");
            }
            Action::Tasks(bound) => {
                self.words(match bound {
                    TaskBound::Opens => {
                        "the following calls are tasks, which share no cells that one of them changes"
                    }
                    TaskBound::Closes => "all tasks have ended",
                });
                self.carried("each task has separate sums for the adjoints of cells that it only reads; the sums are added in the order of the tasks");
            }
            Action::Show => {
                let shown = self.name(0);
                self.values.push(StepEffect::Says { before: "prints ", about: Some(shown), after: "" });
            }
            Action::Switch(on) => self.words(if on { "mode ← 1" } else { "mode ← 0" }),
        }
        Ok(())
    }

    fn words(&mut self, words: &'static str) {
        self.values.push(StepEffect::Says { before: words, about: None, after: "" });
    }

    fn carried(&mut self, words: &'static str) {
        self.adjoints.push(StepEffect::Says { before: words, about: None, after: "" });
    }

    fn condition(&mut self, before: &'static str, operation: Operation) -> Result<(), Failed> {
        let condition = self.int_value(operation, [0, 1])?;
        self.values.push(StepEffect::Says { before, about: Some(condition), after: "" });
        Ok(())
    }

    fn put(&mut self, store: Store) {
        let before = match store {
            Store::Stack => "the stack gains ",
            Store::Input => "the input tape regains ",
            Store::Output => "the output tape gains ",
        };
        let (value, adjoint, zero) = (self.name(0), self.adjoint(0), self.formulas.leaf("0"));
        let sets = StepEffect::Sets { operand: 0, value: zero };
        self.values.extend([StepEffect::Says { before, about: Some(value), after: "" }, sets]);
        self.adjoints.extend([StepEffect::Says { before, about: Some(adjoint), after: " too" }, sets]);
    }

    fn take(&mut self, store: Store) {
        let (value, adjoint) = match store {
            Store::Stack => {
                self.words("the stack loses its top");
                ("the top", "the adjoint of the top")
            }
            Store::Input => ("the next value of the input tape", "the adjoint of the next value"),
            Store::Output => ("the last value of the output tape", "the adjoint of the last value"),
        };
        self.values.push(StepEffect::Sets { operand: 0, value: self.formulas.leaf(value) });
        self.adjoints.push(StepEffect::Sets { operand: 0, value: self.formulas.leaf(adjoint) });
    }

    /// Returns the name of the operand's value before the step. For a missing operand it is `?`, which no
    /// step evaluates.
    fn name(&self, operand: usize) -> Expr {
        self.formulas.leaf(self.operands.get(operand).map_or("?", |term| &term.name))
    }

    /// Returns a name for the new value of a target, which later formulas of the step use instead of the
    /// formula `value`. Operands that aren't targets keep their formula.
    fn after(&mut self, operand: usize, name: &str, value: Expr) -> Expr {
        if operand >= self.targets {
            return value;
        }
        let leaf = self.formulas.leaf(format!("{name}{AFTER}"));
        self.named.insert(leaf, value);
        leaf
    }

    fn meaning(&self, value: Expr) -> Expr {
        self.named.get(&value).copied().unwrap_or(value)
    }
}

impl<'a> Engine for Writing<'a> {
    type Numbers = &'a Formulas;
    type Cell = usize;
    type Bit = bool;
    type Functions = AnyFunction;

    const GRADIENT: bool = true;
    const EXACT: bool = true;
    const IMMEDIATE: bool = false;

    fn numbers(&self) -> &'a Formulas {
        self.formulas
    }

    fn int(&self, operand: usize) -> Expr {
        self.name(operand)
    }
    fn real(&self, operand: usize) -> Expr {
        self.name(operand)
    }
    fn adjoint(&self, operand: usize) -> Expr {
        self.formulas.leaf(self.operands.get(operand).map_or("?".into(), CardTerm::adjoint_name))
    }
    fn set_int(&mut self, operand: usize, value: Expr) {
        self.values.push(StepEffect::Sets { operand, value });
    }
    fn set_real(&mut self, operand: usize, value: Expr) {
        let value = self.meaning(value);
        self.values.push(StepEffect::Sets { operand, value });
    }
    fn set_adjoint(&mut self, operand: usize, value: Expr) {
        let value = self.meaning(value);
        self.adjoints.push(StepEffect::Sets { operand, value });
    }
    fn set_zero(&mut self, _class: Class, operand: usize) {
        let value = self.formulas.leaf("0");
        self.values.push(StepEffect::Sets { operand, value });
    }

    fn admit(&self, value: Expr) -> Eval<Expr> {
        Ok(value)
    }
    fn becomes(&mut self, operand: usize, value: Expr) -> Expr {
        let name = self.operands.get(operand).map_or("?".into(), |term| term.name.clone());
        self.after(operand, &name, value)
    }
    fn adjoint_becomes(&mut self, operand: usize, value: Expr) -> Expr {
        let name = self.operands.get(operand).map_or("?".into(), CardTerm::adjoint_name);
        self.after(operand, &name, value)
    }

    fn is_nonzero(&self, _adjoint: Expr) -> bool {
        true
    }
    fn receives(&self, _number: usize, operand: usize) -> bool {
        self.operands.get(operand).is_some_and(|term| term.role == TermRole::Cell)
    }
    fn is_same(&self, a: usize, b: usize) -> bool {
        let name = |operand: usize| self.operands.get(operand).map(|term| &term.name);
        name(a) == name(b)
    }
    fn either(&self, a: bool, b: bool) -> bool {
        a || b
    }
    fn choose(&self, bit: bool, yes: Expr, no: Expr) -> Expr {
        if bit { yes } else { no }
    }
    fn when(
        &mut self,
        bit: bool,
        then: impl FnOnce(&mut Self) -> Result<crate::step::Changes<Self>, Failed>,
    ) -> Result<crate::step::Changes<Self>, Failed> {
        if bit { then(self) } else { Ok(crate::step::Changes::nothing()) }
    }

    fn require_condition(&mut self, holds: Expr) -> Result<(), Failed> {
        self.values.push(StepEffect::Says { before: "traps unless ", about: Some(holds), after: "" });
        Ok(())
    }
    fn require_vacant(&mut self, _class: Class, operand: usize) -> Result<(), Failed> {
        let about = Some(self.name(operand));
        self.values.push(StepEffect::Says { before: "traps unless ", about, after: " is vacant" });
        Ok(())
    }

    fn converts(&mut self, _source: usize) {}
    fn erases(&mut self, _class: Class, operand: usize, erasure: Erasure) {
        let about = Some(self.name(operand));
        let before = match erasure {
            Erasure::Cell => "the old ",
            Erasure::Bit => "the lowest bit of the old ",
        };
        self.values.push(StepEffect::Says { before, about, after: " is lost" });
    }
    fn ends_adjoint(&mut self, _operand: usize) {}
    fn frees(&mut self, operand: usize) {
        let about = Some(self.adjoint(operand));
        self.adjoints.push(StepEffect::Says { before: "", about, after: " is dropped" });
    }
    fn drop_adjoint(&mut self, operand: usize) {
        let value = self.formulas.leaf("0");
        self.adjoints.push(StepEffect::Sets { operand, value });
    }

    /// Always true. A step that restores a lost value needs a history entry, so the card of such a step assumes an
    /// entry. The assumed entry holds no adjoints, so `give_back` returns false. Therefore the step propagates the
    /// adjoints itself, and the card records the formulas of the new adjoints.
    fn is_kept(&self) -> bool {
        true
    }
    fn give_back(&mut self) -> bool {
        false
    }

    fn int_value(&self, operation: Operation, sources: [usize; 2]) -> Eval<Expr> {
        match operation.function {
            _ if self.is_any => Ok(self.formulas.leaf("f")),
            Function::Always => Ok(self.formulas.leaf("true")),
            _ => {
                let name = |n: usize| self.name(sources[n]);
                operation.int_value::<AnyFunction, _>(&self.formulas, name, name)
            }
        }
    }
    fn real_value(&self, operation: Operation, sources: [usize; 2]) -> Eval<Expr> {
        if self.is_any {
            Ok(self.formulas.leaf("f"))
        } else {
            let name = |n: usize| self.name(sources[n]);
            operation.real_value::<AnyFunction, _>(&self.formulas, name, name)
        }
    }
    fn partial(&self, operation: Operation, source: u8, sources: [usize; 2]) -> Eval<Expr> {
        match source {
            0 if self.is_any => Ok(self.formulas.leaf("∂f/∂a")),
            _ if self.is_any => Err(Fault::NoSignature),
            _ => {
                let name = |n: usize| self.name(sources[n]);
                operation.partial::<AnyFunction, _>(source, &self.formulas, name, name)
            }
        }
    }
}
