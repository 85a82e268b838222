//! Program under test: its text, the verified program, and the contents of its input tape. All tests assemble their
//! programs here, in the same way as users do.

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

/// Prefix of a comment that lists the contents of the input tape.
pub const TAPE: &str = "; tape: ";

/// Program under test, with its input tape and its engine.
#[derive(Clone, Debug)]
pub struct Subject {
    pub engine: Engine,
    runner: Option<Arc<dyn Runner>>,
    pub text: String,
    pub program: Arc<Program>,
    /// Input tape; its last entry is read first.
    pub tape: Vec<TapeEntry>,
}

impl Subject {
    /// Assembles a text, to run on the default engine.
    ///
    /// # Errors
    /// Diagnostics of the text, as the assembler prints them.
    pub fn new(text: &str) -> Result<Subject, String> {
        Subject::on(REFERENCE, text)
    }

    /// Assembles a text, to run on a given engine.
    ///
    /// # Errors
    /// Diagnostics of the text, as the assembler prints them.
    pub fn on(engine: Engine, text: &str) -> Result<Subject, String> {
        let program = Arc::new(load(module(text)?)?);
        let (tape, runner) = (tape(text, &program)?, (engine.prepare)(&program));
        Ok(Subject { engine, runner, text: text.to_owned(), program, tape })
    }

    /// Returns the subject on another engine.
    #[must_use]
    pub fn with_engine(&self, engine: Engine) -> Subject {
        Subject { engine, runner: (engine.prepare)(&self.program), ..self.clone() }
    }

    /// Returns the subject with another program, on the same engine.
    #[must_use]
    pub fn with_program(&self, program: Arc<Program>) -> Subject {
        Subject { runner: (self.engine.prepare)(&program), program, ..self.clone() }
    }

    /// Returns a machine at the program's start. If `exact` is true, it keeps a history of lost bits.
    pub fn machine(&self, exact: bool) -> Machine {
        let machine = Machine::at_begin(self.program.clone()).expect("memory for a small program");
        let start = State { input: self.tape.clone(), ..machine.into_state() };
        self.resume(start, exact.then(Residues::default))
    }

    /// Returns a machine at the program's end, with all cells at their initial values, for a backward run.
    pub fn machine_at_end(&self, exact: bool) -> Machine {
        let machine = Machine::at_end(self.program.clone()).expect("memory for a small program");
        self.resume(machine.into_state(), exact.then(Residues::default))
    }

    /// Returns a machine that continues from a state.
    pub fn resume(&self, state: State, residues: Option<Residues>) -> Machine {
        let mut machine = Machine::resume(self.program.clone(), state, residues);
        self.runner.iter().for_each(|runner| machine.run_by(Arc::clone(runner)));
        machine.run_on_threads(self.engine.threads, 0);
        machine
    }

    /// Returns the program at its start as a subject of differentiation.
    ///
    /// # Errors
    /// An error if the program can't be differentiated from outside.
    pub fn differentiated(&self, exact: bool, max_steps: u64) -> Result<Differentiated, DifferentiateError> {
        let start = self.machine(false).into_state();
        let subject = Differentiated::new(self.program.clone(), start, exact, max_steps)?;
        Ok(Differentiated { runner: self.runner.clone(), threads: self.engine.threads, ..subject })
    }

    /// Returns the contents of the input tape, in reading order.
    pub fn tape_texts(&self) -> Vec<String> {
        tape_texts(&self.text)
    }

    /// Returns true if each step has an exact inverse, without erasing or rounding.
    pub fn is_exact(&self) -> bool {
        let module = self.program.module();
        module.real.is_exact() && module.code.iter().all(|i| i.update.is_reversible())
    }

    /// Returns true if any procedure has a custom derivative rule.
    pub fn has_rules(&self) -> bool {
        self.program.module().procedures.iter().any(|procedure| procedure.rule.is_some())
    }

    /// Returns true if no instruction discards information.
    pub fn is_reversible(&self) -> bool {
        self.program.module().code.iter().all(|i| i.update.is_reversible())
    }
}

/// Assembles the module of a text.
///
/// # Errors
/// Diagnostics of the text, as the assembler prints them.
pub fn module(text: &str) -> Result<Module, String> {
    let assembly = assemble("subject.rasm", text.as_bytes().to_vec(), &files::FilesInMemory::new());
    let failed = assembly.diagnostics.iter().any(|d| d.severity == Severity::Error);
    match assembly.module {
        Some(module) if !failed => Ok(module),
        _ => Err(render::render(&assembly.sources, &assembly.diagnostics, false)),
    }
}

/// Verifies a module, and prepares it for execution.
///
/// # Errors
/// The rules that the module violates.
pub fn load(module: Module) -> Result<Program, String> {
    let hash = xxhash_rust::xxh3::xxh3_128(&image::encode(&module).unwrap());
    Program::new(module, hash).map_err(|violations| {
        let messages: Vec<String> =
            violations.iter().map(|v| format!("{:?}: {}", v.site, v.message)).collect();
        messages.join("\n")
    })
}

/// Returns the contents of the input tape that a text lists, in reading order.
fn tape_texts(text: &str) -> Vec<String> {
    let lists = text.lines().filter_map(|line| line.trim().strip_prefix(TAPE));
    lists.flat_map(|list| list.split(',')).map(|entry| entry.trim().to_owned()).collect()
}

fn tape(text: &str, program: &Program) -> Result<Vec<TapeEntry>, String> {
    let texts = tape_texts(text);
    let entries = texts.iter().rev().map(|entry| program.parse_entry(entry));
    entries.collect::<Result<_, _>>().map_err(|error| error.to_string())
}
