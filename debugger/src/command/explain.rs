//! The command `explain`: explanations of the codes in messages.

use reviver_assembler::suggest::nearest;
use reviver_vm::codes;

use super::console::{CommandError, CommandResult, CommandRow, Console, Outcome};
use crate::outcome::Reason;

pub fn explain(console: &mut Console, _: CommandRow, rest: &str) -> CommandResult {
    if !rest.is_empty() {
        let found = codes::find(rest).ok_or_else(|| unknown(rest))?;
        return Ok(Outcome::Explained(found));
    }
    match console.session.reason() {
        Some(Reason::Trap(trap)) => Ok(Outcome::Explained(trap.code.entry())),
        _ => Err(CommandError::Failed("the run isn't at a trap: write the code to explain".into())),
    }
}

fn unknown(name: &str) -> CommandError {
    CommandError::Unknown { what: "code", word: name.to_owned(), near: nearest(name, codes::names()) }
}
