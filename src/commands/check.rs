//! `reviver check`: everything that can be said without running.

use reviver_isa::Module;
use reviver_isa::verify::verify;
use serde_json::{Value as Json, json};

use crate::cli::CheckOptions;
use crate::failure::{Fallible, counted};
use crate::{load, read, streams};

pub fn run(options: &CheckOptions) -> Fallible {
    let (module, diagnostics) =
        load::with_warnings(&options.file, read::source(&options.file)?, &options.constants)?;
    // What can't be run yet is no mistake; of a text the assembler has said it already.
    let (not_yet, broken): (Vec<_>, Vec<_>) = verify(&module).into_iter().partition(|v| v.not_yet);
    if !broken.is_empty() {
        return Err(load::refused(&options.file, &module.structure, &broken));
    }
    let summary = Summary::of(&module, not_yet.is_empty(), diagnostics.is_null());
    match options.json {
        true => streams::print(&format!("{}\n", summary.members(&module, diagnostics))),
        false => streams::print(&summary.text(&module)),
    }
}

/// What is told of a program.
struct Summary {
    erasures: usize,
    instructions: usize,
    /// Besides main.
    procedures: usize,
    runnable: bool,
    /// Nobody has looked for what a text is warned of.
    is_image: bool,
}

impl Summary {
    fn of(module: &Module, runnable: bool, is_image: bool) -> Summary {
        Summary {
            erasures: module.code.iter().filter(|i| !i.update.is_reversible()).count(),
            // Each procedure has an entry and an exit, which nobody wrote.
            instructions: module.code.len().saturating_sub(2 * module.procedures.len()),
            procedures: module.procedures.len().saturating_sub(1),
            runnable,
            is_image,
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
        let warned = if self.is_image { "; this is an image, and warnings need the text" } else { "" };
        format!("{verdict}; {instructions}, {besides} besides main, {bits} bits, {real}; {running}{warned}\n")
    }

    fn members(&self, module: &Module, diagnostics: Json) -> Json {
        json!({
            "reversible": self.erasures == 0,
            "erasures": self.erasures,
            "instructions": self.instructions,
            "procedures": self.procedures,
            "word_bits": module.word.bits(),
            "real": module.real.to_string(),
            "runnable": self.runnable,
            "diagnostics": diagnostics,
        })
    }
}
