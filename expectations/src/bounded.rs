//! Runs a machine to an end of the program within limits on steps and memory. This module doesn't depend on
//! expectations.

use reviver_isa::instruction::Link;
use reviver_isa::module::{Module, Procedure};
use reviver_isa::update::{Action, Update};
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::explain::{Explanation, explain};
use reviver_vm::{Machine, Stop, Trap, Travel};
use thiserror::Error;

use crate::assessment::{Mismatch, MissReason};
use crate::settings::TestLimits;
use crate::words::counted;

/// The reason why a run didn't reach the end of the program.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum Halt {
    #[error("{}", reported(.explanation))]
    Trap { trap: Trap, explanation: Box<Explanation> },
    #[error("more than {}", counted(*.0, "step"))]
    Steps(u64),
    #[error("more than {} of memory", sized(*.0))]
    Memory(u64),
    #[error(transparent)]
    NoMemory(#[from] OutOfMemory),
    #[error("the run was stopped")]
    Interrupted,
}

impl Halt {
    /// Returns the mismatch between this halt and the expected outcome.
    pub fn missed(&self, expected: impl Into<String>) -> Mismatch {
        Mismatch::new(expected, self.to_string()).because(self.reason()).trapped(self.explanation())
    }

    pub fn reason(&self) -> MissReason {
        match self {
            Halt::Trap { .. } => MissReason::Trap,
            Halt::Steps(_) => MissReason::Steps,
            Halt::Memory(_) | Halt::NoMemory(_) => MissReason::Memory,
            // A line whose run was interrupted gets no verdict, so the kind of its mismatch is never shown.
            Halt::Interrupted => MissReason::default(),
        }
    }

    pub fn explanation(&self) -> Option<Box<Explanation>> {
        match self {
            Halt::Trap { explanation, .. } => Some(explanation.clone()),
            Halt::Steps(_) | Halt::Memory(_) | Halt::NoMemory(_) | Halt::Interrupted => None,
        }
    }
}

/// Returns true if the text of a line denotes this trap. The text is the trap's code, or a part of its message.
pub(crate) fn is_meant(explanation: &Explanation, text: &str) -> bool {
    explanation.code.text() == text || explanation.message.contains(text)
}

/// Returns a trap as one line of text, with its code and its place.
pub(crate) fn reported(explanation: &Explanation) -> String {
    let Explanation { code, message, instruction, spot, .. } = explanation;
    let code = code.text();
    match spot {
        Some(spot) => {
            let file = spot.file.as_ref().map_or_else(String::new, |file| format!(" of {file}"));
            format!("trap {code}: {message} (line {}{file}, `{instruction}`)", spot.line)
        }
        None => format!("trap {code}: {message} (`{instruction}`)"),
    }
}

/// Returns a size as text, for example "256 MiB", "1 KiB" or "1000 bytes".
pub(crate) fn sized(bytes: u64) -> String {
    let units = [(1_u64 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or_else(|| counted(bytes, "byte"), |(unit, name)| format!("{} {name}", bytes / unit))
}

/// Runs to the end of the program in a direction, or returns the reason why that isn't possible within the limits.
///
/// Memory is checked between chunks of steps. A chunk is so short that the machine stays within its memory limit even
/// if every step adds as much memory as possible.
pub(crate) fn go(machine: &mut Machine, travel: Travel, limits: TestLimits) -> Result<(), Halt> {
    let first = machine.state().step;
    let growth = growth(machine);
    loop {
        let left = limits.max_steps.saturating_sub(machine.state().step.abs_diff(first));
        let room = limits.max_bytes.saturating_sub(bytes(machine));
        let permitted = room.checked_div(growth).unwrap_or(left);
        let budget = left.min(permitted);
        if budget == 0 && !has_arrived(machine, travel) {
            return Err(if left == 0 {
                Halt::Steps(limits.max_steps)
            } else {
                Halt::Memory(limits.max_bytes)
            });
        }
        match machine.run(travel, budget) {
            Ok(Stop::Bound) => return Ok(()),
            Ok(Stop::Budget) if budget == 0 => return Ok(()),
            Ok(Stop::Budget | Stop::Shown { .. }) => {}
            Ok(Stop::Interrupted) => return Err(Halt::Interrupted),
            Err(trap) => {
                let explanation = Box::new(explain(machine.program(), machine.state(), trap));
                return Err(Halt::Trap { trap, explanation });
            }
        }
    }
}

/// Returns the size of the state and the history in bytes.
fn bytes(machine: &Machine) -> u64 {
    (machine.state().bytes() as u64).saturating_add(machine.history_bytes() as u64)
}

/// Returns true if the machine is at the end of the program. A limit that is reached exactly at the end isn't an error.
fn has_arrived(machine: &Machine, travel: Travel) -> bool {
    let (program, state) = (machine.program(), machine.state());
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    state.position == bound && state.calls.is_empty()
}

/// Factor by which the allocation of a growing list may exceed its content.
const SPARE: u64 = 2;
/// The maximum number of bytes that an entry of a stack or a tape takes, with its adjoint.
const ENTRY: u64 = 24 * SPARE;
/// The maximum number of bytes that a step may record in a history.
const RECORDS: u64 = 8 * 32 * SPARE;
/// The maximum number of bytes of a call record. The reference for one argument takes at most the same number of bytes.
const CALL: u64 = 32 * SPARE;
const REFERENCE: u64 = 12 * SPARE;

/// Returns the maximum number of bytes that a step may add to a machine.
fn growth(machine: &Machine) -> u64 {
    let module = machine.program().module();
    let entries = if module.code.iter().any(|i| moves(i.update)) { ENTRY } else { 0 };
    let calls = if module.code.iter().any(|i| matches!(i.link, Link::Calls(_))) { frame(module) } else { 0 };
    let records = if machine.residues().is_some() { RECORDS } else { 0 };
    entries.max(calls).saturating_add(records)
}

/// Returns true if an update moves values to or from stacks and tapes.
fn moves(update: Update) -> bool {
    matches!(update.action(), Action::Put(_) | Action::Take(_))
}

/// Returns the bytes of the largest frame of a call.
fn frame(module: &Module) -> u64 {
    let of = |procedure: &Procedure| {
        let cells: u64 = procedure.frame.iter().map(|variable| variable.shape.cells()).sum();
        // Twice 8 bytes per cell, because reals have adjoints.
        let cells = cells.saturating_mul(16 * SPARE);
        CALL.saturating_add(cells).saturating_add(REFERENCE * procedure.parameters.len() as u64)
    };
    module.procedures.iter().skip(1).map(of).max().unwrap_or(CALL)
}
