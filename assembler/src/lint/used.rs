//! The cells and the procedures that the code of a module refers to. This module gives no warnings.

use reviver_isa::Module;
use reviver_isa::instruction::{Argument, Base, Call, Instruction, Link, Operand, Place, Range, Slice, Term};
use reviver_isa::module::Procedure;

/// Returns main and the procedures that it reaches through calls and rules.
pub(super) fn reached(module: &Module) -> Vec<&Procedure> {
    let mut reached = vec![false; module.procedures.len()];
    let (mut left, mut procedures) = (vec![0], Vec::new());
    while let Some(number) = left.pop() {
        let Some(procedure) =
            module.procedures.get(number).filter(|_| !std::mem::replace(&mut reached[number], true))
        else {
            continue;
        };
        procedures.push(procedure);
        left.extend(procedure.rule.map(|rule| rule as usize));
        let code = module.code.get(procedure.entry as usize..procedure.exit as usize).unwrap_or_default();
        for instruction in code {
            if let Link::Calls(calls) = &instruction.link {
                left.extend(calls.iter().map(|call| call.procedure as usize));
            }
        }
    }
    procedures
}

/// The globals and procedures that the code refers to, by their indices.
pub(super) struct UsedByCode {
    pub(super) globals: Vec<bool>,
    pub(super) procedures: Vec<bool>,
}

impl UsedByCode {
    pub(super) fn by(module: &Module) -> UsedByCode {
        let mut used = UsedByCode {
            globals: vec![false; module.globals.len()],
            procedures: vec![false; module.procedures.len()],
        };
        module.code.iter().for_each(|instruction| used.instruction(instruction));
        let rules = module.procedures.iter().filter_map(|procedure| procedure.rule);
        rules.for_each(|rule| mark(&mut used.procedures, rule));
        used
    }

    fn instruction(&mut self, instruction: &Instruction) {
        instruction.operands.iter().for_each(|operand| self.operand(operand));
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
