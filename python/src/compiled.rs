//! A compiled program with its cells by name, and the workspaces in which calls run. Each call uses one workspace alone.
//! Workspaces are kept for later calls.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use reviver::{Assembled, CompileOptions, Error, Executable, IntCells, RealCells, Shown, Travel, Workspace};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Role, Shape};

use crate::errors::raised;
use crate::patient::patiently;

/// Number of steps that a call may take on the thread of the caller: about a millisecond in native code.
const SHORT: u64 = 1 << 20;
/// Number of workspaces that are kept for later calls.
const MOST_KEPT: usize = 64;

/// Handle of the cells of a declaration.
#[derive(Clone, Copy, Debug)]
pub enum Cells {
    Ints(IntCells),
    Reals(RealCells),
}

/// Cells that a name selects: a declaration as a whole, or an element as a scalar.
#[derive(Clone, Debug)]
pub struct NamedCells {
    pub name: String,
    pub shape: Shape,
    pub role: Role,
    pub cells: Cells,
}

impl NamedCells {
    /// Returns true if a run in this direction has these cells among its results.
    pub fn is_result(&self, travel: Travel) -> bool {
        match travel {
            Travel::Forward => matches!(self.role, Role::Out | Role::InOut | Role::Garbage),
            Travel::Backward => matches!(self.role, Role::In | Role::InOut),
        }
    }

    pub fn is_real(&self) -> bool {
        matches!(self.cells, Cells::Reals(_))
    }

    /// Returns the lengths of the cells' dimensions: none for a scalar.
    pub fn dimensions(&self) -> Vec<usize> {
        match self.shape {
            Shape::Scalar | Shape::Stack => Vec::new(),
            Shape::Vector(length) => vec![length as usize],
            Shape::Matrix(rows, columns) => vec![rows as usize, columns as usize],
        }
    }
}

/// Workspace with the names of the inputs that it was given since it was created, as indices of cells.
pub struct Call {
    pub workspace: Workspace,
    /// Inputs that were given, for each direction. Later calls must give them, too, because the workspace keeps them.
    given: [Vec<usize>; 2],
    /// Values of `show` in the last run.
    shown: Arc<Mutex<Vec<Shown>>>,
    stop: Arc<AtomicBool>,
}

/// Compiled program. Several threads may call it at once.
pub struct Compiled {
    pub assembled: Assembled,
    pub executable: Executable,
    pub cells: Vec<NamedCells>,
    indices: HashMap<String, usize>,
    idle: Mutex<Vec<Call>>,
    most_steps: u64,
    /// True if the last long call took more steps than a short one may. Then calls aren't tried as short ones first.
    is_long: AtomicBool,
    /// The names of the cells as Python strings.
    names: PyOnceLock<Vec<Py<PyString>>>,
}

impl Compiled {
    /// Compiles an assembled program, with its cells by name.
    pub fn new(assembled: Assembled, options: CompileOptions, most_steps: u64) -> Result<Compiled, Error> {
        let executable = assembled.compile(options)?;
        let mut cells = Vec::new();
        for global in &assembled.program().module().globals {
            if global.shape == Shape::Stack {
                continue;
            }
            let handle = match global.class {
                Class::Int => Cells::Ints(executable.ints(&global.name)?),
                Class::Real => Cells::Reals(executable.reals(&global.name)?),
            };
            let (name, shape, role) = (global.name.clone(), global.shape, global.role);
            cells.push(NamedCells { name, shape, role, cells: handle });
        }
        let indices = cells.iter().enumerate().map(|(n, cells)| (cells.name.clone(), n)).collect();
        let (idle, is_long) = (Mutex::default(), AtomicBool::new(false));
        let names = PyOnceLock::new();
        Ok(Compiled { assembled, executable, cells, indices, idle, most_steps, is_long, names })
    }

    /// Returns the names of the cells as Python strings.
    pub fn names(&self, py: Python<'_>) -> &[Py<PyString>] {
        let made = || self.cells.iter().map(|cells| PyString::intern(py, &cells.name).unbind()).collect();
        self.names.get_or_init(py, made)
    }

    /// Returns the index of the cells of a name.
    pub fn index(&self, name: &str) -> Result<usize, Error> {
        let found = self.indices.get(name).copied();
        found.ok_or_else(|| match self.assembled.program().global(name) {
            Some((_, global)) => Error::Stack { name: global.name.clone() },
            None => Error::unknown(self.assembled.program(), name, None),
        })
    }

    /// Returns the cells of a name: `x`, an array `A` as a whole, or an element `A[3]`.
    pub fn selected(&self, name: &str) -> Result<NamedCells, Error> {
        let compact: String = name.chars().filter(|sign| !sign.is_whitespace()).collect();
        let base = compact.split('[').next().unwrap_or_default();
        let declared = &self.cells[self.index(base)?];
        if base == compact {
            return Ok(declared.clone());
        }
        let cells = match declared.cells {
            Cells::Ints(_) => Cells::Ints(self.executable.ints(&compact)?),
            Cells::Reals(_) => Cells::Reals(self.executable.reals(&compact)?),
        };
        Ok(NamedCells { name: compact, shape: Shape::Scalar, role: declared.role, cells })
    }

    /// Returns the real cells of a name.
    pub fn reals(&self, name: &str) -> Result<RealCells, Error> {
        self.executable.reals(name)
    }

    /// Returns the exception for an error.
    pub fn raised(&self, py: Python<'_>, error: &Error) -> PyErr {
        raised(py, Some(&self.assembled), error)
    }

    /// Returns a workspace that was given no other inputs than those of the indices `given`, which are sorted.
    pub fn call(&self, travel: Travel, given: &[usize]) -> Result<Call, Error> {
        let direction = usize::from(travel == Travel::Backward);
        let fits = |call: &Call| call.given[direction].iter().all(|index| given.binary_search(index).is_ok());
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().filter(fits);
        let mut call = kept.map_or_else(|| self.new_call(), Ok)?;
        if call.given[direction].len() != given.len() {
            call.given[direction] = given.to_vec();
        }
        Ok(call)
    }

    fn new_call(&self) -> Result<Call, Error> {
        let (stop, shown) = (Arc::<AtomicBool>::default(), Arc::<Mutex<Vec<Shown>>>::default());
        let mut workspace = self.executable.workspace()?;
        workspace.stop_when(Arc::clone(&stop));
        let list = Arc::clone(&shown);
        workspace.on_show(move |value| list.lock().unwrap_or_else(PoisonError::into_inner).push(value));
        Ok(Call { workspace, given: Default::default(), shown, stop })
    }

    /// Keeps a workspace for later calls.
    pub fn keep(&self, call: Call) {
        call.shown();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_KEPT {
            idle.push(call);
        }
    }

    /// Executes work in a workspace without the interpreter's lock. Work that takes many steps is begun twice.
    pub fn execute<T: Send>(
        &self,
        py: Python<'_>,
        call: &mut Call,
        mut work: impl FnMut(&mut Workspace) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        if !self.is_long.load(Ordering::Relaxed) {
            call.workspace.limit_steps(SHORT.min(self.most_steps));
            match py.detach(|| work(&mut call.workspace)) {
                Err(Error::StepLimit { steps, .. }) if steps < self.most_steps => {}
                outcome => return outcome.map_err(|error| self.raised(py, &error)),
            }
            self.is_long.store(true, Ordering::Relaxed);
        }
        call.shown();
        let Call { workspace, stop, .. } = call;
        workspace.limit_steps(self.most_steps);
        let outcome = patiently(py, stop, || work(workspace))?;
        outcome.map_err(|error| self.raised(py, &error))
    }

    /// Notes the number of steps of a call.
    pub fn note_steps(&self, steps: u64) {
        if steps < SHORT / 2 && self.is_long.load(Ordering::Relaxed) {
            self.is_long.store(false, Ordering::Relaxed);
        }
    }

    pub fn most_steps(&self) -> u64 {
        self.most_steps
    }
}

impl Call {
    /// Takes the values that were shown since the last call of this function.
    pub fn shown(&self) -> Vec<Shown> {
        mem::take(&mut *self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the indices of all cells with the given dimensions, in row-major order.
pub fn all_indices(dimensions: &[usize]) -> Vec<Vec<usize>> {
    dimensions.iter().fold(vec![Vec::new()], |found, &length| {
        let longer = |indices: &Vec<usize>| {
            let indices = indices.clone();
            (0..length).map(move |index| [&indices[..], &[index]].concat())
        };
        found.iter().flat_map(longer).collect()
    })
}
