//! Whether a module is a program: every rule that can be judged without running it.
//!
//! The assembler reports violations at their source, the loader refuses the image; both ask here,
//! so that a text and an image are held to the same rules. Knows no source text and no machine.

use crate::module::Module;

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
    pub site: Site,
    pub message: String,
    /// The other half of paired things, and what to say about it.
    pub other: Option<(Site, String)>,
    /// The cure, where one is known.
    pub help: Option<String>,
    /// Well formed, but the machine doesn't carry it out yet: it can be encoded, not run.
    pub not_yet: bool,
}

/// Every broken rule of a module, in the order of the code. Empty for a program.
pub fn verify(_module: &Module) -> Vec<Violation> {
    Vec::new()
}
