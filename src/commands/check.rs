//! `reviver check`: everything that can be said without running.

use reviver_isa::Module;
use reviver_isa::verify::verify;
use serde_json::{Map, Value as Json, json};

use crate::cli::Check;
use crate::failure::{Outcome, counted};
use crate::{load, output, write};

pub fn run(options: &Check) -> Outcome {
    let (module, diagnostics) = load::with_warnings(&options.file, load::source(&options.file)?)?;
    // What can't be run yet is no mistake; of a text the assembler has said it already.
    let (not_yet, broken): (Vec<_>, Vec<_>) = verify(&module).into_iter().partition(|v| v.not_yet);
    if !broken.is_empty() {
        return Err(load::refused(&options.file, &module.structure, &broken));
    }
    let summary = Summary::of(&module, not_yet.is_empty());
    write::print(&match options.json {
        true => output::object(summary.members(&module, diagnostics), &Ok(())),
        false => summary.text(&module),
    })
}

/// What is told of a program.
struct Summary {
    erasures: usize,
    instructions: usize,
    /// Besides main.
    procedures: usize,
    runnable: bool,
}

impl Summary {
    fn of(module: &Module, runnable: bool) -> Summary {
        Summary {
            erasures: module.code.iter().filter(|i| !i.update.is_reversible()).count(),
            // Each procedure has an entry and an exit, which nobody wrote.
            instructions: module.code.len().saturating_sub(2 * module.procedures.len()),
            procedures: module.procedures.len().saturating_sub(1),
            runnable,
        }
    }

    fn text(&self, module: &Module) -> String {
        let verdict = match self.erasures {
            0 => "every instruction can be undone".to_owned(),
            n => format!("not reversible: {}", counted(n, "erasure")),
        };
        let instructions = counted(self.instructions, "instruction");
        let besides = counted(self.procedures, "procedure");
        let (bits, real) = (module.word.bits(), module.real);
        let running = if self.runnable { "nothing was run" } else { "it can't be run yet" };
        format!("{verdict}; {instructions}, {besides} besides main, {bits} bits, {real}; {running}\n")
    }

    fn members(&self, module: &Module, diagnostics: Json) -> Map<String, Json> {
        let members = [
            ("reversible", json!(self.erasures == 0)),
            ("erasures", json!(self.erasures)),
            ("instructions", json!(self.instructions)),
            ("procedures", json!(self.procedures)),
            ("word_bits", json!(module.word.bits())),
            ("real", json!(module.real.to_string())),
            ("runnable", json!(self.runnable)),
            ("diagnostics", diagnostics),
        ];
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
