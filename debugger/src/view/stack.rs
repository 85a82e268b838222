//! Data of the calls and tapes panes: open calls, stacks and tapes.

use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Parameter, Shape};
use reviver_vm::State;
use reviver_vm::lookup::{self, OpenFrame};
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;

use crate::listing::{Line, spell};
use crate::memory::{Cell, Memory};
use crate::outcome::ValueRow;
use crate::session::Session;
use crate::view::code::here;

/// An open procedure in a backtrace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameView {
    /// The backtrace number: 0 is the innermost frame.
    pub number: usize,
    /// True if names are resolved in this frame.
    pub is_selected: bool,
    /// The name of the procedure.
    pub procedure: String,
    /// True if the procedure runs inverted.
    pub inverted: bool,
    /// The current instruction of the frame: the next one for the innermost frame, otherwise the open call.
    pub instruction: String,
    /// The source line of the current instruction.
    pub line: Line,
    /// The line at which the procedure begins.
    pub head: Line,
    /// The arguments of the call, in the order of the parameters.
    pub arguments: Vec<ArgumentView>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentView {
    /// The name of the parameter.
    pub name: String,
    /// The cell or constant that was passed; for a slice, its first and its last element as `A[2]..A[5]`.
    pub stands_for: String,
    /// The current value of the argument; `None` for a slice.
    pub value: Option<String>,
}

impl FrameView {
    /// Renders the call with its arguments. `shortened` formats each value.
    pub fn call(&self, shortened: impl Fn(&str) -> String) -> String {
        call_text(&self.procedure, &self.arguments, shortened)
    }
}

/// Renders a call with its arguments: `pair(n=3, a=0, b=0)`. `shortened` formats the values.
pub fn call_text(procedure: &str, arguments: &[ArgumentView], shortened: impl Fn(&str) -> String) -> String {
    let argument = |argument: &ArgumentView| match &argument.value {
        Some(value) => format!("{}={}", argument.name, shortened(value)),
        None => argument.text(),
    };
    let arguments: Vec<String> = arguments.iter().map(argument).collect();
    format!("{procedure}({})", arguments.join(", "))
}

impl ArgumentView {
    /// Renders the argument as in a call: `n=3`, or `B: A[2]..A[5]`.
    pub fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None if self.name == self.stands_for => self.name.clone(),
            None => format!("{}: {}", self.name, self.stands_for),
        }
    }
}

/// Returns at most `count` open procedures, the innermost first, without the `skip` innermost ones.
pub fn frames(session: &Session, skip: usize, count: usize) -> Vec<FrameView> {
    let depth = session.state().calls.len();
    let depths = (0..=depth).rev().skip(skip).take(count);
    depths.filter_map(|depth| frame(session, depth)).collect()
}

/// Returns the frame selected by `up`, `down` or `frame`.
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
    // At the end of main, the next instruction has no line, so the last line is used.
    let is_end = depth == state.calls.len() && session.next_instruction().is_none();
    let line = if is_end { here(session) } else { session.listing().line(at) };
    Some(FrameView {
        number: state.calls.len() - depth,
        is_selected: depth == session.depth(),
        procedure: procedure.name.clone(),
        inverted,
        instruction: spell(program, at, inverted),
        line,
        head: session.listing().line(procedure.entry),
        arguments: arguments(session.memory(), state, open),
    })
}

/// Returns the arguments of an open procedure in a state. The length parameters that lowering adds for slices are
/// omitted, because the text of a slice names its first and its last element.
pub fn arguments(memory: &Memory, state: &State, open: OpenFrame) -> Vec<ArgumentView> {
    let Some(procedure) = memory.program().module().procedures.get(open.procedure) else { return Vec::new() };
    let argument = |(n, parameter): (u32, &Parameter)| {
        let passed = lookup::storage(memory.program(), state, open, Base::Parameter(n))?;
        let cell = |offset| Cell::new(parameter.class, offset);
        let name = |offset| match memory.is_constant(cell(offset)) {
            true => memory.text(state, cell(offset)),
            false => memory.name(state, cell(offset)),
        };
        let (first, count) = (passed.first, passed.cells());
        let stands_for = match count.checked_sub(1).and_then(|last| passed.cell(last)) {
            None => "nothing".to_owned(),
            Some(last) if last == first => name(first),
            Some(last) => format!("{}..{}", name(first), name(last)),
        };
        let value = (count == 1).then(|| memory.text(state, cell(first)));
        Some(ArgumentView { name: parameter.name.clone(), stands_for, value })
    };
    (0..).zip(&procedure.parameters).filter(|(_, p)| !p.is_length()).filter_map(argument).collect()
}

/// Returns both tapes and both stacks, at most `count` values of each.
pub fn rows(session: &Session, count: usize) -> [ValueRow; 4] {
    let state = session.state();
    let text = |value| session.program().text(value);
    let entry = |entry: &TapeEntry| match *entry {
        TapeEntry::Int(value) => text(Value::Int(value)),
        TapeEntry::Real(bits) => text(Value::Real(bits)),
    };
    let tape = |name: &str, entries: &[TapeEntry]| ValueRow {
        name: name.to_owned(),
        total: entries.len(),
        next: entries.iter().rev().take(count).map(entry).collect(),
    };
    [
        tape("input tape", &state.input),
        tape("output tape", &state.output),
        stack(session, Class::Int, count),
        stack(session, Class::Real, count),
    ]
}

/// Returns at most `count` values of the stack of a class, top first.
fn stack(session: &Session, class: Class, count: usize) -> ValueRow {
    let (state, program) = (session.state(), session.program());
    let name = match (program.module().stack(class), class) {
        (Some((_, declared)), _) => format!("stack {}", declared.name),
        (None, Class::Int) => "integer stack".to_owned(),
        (None, Class::Real) => "real stack".to_owned(),
    };
    let top_first = |n: usize| {
        program.text(match class {
            Class::Int => Value::Int(state.int_stack.get(n).copied().unwrap_or_default()),
            Class::Real => Value::Real(state.real_stack.get(n).copied().unwrap_or_default()),
        })
    };
    let total = match class {
        Class::Int => state.int_stack.len(),
        Class::Real => state.real_stack.len(),
    };
    ValueRow { name, total, next: (0..total).rev().take(count).map(top_first).collect() }
}

/// Returns the adjoints of the values on the real stack, top first.
fn stack_of_adjoints(session: &Session, name: &str, count: usize) -> ValueRow {
    let state = session.state();
    let adjoints = state.adjoints.as_ref().map_or(&[][..], |adjoints| &adjoints.stack);
    let total = state.real_stack.len();
    let text = |n: usize| session.program().text(Value::Real(adjoints.get(n).copied().unwrap_or_default()));
    ValueRow { name: format!("stack {name}"), total, next: (0..total).rev().take(count).map(text).collect() }
}

/// Returns at most `count` values of a named stack, or their adjoints (`path'`), top first. Returns `None`
/// if the name isn't that of a stack.
pub fn named(session: &Session, name: &str, count: usize) -> Option<ValueRow> {
    let storage = session.array(name).ok().filter(|storage| storage.shape() == Shape::Stack)?;
    Some(match name.ends_with('\'') {
        true => stack_of_adjoints(session, name, count),
        false => stack(session, storage.class(), count),
    })
}
