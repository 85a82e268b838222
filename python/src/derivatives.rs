//! The functions that `Program.value_and_grad`, `Program.jacobian` and similar methods return. A function is prepared for
//! some results and inputs once, and called many times.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};
use reviver::{LossCell, RealCells, Travel};

use crate::compiled::{Call, Compiled, NamedCells};
use crate::errors::unfit;
use crate::found::reals;
use crate::given::{arguments, call_with, numbers};

/// Derivative that a function computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    ValueAndGradient,
    Gradient,
    Jacobian,
    Hessian,
    /// Values and derivatives along tangents.
    Tangents,
    /// The gradient of a sum that is weighted by cotangents.
    Cotangents,
    HessianProduct,
    /// The Hessian of a sum that is weighted by cotangents, times a direction.
    WeightedHessianProduct,
    /// Taylor coefficients up to this order.
    Taylor(usize),
}

impl Task {
    /// Returns the number of mappings that a call takes before the inputs.
    fn directions(self) -> usize {
        match self {
            Task::ValueAndGradient | Task::Gradient | Task::Jacobian | Task::Hessian => 0,
            Task::Tangents | Task::Cotangents | Task::HessianProduct | Task::Taylor(_) => 1,
            Task::WeightedHessianProduct => 2,
        }
    }
}

/// Reals that are differentiated, or by which others are differentiated: whole declarations, or elements.
struct Reals {
    /// The cells, with the dimensions of what the name selects.
    cells: NamedCells,
    handle: RealCells,
}

impl Reals {
    fn named(compiled: &Compiled, name: &str) -> Result<Reals, reviver::Error> {
        Ok(Reals { cells: compiled.selected(name)?, handle: compiled.reals(name)? })
    }

    /// Takes the next numbers of a list, which are those of this name.
    fn split<'py>(
        &self,
        py: Python<'py>,
        numbers: &mut impl Iterator<Item = f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reals(py, numbers.take(self.handle.len()).collect(), &self.cells.dimensions())
    }
}

/// A derivative of a program as a function of the inputs. Methods of `Program` create it.
///
/// If the derivative can't be verified, or doesn't exist, a call raises `DerivativeError`.
#[pyclass(frozen, module = "reviver_vm")]
pub struct DerivativeFunction {
    compiled: Arc<Compiled>,
    of: Vec<Reals>,
    by: Vec<Reals>,
    task: Task,
    /// The loss of a gradient; for cotangents, the weighted sum of all results.
    loss: Option<LossCell>,
    /// The real results of a Jacobian, each as a loss.
    losses: Vec<LossCell>,
}

impl DerivativeFunction {
    /// Prepares a derivative. Without names, it is taken by all real inputs.
    pub fn new(
        py: Python<'_>,
        compiled: Arc<Compiled>,
        of: Vec<String>,
        wrt: Option<Vec<String>>,
        task: Task,
    ) -> PyResult<DerivativeFunction> {
        let inputs = compiled.cells.iter().filter(|cells| cells.is_real() && cells.role.is_given());
        let wrt = wrt.unwrap_or_else(|| inputs.map(|cells| cells.name.clone()).collect());
        let prepared = || {
            let named = |names: &[String]| -> Result<Vec<Reals>, reviver::Error> {
                names.iter().map(|name| Reals::named(&compiled, name)).collect()
            };
            let (of, by) = (named(&of)?, named(&wrt)?);
            if let Some(by) = by.iter().find(|by| !by.cells.role.is_given()) {
                let (name, role) = (by.cells.name.clone(), by.cells.role);
                return Err(reviver::Error::NotTaken { name, role, backward: false });
            }
            let executable = &compiled.executable;
            let mut losses = Vec::new();
            let loss = match (task, &of[..]) {
                (Task::Jacobian, _) => {
                    let cells: Vec<RealCells> = of.iter().map(|of| of.handle).collect();
                    losses = executable.losses(&cells)?;
                    None
                }
                (Task::Tangents | Task::Taylor(_), _) => None,
                (Task::Cotangents | Task::WeightedHessianProduct, _) => {
                    let zeros: Vec<Vec<f64>> = of.iter().map(|of| vec![0.0; of.handle.len()]).collect();
                    let seeds: Vec<(RealCells, &[f64])> =
                        of.iter().zip(&zeros).map(|(of, zeros)| (of.handle, &zeros[..])).collect();
                    Some(executable.seeded(&seeds)?)
                }
                (_, [of]) => Some(executable.loss(&of.cells.name)?),
                _ => None,
            };
            Ok((of, by, loss, losses))
        };
        let prepared = prepared().map_err(|error| compiled.raised(py, &error));
        let (of, by, loss, losses) = prepared?;
        Ok(DerivativeFunction { compiled, of, by, task, loss, losses })
    }

    fn loss(&self) -> PyResult<&LossCell> {
        self.loss.as_ref().ok_or_else(|| PyTypeError::new_err("the function has no loss"))
    }

    /// Returns the numbers of a direction for each of some reals. Reals that the direction doesn't name are left out.
    fn direction<'r>(
        &self,
        reals: &'r [Reals],
        direction: &Bound<'_, PyMapping>,
    ) -> PyResult<Vec<(&'r Reals, Vec<f64>)>> {
        let mut found = Vec::new();
        for pair in direction.items()? {
            let (name, value) = pair.extract::<(String, Bound<'_, PyAny>)>()?;
            let Some(reals) = reals.iter().find(|reals| reals.cells.name == name) else {
                let known: Vec<&str> = reals.iter().map(|reals| reals.cells.name.as_str()).collect();
                let cause = format!("the direction names `{name}`");
                return Err(unfit(value.py(), &cause, &format!("it may name {}", known.join(", "))));
            };
            found.push((reals, numbers(&reals.cells, &value)?.reals().to_vec()));
        }
        Ok(found)
    }

    /// Reads the gradient that a workspace has computed.
    fn gradient<'py>(&self, py: Python<'py>, call: &Call) -> PyResult<Bound<'py, PyDict>> {
        let gradient = PyDict::new(py);
        for by in &self.by {
            let mut values = vec![0.0; by.handle.len()];
            let read = call.workspace.adjoints(by.handle, &mut values);
            read.map_err(|error| self.compiled.raised(py, &error))?;
            gradient.set_item(&by.cells.name, reals(py, values, &by.cells.dimensions())?)?;
        }
        Ok(gradient)
    }

    fn first_order<'py>(&self, py: Python<'py>, call: &mut Call) -> PyResult<Bound<'py, PyAny>> {
        let loss = self.loss()?;
        let found = self.compiled.execute(py, call, |workspace| workspace.gradient(loss))?;
        self.compiled.note_steps(found.steps);
        let gradient = self.gradient(py, call)?;
        match self.task {
            Task::ValueAndGradient => Ok((found.value, gradient).into_pyobject(py)?.into_any()),
            _ => Ok(gradient.into_any()),
        }
    }

    fn jacobian<'py>(&self, py: Python<'py>, call: &mut Call) -> PyResult<Bound<'py, PyAny>> {
        let by: Vec<RealCells> = self.by.iter().map(|by| by.handle).collect();
        let found = self.compiled.execute(py, call, |workspace| workspace.gradients(&self.losses, &by))?;
        matrix(py, (&self.of, &self.by), &found.rows)
    }

    fn hessian<'py>(&self, py: Python<'py>, call: &mut Call) -> PyResult<Bound<'py, PyAny>> {
        let (loss, by) = (self.loss()?, self.by.iter().map(|by| by.handle).collect::<Vec<_>>());
        let found = self.compiled.execute(py, call, |workspace| workspace.hessian(loss, &by))?;
        matrix(py, (&self.by, &self.by), &found.rows)
    }

    fn along<'py>(
        &self,
        py: Python<'py>,
        call: &mut Call,
        (loss, direction): (Option<&LossCell>, &Bound<'py, PyMapping>),
    ) -> PyResult<Bound<'py, PyAny>> {
        let along = self.direction(&self.by, direction)?;
        let along: Vec<(RealCells, &[f64])> = along.iter().map(|(by, v)| (by.handle, &v[..])).collect();
        let of: Vec<RealCells> = self.of.iter().map(|of| of.handle).collect();
        let compiled = &*self.compiled;
        match (self.task, loss) {
            (Task::Taylor(order), _) => {
                let found = compiled.execute(py, call, |workspace| workspace.taylor(&of, &along, order))?;
                series(py, &self.of, &found.coefficients)
            }
            (_, Some(loss)) => {
                let found = compiled.execute(py, call, |workspace| workspace.hessian_times(loss, &along))?;
                let in_order: Vec<&Reals> = along
                    .iter()
                    .filter_map(|(cells, _)| self.by.iter().find(|by| by.handle == *cells))
                    .collect();
                let gradient = by_name(py, &in_order, found.gradient)?;
                let product = by_name(py, &in_order, found.product)?;
                Ok((found.value, gradient, product).into_pyobject(py)?.into_any())
            }
            (_, None) => {
                let found = compiled.execute(py, call, |workspace| workspace.jacobian_times(&of, &along))?;
                let of: Vec<&Reals> = self.of.iter().collect();
                let (values, product) = (by_name(py, &of, found.values)?, by_name(py, &of, found.product)?);
                Ok((values, product).into_pyobject(py)?.into_any())
            }
        }
    }

    /// Returns the sum of the results, weighted by cotangents.
    fn weighted(&self, py: Python<'_>, cotangents: &Bound<'_, PyMapping>) -> PyResult<LossCell> {
        let given = self.direction(&self.of, cotangents)?;
        let seeds = self.of.iter().flat_map(|of| {
            let own = given.iter().find(|(given, _)| given.cells.name == of.cells.name);
            own.map_or_else(|| vec![0.0; of.handle.len()], |(_, seeds)| seeds.clone())
        });
        let loss = self.loss()?.with_seeds(&seeds.collect::<Vec<f64>>());
        loss.map_err(|error| self.compiled.raised(py, &error))
    }

    fn vector_jacobian<'py>(
        &self,
        py: Python<'py>,
        call: &mut Call,
        cotangents: &Bound<'py, PyMapping>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loss = self.weighted(py, cotangents)?;
        let found = self.compiled.execute(py, call, |workspace| workspace.gradient(&loss))?;
        self.compiled.note_steps(found.steps);
        Ok(self.gradient(py, call)?.into_any())
    }
}

#[pymethods]
impl DerivativeFunction {
    #[pyo3(signature = (*args, **more))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        more: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut args = args.iter();
        let count = self.task.directions();
        let directions = args.by_ref().take(count).map(|direction| direction.cast_into::<PyMapping>());
        let directions = directions.collect::<Result<Vec<_>, _>>()?;
        if directions.len() < count {
            return Err(PyTypeError::new_err(
                "a direction is missing: a mapping from names, before the inputs",
            ));
        }
        let inputs = args.next().map(|inputs| inputs.cast_into::<PyMapping>()).transpose()?;
        if args.next().is_some() {
            return Err(PyTypeError::new_err(
                "too many arguments: give inputs as one mapping, or by keywords",
            ));
        }
        let given = arguments(&self.compiled, inputs.as_ref(), more)?;
        let mut call = call_with(py, &self.compiled, Travel::Forward, &given)?;
        let found = match (self.task, &directions[..]) {
            (Task::ValueAndGradient | Task::Gradient, _) => self.first_order(py, &mut call),
            (Task::Jacobian, _) => self.jacobian(py, &mut call),
            (Task::Cotangents, [cotangents]) => self.vector_jacobian(py, &mut call, cotangents),
            (_, [cotangents, direction]) => {
                let loss = self.weighted(py, cotangents)?;
                self.along(py, &mut call, (Some(&loss), direction))
            }
            (_, [direction]) => self.along(py, &mut call, (self.loss.as_ref(), direction)),
            _ => self.hessian(py, &mut call),
        };
        self.compiled.keep(call);
        found
    }

    fn __repr__(&self) -> String {
        let names = |reals: &[Reals]| -> String {
            let names: Vec<&str> = reals.iter().map(|reals| reals.cells.name.as_str()).collect();
            names.join(", ")
        };
        format!("<{:?} of {} by {}>", self.task, names(&self.of), names(&self.by))
    }
}

/// Returns a list of numbers as a dictionary of arrays.
fn by_name<'py>(py: Python<'py>, reals: &[&Reals], numbers: Vec<f64>) -> PyResult<Bound<'py, PyDict>> {
    let (found, mut numbers) = (PyDict::new(py), numbers.into_iter());
    for reals in reals {
        found.set_item(&reals.cells.name, reals.split(py, &mut numbers)?)?;
    }
    Ok(found)
}

/// Returns a matrix as a dictionary of dictionaries: `found["y"]["x"]` has the dimensions of `y`, then those of `x`.
fn matrix<'py>(
    py: Python<'py>,
    (of, by): (&[Reals], &[Reals]),
    rows: &[Vec<f64>],
) -> PyResult<Bound<'py, PyAny>> {
    let (found, mut rows) = (PyDict::new(py), rows.iter());
    for of in of {
        let own: Vec<&Vec<f64>> = rows.by_ref().take(of.handle.len()).collect();
        let (line, mut first) = (PyDict::new(py), 0);
        for by in by {
            let columns = first..first + by.handle.len();
            first = columns.end;
            let block = own.iter().flat_map(|row| row.get(columns.clone()).unwrap_or_default());
            let dimensions = [of.cells.dimensions(), by.cells.dimensions()].concat();
            line.set_item(&by.cells.name, reals(py, block.copied().collect(), &dimensions)?)?;
        }
        found.set_item(&of.cells.name, line)?;
    }
    Ok(found.into_any())
}

/// Returns Taylor series as a dictionary of arrays, whose first dimension is the order.
fn series<'py>(py: Python<'py>, of: &[Reals], coefficients: &[Vec<f64>]) -> PyResult<Bound<'py, PyAny>> {
    let (found, mut cells) = (PyDict::new(py), coefficients.iter());
    for of in of {
        let own: Vec<&Vec<f64>> = cells.by_ref().take(of.handle.len()).collect();
        let orders = own.first().map_or(0, |series| series.len());
        let numbers = (0..orders).flat_map(|order| own.iter().filter_map(move |series| series.get(order)));
        let dimensions = [vec![orders], of.cells.dimensions()].concat();
        found.set_item(&of.cells.name, reals(py, numbers.copied().collect(), &dimensions)?)?;
    }
    Ok(found.into_any())
}
