//! Rules about temporaries, the frame variables that hold values of expressions: their recorded expressions
//! are valid in the procedure, and finite.

use super::{Checker, Site};
use crate::codes::ProblemCode;
use crate::instruction::{Base, Instruction, Link, Operand, Place};
use crate::module::Shape;
use crate::structure::Temporary;
use crate::update::Update;

/// The maximum number of functions in an expression, including its subexpressions. A subexpression that
/// occurs several times counts each time.
pub const MOST_FUNCTIONS: u32 = 1024;

impl Checker<'_> {
    /// Reports a temporary whose expression contains itself or is too long, because such an expression
    /// couldn't be written as text. Returns true if there is no such temporary.
    pub(super) fn temporaries_end(&mut self) -> bool {
        let temporaries = &self.module.structure.temporaries;
        let key = |temporary: &Temporary| (temporary.procedure, temporary.variable);
        if !temporaries.is_sorted_by(|a, b| key(a) < key(b)) {
            self.report(
                ProblemCode::MalformedImage,
                Site::Module,
                "the expressions of temporaries are out of order",
            );
            return false;
        }
        let mut weights: Vec<u32> = Vec::with_capacity(temporaries.len());
        for temporary in temporaries {
            let Some(weight) = self.weight(temporary, &weights) else {
                let message = "the expression of a temporary is too long, or never ends";
                self.report(ProblemCode::MalformedImage, Site::Module, message);
                return false;
            };
            weights.push(weight);
        }
        true
    }

    /// Returns the number of functions in a temporary's expression; `None` if the expression contains itself or has too
    /// many functions. `weights` contains the number of functions for each preceding temporary.
    fn weight(&self, temporary: &Temporary, weights: &[u32]) -> Option<u32> {
        let temporaries = &self.module.structure.temporaries;
        let mut weight = Some(1u32);
        let mut add = |base: Base| {
            let Base::Frame(variable) = base else { return };
            let key = (temporary.procedure, variable);
            let known = temporaries.binary_search_by_key(&key, |other| (other.procedure, other.variable));
            if let Ok(known) = known {
                // A source that is a temporary must have a smaller index; otherwise it has no weight yet, and
                // the result is `None`.
                weight = weight.zip(weights.get(known)).and_then(|(own, other)| own.checked_add(*other));
            }
        };
        temporary.sources.iter().for_each(|source| source.visit_bases(&mut add));
        weight.filter(|weight| *weight <= MOST_FUNCTIONS)
    }

    /// Checks that each temporary is an unnamed scalar of its procedure's frame, and that `add` with the
    /// recorded expression as its sources would be a valid instruction of the procedure.
    pub(super) fn temporaries(&mut self) {
        let module = self.module;
        for temporary in &module.structure.temporaries {
            let owner = module.procedures.get(temporary.procedure as usize);
            let variable = owner.and_then(|owner| owner.frame.get(temporary.variable as usize));
            let is_scalar = variable.is_some_and(|variable| variable.shape == Shape::Scalar);
            let is_named = module.structure.source_name(temporary.procedure, temporary.variable).is_some();
            let sound = owner.filter(|_| is_scalar && !is_named).is_some_and(|owner| {
                let computing = computing(temporary, Update::Add);
                let mut checker = Checker { module, violations: Vec::new() };
                checker.legal(owner, owner.entry, &computing) && checker.violations.is_empty()
            });
            if !sound {
                self.report(
                    ProblemCode::MalformedImage,
                    Site::Module,
                    "the expression of a temporary is malformed",
                );
                return;
            }
        }
    }
}

/// Returns the instruction that computes a temporary with `add`, or uncomputes it with `sub`.
pub(super) fn computing(temporary: &Temporary, update: Update) -> Instruction {
    let target = Operand::Place(Place::scalar(Base::Frame(temporary.variable)));
    let operands = std::iter::once(target).chain(temporary.sources.iter().cloned()).take(3).collect();
    Instruction { update, function: temporary.function, operands, link: Link::None }
}
