//! Whether a module is a program: every rule that can be judged without running it.
//!
//! The assembler reports violations at their source, the loader refuses the image; both ask here,
//! so that a text and an image are held to the same rules. Knows no source text and no machine.

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

/// Cells that one class may have: those of all globals and of main's frame, those of the frame of one
/// procedure, and while the program runs those of all open frames together with the globals.
pub const MAX_CELLS: u64 = 1 << 28;
/// The greatest value of `.limit depth`.
pub const MAX_DEPTH: u32 = 1 << 24;
/// The greatest value of `.limit stack`.
pub const MAX_STACK: u32 = 1 << 30;
/// The greatest value of `.limit tape`.
pub const MAX_TAPE: u32 = 1 << 30;
/// Cells of all globals together for which initial values or defaults are stored.
pub const MAX_VALUES: u64 = 1 << 24;

/// Where in a module a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// An index in `Module::code`.
    Instruction(u32),
    /// An operand of an instruction, counted from 0; for calls the argument.
    Operand(u32, u32),
    /// An index in `Module::globals`.
    Global(u32),
    /// An index in `Module::procedures`.
    Procedure(u32),
    /// The module as a whole.
    Module,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What kind of mistake it is.
    pub code: ProblemCode,
    pub site: Site,
    pub message: String,
    /// The other half of paired things, and what to say about it.
    pub other: Option<(Site, String)>,
    /// The cure, where one is known.
    pub help: Option<String>,
}

/// Every broken rule of a module, in the order of the code. Empty for a program.
///
/// Messages speak of names and expressions, so where a word can't be a name, or an expression has no end, only
/// that is reported. Where the
/// procedures don't tile the code, nothing can be said about instructions, and only that is reported.
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

/// Collects violations; each submodule adds the rules of its subject.
struct Checker<'a> {
    module: &'a Module,
    violations: Vec<Violation>,
}

impl<'a> Checker<'a> {
    /// Records a violation and returns it for more detail.
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

    /// Whether an instruction's operands are what its form and its procedure ask for.
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

    /// Whether an integer literal fits the module's words.
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

/// "an integer" or "a real", for messages.
pub fn a_class(class: Class) -> &'static str {
    match class {
        Class::Int => "an integer",
        Class::Real => "a real",
    }
}
