//! `reviver check`: everything that can be said without running.

use reviver_isa::Module;
use reviver_isa::verify::verify;

use crate::cli::Check;
use crate::failure::{Outcome, counted};
use crate::{load, write};

pub fn run(options: &Check) -> Outcome {
    let module = load::module(&options.file)?;
    // What can't be run yet is no mistake; of a text the assembler has said it already.
    let (not_yet, broken): (Vec<_>, Vec<_>) = verify(&module).into_iter().partition(|v| v.not_yet);
    if !broken.is_empty() {
        return Err(load::refused(&options.file, &module.structure, &broken));
    }
    write::print(&summary(&module, !not_yet.is_empty()))
}

fn summary(module: &Module, not_yet: bool) -> String {
    let erasures = module.code.iter().filter(|i| !i.update.is_reversible()).count();
    let verdict = match erasures {
        0 => "reversible".to_owned(),
        n => format!("not reversible: {}", counted(n, "erasure")),
    };
    // Each procedure has an entry and an exit, which nobody wrote.
    let written = module.code.len().saturating_sub(2 * module.procedures.len());
    let instructions = counted(written, "instruction");
    let besides = counted(module.procedures.len().saturating_sub(1), "procedure");
    let (bits, real) = (module.word.bits(), module.real);
    let running = if not_yet { "; it can't be run yet" } else { "" };
    format!("{verdict}; {instructions}, {besides} besides main, {bits} bits, {real}{running}\n")
}
