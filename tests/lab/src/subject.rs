//! A program under test: its text, the verified program, and what its input tape holds. The one
//! place of the tests that goes from text to machine, by the way that users go.

use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::diagnostic::Severity;
use reviver_assembler::{files, image, render};
use reviver_isa::Module;
use reviver_vm::differentiate::{DifferentiateError, Subject as Differentiated};
use reviver_vm::history::Residues;
use reviver_vm::state::{State, TapeEntry};
use reviver_vm::{Machine, Program, Runner};

use crate::engine::{Engine, REFERENCE};

/// A comment that begins like this lists what the input tape holds.
pub const TAPE: &str = "; tape: ";

/// A program, what it needs to run, and who runs it.
#[derive(Clone, Debug)]
pub struct Subject {
    pub engine: Engine,
    runner: Option<Arc<dyn Runner>>,
    pub text: String,
    pub program: Arc<Program>,
    /// The next value to read is the last.
    pub tape: Vec<TapeEntry>,
}

impl Subject {
    /// Assembles a text, to be run by the engine that users have.
    ///
    /// # Errors
    /// What is wrong with the text, as the assembler would print it.
    pub fn new(text: &str) -> Result<Subject, String> {
        Subject::on(REFERENCE, text)
    }

    /// Assembles a text, to be run by an engine.
    ///
    /// # Errors
    /// What is wrong with the text, as the assembler would print it.
    pub fn on(engine: Engine, text: &str) -> Result<Subject, String> {
        let program = Arc::new(load(module(text)?)?);
        let (tape, runner) = (tape(text, &program)?, (engine.prepare)(&program));
        Ok(Subject { engine, runner, text: text.to_owned(), program, tape })
    }

    /// Another program in its place, on the same engine.
    #[must_use]
    pub fn with_program(&self, program: Arc<Program>) -> Subject {
        Subject { runner: (self.engine.prepare)(&program), program, ..self.clone() }
    }

    /// A machine at the beginning. `exact` keeps residues.
    pub fn machine(&self, exact: bool) -> Machine {
        let machine = Machine::at_begin(self.program.clone()).expect("memory for a small program");
        let start = State { input: self.tape.clone(), ..machine.into_state() };
        self.resume(start, exact.then(Residues::default))
    }

    /// A machine at the end, all cells at their initial values.
    pub fn machine_at_end(&self, exact: bool) -> Machine {
        let machine = Machine::at_end(self.program.clone()).expect("memory for a small program");
        self.resume(machine.into_state(), exact.then(Residues::default))
    }

    /// A machine that goes on from a state.
    pub fn resume(&self, state: State, residues: Option<Residues>) -> Machine {
        let mut machine = Machine::resume(self.program.clone(), state, residues);
        self.runner.iter().for_each(|runner| machine.run_by(Arc::clone(runner)));
        machine.run_on_threads(self.engine.threads, 0);
        machine
    }

    /// The program at its start, to be differentiated.
    ///
    /// # Errors
    /// It can't be, from outside.
    pub fn differentiated(&self, exact: bool, max_steps: u64) -> Result<Differentiated, DifferentiateError> {
        let start = self.machine(false).into_state();
        let subject = Differentiated::new(self.program.clone(), start, exact, max_steps)?;
        Ok(Differentiated { runner: self.runner.clone(), threads: self.engine.threads, ..subject })
    }

    /// What the input tape holds, in the order of reading.
    pub fn tape_texts(&self) -> Vec<String> {
        tape_texts(&self.text)
    }

    /// Whether each step has an exact inverse: nothing is lost, by erasing or by rounding.
    pub fn is_exact(&self) -> bool {
        let module = self.program.module();
        module.real.is_exact() && module.code.iter().all(|i| i.update.is_reversible())
    }

    /// Whether any procedure has a rule in place of its adjoint.
    pub fn has_rules(&self) -> bool {
        self.program.module().procedures.iter().any(|procedure| procedure.rule.is_some())
    }

    /// Whether no instruction throws information away.
    pub fn is_reversible(&self) -> bool {
        self.program.module().code.iter().all(|i| i.update.is_reversible())
    }
}

/// The module of a text.
///
/// # Errors
/// What is wrong with the text, as the assembler would print it.
pub fn module(text: &str) -> Result<Module, String> {
    let assembly = assemble("subject.rasm", text.as_bytes().to_vec(), &files::FilesInMemory::new());
    let failed = assembly.diagnostics.iter().any(|d| d.severity == Severity::Error);
    match assembly.module {
        Some(module) if !failed => Ok(module),
        _ => Err(render::render(&assembly.sources, &assembly.diagnostics, false)),
    }
}

/// The program of a module.
///
/// # Errors
/// The rules that it breaks.
pub fn load(module: Module) -> Result<Program, String> {
    let hash = xxhash_rust::xxh3::xxh3_128(&image::encode(&module).unwrap());
    Program::new(module, hash).map_err(|violations| {
        let messages: Vec<String> =
            violations.iter().map(|v| format!("{:?}: {}", v.site, v.message)).collect();
        messages.join("\n")
    })
}

/// What a text says that its input tape holds, in the order of reading.
fn tape_texts(text: &str) -> Vec<String> {
    let lists = text.lines().filter_map(|line| line.trim().strip_prefix(TAPE));
    lists.flat_map(|list| list.split(',')).map(|entry| entry.trim().to_owned()).collect()
}

fn tape(text: &str, program: &Program) -> Result<Vec<TapeEntry>, String> {
    let texts = tape_texts(text);
    let entries = texts.iter().rev().map(|entry| program.parse_entry(entry));
    entries.collect::<Result<_, _>>().map_err(|error| error.to_string())
}
