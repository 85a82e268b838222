//! What the code of a module names: cells, and procedures that are called. Knows no warning.

use reviver_isa::Module;
use reviver_isa::instruction::{Argument, Base, Call, Instruction, Link, Operand, Place, Range, Slice, Term};
use reviver_isa::update::Update;

/// By its number, whether anything calls a procedure. Main is called.
pub(super) fn called(module: &Module) -> Vec<bool> {
    let used = UsedByCode::by(module);
    let numbered = used.procedures.iter().enumerate();
    numbered.map(|(number, called)| number == 0 || *called || used.any_procedure).collect()
}

/// What the code of a module names.
pub(super) struct UsedByCode {
    pub(super) globals: Vec<bool>,
    procedures: Vec<bool>,
    /// An indirect call may mean any procedure.
    any_procedure: bool,
}

impl UsedByCode {
    pub(super) fn by(module: &Module) -> UsedByCode {
        let mut used = UsedByCode {
            globals: vec![false; module.globals.len()],
            procedures: vec![false; module.procedures.len()],
            any_procedure: false,
        };
        module.code.iter().for_each(|instruction| used.instruction(instruction));
        let rules = module.procedures.iter().filter_map(|procedure| procedure.rule);
        rules.for_each(|rule| mark(&mut used.procedures, rule));
        used
    }

    fn instruction(&mut self, instruction: &Instruction) {
        instruction.operands.iter().for_each(|operand| self.operand(operand));
        self.any_procedure |= matches!(instruction.update, Update::CallVia | Update::UncallVia);
        if let Link::Calls(calls) = &instruction.link {
            calls.iter().for_each(|call| self.call(call));
        }
    }

    fn call(&mut self, call: &Call) {
        mark(&mut self.procedures, call.procedure);
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
            mark(&mut self.globals, number);
        }
    }
}

fn mark(list: &mut [bool], number: u32) {
    if let Some(used) = list.get_mut(number as usize) {
        *used = true;
    }
}
