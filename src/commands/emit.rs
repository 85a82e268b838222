//! `reviver grad --emit`: writes the gradient of a program as a program. Also the parts that it shares with `jvp`: the
//! original program, and the output.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reviver_assembler::adjoint::{AdjointRequest, CellSeed, DerivedProgram, DroppedAdjoints, adjoint_text};
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
    let original = Original::read(file, options.output.as_deref(), "no adjoint program")?;
    let adjoint = |request: &AdjointRequest| {
        let Original { name, bytes, new_name, .. } = &original;
        original.text(adjoint_text(name, bytes.clone(), (request, new_name), read::files()))
    };
    // A program that names adjoints has no subject. The construction of the adjoint program reports the places.
    let subject = original.subject()?.or_else(|error| adjoint(&AdjointRequest::default()).and(Err(error)))?;
    let objective = match &options.loss {
        Some(loss) => Objective::loss(&subject, loss)?,
        None => Objective::seeded(&subject, &options.seed)?,
    };
    let request = request(options, &subject, &objective);
    original.write(adjoint(&request)?, options.level, options.force.force)
}

/// A program whose derivative is written as a program.
pub struct Original {
    program: Arc<Program>,
    file: PathBuf,
    output: Option<PathBuf>,
    /// The outcome in messages if the program can't be derived.
    outcome: &'static str,
    /// The name for messages.
    pub name: String,
    pub bytes: Vec<u8>,
    /// The name of the output, which determines the paths in `.include` lines.
    pub new_name: String,
}

impl Original {
    /// Reads the program. An image is disassembled.
    pub fn read(file: &Path, output: Option<&Path>, outcome: &'static str) -> Fallible<Original> {
        let mut bytes = read::source(file)?;
        let module = load::differentiable_of(file, bytes.clone())?;
        if read::is_image(file, &bytes) {
            let original = load::module_of(file, bytes, &Constants::default())?;
            bytes = load::text_of(file, &original)?.into_bytes();
        }
        let program = load::program(file, module)?;
        let name = read::name(file);
        let new_name = output.map_or_else(|| name.clone(), read::name);
        let (file, output) = (file.to_owned(), output.map(Path::to_owned));
        Ok(Original { program, file, output, outcome, name, bytes, new_name })
    }

    /// Returns the program at its start as the subject of differentiation. The inner error is that of a program that
    /// can't be differentiated.
    pub fn subject(&self) -> Fallible<Result<Subject, Failure>> {
        let start = Machine::at_begin(self.program.clone());
        let start = start.map_err(|error| load::no_memory(&self.file, &error))?;
        let subject = Subject::new(self.program.clone(), start.into_state(), false, u64::MAX);
        Ok(subject.map_err(Failure::usage))
    }

    /// Returns the text of a derived program.
    pub fn text(&self, derived: DerivedProgram) -> Fallible<String> {
        let DerivedProgram { sources, text, .. } = derived;
        text.map_err(|diagnostics| load::faulty(&sources, &diagnostics, self.outcome))
    }

    /// Optimizes a derived program, and writes it to the output.
    pub fn write(&self, text: String, level: u8, force: bool) -> Fallible {
        let passes = Pass::of_level(level);
        let names = (passes, self.new_name.as_str());
        let optimization = optimize_text(&self.new_name, text.into_bytes(), names, read::files());
        let text =
            optimization.text.map_err(|errors| load::faulty(&optimization.sources, &errors, self.outcome))?;
        write::text_to(self.output.as_deref().unwrap_or(Path::new("-")), force, &text)
    }
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
