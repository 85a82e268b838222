//! The frames of calls that a form opens: room for them in a machine's state, and the state where the form is left. Knows
//! no code.

use std::collections::TryReserveError;
use std::ops::Range;

use reviver_isa::instruction::Class;
use reviver_isa::verify::MAX_CELLS;
use reviver_vm::Program;
use reviver_vm::state::{CallRecord, Part, Reference, State};

use crate::form::{Demands, FormExit, FrameZeros};

/// Whether a program's limits have room for what a form may open.
pub(crate) fn have_room(program: &Program, state: &State, demands: Demands) -> bool {
    let depth = state.calls.len() as u64 + u64::from(demands.depth);
    let cells = (state.ints.len() as u64 + u64::from(demands.frame_ints))
        .max(state.reals.len() as u64 + u64::from(demands.frame_reals));
    depth <= u64::from(program.module().limits.depth) && cells <= MAX_CELLS
}

/// Larger frames of main aren't looked at: code is the better for few cells only.
const MOST_LOOKED_AT: usize = 1 << 10;

/// Whether main's frame is looked at.
pub(crate) fn are_few(program: &Program) -> bool {
    let layout = program.flow().layout();
    [Class::Int, Class::Real].iter().all(|&class| layout.main_frame(class).len() <= MOST_LOOKED_AT)
}

/// What of main's frame holds 0, where no call is open.
pub(crate) fn zeros(program: &Program, state: &State) -> FrameZeros {
    let [ints, reals] = [Class::Int, Class::Real].map(|class| program.flow().layout().main_frame(class));
    if !state.calls.is_empty() || !are_few(program) {
        return FrameZeros::default();
    }
    let range = |range: &Range<u32>| range.start as usize..range.end as usize;
    // All are looked at together, which is faster than one after the other.
    let are_zero = |cells: &[u64]| {
        cells.get(range(&reals)).is_some_and(|own| own.iter().fold(0, |all, bits| all | bits) == 0)
    };
    let ints_are_zero =
        state.ints.get(range(&ints)).is_some_and(|own| own.iter().fold(0, |all, value| all | value) == 0);
    let adjoints = state.adjoints.as_ref().filter(|_| state.mode());
    FrameZeros {
        cells: ints_are_zero && are_zero(&state.reals),
        adjoints: adjoints.is_some_and(|adjoints| are_zero(&adjoints.cells)),
    }
}

/// Adds the cells behind those of a state, and makes room for calls.
///
/// # Errors
/// There is no memory for them.
pub(crate) fn extend(state: &mut State, demands: Demands) -> Result<(), TryReserveError> {
    // What an exit opens takes no further memory.
    state.calls.try_reserve(demands.depth as usize)?;
    state.references.try_reserve(demands.references as usize / 3)?;
    more(&mut state.ints, demands.frame_ints)?;
    more(&mut state.reals, demands.frame_reals)?;
    state.adjoints.as_mut().map_or(Ok(()), |adjoints| more(&mut adjoints.cells, demands.frame_reals))
}

fn more<T: Clone + Default>(cells: &mut Vec<T>, count: u32) -> Result<(), TryReserveError> {
    if count == 0 {
        return Ok(());
    }
    cells.try_reserve(count as usize)?;
    cells.resize(cells.len() + count as usize, T::default());
    Ok(())
}

/// Goes where an exit leads to: the calls that are open there become the state's, and the other cells that were added go.
pub(crate) fn leave(state: &mut State, exit: &FormExit, demands: Demands, references: &[i64]) {
    let [ints, reals] =
        [state.ints.len() as u32 - demands.frame_ints, state.reals.len() as u32 - demands.frame_reals];
    let (mut next_ints, mut next_reals) = (ints, reals);
    let mut words = references.chunks_exact(3);
    for call in &exit.calls {
        state.calls.push(CallRecord {
            site: call.site,
            inverted: state.inverted,
            frame: state.frame,
            part: Part::Whole,
        });
        state.frame.references = state.references.len() as u32;
        (state.frame.ints, state.frame.reals) = (next_ints, next_reals);
        next_ints += call.frame_ints;
        next_reals += call.frame_reals;
        state.inverted ^= call.turns;
        let passed = words.by_ref().take(call.references as usize);
        state.references.extend(passed.filter_map(reference));
    }
    state.ints.truncate(next_ints as usize);
    state.reals.truncate(next_reals as usize);
    if let Some(adjoints) = &mut state.adjoints {
        adjoints.cells.truncate(next_reals as usize);
    }
    state.position = exit.position;
}

fn reference(words: &[i64]) -> Option<Reference> {
    let &[base, length, stride] = words else { return None };
    Some(Reference { base: base as u32, length: length as u32, stride: stride as u32 })
}
