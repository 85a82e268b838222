//! `reviver check`: everything that can be said without running.

use reviver_isa::Module;

use crate::cli::Check;
use crate::failure::Outcome;
use crate::{load, write};

pub fn run(options: &Check) -> Outcome {
    let module = load::module(&options.file)?;
    let summary = summary(&module);
    load::program(&options.file, module)?;
    write::print(&summary)
}

fn summary(module: &Module) -> String {
    let irreversible = module.code.iter().filter(|i| !i.update.is_reversible()).count();
    let instructions = module.code.len() - 2 * module.procedures.len();
    let procedures = module.procedures.len() - 1;
    let verdict = match irreversible {
        0 => "reversible".to_owned(),
        n => format!("not reversible: {n} erasures"),
    };
    format!(
        "{verdict}; {instructions} instructions, {procedures} procedures besides main, {} bits, {}\n",
        module.word.bits(),
        module.real
    )
}
