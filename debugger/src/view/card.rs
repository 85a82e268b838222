//! The instruction card: what an instruction does, how it is undone, what it does to adjoints, with
//! the numbers at hand; straight from the rows of the instruction set.

use reviver_isa::card::{Card, Role, Term, describe};
use reviver_isa::instruction::{Class, Instruction, Operand};
use reviver_isa::text::Speller;
use reviver_vm::Travel;
use reviver_vm::values::Value;

use crate::cotangents::carried;
use crate::listing::{Line, spell};
use crate::memory::Cell;
use crate::session::Session;

/// An instruction with its card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardView {
    pub at: u32,
    pub line: Line,
    /// As it is executed in time: inverted where the machine itself runs backward.
    pub instruction: String,
    /// The row's description.
    pub doc: String,
    pub card: Card,
    /// The adjoints that the card speaks of and what they hold, while the instruction carries any.
    pub cotangents: Vec<(String, String)>,
}

/// The card of the instruction that the next step in a direction executes or undoes, with the values
/// of the current state; none at the bounds of the history.
pub fn card(session: &Session, travel: Travel) -> Option<CardView> {
    let at = session.instruction(travel)?;
    let program = session.program();
    let instruction = program.module().code.get(at as usize)?;
    let inverted = session.state().inverted;
    let update = if inverted { instruction.update.inverse() } else { instruction.update };
    let terms: Vec<Term> = instruction.operands.iter().map(|o| term(session, at, o)).collect();
    Some(CardView {
        at,
        line: session.listing().line(at),
        instruction: spell(program, at, inverted),
        doc: update.doc().trim().replace('\n', " "),
        card: describe(update, instruction.function, &terms),
        cotangents: cotangents(session, instruction),
    })
}

fn cotangents(session: &Session, instruction: &Instruction) -> Vec<(String, String)> {
    let (memory, state) = (session.memory(), session.state());
    let mut cells: Vec<Cell> = Vec::new();
    for change in carried(memory, state, instruction) {
        for cell in std::iter::once(change.to).chain(change.from) {
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    cells.into_iter().map(|cell| (memory.name(state, cell), memory.text(state, cell))).collect()
}

fn term(session: &Session, at: u32, operand: &Operand) -> Term {
    let module = session.program().module();
    let Some(procedure) = module.procedures.get(session.program().procedure_of(at)) else {
        return Term::constant("?", Class::Int);
    };
    let name = Speller { module, procedure }.operand(operand);
    match operand {
        Operand::Int(_) | Operand::Mode => Term::constant(name, Class::Int),
        Operand::Real(_) => Term::constant(name, Class::Real),
        Operand::Place(place) => {
            let class = module.declaration(procedure, place.base).map_or(Class::Int, |d| d.class);
            let role = if place.adjoint { Role::Adjoint } else { Role::Cell };
            let value = session.memory().operand(session.state(), operand);
            let value = value.and_then(|cell| cell.value(session.state()));
            let value = value.map(|value: Value| session.program().text(value));
            Term { name, class, role, value }
        }
    }
}
