//! Recordings: runs whose time points can be visited in any order, and questioned. A recording is a session of the debugger,
//! which travels to the time points.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyList;
use reviver::engine::runner;
use reviver::{CompileOptions, Error, State};
use reviver_debugger::command::{CommandError, Console};
use reviver_debugger::expression::Computed;
use reviver_debugger::listing::OpenedProgram;
use reviver_debugger::memory::Target;
use reviver_debugger::outcome::{CellHistory, Touch};
use reviver_debugger::render;
use reviver_debugger::session::{Session, SessionError};
use reviver_debugger::timeline::{LongRuns, TimelineLimits};
use reviver_debugger::tui::app::Face;
use reviver_files::UsedFiles;
use reviver_pictures::document::Words;
use reviver_pictures::plot::{Curve, Panel, Plot};
use reviver_vm::values::Value;

use crate::compiled::{Compiled, NamedCells};
use crate::errors::unfit;
use crate::found::{ints, reals};
use crate::patient::patiently;

/// Number of columns into which a plot divides a run.
const COLUMNS: usize = 600;
/// Number of scalars in a plot without names.
const FEW: usize = 4;

/// A run that was recorded. `Program.record` creates it.
///
/// The time points of a run are numbered by steps, from 0 to `len(recording)`.
#[pyclass(frozen, module = "reviver_vm")]
pub struct Recording {
    compiled: Arc<Compiled>,
    console: Mutex<Console>,
    stop: Arc<AtomicBool>,
    end: Mutex<RecordedEnd>,
}

/// End of a recorded run. An edit by a command changes it.
#[derive(Clone)]
struct RecordedEnd {
    steps: i64,
    /// Report of the trap in which the run ended.
    trap: Option<String>,
}

/// A time point of a recorded run: a mapping from names and expressions to their values at this time point.
#[pyclass(frozen, module = "reviver_vm")]
pub struct TimePoint {
    recording: Py<Recording>,
    /// The number of steps before this time point.
    #[pyo3(get)]
    step: i64,
    /// The line of the next statement.
    #[pyo3(get)]
    line: Option<u32>,
}

/// Runs a program to its end or to a trap, from a start state.
pub fn record(
    py: Python<'_>,
    compiled: &Arc<Compiled>,
    opened: OpenedProgram,
    options: CompileOptions,
    start: State,
) -> PyResult<Recording> {
    let program = compiled.assembled.program();
    let no_memory = |error| compiled.raised(py, &Error::NoMemory(error));
    let session = Session::new(opened, start, TimelineLimits::default()).map_err(no_memory)?;
    let runner = runner(options, program).map_err(|error| compiled.raised(py, &error.into()))?;
    let session = runner.into_iter().fold(session, |s, runner| s.with_long_runs(&LongRuns::new(runner)));
    let mut session = session.with_most_steps(compiled.most_steps());
    let stop = session.interrupt();
    patiently(py, &stop, || {
        session.goto_end();
        Ok(())
    })?
    .map_err(|error| compiled.raised(py, &error))?;
    let end = Mutex::new(end_of(compiled, &session));
    let console = Mutex::new(Console::new(session, UsedFiles::default(), Box::new(Face::default())));
    Ok(Recording { compiled: Arc::clone(compiled), console, stop, end })
}

/// Returns the end of a run, at which the session is.
fn end_of(compiled: &Compiled, session: &Session) -> RecordedEnd {
    let trap = session.trap().map(|explanation| compiled.assembled.report(explanation));
    RecordedEnd { steps: session.step_number(), trap }
}

impl Recording {
    fn end(&self) -> RecordedEnd {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of a step. A negative number counts from the end.
    fn step(&self, py: Python<'_>, step: i64) -> PyResult<i64> {
        let last = self.end().steps;
        let number = if step < 0 { step + last + 1 } else { step };
        if (0..=last).contains(&number) {
            return Ok(number);
        }
        let cause = format!("there is no step {step}");
        Err(unfit(py, &cause, &format!("the run has the steps 0 to {last}")))
    }

    fn console(&self) -> MutexGuard<'_, Console> {
        self.console.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes work on the session without the interpreter's lock.
    fn execute<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Console) -> T + Send) -> PyResult<T> {
        let outcome = patiently(py, &self.stop, || Ok(work(&mut self.console())))?;
        outcome.map_err(|error| self.compiled.raised(py, &error))
    }

    /// Returns the value of a declaration or an expression at a step.
    fn value<'py>(&self, py: Python<'py>, step: i64, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let declared = self.compiled.cells.iter().find(|cells| cells.name == text);
        let found = self.execute(py, |console| {
            let session = &mut console.session;
            session.goto(step);
            if let Some(cells) = declared
                && let Some((global, _)) = session.program().global(&cells.name)
            {
                return Ok(Found::Cells(cells, session.program().read(session.state(), global)));
            }
            session.evaluate(text).map(|(value, _)| Found::Value(value))
        })?;
        match found.map_err(|error| unfit(py, &error.to_string(), "name a cell, or give an expression"))? {
            Found::Cells(cells, values) => self.cells(py, cells, &values),
            Found::Value(value) => self.number(py, value),
        }
    }

    fn cells<'py>(
        &self,
        py: Python<'py>,
        cells: &NamedCells,
        values: &[Value],
    ) -> PyResult<Bound<'py, PyAny>> {
        let program = self.compiled.assembled.program();
        let dimensions = cells.dimensions();
        if cells.is_real() {
            return reals(py, values.iter().map(|value| program.approximate(*value)).collect(), &dimensions);
        }
        ints(py, values.iter().filter_map(int).collect(), &dimensions)
    }

    fn number<'py>(&self, py: Python<'py>, value: Computed) -> PyResult<Bound<'py, PyAny>> {
        Ok(match value {
            Computed::Int(value) => value.into_pyobject(py)?.into_any(),
            Computed::Float(value) => value.into_pyobject(py)?.into_any(),
            Computed::Bits(bits) => {
                let value = self.compiled.assembled.program().approximate(Value::Real(bits));
                value.into_pyobject(py)?.into_any()
            }
        })
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        Value::Real(_) => None,
    }
}

/// Value that a time point has for a text.
enum Found<'c> {
    Cells(&'c NamedCells, Vec<Value>),
    Value(Computed),
}

#[pymethods]
impl Recording {
    /// Returns the time point after a number of steps. A negative number counts from the end.
    fn at(slf: &Bound<'_, Self>, step: i64) -> PyResult<TimePoint> {
        let this = slf.get();
        let step = this.step(slf.py(), step)?;
        let line = this.execute(slf.py(), |console| {
            console.session.goto(step);
            let at = console.session.next_instruction()?;
            console.session.program().module().structure.line(at)
        })?;
        Ok(TimePoint { recording: slf.clone().unbind(), step, line })
    }

    /// Returns the last writes to a cell, an array or a slice, at most `most`: tuples of the step before the write, the
    /// line, the cell, and its values before and after as texts.
    #[pyo3(signature = (cells, most=1000))]
    fn history<'py>(&self, py: Python<'py>, cells: &str, most: usize) -> PyResult<Bound<'py, PyList>> {
        let found = self.execute(py, |console| {
            console.session.goto_end();
            console.session.history(cells, most)
        })?;
        let CellHistory { writes, .. } =
            found.map_err(|error| unfit(py, &error.to_string(), "name a cell, an array or a slice"))?;
        PyList::new(
            py,
            writes
                .into_iter()
                .map(|Touch { step, name, before, after, line, .. }| (step, line.line, name, before, after)),
        )
    }

    /// Explains where the value of a cell comes from: the instructions that computed it, and their sources. The value
    /// is that at `step`, or at the end of the run.
    #[pyo3(signature = (cell, depth=3, step=None))]
    fn why(&self, py: Python<'_>, cell: &str, depth: usize, step: Option<i64>) -> PyResult<String> {
        self.ask(py, &format!("why {cell} {depth}"), step)
    }

    /// Executes a command of the debugger at a step, or at the end of the run, and returns its answer.
    #[pyo3(signature = (line, step=None))]
    fn ask(&self, py: Python<'_>, line: &str, step: Option<i64>) -> PyResult<String> {
        let line = line.to_owned();
        let step = step.map(|step| self.step(py, step)).transpose()?;
        let (answer, end) = self.execute(py, move |console| {
            match step {
                Some(step) => console.session.goto(step),
                None => console.session.goto_end(),
            };
            let outcome = console.execute(&line);
            let answer = outcome.map(|outcome| render::render(&console.session, &outcome));
            // The command may have changed the run.
            console.session.goto_end();
            (answer, end_of(&self.compiled, &console.session))
        })?;
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
        answer.map_err(|error: CommandError| {
            let cure = error.help().unwrap_or_else(|| "`help` lists the commands".to_owned());
            unfit(py, &error.to_string(), &cure)
        })
    }

    /// Returns a plot of cells over the steps of the run: a text in SVG, which notebooks show as a picture. Without
    /// names, plots the first scalars of the program.
    #[pyo3(signature = (*cells))]
    fn plot<'py>(&self, py: Python<'py>, cells: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let is_scalar = |cells: &&NamedCells| cells.dimensions().is_empty();
        let scalars = self.compiled.cells.iter().filter(is_scalar).map(|cells| cells.name.clone());
        let cells = if cells.is_empty() { scalars.take(FEW).collect() } else { cells };
        let svg = self.svg(py, &cells)?;
        py.import("reviver_vm.notebook")?.getattr("Svg")?.call1((svg,))
    }

    /// Returns the picture for a notebook.
    fn _repr_svg_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.plot(py, Vec::new())
    }

    /// The report of the trap in which the run ended, with source lines.
    #[getter]
    fn trap(&self) -> Option<String> {
        self.end().trap
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.end().steps).unwrap_or_default()
    }

    fn __repr__(&self) -> String {
        let RecordedEnd { steps, trap } = self.end();
        let end = if trap.is_some() { ", to a trap" } else { "" };
        format!("<Recording of {steps} steps{end}>")
    }
}

impl Recording {
    fn svg(&self, py: Python<'_>, cells: &[String]) -> PyResult<String> {
        let steps = (0, self.end().steps);
        let sampled = self.execute(py, |console| {
            let session = &mut console.session;
            session.goto_end();
            let target = |name: &String| Ok(session.memory().target(session.state(), session.cell(name)?));
            let targets = cells.iter().map(target).collect::<Result<Vec<Target>, SessionError>>();
            let targets = targets.map_err(|error| error.to_string())?;
            session.samples(&targets, steps, COLUMNS).map_err(|error| error.to_string())
        })?;
        let samples =
            sampled.map_err(|cause| unfit(py, &cause, "name scalars, or elements such as `A[3]`"))?;
        let width = steps.1 as f64 / samples.columns.len() as f64;
        let curves = cells.iter().enumerate().map(|(n, name)| {
            let ranges = samples.columns.iter().enumerate().filter_map(|(column, sample)| {
                let range = sample.values.get(n).copied().flatten()?;
                let at = (column as f64 + 0.5) * width;
                Some([(at, range.low), (at, range.high)])
            });
            Curve { name: name.clone(), points: ranges.flatten().collect(), colour: n, ..Curve::default() }
        });
        let panel = Panel { name: String::new(), curves: curves.collect() };
        let title = format!("{} over the steps", cells.join(", "));
        let words = Words { title: title.clone(), description: title };
        let extent = Some((0.0, steps.1 as f64));
        let plot = Plot { words, along: "step".to_owned(), extent, panels: vec![panel], ..Plot::default() };
        plot.svg().map_err(|error| unfit(py, &error.to_string(), "plot fewer cells"))
    }
}

#[pymethods]
impl TimePoint {
    /// Returns the value of a cell or an array, or of an expression in the language of the debugger.
    fn __getitem__<'py>(&self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        self.recording.get().value(py, self.step, text)
    }

    fn __repr__(&self) -> String {
        let line = self.line.map_or_else(|| "the end".to_owned(), |line| format!("before line {line}"));
        format!("<TimePoint at step {}, {line}>", self.step)
    }
}
