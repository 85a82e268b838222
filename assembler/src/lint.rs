//! What is allowed and yet doubtful: cells that nothing names, procedures that nothing calls.
//!
//! Judges the program's own file only: a library need not be used up. Knows no rule whose breach
//! is an error.

use std::collections::HashSet;

use reviver_isa::Module;
use reviver_isa::instruction::{Argument, Base, Call, Instruction, Link, Operand, Place, Range, Slice, Term};
use reviver_isa::update::Update;

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// The warnings about a verified module. The places are those of its globals and procedures.
pub(crate) fn lint(module: &Module, globals: &[Span], procedures: &[Span]) -> Vec<Diagnostic> {
    let used = Used::by(module);
    let mut warnings = Vec::new();
    for ((number, global), place) in (0..).zip(&module.globals).zip(globals) {
        if is_own(*place) && !used.globals.contains(&number) {
            let message = format!("nothing uses the cell `{}`", global.name);
            warnings.push(Diagnostic::warning(message, *place, "declared here"));
        }
    }
    for ((number, procedure), place) in (0..).zip(&module.procedures).zip(procedures).skip(1) {
        if is_own(*place) && !used.any_procedure && !used.procedures.contains(&number) {
            let message = format!("nothing calls the procedure `{}`", procedure.name);
            warnings.push(Diagnostic::warning(message, *place, "defined here"));
        }
    }
    warnings
}

fn is_own(place: Span) -> bool {
    place.file == FileId(0)
}

/// What the code of a module names.
#[derive(Default)]
struct Used {
    globals: HashSet<u32>,
    procedures: HashSet<u32>,
    /// An indirect call may mean any procedure.
    any_procedure: bool,
}

impl Used {
    fn by(module: &Module) -> Used {
        let mut used = Used::default();
        module.code.iter().for_each(|instruction| used.instruction(instruction));
        used.procedures.extend(module.procedures.iter().filter_map(|procedure| procedure.rule));
        used
    }

    fn instruction(&mut self, instruction: &Instruction) {
        instruction.operands.iter().for_each(|operand| self.operand(operand));
        self.any_procedure |= instruction.update == Update::CallVia;
        if let Link::Calls(calls) = &instruction.link {
            calls.iter().for_each(|call| self.call(call));
        }
    }

    fn call(&mut self, call: &Call) {
        self.procedures.insert(call.procedure);
        for argument in &call.arguments {
            match argument {
                Argument::Scalar(operand) => self.operand(operand),
                Argument::Slice(slice) => self.slice(slice),
            }
        }
    }

    fn operand(&mut self, operand: &Operand) {
        let Operand::Place(Place { base, index, .. }) = operand else { return };
        self.base(*base);
        index.iter().flat_map(|index| index.terms()).for_each(|term| self.term(term));
    }

    fn slice(&mut self, slice: &Slice) {
        self.base(slice.base);
        match &slice.range {
            Range::Whole => {}
            Range::Span { from, to, .. } => [from, to].into_iter().for_each(|term| self.term(term)),
            Range::Row(term) | Range::Column(term) => self.term(term),
        }
    }

    fn term(&mut self, term: &Term) {
        term.cell.into_iter().for_each(|base| self.base(base));
    }

    fn base(&mut self, base: Base) {
        if let Base::Global(number) = base {
            self.globals.insert(number);
        }
    }
}
