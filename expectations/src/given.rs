//! Creates a machine with the inputs of an expectation line.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_isa::Module;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::ValueError;
use reviver_vm::{Machine, Program, Runner, Travel};
use thiserror::Error;

use crate::assessment::{Mismatch, MissReason};
use crate::bounded::sized;
use crate::grammar::GivenWords;
use crate::settings::{TestLimits, TestSettings};

/// The reason why a run can't be started.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoStart {
    /// Rules that the module violates in the requested number system, with one message each.
    #[error("{}", .0.join("; "))]
    Rules(Vec<String>),
    /// A name in the line that isn't a global of the program.
    #[error("no cell `{0}`")]
    NoCell(String),
    /// The name of a cell that the line doesn't set, although the cell has no default, and a backward run or an inverse
    /// program needs its value.
    #[error("`{0}` has no value: write `{0}=VALUE`")]
    Missing(String),
    /// A value or a number of values that the cell can't take.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The cells of the start state exceed the memory limit. The number is the memory limit in bytes.
    #[error("the program's cells take more than {}", sized(*.0))]
    TooLarge(u64),
    /// A request for memory that the system refused.
    #[error(transparent)]
    NoMemory(#[from] OutOfMemory),
    /// An engine that isn't available, with its message.
    #[error("{0}")]
    Engine(String),
}

impl NoStart {
    /// Returns this error as a mismatch: a run was expected.
    pub(crate) fn missed(&self) -> Mismatch {
        Mismatch::new("a run", self.to_string()).because(self.reason())
    }

    pub(crate) fn reason(&self) -> MissReason {
        match self {
            NoStart::NoCell(_) => MissReason::MissingCell,
            NoStart::TooLarge(_) | NoStart::NoMemory(_) => MissReason::Memory,
            // The kind isn't `MissingCell` for `Missing`: the program declares the input, but the line doesn't set
            // it.
            NoStart::Missing(_) | NoStart::Rules(_) | NoStart::Value(_) | NoStart::Engine(_) => {
                MissReason::Value
            }
        }
    }
}

/// A program in the number system that a line requests, with the engine that executes it.
pub struct ReadyProgram {
    /// The verified program, in the number system of the line.
    pub program: Arc<Program>,
    /// The engine of the program; `None` means the interpreter.
    pub runner: Option<Arc<dyn Runner>>,
    limits: TestLimits,
    /// A flag that stops runs when it is set; `None` if nothing stops them.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl ReadyProgram {
    /// Prepares a module as a program.
    ///
    /// # Errors
    /// Returns an error if the module violates rules in the requested number system, or if the engine isn't
    /// available.
    pub fn new(
        module: &Module,
        given: &GivenWords,
        settings: &TestSettings<'_>,
    ) -> Result<ReadyProgram, NoStart> {
        let mut module = module.clone();
        module.real = given.real.map_or(module.real, |wish| wish.over(module.real));
        module.word = given.word.unwrap_or(module.word);
        let rules = |violations: Vec<reviver_isa::verify::Violation>| {
            NoStart::Rules(violations.into_iter().map(|violation| violation.message).collect())
        };
        let program = Arc::new(Program::new(module, 0).map_err(rules)?);
        let runner = (settings.prepare)(&program).map_err(NoStart::Engine)?;
        let interrupt = settings.interrupt.cloned();
        Ok(ReadyProgram { program, runner, limits: settings.limits, interrupt })
    }

    /// Returns a machine with all inputs set: at the start of the program, or for a backward run at its end.
    ///
    /// # Errors
    /// An input is rejected or takes too much memory.
    pub fn machine(&self, given: &GivenWords, travel: Travel) -> Result<Machine, NoStart> {
        self.check_size()?;
        let program = &self.program;
        let mut machine = match travel {
            Travel::Forward => Machine::at_begin(program.clone()),
            Travel::Backward => Machine::at_end(program.clone()),
        }?;
        if let Some(runner) = &self.runner {
            machine.run_by(runner.clone());
        }
        if let Some(flag) = &self.interrupt {
            machine.stop_when(flag.clone());
        }
        if given.exact {
            machine.keep_residues();
        }
        let named = given.cells.iter().map(|cell| give(program, &mut machine, cell));
        let named: Vec<usize> = named.collect::<Result<_, _>>()?;
        if let Some(values) = &given.tape {
            give_tape(program, &mut machine, values, travel)?;
        }
        complete(program, &mut machine, &named, travel)?;
        Ok(machine)
    }

    fn check_size(&self) -> Result<(), NoStart> {
        let (ints, reals) = self.program.flow().layout().static_cells();
        let bytes = 8 * (ints as u64 + reals as u64);
        if bytes > self.limits.max_bytes { Err(NoStart::TooLarge(self.limits.max_bytes)) } else { Ok(()) }
    }
}

/// Sets the cells of a global, and returns the global's index.
fn give(
    program: &Program,
    machine: &mut Machine,
    (name, values): &(String, Vec<String>),
) -> Result<usize, NoStart> {
    let (global, _) = program.global(name).ok_or_else(|| NoStart::NoCell(name.clone()))?;
    let texts: Vec<&str> = values.iter().map(String::as_str).collect();
    program.give(machine.state_mut(), global, &texts)?;
    Ok(global)
}

/// Sets each input that the line doesn't set to its default. Returns an error if such an input has no default. The
/// command `run` does the same.
fn complete(
    program: &Program,
    machine: &mut Machine,
    given: &[usize],
    travel: Travel,
) -> Result<(), NoStart> {
    if let Some((_, global)) = program.missing(given, travel).first() {
        return Err(NoStart::Missing(global.name.clone()));
    }
    for (n, _) in program.assumed(given, travel) {
        program.give_default(machine.state_mut(), n)?;
    }
    Ok(())
}

fn give_tape(
    program: &Program,
    machine: &mut Machine,
    values: &[String],
    travel: Travel,
) -> Result<(), NoStart> {
    let entries =
        values.iter().map(|text| program.parse_entry(text)).collect::<Result<Vec<TapeEntry>, _>>()?;
    let tape = Tape::given(travel);
    let entries = program.in_text_order(tape, entries);
    match tape {
        Tape::Input => machine.state_mut().input = entries,
        Tape::Output => machine.state_mut().output = entries,
    }
    Ok(())
}
