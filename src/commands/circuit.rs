//! `reviver circuit`: draws main as gates and boxes on wires.

use reviver_vm::Machine;
use serde_json::json;

use crate::charts::circuit::{NoCircuit, circuit};
use crate::cli::CircuitOptions;
use crate::failure::{Failure, Fallible};
use crate::output::picture;
use crate::{load, read, write};

pub fn run(options: &CircuitOptions) -> Fallible {
    let module = load::module(&options.file, &options.constants)?;
    let program = load::program(&options.file, module)?;
    let name = read::name(&options.file);
    let begin = Machine::at_begin(program.clone()).map_err(|error| load::no_memory(&options.file, &error))?;
    let circuit = circuit(&program, begin.into_state(), &read::titled(&options.file)).map_err(|error| {
        let structure = &program.module().structure;
        let file = structure.file(error.at).map_or(name.clone(), str::to_owned);
        refused(&file, structure.line(error.at), &error)
    })?;
    picture::write(&circuit.svg(), write::picture(&options.drawn)?)
}

/// Failure for a program that can't be drawn. The failure names the line, if it is known.
fn refused(file: &str, line: Option<u32>, error: &NoCircuit) -> Failure {
    let NoCircuit { text, cause, cure, .. } = error;
    let place = line.map_or(file.to_owned(), |line| format!("{file}:{line}"));
    Failure::load(format_args!("{place}: `{text}` can't be drawn as a circuit: {cause}"))
        .help(cure)
        .detail("place", json!({ "file": file, "line": line }))
}
