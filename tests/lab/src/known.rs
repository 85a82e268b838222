//! Rows that the oracle supports. A row may be added to the machine before the oracle supports it. Until then, programs
//! are compared without the lines that use the row. That tests more than skipping all programs with such a line.

use std::collections::HashSet;
use std::sync::LazyLock;

use reviver_isa::{Function, Update};
use reviver_oracle::{Agreement, Case, Ending, ExpectedCase, Inputs};

use crate::engine::{Engine, REFERENCE};
use crate::specimens::{self, Specimen};
use crate::subject::{Subject, TAPE};

/// Rows that the oracle doesn't support, or that no machine executes.
pub struct UnknownRows {
    pub updates: HashSet<Update>,
    pub functions: HashSet<Function>,
}

/// Computed once, by running the oracle on the smallest programs of each row. No mutant may be active at that time.
pub static UNKNOWN: LazyLock<UnknownRows> = LazyLock::new(|| {
    let updates = Update::ALL.iter().filter(|u| is_unknown(|s| s.update == **u && s.function.is_none()));
    let functions = Function::ALL.iter().filter(|f| f.arity() > 0 && is_unknown(|s| s.function == Some(**f)));
    UnknownRows { updates: updates.copied().collect(), functions: functions.copied().collect() }
});

/// Returns true if the oracle supports none of the smallest programs of a row.
fn is_unknown(row: impl Fn(&Specimen) -> bool) -> bool {
    let specimens = specimens::all();
    let mut texts = specimens.iter().filter(|specimen| row(specimen)).flat_map(|specimen| &specimen.texts);
    texts.all(|text| match Subject::new(text) {
        Ok(_) => compared(REFERENCE, text).is_ok_and(|a| matches!(a.forward.there, Ending::Skipped(_))),
        // No machine executes this row yet.
        Err(_) => true,
    })
}

/// Runs a program on the machine and on the oracle, without and with gradient mode. Returns their agreement without
/// gradient mode.
///
/// # Errors
/// A sentence about the disagreement, or the reason why the text can't be run.
pub fn compared(engine: Engine, text: &str) -> Result<Agreement, String> {
    compared_on(&[engine], text).swap_remove(0)
}

/// Does the same as [`compared`] on several engines. The oracle runs once for all of them.
#[must_use]
pub fn compared_on(engines: &[Engine], text: &str) -> Vec<Result<Agreement, String>> {
    let lists = text.lines().filter_map(|line| line.strip_prefix(TAPE));
    let tape: Vec<String> = lists.flat_map(|list| list.split(',')).map(|e| e.trim().to_owned()).collect();
    let [plain, differentiated] = [false, true]
        .map(|gradient| Case::of(text).with(Inputs { values: &[], tape: &tape, gradient }).expected());
    let compare = |engine: &Engine| {
        let on = |case: &Result<ExpectedCase, String>| {
            case.as_ref().map_err(String::clone)?.compare(engine.prepare)
        };
        on(&differentiated).map_err(|difference| format!("in gradient mode, {difference}"))?;
        on(&plain)
    };
    engines.iter().map(compare).collect()
}

/// Returns true if the oracle supports the rows of a line.
fn is_known(line: &str) -> bool {
    let mnemonic = line.split_whitespace().next().unwrap_or_default();
    let (update, function) = mnemonic.split_once('.').unwrap_or((mnemonic, ""));
    let update = Update::from_name(mnemonic).or_else(|| Update::from_name(update));
    let function = Function::from_name(function);
    let applies = |f: &Function| line.contains(&format!("{}(", f.name()));
    !update.is_some_and(|u| UNKNOWN.updates.contains(&u))
        && !function.is_some_and(|f| UNKNOWN.functions.contains(&f))
        && !UNKNOWN.functions.iter().any(applies)
}

/// Removes the lines that the oracle doesn't support. Returns the rest, and the number of removed lines. If the rest
/// isn't a valid program, returns the original text, which the oracle then skips.
#[must_use]
pub fn known(text: &str) -> (String, usize) {
    let rest: Vec<&str> = text.lines().filter(|line| is_known(line)).collect();
    let left_out = text.lines().count() - rest.len();
    let rest = rest.join("\n") + "\n";
    if left_out > 0 && Subject::new(&rest).is_ok() { (rest, left_out) } else { (text.to_owned(), 0) }
}
