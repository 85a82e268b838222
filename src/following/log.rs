//! The log of `run --log`: a line for each step at which a logged cell changed. Only the last line is kept in memory.

use std::borrow::Cow;
use std::io::{self, Write};

use reviver_escape::csv_cell;
use reviver_files::GrowingOutput;
use reviver_inspect::follow::{RunObserver, changes};
use reviver_inspect::memory::{Memory, Target};
use reviver_isa::module::Shape;
use reviver_vm::{State, Travel};

use super::cells::{self, ObservedCell};
use crate::failure::{Failure, Fallible};

/// Maximum number of cells in a log; wider tables aren't readable.
const MOST: usize = 1000;

/// A log file that grows during the run.
pub struct CellLog {
    memory: Memory,
    cells: Vec<ObservedCell>,
    rows: csv::Writer<GrowingOutput>,
    last: Vec<String>,
    failed: Option<csv::Error>,
}

/// Returns the requested cells. If none are requested, returns the cells of all globals except stacks.
pub fn chosen(memory: &Memory, state: &State, names: &[String]) -> Fallible<Vec<ObservedCell>> {
    if !names.is_empty() {
        return cells::named(memory, state, "--log-cells", names, MOST);
    }
    let globals = memory.program().module().globals.iter().filter(|global| global.shape != Shape::Stack);
    let names: Vec<String> = globals.map(|global| global.name.clone()).collect();
    cells::named(memory, state, "--log", &names, MOST)
        .map_err(|failure| failure.help("select cells with `--log-cells`"))
}

impl CellLog {
    /// Creates the log, with the initial values of the cells as its first line.
    pub fn new(
        memory: Memory,
        cells: Vec<ObservedCell>,
        file: GrowingOutput,
        (state, travel): (&State, Travel),
    ) -> CellLog {
        let mut rows = csv::Writer::from_writer(file);
        let names = cells.iter().map(|cell| csv_cell(&cell.name));
        let failed = rows
            .write_record(["step".into(), "way".into()].into_iter().chain(names).map(Cow::into_owned))
            .err();
        let mut log = CellLog { memory, cells, rows, last: Vec::new(), failed };
        log.look(state, travel, None);
        log
    }

    /// Returns the instructions that may change a logged cell; the run stops only at these instructions.
    pub fn instructions(&self) -> Vec<u32> {
        let targets: Vec<Target> = self.cells.iter().map(|cell| cell.target).collect();
        changes(&self.memory, &targets)
    }

    /// Completes the log. Until this call, the file doesn't exist under its name.
    pub fn finish(self) -> Fallible {
        let unwritten = |error: &(dyn std::error::Error + 'static)| {
            Failure::load(format_args!("can't write the log: {error}")).caused_by(error)
        };
        if let Some(error) = self.failed {
            return Err(unwritten(&error));
        }
        let mut file = self.rows.into_inner().map_err(|error| unwritten(&error))?;
        file.flush().map_err(|error: io::Error| unwritten(&error))?;
        file.finish().map_err(|error| Failure::load(&error).caused_by(&error))
    }

    fn value(&self, state: &State, target: Target) -> String {
        let value = self.memory.resolve(state, target).and_then(|cell| cell.value(state));
        value.map_or_else(String::new, |value| self.memory.program().text(value))
    }
}

impl RunObserver for CellLog {
    fn look(&mut self, state: &State, travel: Travel, _: Option<u32>) {
        let values: Vec<String> = self.cells.iter().map(|cell| self.value(state, cell.target)).collect();
        if self.failed.is_some() || values == self.last {
            return;
        }
        let direction = if travel == Travel::Forward { "forward" } else { "backward" };
        let row = [state.step.to_string(), direction.to_owned()];
        self.failed = self.rows.write_record(row.iter().chain(&values)).err();
        self.last = values;
    }
}
