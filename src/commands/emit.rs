//! `reviver grad --emit`: writes the gradient of a program as a program.

use std::path::Path;

use reviver_assembler::adjoint::{DerivedProgram, AdjointRequest, CellSeed, DroppedAdjoints, adjoint_text};
use reviver_assembler::optimize::{Pass, optimize_text};
use reviver_isa::module::Shape;
use reviver_vm::differentiate::{Subject, Variable, early_uncomputes};
use reviver_vm::{Machine, Program};

use crate::cli::{Constants, GradOptions};
use crate::failure::{Failure, Fallible};
use crate::objective::Objective;
use crate::{load, read, write};

pub fn run(options: &GradOptions) -> Fallible {
    let file = &options.differentiated.start.given.file;
    let mut bytes = read::source(file)?;
    let module = load::module_of(file, bytes.clone(), &Constants::default())?;
    if read::is_image(file, &bytes) {
        bytes = load::text_of(file, &module)?.into_bytes();
    }
    let program = load::program(file, module)?;
    let start = Machine::at_begin(program.clone()).map_err(|error| load::no_memory(file, &error))?;
    let subject = Subject::new(program, start.into_state(), false, u64::MAX);
    let name = read::name(file);
    // The name of the output determines the paths in `.include` lines.
    let output = options.output.as_deref();
    let made_name = output.map_or_else(|| name.clone(), read::name);
    let adjoint = |request: &AdjointRequest| {
        let DerivedProgram { sources, text, .. } =
            adjoint_text(&name, bytes.clone(), (request, &made_name), read::files());
        text.map_err(|diagnostics| load::faulty(&sources, &diagnostics, "no adjoint program"))
    };
    // A program that names adjoints has no subject. The construction of the adjoint program reports the places.
    let subject =
        subject.or_else(|error| adjoint(&AdjointRequest::default()).and(Err(Failure::usage(error))))?;
    let objective = match &options.loss {
        Some(loss) => Objective::loss(&subject, loss)?,
        None => Objective::seeded(&subject, &options.seed)?,
    };
    let request = request(options, &subject, &objective);
    let text = adjoint(&request)?;
    let passes = Pass::of_level(options.level);
    let optimization = optimize_text(&made_name, text.into_bytes(), (passes, &made_name), read::files());
    let text = optimization
        .text
        .map_err(|errors| load::faulty(&optimization.sources, &errors, "no adjoint program"))?;
    write::text_to(output.unwrap_or(Path::new("-")), options.force.force, &text)
}

/// Returns the request for the objective of the options.
fn request(options: &GradOptions, subject: &Subject, objective: &Objective) -> AdjointRequest {
    let program = &subject.program;
    let variables = objective.results.iter().flat_map(|result| &result.variables);
    let seeds = variables.zip(&objective.seeds).map(|(variable, seeded)| {
        let Variable { global, element, .. } = variable;
        let name = program.module().globals.get(*global).map_or(String::new(), |global| global.name.clone());
        CellSeed { name, indices: indices(program, *global, *element), seed: seeded.weight(program) }
    });
    let cells: Vec<usize> = objective.seeds.iter().map(|seed| seed.cell).collect();
    let early_uncomputes = if options.differentiated.whole { 0 } else { early_uncomputes(program, &cells) };
    let dropped = if options.drop == "erase" { DroppedAdjoints::Erased } else { DroppedAdjoints::Pushed };
    AdjointRequest { seeds: seeds.collect(), dropped, early_uncomputes }
}

/// Returns the indices of an element; none for a scalar.
fn indices(program: &Program, global: usize, element: usize) -> Vec<u64> {
    let element = element as u64;
    match program.module().globals.get(global).map(|global| global.shape) {
        Some(Shape::Vector(_)) => vec![element],
        Some(Shape::Matrix(_, columns)) => {
            let columns = u64::from(columns.max(1));
            vec![element / columns, element % columns]
        }
        _ => Vec::new(),
    }
}
