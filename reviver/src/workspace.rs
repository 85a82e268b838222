//! Calls: inputs, a run through the program, and results. A workspace belongs to one thread, and stays usable after
//! an error. Derivatives are in [`super::gradient`] and [`super::hessian`].

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reviver_compile::call::CallMemory;
use reviver_compile::compiled_run::RunBuffers;
use reviver_compile::start::RunStart;
use reviver_vm::garbage::Garbage;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Program, ShowSink, ShownMark, State, Travel, checkpoint};

use super::cells::{IntCells, NamedCells, RealCells};
use super::end_to_end::EndToEnd;
use super::error::Error;
use super::executable::Executable;
use super::numbers::{put_bits, put_ints, put_reals, take_reals};
use super::shared::{JacobianCall, Shared};

/// Context in which one thread calls a program. Inputs persist between calls, so only changed inputs need to be given
/// again.
#[derive(Debug)]
pub struct Workspace {
    pub(super) executable: Executable,
    pub(super) machine: Machine,
    pub(super) buffers: RunBuffers,
    /// Memory that compiled functions of gradients use.
    pub(super) calls: CallMemory,
    /// Compiled function of the losses that were differentiated last.
    pub(super) jacobian: Option<JacobianCall>,
    /// Bits of the seeded cells at the turning point, for the last gradient that the machine computed.
    pub(super) turned: Vec<u64>,
    pub(super) inputs: GivenInputs,
    /// Start state of backward runs, with the given results; created on first use.
    pub(super) results: Option<GivenInputs>,
    pub(super) most_steps: u64,
    pub(super) keeps_history: bool,
    /// Flag that stops a call when set.
    pub(super) interrupt: Option<Arc<AtomicBool>>,
    /// Receives the values of `show`, if the caller asks for them and the program has a `show`.
    pub(super) shows: Option<Arc<dyn ShowSink>>,
    pub(super) held: Readable,
}

/// Kind of the results of the last call, which the caller may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readable {
    Nothing,
    /// Cells at the end of a run.
    Arrived(Travel),
    /// Adjoints in the machine's state, next to the cells at the start.
    Adjoints,
    /// Adjoints in the memory of compiled functions.
    AdjointsOfCall,
}

/// Start state of runs in one direction, and the required values that the caller hasn't given yet.
#[derive(Debug)]
pub(super) struct GivenInputs {
    travel: Travel,
    pub start: RunStart,
    /// Indices of the globals that are required and not yet given.
    pub missing: Vec<usize>,
}

impl GivenInputs {
    fn new(shared: &Shared, travel: Travel) -> Result<GivenInputs, Error> {
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
        let start = RunStart::new(program, state).ok_or(Error::NoBeginning)?;
        Ok(GivenInputs { travel, start, missing })
    }

    /// Checks that a slice of `given` values has as many entries as there are cells, and that the direction takes
    /// these cells as inputs; otherwise returns an error.
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
        let target = self.start.reals_mut(cells.global, cells.range());
        put_reals(system, values, target).map_err(|index| {
            let (name, value) = (cells.name(program), values.get(index).copied().unwrap_or_default());
            Error::NotAReal { name, index, value, system }
        })?;
        self.given(program, cells);
        Ok(())
    }

    fn give_bits(&mut self, program: &Program, cells: NamedCells, values: &[u64]) -> Result<(), Error> {
        self.check(program, cells, values.len())?;
        let system = program.module().real;
        let target = self.start.reals_mut(cells.global, cells.range());
        put_bits(system, values, target).map_err(|index| {
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
        let target = self.start.ints_mut(cells.global, cells.range());
        put_ints(word, values, target).map_err(|index| {
            let (name, value) = (cells.name(program), values.get(index).copied().unwrap_or_default());
            Error::NotAnInteger { name, index, value, bits: word.bits() }
        })?;
        self.given(program, cells);
        Ok(())
    }

    /// Removes a global from the missing ones if one call gives all of its cells.
    fn given(&mut self, program: &Program, cells: NamedCells) {
        if !self.missing.is_empty() && program.cells(cells.global).len() == cells.count() {
            self.missing.retain(|&n| n != cells.global);
        }
    }

    /// Returns the start state if all required values are given; otherwise an error with the missing names.
    pub fn complete(&self, program: &Program) -> Result<&RunStart, Error> {
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
    /// Creates a workspace, in which one thread calls the program.
    ///
    /// # Errors
    /// [`Error::NoMemory`] if there is no memory for the cells.
    pub fn workspace(&self) -> Result<Workspace, Error> {
        Workspace::new(self.clone())
    }
}

impl Workspace {
    fn new(executable: Executable) -> Result<Workspace, Error> {
        let shared = &executable.shared;
        let inputs = GivenInputs::new(shared, Travel::Forward)?;
        let mut machine = Machine::resume(shared.program.clone(), inputs.start.state().try_clone()?, None);
        if let Some(runner) = &shared.runner {
            machine.run_by(runner.clone());
        }
        Ok(Workspace {
            executable,
            machine,
            buffers: RunBuffers::default(),
            calls: CallMemory::default(),
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

    /// Gives real inputs: one value for each cell, a matrix in row-major order.
    ///
    /// # Errors
    /// A slice of another length, a number that isn't representable, or cells that aren't inputs. Nothing is changed
    /// then.
    pub fn give_reals(&mut self, cells: RealCells, values: &[f64]) -> Result<(), Error> {
        let program = own(&self.executable, cells.0)?;
        self.inputs.give_reals(program, cells.0, values)
    }

    /// Gives real inputs as bits: of an `f64`; of an `f32`, in the low half; or of a fixed-point number, as a two's
    /// complement integer. Fixed-point inputs are therefore exact.
    ///
    /// # Errors
    /// The errors of [`Workspace::give_reals`].
    pub fn give_real_bits(&mut self, cells: RealCells, bits: &[u64]) -> Result<(), Error> {
        let program = own(&self.executable, cells.0)?;
        self.inputs.give_bits(program, cells.0, bits)
    }

    /// Gives integer inputs: one value for each cell, a matrix in row-major order.
    ///
    /// # Errors
    /// A slice of another length, an integer that doesn't fit into the word, or cells that aren't inputs. Nothing is
    /// changed then.
    pub fn give_ints(&mut self, cells: IntCells, values: &[i64]) -> Result<(), Error> {
        let program = own(&self.executable, cells.0)?;
        self.inputs.give_ints(program, cells.0, values)
    }

    /// Gives real results, from which [`Workspace::run_back`] computes the inputs.
    ///
    /// # Errors
    /// The errors of [`Workspace::give_reals`], with results instead of inputs.
    pub fn give_result_reals(&mut self, cells: RealCells, values: &[f64]) -> Result<(), Error> {
        self.prepare_results()?;
        let program = own(&self.executable, cells.0)?;
        self.results.as_mut().map_or(Ok(()), |results| results.give_reals(program, cells.0, values))
    }

    /// Gives real results as bits, in the format of [`Workspace::give_real_bits`].
    ///
    /// # Errors
    /// The errors of [`Workspace::give_result_reals`].
    pub fn give_result_bits(&mut self, cells: RealCells, bits: &[u64]) -> Result<(), Error> {
        self.prepare_results()?;
        let program = own(&self.executable, cells.0)?;
        self.results.as_mut().map_or(Ok(()), |results| results.give_bits(program, cells.0, bits))
    }

    /// Gives integer results, from which [`Workspace::run_back`] computes the inputs.
    ///
    /// # Errors
    /// The errors of [`Workspace::give_ints`], with results instead of inputs.
    pub fn give_result_ints(&mut self, cells: IntCells, values: &[i64]) -> Result<(), Error> {
        self.prepare_results()?;
        let program = own(&self.executable, cells.0)?;
        self.results.as_mut().map_or(Ok(()), |results| results.give_ints(program, cells.0, values))
    }

    /// Sets the state from which later runs in the direction `travel` start. The state may have values on tapes and
    /// stacks. Inputs that the caller gives later are set in this state.
    ///
    /// # Errors
    /// The state isn't valid for the program, isn't at the start of this direction, or has non-zero adjoints. Nothing
    /// is changed then.
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
        let start = RunStart::new(program, state).ok_or(Error::NoBeginning)?;
        let gifts = GivenInputs { travel, start, missing: Vec::new() };
        match travel {
            Travel::Forward => self.inputs = gifts,
            Travel::Backward => self.results = Some(gifts),
        }
        Ok(())
    }

    /// Returns the state at the end of the last run, with its tapes and stacks.
    ///
    /// # Errors
    /// [`Error::NothingToRead`] if no run has completed.
    pub fn state(&self) -> Result<&State, Error> {
        match self.held {
            Readable::Arrived(_) => Ok(self.machine.state()),
            Readable::Nothing | Readable::Adjoints | Readable::AdjointsOfCall => Err(NO_RUN),
        }
    }

    /// Returns a copy of the state from which the next forward run starts, with the given inputs.
    ///
    /// # Errors
    /// A missing input, or no memory for the copy.
    pub fn start(&self) -> Result<State, Error> {
        Ok(self.inputs.complete(self.executable.program())?.state().try_clone()?.as_start())
    }

    /// Sets the maximum number of steps of a call in each direction. The default is no limit.
    pub fn limit_steps(&mut self, steps: u64) {
        self.most_steps = steps;
    }

    /// Sets a flag that later calls poll. If it is set, a call ends with [`Error::Interrupted`].
    pub fn stop_when(&mut self, flag: Arc<AtomicBool>) {
        self.machine.stop_when(Arc::clone(&flag));
        self.interrupt = Some(flag);
    }

    /// If `keep` is true, later derivatives keep a history of the forward sweep. With a history, the reverse sweep is
    /// exact, and can undo `overwrite` and `erase`. The interpreter executes the sweeps then, and each step that loses
    /// bits takes memory.
    pub fn keep_history(&mut self, keep: bool) {
        self.keeps_history = keep;
    }

    /// Runs from the inputs to the results, and returns the number of steps. Inputs that aren't given have their
    /// `default`.
    ///
    /// # Errors
    /// A trap with its place, the step limit, or memory exhaustion.
    pub fn run(&mut self) -> Result<u64, Error> {
        self.held = Readable::Nothing;
        let shared = &self.executable.shared;
        let trip =
            EndToEnd { travel: Travel::Forward, most_steps: self.most_steps, shows: self.shows.as_deref() };
        trip.make(shared, (&mut self.machine, &mut self.buffers), self.inputs.complete(&shared.program)?)?;
        self.held = Readable::Arrived(Travel::Forward);
        Ok(self.machine.state().step.unsigned_abs())
    }

    /// Runs from the results back to the inputs, and returns the number of steps.
    ///
    /// # Errors
    /// A missing result, a trap with its place, the step limit, memory exhaustion, or results that no run produces.
    pub fn run_back(&mut self) -> Result<u64, Error> {
        self.held = Readable::Nothing;
        self.prepare_results()?;
        let (shared, Some(results)) = (&self.executable.shared, &self.results) else { return Ok(0) };
        let trip =
            EndToEnd { travel: Travel::Backward, most_steps: self.most_steps, shows: self.shows.as_deref() };
        trip.make(shared, (&mut self.machine, &mut self.buffers), results.complete(&shared.program)?)?;
        let garbage = shared.program.garbage(self.machine.state(), Travel::Backward);
        if !garbage.is_empty() {
            let is_rounded = !shared.program.module().real.is_exact() && !shared.begin.reals.is_empty();
            return Err(Error::NoSuchResults { garbage, is_rounded });
        }
        self.held = Readable::Arrived(Travel::Backward);
        Ok(self.machine.state().step.unsigned_abs())
    }

    /// Reads reals at the end of the last run: results, or inputs after [`Workspace::run_back`].
    ///
    /// # Errors
    /// A slice of another length, or no run has completed.
    pub fn reals(&self, cells: RealCells, values: &mut [f64]) -> Result<(), Error> {
        let program = self.readable(cells.0, values.len())?;
        let source = self.machine.state().reals.get(cells.0.range()).unwrap_or_default();
        take_reals(program.module().real, source, values);
        Ok(())
    }

    /// Reads reals at the end of the last run, as bits in the format of [`Workspace::give_real_bits`].
    ///
    /// # Errors
    /// A slice of another length, or no run has completed.
    pub fn real_bits(&self, cells: RealCells, bits: &mut [u64]) -> Result<(), Error> {
        self.readable(cells.0, bits.len())?;
        let source = self.machine.state().reals.get(cells.0.range()).unwrap_or_default();
        bits.iter_mut().zip(source).for_each(|(value, &cell)| *value = cell);
        Ok(())
    }

    /// Reads integers at the end of the last run.
    ///
    /// # Errors
    /// A slice of another length, or no run has completed.
    pub fn ints(&self, cells: IntCells, values: &mut [i64]) -> Result<(), Error> {
        self.readable(cells.0, values.len())?;
        let source = self.machine.state().ints.get(cells.0.range()).unwrap_or_default();
        values.iter_mut().zip(source).for_each(|(value, &cell)| *value = cell);
        Ok(())
    }

    /// Reads one real at the end of the last run.
    ///
    /// # Errors
    /// The handle has several cells, or no run has completed.
    pub fn real(&self, cells: RealCells) -> Result<f64, Error> {
        let mut value = [0.0];
        self.reals(cells, &mut value).map(|()| value[0])
    }

    /// Reads one integer at the end of the last run.
    ///
    /// # Errors
    /// The handle has several cells, or no run has completed.
    pub fn int(&self, cells: IntCells) -> Result<i64, Error> {
        let mut value = [0];
        self.ints(cells, &mut value).map(|()| value[0])
    }

    /// Returns the cells, tapes and stacks that had leftovers at the end of the last run, such as an input tape that
    /// wasn't read to its end. Results are valid despite leftovers.
    ///
    /// # Errors
    /// [`Error::NothingToRead`] if no run has completed.
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
            self.results = Some(GivenInputs::new(&self.executable.shared, Travel::Backward)?);
        }
        Ok(())
    }
}

/// Returns the program of an executable, after a check that the cells belong to this executable.
fn own(executable: &Executable, cells: NamedCells) -> Result<&Program, Error> {
    match cells.executable == executable.shared.id {
        true => Ok(&executable.shared.program),
        false => Err(Error::Foreign),
    }
}

const NO_RUN: Error = Error::NothingToRead("no run has reached its end; call `run` or `run_back` first");
