//! `reviver check`: reports errors, warnings and properties of a program without running it.

use reviver_isa::Module;
use reviver_isa::verify::verify;
use serde_json::{Value as Json, json};

use crate::cli::CheckOptions;
use crate::failure::{Fallible, counted};
use crate::{load, read, streams};

pub fn run(options: &CheckOptions) -> Fallible {
    let (module, diagnostics) =
        load::with_warnings(&options.file, read::source(&options.file)?, &options.constants)?;
    let broken = verify(&module);
    if !broken.is_empty() {
        return Err(load::refused(&options.file, &module.structure, &broken));
    }
    let summary = Summary::of(&module, diagnostics.is_null());
    match options.json {
        true => streams::print_json(&summary.members(&module, diagnostics)),
        false => streams::print(&summary.text(&module)),
    }
}

/// Summary of a program.
struct Summary {
    erasures: usize,
    instructions: usize,
    /// Number of procedures, main excluded.
    procedures: usize,
    /// True for an image, which has no text to check for warnings.
    is_image: bool,
}

impl Summary {
    fn of(module: &Module, is_image: bool) -> Summary {
        Summary {
            erasures: module.code.iter().filter(|i| !i.update.is_reversible()).count(),
            // The entry and the exit of each procedure are instructions without text, so they aren't counted.
            instructions: module.code.len().saturating_sub(2 * module.procedures.len()),
            procedures: module.procedures.len().saturating_sub(1),
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
        let warned = if self.is_image { "; an image has no text to check for warnings" } else { "" };
        format!(
            "{verdict}; {instructions}, {besides} other than main, {bits} bits, {real}; nothing was run{warned}\n"
        )
    }

    fn members(&self, module: &Module, diagnostics: Json) -> Json {
        json!({
            "reversible": self.erasures == 0,
            "erasures": self.erasures,
            "instructions": self.instructions,
            "procedures": self.procedures,
            "word_bits": module.word.bits(),
            "real": module.real.to_string(),
            "diagnostics": diagnostics,
        })
    }
}
