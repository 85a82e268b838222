//! Rules about the variables that hold values of expressions: what is recorded of them can be computed in
//! their procedure, and has an end when it is told.

use super::{Checker, Site};
use crate::codes::ProblemCode;
use crate::instruction::{Base, Instruction, Link, Operand, Place};
use crate::module::Shape;
use crate::structure::Temporary;
use crate::update::Update;

/// Functions that an expression with all its parts may apply; a part that stands in several places counts
/// for each.
pub const MOST_FUNCTIONS: u32 = 1024;

impl Checker<'_> {
    /// Whether the expressions that the temporaries stand for end, so that they can be spelled.
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

    /// How many functions an expression applies; none where it names itself, or applies too many.
    fn weight(&self, temporary: &Temporary, weights: &[u32]) -> Option<u32> {
        let temporaries = &self.module.structure.temporaries;
        let mut weight = Some(1u32);
        let mut add = |base: Base| {
            let Base::Frame(variable) = base else { return };
            let key = (temporary.procedure, variable);
            let known = temporaries.binary_search_by_key(&key, |other| (other.procedure, other.variable));
            if let Ok(known) = known {
                // One of a number that isn't smaller has no weight yet.
                weight = weight.zip(weights.get(known)).and_then(|(own, other)| own.checked_add(*other));
            }
        };
        temporary.sources.iter().for_each(|source| source.visit_bases(&mut add));
        weight.filter(|weight| *weight <= MOST_FUNCTIONS)
    }

    /// Each is a scalar of a frame, and an instruction of its procedure could compute it.
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
                    "the expression of a temporary is none",
                );
                return;
            }
        }
    }
}

/// The instruction that computes a temporary, or with `sub` uncomputes it.
pub(super) fn computing(temporary: &Temporary, update: Update) -> Instruction {
    let target = Operand::Place(Place::scalar(Base::Frame(temporary.variable)));
    let operands = std::iter::once(target).chain(temporary.sources.iter().cloned()).take(3).collect();
    Instruction { update, function: temporary.function, operands, link: Link::None }
}
