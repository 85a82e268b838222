//! The call stack, the typed stacks and the tapes.

use reviver_vm::lookup;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;

use crate::listing::{Line, spell};
use crate::memory::Cell;
use crate::session::Session;
use crate::view::code::here;

/// An open procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameView {
    /// As a backtrace counts: 0 is the innermost.
    pub number: usize,
    /// Whether its names are meant.
    pub is_selected: bool,
    pub procedure: String,
    /// Whether the machine runs it backward.
    pub inverted: bool,
    /// Where it stands: the next instruction, or the call that is open.
    pub instruction: String,
    pub line: Line,
    /// What its parameters stand for: name and cell or constant, or name and `first..last` of a slice.
    pub arguments: Vec<(String, String)>,
}

/// At most `count` open procedures, the innermost first, after leaving out `skip` of them.
pub fn frames(session: &Session, skip: usize, count: usize) -> Vec<FrameView> {
    let depth = session.state().calls.len();
    let depths = (0..=depth).rev().skip(skip).take(count);
    depths.filter_map(|depth| frame(session, depth)).collect()
}

/// The frame that `up`, `down` and `frame` have selected.
pub fn selected(session: &Session) -> Option<FrameView> {
    frame(session, session.depth())
}

fn frame(session: &Session, depth: usize) -> Option<FrameView> {
    let (state, program) = (session.state(), session.program());
    let open = session.memory().frame(state, depth)?;
    let procedure = program.module().procedures.get(open.procedure)?;
    let (at, inverted) = match state.calls.get(depth) {
        Some(call) => (call.site, call.inverted),
        None => (session.next_instruction().unwrap_or(procedure.exit), state.inverted),
    };
    // Main's end has no line of its own: one stands behind the last one.
    let is_end = depth == state.calls.len() && session.next_instruction().is_none();
    let line = if is_end { here(session) } else { session.listing().line(at) };
    let name = |n: u32| {
        let reference = lookup::reference(state, open, n)?;
        let class = procedure.parameters.get(n as usize)?.class;
        let cell = |offset| {
            let cell = Cell::new(class, offset);
            match session.memory().is_constant(cell) {
                true => session.memory().text(state, cell),
                false => session.memory().name(state, cell),
            }
        };
        Some(match reference.length {
            0 => "nothing".to_owned(),
            1 => cell(reference.base),
            n => format!("{}..{}", cell(reference.base), cell(reference.base + (n - 1) * reference.stride)),
        })
    };
    let argument =
        |(n, parameter): (u32, &reviver_isa::module::Parameter)| Some((parameter.name.clone(), name(n)?));
    Some(FrameView {
        number: state.calls.len() - depth,
        is_selected: depth == session.depth(),
        procedure: procedure.name.clone(),
        inverted,
        instruction: spell(program, at, inverted),
        line,
        arguments: (0..).zip(&procedure.parameters).filter_map(argument).collect(),
    })
}

/// Values in a row, of which some are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRow {
    pub name: &'static str,
    /// How many there are.
    pub total: usize,
    /// The ones that come next: the next to be read, the last written, the top.
    pub next: Vec<String>,
}

/// Both tapes and both stacks, at most `count` values of each.
pub fn rows(session: &Session, count: usize) -> [ValueRow; 4] {
    let state = session.state();
    let text = |value| session.program().text(value);
    let entry = |entry: &TapeEntry| match *entry {
        TapeEntry::Int(value) => text(Value::Int(value)),
        TapeEntry::Real(bits) => text(Value::Real(bits)),
    };
    let tape = |name, entries: &[TapeEntry]| ValueRow {
        name,
        total: entries.len(),
        next: entries.iter().rev().take(count).map(entry).collect(),
    };
    let ints = state.int_stack.iter().rev().take(count).map(|&v| text(Value::Int(v))).collect();
    let reals = state.real_stack.iter().rev().take(count).map(|&v| text(Value::Real(v))).collect();
    [
        tape("input tape", &state.input),
        tape("output tape", &state.output),
        ValueRow { name: "integer stack", total: state.int_stack.len(), next: ints },
        ValueRow { name: "real stack", total: state.real_stack.len(), next: reals },
    ]
}
