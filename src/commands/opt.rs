//! `reviver opt`: writes an equivalent program that needs fewer steps.

use reviver_assembler::optimize::{Optimization, Pass, optimize_text};

use crate::cli::OptOptions;
use crate::failure::Fallible;
use crate::{load, read, streams, write};

pub fn run(options: &OptOptions) -> Fallible {
    let bytes = load::text(&options.file)?;
    let name = read::name(&options.file);
    // The name of the output determines the paths in `.include` lines. If the program is printed, there is no output
    // file, so the name of the original is used.
    let new_name = options.written.output.as_deref().map_or_else(|| name.clone(), read::name);
    let is_chosen = |pass: &Pass| match options.pass.is_empty() {
        true => Pass::of_level(options.level).contains(pass),
        false => options.pass.iter().any(|name| name == pass.name()),
    };
    let passes: Vec<Pass> = Pass::ALL.into_iter().filter(is_chosen).collect();
    let optimization = optimize_text(&name, bytes, (&passes, &new_name), read::files());
    let Optimization { sources, text, obstacle } = optimization;
    let text = text.map_err(|diagnostics| load::faulty(&sources, &diagnostics, "not optimized"))?;
    if let Some(obstacle) = obstacle {
        streams::complain(&format!("note: the program isn't changed, because {obstacle}\n"));
    }
    write::text(&options.written, &text)
}
