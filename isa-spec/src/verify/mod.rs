//! Verification of modules: every rule of valid programs that can be checked without running them.
//!
//! The assembler reports violations at their places in the text; the loader rejects the image. Both call this
//! module, so texts and images obey the same rules. This module is independent of source text and of the
//! machine.

mod blocks;
mod calls;
mod canonical;
pub mod classes;
mod control;
mod declarations;
mod elements;
mod names;
mod operands;
mod overlap;
mod rules;
mod structure;
mod tasks;
pub mod temporaries;

use crate::codes::ProblemCode;
use crate::instruction::{Base, Class, Instruction};
use crate::module::{Declaration, Module, Procedure};

/// The maximum number of cells of one class. The number limits three sums: the cells of all globals and of
/// main's frame, the cells of one procedure's frame, and, at run time, the cells of the globals and all open
/// frames.
pub const MAX_CELLS: u64 = 1 << 28;
/// The greatest value of `.limit depth`.
pub const MAX_DEPTH: u32 = 1 << 24;
/// The greatest value of `.limit stack`.
pub const MAX_STACK: u32 = 1 << 30;
/// The greatest value of `.limit tape`.
pub const MAX_TAPE: u32 = 1 << 30;
/// The maximum number of cells, over all globals, for which initial values or defaults are stored.
pub const MAX_VALUES: u64 = 1 << 24;

/// The place in a module where a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// An index in `Module::code`.
    Instruction(u32),
    /// An operand of an instruction, by the index of the instruction and the number of the operand from 0.
    /// For a call it is the number of the argument.
    Operand(u32, u32),
    /// An index in `Module::globals`.
    Global(u32),
    /// An index in `Module::procedures`.
    Procedure(u32),
    /// The module as a whole.
    Module,
}

/// A broken rule of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The error code of the violation.
    pub code: ProblemCode,
    /// The place of the fault, which the assembler maps to a position in the text.
    pub site: Site,
    /// The fault in words, without its place.
    pub message: String,
    /// A related place in the module, with a note to show at that place.
    pub other: Option<(Site, String)>,
    /// A suggestion for the user, if one is known.
    pub help: Option<String>,
}

/// Returns every broken rule of a module, in the order of the code. The list is empty for a valid program.
///
/// Messages contain names and expressions. So if names are malformed or expressions are cyclic, only these
/// violations are reported. Instructions are checked only if the procedures cover the code.
pub fn verify(module: &Module) -> Vec<Violation> {
    let mut checker = Checker { module, violations: Vec::new() };
    checker.names();
    if !checker.violations.is_empty() || !checker.temporaries_end() {
        return checker.violations;
    }
    checker.declarations();
    if checker.layout() {
        for procedure in &module.procedures {
            checker.procedure(procedure);
        }
        checker.tasks();
        checker.rules();
        checker.structure();
        checker.canonical();
    }
    checker.violations
}

/// Collects the violations of a module. Each submodule adds methods for the rules of its subject.
struct Checker<'a> {
    module: &'a Module,
    violations: Vec<Violation>,
}

impl<'a> Checker<'a> {
    /// Records a violation and returns it, so that the caller can add details.
    fn report(&mut self, code: ProblemCode, site: Site, message: impl Into<String>) -> &mut Violation {
        let message = message.into();
        let violation = Violation { code, site, message, other: None, help: None };
        self.violations.push(violation);
        self.violations.last_mut().expect("a violation was just pushed")
    }

    fn procedure(&mut self, procedure: &'a Procedure) {
        for at in procedure.entry + 1..procedure.exit {
            let Some(instruction) = self.module.code.get(at as usize) else { return };
            self.instruction(procedure, at, instruction);
        }
    }

    fn instruction(&mut self, procedure: &'a Procedure, at: u32, instruction: &'a Instruction) {
        if self.form(at, instruction) && self.places(procedure, at, instruction) {
            self.classes(procedure, at, instruction);
            self.targets(procedure, at, instruction);
            self.calls(procedure, at, instruction);
        }
        self.pair(procedure, at, instruction);
        self.one_way(at, instruction);
    }

    /// Reports an instruction with a wrong form or wrong operands, or with operands of wrong classes. Returns
    /// false if the form or an operand is wrong.
    fn legal(&mut self, procedure: &'a Procedure, at: u32, instruction: &'a Instruction) -> bool {
        let is_formed = self.form(at, instruction) && self.places(procedure, at, instruction);
        if is_formed {
            self.classes(procedure, at, instruction);
        }
        is_formed
    }

    fn declaration(&self, procedure: &'a Procedure, base: Base) -> Option<Declaration<'a>> {
        self.module.declaration(procedure, base)
    }

    /// Returns true if an integer literal fits into the module's words.
    fn fits(&self, value: i64) -> bool {
        self.module.word.range().contains(&value)
    }

    fn check_int_literal(&mut self, site: Site, value: i64) {
        if !self.fits(value) {
            let range = self.module.word.range();
            let bits = self.module.word.bits();
            self.report(
                ProblemCode::NumberDoesNotFit,
                site,
                format!("{value} does not fit into {bits} bits"),
            )
            .help = Some(format!("integers of this module go from {} to {}", range.start(), range.end()));
        }
    }

    fn check_real_literal(&mut self, site: Site, value: f64) {
        if !self.module.real.represents(value) {
            let system = self.module.real;
            self.report(
                ProblemCode::NumberDoesNotFit,
                site,
                format!("{value:?} does not fit into the number system ({system})"),
            );
        }
    }
}

/// Returns "an integer" or "a real", for messages.
pub fn a_class(class: Class) -> &'static str {
    match class {
        Class::Int => "an integer",
        Class::Real => "a real",
    }
}
