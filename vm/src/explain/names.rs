//! Names of cells, as the source text declares them.

use reviver_isa::instruction::{Base, Class, Operand, Place};
use reviver_isa::module::Shape;
use reviver_isa::names::adjoint_name;
use reviver_isa::text::TextRenderer;

use crate::program::Program;
use crate::state::lookup::{OpenFrame, open_frames};
use crate::state::values::element_name;
use crate::state::{ADJOINT, State};

/// Returns the name of a cell: of a global, or of a frame variable (with its procedure, except in main). For a
/// temporary, returns its expression, and for an immediate, its value. For the address of an adjoint, returns the name
/// of the adjoint.
pub fn cell_name(program: &Program, state: &State, class: Class, cell: u32) -> String {
    if class == Class::Real && cell & ADJOINT != 0 {
        return adjoint_name(&cell_name(program, state, class, cell & !ADJOINT));
    }
    let module = program.module();
    let within = |start: u32, shape: Shape| {
        (start..start.saturating_add(shape.cells() as u32)).contains(&cell).then(|| (cell - start) as usize)
    };
    for (global, &start) in module.globals.iter().zip(&program.layout().globals) {
        if global.class == class
            && let Some(n) = within(start, global.shape)
        {
            return element_name(&global.name, global.shape, n);
        }
    }
    for OpenFrame { procedure, frame } in open_frames(program, state) {
        let owner = &module.procedures[procedure];
        let places = owner.frame.iter().zip(&program.layout().frames[procedure]);
        for (number, (variable, &offset)) in (0..).zip(places) {
            if variable.class == class
                && let Some(n) = within(frame.start(class) + offset, variable.shape)
            {
                let structure = &module.structure;
                if structure.temporary(procedure as u32, number).is_some() {
                    let temporary = Operand::Place(Place::scalar(Base::Frame(number)));
                    return TextRenderer { module, procedure: owner }.operand(&temporary);
                }
                let written = structure.source_name(procedure as u32, number);
                return element_name(written.unwrap_or(&variable.name), variable.shape, n);
            }
        }
    }
    "a constant".into()
}
