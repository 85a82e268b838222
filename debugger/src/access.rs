//! Which cells a step reads and writes: the operands of its row, targets before sources, in a state.
//!
//! An instruction's targets are *written*, whether or not their content changes; its sources, the
//! indices of its operands and the cells of its condition are *read*. A call reads the indices of its
//! arguments where it is entered in time. A branch that is taken reads the cells of its partner's condition too. In gradient mode a
//! step also writes the adjoints that it carries something to ([`crate::cotangents`]).

use reviver_isa::instruction::{Argument, Index, Instruction, Link, Operand, Place, Range, Term};
use reviver_isa::update::Shape;
use reviver_vm::State;
use reviver_vm::state::Part;

use crate::cotangents::carried;
use crate::memory::{Cell, MODE_BIT, Memory};
use reviver_vm::stops::Node;

/// What a step does with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// Calls `visit` with every cell that the step from `node` in `state` reads or writes, operand by
/// operand. A cell may come more than once.
pub fn visit(memory: &Memory, state: &State, node: Node, mut visit: impl FnMut(Access, Cell)) {
    let Some(instruction) = memory.program().module().code.get(node.instruction() as usize) else { return };
    let depth = state.calls.len();
    let mut visitor = Visitor { memory, state, depth, visit: &mut visit };
    visitor.operands(instruction);
    if let Some((call, depth)) = entered(memory, state, node, instruction)
        && let Link::Calls(calls) = &call.link
    {
        visitor.depth = depth;
        calls.iter().flat_map(|call| &call.arguments).for_each(|argument| visitor.argument(argument));
    }
    if switches_mode(memory, state, node, instruction) {
        visit(Access::Write, MODE_BIT);
    }
    for change in carried(memory, state, instruction) {
        visit(Access::Write, change.to);
        change.from.into_iter().filter(|&from| from != change.to).for_each(|from| visit(Access::Read, from));
    }
}

/// The call that a step enters in time, and the call depth that it is made at: going back over the beginning
/// of a procedure undoes its call.
fn entered<'a>(
    memory: &'a Memory,
    state: &State,
    node: Node,
    instruction: &'a Instruction,
) -> Option<(&'a Instruction, usize)> {
    let goes_forward = node.backward == state.inverted;
    match instruction.update.shape() {
        Shape::Call if goes_forward => Some((instruction, state.calls.len())),
        Shape::Boundary if !goes_forward => {
            let call = memory.program().module().code.get(state.calls.last()?.site as usize)?;
            Some((call, state.calls.len() - 1))
        }
        _ => None,
    }
}

/// Whether a step switches gradient mode: by an instruction of its own, or because a procedure with a
/// rule runs with the mode off.
fn switches_mode(memory: &Memory, state: &State, node: Node, instruction: &Instruction) -> bool {
    match instruction.update.shape() {
        Shape::Switch => true,
        Shape::Call => {
            state.mode()
                && memory
                    .program()
                    .callee(node.instruction())
                    .is_some_and(|p| memory.program().rule(p).is_some())
        }
        // Either part of such a call begins at its end and goes over into the other at its entry, or
        // begins there and returns at the end.
        Shape::Boundary => {
            !node.backward && state.calls.last().is_some_and(|record| record.part != Part::Whole)
        }
        _ => false,
    }
}

/// Calls `visit` with the cells that a branch reads at its partner when it is taken.
pub fn visit_partner(memory: &Memory, state: &State, node: Node, mut visit: impl FnMut(Access, Cell)) {
    let code = &memory.program().module().code;
    let Some(instruction) = code.get(node.instruction() as usize) else { return };
    if let Link::Partner(partner) = instruction.link
        && let Some(partner) = code.get(partner as usize)
    {
        Visitor { memory, state, depth: state.calls.len(), visit: &mut visit }.operands(partner);
    }
}

/// Whether a step from `node` that led to this position was a taken branch.
pub fn jumped(memory: &Memory, node: Node, position: u32) -> bool {
    let instruction = memory.program().module().code.get(node.instruction() as usize);
    let is_branch = instruction.is_some_and(|i| matches!(i.link, Link::Partner(_)));
    let next = if node.backward { node.position.wrapping_sub(1) } else { node.position + 1 };
    is_branch && position != next
}

struct Visitor<'a> {
    memory: &'a Memory,
    state: &'a State,
    /// The call depth whose names indices have.
    depth: usize,
    visit: &'a mut dyn FnMut(Access, Cell),
}

impl Visitor<'_> {
    fn operands(&mut self, instruction: &Instruction) {
        let targets = instruction.update.shape().targets();
        for (n, operand) in instruction.operands.iter().enumerate() {
            let access = if n < targets { Access::Write } else { Access::Read };
            match operand {
                Operand::Place(place) => self.place(access, place),
                Operand::Mode => (self.visit)(Access::Read, MODE_BIT),
                Operand::Int(_) | Operand::Real(_) => {}
            }
        }
    }

    fn place(&mut self, access: Access, place: &Place) {
        if let Some(cell) = self.memory.place(self.state, place) {
            (self.visit)(access, cell);
        }
        self.indices(place.index.as_deref());
    }

    fn indices(&mut self, index: Option<&Index>) {
        index.into_iter().flat_map(Index::terms).for_each(|term| self.term(term));
    }

    fn term(&mut self, term: &Term) {
        if let Some(cell) = self.memory.index_cell(self.state, self.depth, term) {
            (self.visit)(Access::Read, cell);
        }
    }

    /// The cells that a call passes are the callee's business; their addresses are the call's.
    fn argument(&mut self, argument: &Argument) {
        match argument {
            Argument::Scalar(Operand::Place(place)) => self.indices(place.index.as_deref()),
            Argument::Scalar(_) => {}
            Argument::Slice(slice) => match &slice.range {
                Range::Whole => {}
                Range::Span { from, to, .. } => [from, to].into_iter().for_each(|term| self.term(term)),
                Range::Row(term) | Range::Column(term) => self.term(term),
            },
        }
    }
}
