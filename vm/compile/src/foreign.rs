//! Finds operations that aren't compiled, for engines without an interpreter. Such an engine rejects a program if its
//! SSA function has an exit other than the function's end.

use reviver_flow::graph::CodeDirection;
use reviver_isa::Module;
use reviver_isa::update::Action;
use reviver_vm::Program;

use crate::emit_plan::EmitPlan;
use crate::function::{SsaEnd, SsaExit, SsaFunction};

/// An operation at an exit, described for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignOperation {
    /// The source location, such as `sum.rasm, line 3`.
    pub place: String,
    /// The name of the instruction.
    pub name: String,
    /// The reason why the operation isn't compiled.
    pub kind: ForeignKind,
}

/// The reason why an operation isn't compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignKind {
    /// A push or pop of a stack, or an access to a tape.
    Stack,
    /// A `show`.
    Show,
    /// A call that isn't compiled, such as a call of a procedure with a rule.
    Call,
    /// Tasks whose arguments must be compared at run time.
    Tasks,
    /// A switch of the gradient mode.
    Switch,
    /// Any other operation: the compiler reached one of its limits.
    Limit,
}

/// Checks that a function exits only at its end: at the position `to` in main, without open calls. Exits that are taken
/// because there is no space for a call are also allowed.
///
/// # Errors
/// Returns the operation at the first other exit; `None` if that exit isn't at an instruction.
pub fn check_exits(
    program: &Program,
    function: &SsaFunction,
    to: u32,
) -> Result<(), Option<ForeignOperation>> {
    let order = EmitPlan::of(function).order;
    let exits = order.iter().filter_map(|&block| match function.blocks.get(block as usize)?.end {
        SsaEnd::Exit { exit } => Some(function.exits.get(exit as usize)),
        SsaEnd::Jump(_) | SsaEnd::Branch { .. } | SsaEnd::Safepoint { .. } => None,
    });
    // If `to` isn't in main, a run reaches it only with open calls.
    let main = program.module().procedures.first();
    let is_main = main.is_some_and(|main| (main.entry..=main.exit).contains(&to));
    let is_end = |exit: &SsaExit| exit.is_full || exit.position == to && exit.calls.is_empty() && is_main;
    for exit in exits {
        if !exit.is_some_and(is_end) {
            return Err(exit.and_then(|exit| foreign(program, exit)));
        }
    }
    Ok(())
}

/// Describes the operation at an exit.
fn foreign(program: &Program, exit: &SsaExit) -> Option<ForeignOperation> {
    let at = match exit.direction {
        CodeDirection::Forward => exit.position,
        CodeDirection::Backward => exit.position.saturating_sub(1),
    };
    let module = program.module();
    let instruction = module.code.get(at as usize)?;
    let kind = match instruction.update.action() {
        Action::Put(_) | Action::Take(_) => ForeignKind::Stack,
        Action::Show => ForeignKind::Show,
        Action::Call(_) => ForeignKind::Call,
        Action::Tasks(_) => ForeignKind::Tasks,
        Action::Switch(_) => ForeignKind::Switch,
        Action::Accumulate
        | Action::Replace
        | Action::Erase(_)
        | Action::Map
        | Action::Exchange
        | Action::Rotate
        | Action::Clear
        | Action::Test
        | Action::Jump
        | Action::Join
        | Action::Begin
        | Action::End => ForeignKind::Limit,
    };
    Some(ForeignOperation { place: place(module, at), name: instruction.update.name().to_owned(), kind })
}

/// Returns the source location of an instruction, in words for the user.
pub fn place(module: &Module, at: u32) -> String {
    match (module.structure.line(at), module.structure.file(at)) {
        (Some(line), Some(file)) => format!("{file}, line {line}"),
        (Some(line), None) => format!("line {line}"),
        (None, _) => format!("instruction {at}"),
    }
}
