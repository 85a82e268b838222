//! Calls: what is given, a run from one end of the program to the other, and what is read where it has arrived. A workspace is one
//! thread's; it is as good as new after an error. Derivatives are in [`super::gradient`] and [`super::hessian`].

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_compile::call::CallRoom;
use reviver_compile::route::RouteRoom;
use reviver_compile::start::RouteStart;
use reviver_vm::garbage::Garbage;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Program, ShowSink, ShownMark, State, Travel, checkpoint};

use super::cells::{IntCells, NamedCells, RealCells};
use super::error::Error;
use super::executable::{Executable, Shared};
use super::gradient::JacobianCall;
use super::numbers::{put_bits, put_ints, put_reals, take_reals};
use super::trip::EndToEnd;

/// What one thread calls a program in. What was given stays given, so that only what changes need be given again.
#[derive(Debug)]
pub struct Workspace {
    pub(super) executable: Executable,
    pub(super) machine: Machine,
    pub(super) room: RouteRoom,
    /// The memory of call functions.
    pub(super) calls: CallRoom,
    /// The function that Jacobians were found by last.
    pub(super) jacobian: Option<JacobianCall>,
    /// The bits of the seeded cells where the last gradient turned that was found in the machine.
    pub(super) turned: Vec<u64>,
    pub(super) inputs: Gifts,
    /// Of a run back; made when it is first needed.
    pub(super) results: Option<Gifts>,
    pub(super) most_steps: u64,
    pub(super) keeps_history: bool,
    /// Set by who wants a call to stop.
    pub(super) interrupt: Option<Arc<AtomicBool>>,
    /// Receives what `show` shows, if the caller asks for it and the program has a `show`.
    pub(super) shows: Option<Arc<dyn ShowSink>>,
    pub(super) held: Readable,
}

/// What can be read: the machine's cells, or adjoints that were found without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readable {
    Nothing,
    /// Those where a run has arrived.
    Arrived(Travel),
    /// Adjoints, beside the cells of the start.
    Adjoints,
    /// Adjoints that a call function has found.
    AdjointsOfCall,
}

/// A state that a run begins with, and what it still lacks.
#[derive(Debug)]
pub(super) struct Gifts {
    travel: Travel,
    pub start: RouteStart,
    /// Globals that have to be given and weren't, by number.
    pub missing: Vec<usize>,
}

impl Gifts {
    fn new(shared: &Shared, travel: Travel) -> Result<Gifts, Error> {
        let program = &shared.program;
        let mut state = match travel {
            Travel::Forward => shared.begin.try_clone()?,
            Travel::Backward => Machine::at_end(program.clone())?.into_state(),
        };
        state.counters.shown = ShownMark::SILENT;
        for (n, _) in program.assumed(&[], travel) {
            program.give_default(&mut state, n)?;
        }
        let missing = program.missing(&[], travel).into_iter().map(|(n, _)| n).collect();
        let start = RouteStart::new(program, state).ok_or(Error::NoBeginning)?;
        Ok(Gifts { travel, start, missing })
    }

    /// Whether cells may be given, by a slice of so many values.
    fn check(&self, program: &Program, cells: NamedCells, given: usize) -> Result<(), Error> {
        let role = program.module().globals.get(cells.global).map(|global| global.role);
        if let Some(role) = role.filter(|role| !program.takes(*role, self.travel)) {
            let (name, backward) = (cells.name(program), self.travel == Travel::Backward);
            return Err(Error::NotTaken { name, role, backward });
        }
        check_length(program, cells, given)
    }

    fn give_reals(&mut self, program: &Program, cells: NamedCells, values: &[f64]) -> Result<(), Error> {
        self.check(program, cells, values.len())?;
        let system = program.module().real;
        let there = self.start.reals_mut(cells.global, cells.range());
        put_reals(system, values, there).map_err(|index| {
            let (name, value) = (cells.name(program), values.get(index).copied().unwrap_or_default());
            Error::NotAReal { name, index, value, system }
        })?;
        self.given(program, cells);
        Ok(())
    }

    fn give_bits(&mut self, program: &Program, cells: NamedCells, values: &[u64]) -> Result<(), Error> {
        self.check(program, cells, values.len())?;
        let system = program.module().real;
        let there = self.start.reals_mut(cells.global, cells.range());
        put_bits(system, values, there).map_err(|index| {
            let bits = values.get(index).copied().unwrap_or_default();
            let (name, value) = (cells.name(program), program.approximate(Value::Real(bits)));
            Error::NotAReal { name, index, value, system }
        })?;
        self.given(program, cells);
        Ok(())
    }

    fn give_ints(&mut self, program: &Program, cells: NamedCells, values: &[i64]) -> Result<(), Error> {
        self.check(program, cells, values.len())?;
        let word = program.module().word;
        let there = self.start.ints_mut(cells.global, cells.range());
        put_ints(word, values, there).map_err(|index| {
            let (name, value) = (cells.name(program), values.get(index).copied().unwrap_or_default());
            Error::NotAnInteger { name, index, value, bits: word.bits() }
        })?;
        self.given(program, cells);
        Ok(())
    }

    /// An array counts as given once all of it is given at once.
    fn given(&mut self, program: &Program, cells: NamedCells) {
        if !self.missing.is_empty() && program.cells(cells.global).len() == cells.count() {
            self.missing.retain(|&n| n != cells.global);
        }
    }

    /// Whether everything is given that can't be left out.
    pub fn complete(&self, program: &Program) -> Result<&RouteStart, Error> {
        if self.missing.is_empty() {
            return Ok(&self.start);
        }
        let globals = self.missing.iter().filter_map(|&n| program.module().globals.get(n));
        let names = globals.map(|global| global.name.clone()).collect();
        Err(Error::Missing { names, backward: self.travel == Travel::Backward })
    }
}

fn check_length(program: &Program, cells: NamedCells, given: usize) -> Result<(), Error> {
    match cells.count() == given {
        true => Ok(()),
        false => Err(Error::Length { name: cells.name(program), cells: cells.count(), given }),
    }
}

impl Executable {
    /// What a thread calls the program in.
    ///
    /// # Errors
    /// There is no memory for its cells.
    pub fn workspace(&self) -> Result<Workspace, Error> {
        Workspace::new(self.clone())
    }
}

impl Workspace {
    fn new(executable: Executable) -> Result<Workspace, Error> {
        let shared = &executable.shared;
        let inputs = Gifts::new(shared, Travel::Forward)?;
        let mut machine = Machine::resume(shared.program.clone(), inputs.start.state().try_clone()?, None);
        if let Some(runner) = &shared.runner {
            machine.run_by(runner.clone());
        }
        Ok(Workspace {
            executable,
            machine,
            room: RouteRoom::default(),
            calls: CallRoom::default(),
            jacobian: None,
            turned: Vec::new(),
            inputs,
            results: None,
            most_steps: u64::MAX,
            keeps_history: false,
            interrupt: None,
            shows: None,
            held: Readable::Nothing,
        })
    }

    /// Gives real inputs: one value for each cell, of a matrix row after row.
    ///
    /// # Errors
    /// Another number of values, one that the number system hasn't got, or cells that are no input; nothing is changed then.
    pub fn give_reals(&mut self, cells: RealCells, values: &[f64]) -> Result<(), Error> {
        let program = own(&self.executable, cells.0)?;
        self.inputs.give_reals(program, cells.0, values)
    }

    /// Gives real inputs as the bits of the program's numbers: those of an `f64`; those of an `f32`, in the low half; or the two's complement
    /// of a fixed-point number as an integer. So fixed point is given exactly.
    ///
    /// # Errors
    /// As [`Workspace::give_reals`].
    pub fn give_real_bits(&mut self, cells: RealCells, bits: &[u64]) -> Result<(), Error> {
        let program = own(&self.executable, cells.0)?;
        self.inputs.give_bits(program, cells.0, bits)
    }

    /// Gives integer inputs: one value for each cell, of a matrix row after row.
    ///
    /// # Errors
    /// Another number of values, one that is wider than the program's words, or cells that are no input; nothing is changed then.
    pub fn give_ints(&mut self, cells: IntCells, values: &[i64]) -> Result<(), Error> {
        let program = own(&self.executable, cells.0)?;
        self.inputs.give_ints(program, cells.0, values)
    }

    /// Gives real results, from which [`Workspace::run_back`] finds the inputs.
    ///
    /// # Errors
    /// As [`Workspace::give_reals`], of cells that are no result.
    pub fn give_result_reals(&mut self, cells: RealCells, values: &[f64]) -> Result<(), Error> {
        self.prepare_results()?;
        let program = own(&self.executable, cells.0)?;
        self.results.as_mut().map_or(Ok(()), |results| results.give_reals(program, cells.0, values))
    }

    /// Gives real results as the bits of the program's numbers, as [`Workspace::give_real_bits`] has them.
    ///
    /// # Errors
    /// As [`Workspace::give_result_reals`].
    pub fn give_result_bits(&mut self, cells: RealCells, bits: &[u64]) -> Result<(), Error> {
        self.prepare_results()?;
        let program = own(&self.executable, cells.0)?;
        self.results.as_mut().map_or(Ok(()), |results| results.give_bits(program, cells.0, bits))
    }

    /// Gives integer results, from which [`Workspace::run_back`] finds the inputs.
    ///
    /// # Errors
    /// As [`Workspace::give_ints`], of cells that are no result.
    pub fn give_result_ints(&mut self, cells: IntCells, values: &[i64]) -> Result<(), Error> {
        self.prepare_results()?;
        let program = own(&self.executable, cells.0)?;
        self.results.as_mut().map_or(Ok(()), |results| results.give_ints(program, cells.0, values))
    }

    /// Begins a run in a direction with a state that was made by the crates below this one, with values on tapes and stacks, say; what is given
    /// afterwards is given to that.
    ///
    /// # Errors
    /// It is no state of the program, doesn't stand at the end that the run begins at, or has adjoints that aren't 0; nothing is
    /// changed then.
    pub fn begin_with(&mut self, travel: Travel, mut state: State) -> Result<(), Error> {
        let program = &self.executable.shared.program;
        let first = if travel == Travel::Forward { program.begin() } else { program.end() };
        state = state.as_start();
        let is_silent = state.adjoints.as_ref().is_none_or(|adjoints| adjoints.all().all(|&bits| bits == 0));
        if !checkpoint::is_sound(program, &state)
            || !is_silent
            || state.position != first
            || !state.calls.is_empty()
            || state.mode()
        {
            return Err(Error::NoBeginning);
        }
        state.counters.shown = ShownMark::SILENT;
        let start = RouteStart::new(program, state).ok_or(Error::NoBeginning)?;
        let gifts = Gifts { travel, start, missing: Vec::new() };
        match travel {
            Travel::Forward => self.inputs = gifts,
            Travel::Backward => self.results = Some(gifts),
        }
        Ok(())
    }

    /// The state where the last run has arrived, with its tapes and stacks, for the crates below this one.
    ///
    /// # Errors
    /// No run has arrived.
    pub fn state(&self) -> Result<&State, Error> {
        match self.held {
            Readable::Arrived(_) => Ok(self.machine.state()),
            Readable::Nothing | Readable::Adjoints | Readable::AdjointsOfCall => Err(NO_RUN),
        }
    }

    /// The most steps that a call may make in one direction. There is no limit unless this sets one.
    pub fn limit_steps(&mut self, steps: u64) {
        self.most_steps = steps;
    }

    /// Has calls look every now and then whether a flag is set, and end with [`Error::Interrupted`] if it is.
    pub fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.machine.stop_when(Arc::clone(&flag));
        self.interrupt = Some(flag);
    }

    /// Has derivatives keep a history of the way there, so that their way back is exact, and leads over `overwrite` and `erase` too.
    /// The interpreter makes it, and it takes memory for each step that loses something.
    pub fn keep_history(&mut self, keep: bool) {
        self.keeps_history = keep;
    }

    /// Runs from the inputs to the results; how many steps that took. Inputs that aren't given have their `default`.
    ///
    /// # Errors
    /// A trap with its place, the step limit, or no memory.
    pub fn run(&mut self) -> Result<u64, Error> {
        self.held = Readable::Nothing;
        let shared = &self.executable.shared;
        let trip =
            EndToEnd { travel: Travel::Forward, most_steps: self.most_steps, shows: self.shows.as_deref() };
        trip.make(shared, (&mut self.machine, &mut self.room), self.inputs.complete(&shared.program)?)?;
        self.held = Readable::Arrived(Travel::Forward);
        Ok(self.machine.state().step.unsigned_abs())
    }

    /// Runs from the results back to the inputs; how many steps that took.
    ///
    /// # Errors
    /// A result that wasn't given, a trap with its place, the step limit, no memory; and results that no run comes to.
    pub fn run_back(&mut self) -> Result<u64, Error> {
        self.held = Readable::Nothing;
        self.prepare_results()?;
        let (shared, Some(results)) = (&self.executable.shared, &self.results) else { return Ok(0) };
        let trip =
            EndToEnd { travel: Travel::Backward, most_steps: self.most_steps, shows: self.shows.as_deref() };
        trip.make(shared, (&mut self.machine, &mut self.room), results.complete(&shared.program)?)?;
        let garbage = shared.program.garbage(self.machine.state(), Travel::Backward);
        if !garbage.is_empty() {
            let is_rounded = !shared.program.module().real.is_exact() && !shared.begin.reals.is_empty();
            return Err(Error::NoSuchResults { garbage, is_rounded });
        }
        self.held = Readable::Arrived(Travel::Backward);
        Ok(self.machine.state().step.unsigned_abs())
    }

    /// Reads reals where the last run has arrived: results, or, after [`Workspace::run_back`], inputs.
    ///
    /// # Errors
    /// A slice of another length, or no run has arrived.
    pub fn reals(&self, cells: RealCells, values: &mut [f64]) -> Result<(), Error> {
        let program = self.readable(cells.0, values.len())?;
        let there = self.machine.state().reals.get(cells.0.range()).unwrap_or_default();
        take_reals(program.module().real, there, values);
        Ok(())
    }

    /// Reads reals where the last run has arrived, as the bits of the program's numbers ([`Workspace::give_real_bits`]).
    ///
    /// # Errors
    /// A slice of another length, or no run has arrived.
    pub fn real_bits(&self, cells: RealCells, bits: &mut [u64]) -> Result<(), Error> {
        self.readable(cells.0, bits.len())?;
        let there = self.machine.state().reals.get(cells.0.range()).unwrap_or_default();
        bits.iter_mut().zip(there).for_each(|(value, &cell)| *value = cell);
        Ok(())
    }

    /// Reads integers where the last run has arrived.
    ///
    /// # Errors
    /// A slice of another length, or no run has arrived.
    pub fn ints(&self, cells: IntCells, values: &mut [i64]) -> Result<(), Error> {
        self.readable(cells.0, values.len())?;
        let there = self.machine.state().ints.get(cells.0.range()).unwrap_or_default();
        values.iter_mut().zip(there).for_each(|(value, &cell)| *value = cell);
        Ok(())
    }

    /// One real where the last run has arrived.
    ///
    /// # Errors
    /// There are several, or no run has arrived.
    pub fn real(&self, cells: RealCells) -> Result<f64, Error> {
        let mut value = [0.0];
        self.reals(cells, &mut value).map(|()| value[0])
    }

    /// One integer where the last run has arrived.
    ///
    /// # Errors
    /// There are several, or no run has arrived.
    pub fn int(&self, cells: IntCells) -> Result<i64, Error> {
        let mut value = [0];
        self.ints(cells, &mut value).map(|()| value[0])
    }

    /// What isn't as it must be where the last run has arrived: inputs that weren't used up, say. The results are what they are all
    /// the same.
    ///
    /// # Errors
    /// No run has arrived.
    pub fn leftovers(&self) -> Result<Vec<Garbage>, Error> {
        match self.held {
            Readable::Arrived(travel) => Ok(self.executable.program().garbage(self.machine.state(), travel)),
            Readable::Nothing | Readable::Adjoints | Readable::AdjointsOfCall => Err(NO_RUN),
        }
    }

    fn readable(&self, cells: NamedCells, length: usize) -> Result<&Program, Error> {
        let shared = &self.executable.shared;
        match self.held {
            _ if cells.executable != shared.id => Err(Error::Foreign),
            Readable::Arrived(_) => check_length(&shared.program, cells, length).map(|()| &*shared.program),
            Readable::Nothing | Readable::Adjoints | Readable::AdjointsOfCall => Err(NO_RUN),
        }
    }

    pub(super) fn prepare_results(&mut self) -> Result<(), Error> {
        if self.results.is_none() {
            self.results = Some(Gifts::new(&self.executable.shared, Travel::Backward)?);
        }
        Ok(())
    }
}

/// The program of an executable, if cells are its own.
fn own(executable: &Executable, cells: NamedCells) -> Result<&Program, Error> {
    match cells.executable == executable.shared.id {
        true => Ok(&executable.shared.program),
        false => Err(Error::Foreign),
    }
}

const NO_RUN: Error =
    Error::NothingToRead("no run has arrived; `run` and `run_back` lead to results and inputs");
