//! Batches: a program for many lanes at once, in NumPy arrays or in an Arrow table.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use pyo3::types::PyMapping;
use reviver::batch::plan::LaneTask;
use reviver::{Batch, BatchOptions, Device, Error, RealCells};

use crate::arrow;
use crate::compiled::Compiled;
use crate::errors::{raised, unfit};
use crate::lane_inputs::{LaneArrays, shared, with_shared};
use crate::lane_results::{grouped, remarks};
use crate::patient::patiently;

/// Arguments of `Program.batch`.
pub struct BatchRequest<'py, 'a> {
    pub shared: Option<Bound<'py, PyMapping>>,
    pub grad: Option<String>,
    pub jacobian: Option<Vec<String>>,
    pub hessian: Option<String>,
    pub wrt: Option<Vec<String>>,
    pub back: bool,
    pub device: &'a str,
    pub threads: Option<usize>,
    pub keep_going: bool,
}

/// Runs a batch on lanes in a mapping of NumPy arrays, or in an Arrow table.
pub fn run<'py>(
    py: Python<'py>,
    compiled: &Compiled,
    lanes: &Bound<'py, PyAny>,
    request: BatchRequest<'py, '_>,
) -> PyResult<Bound<'py, PyAny>> {
    let error = |error| compiled.raised(py, &error);
    if request.wrt.as_ref().is_some_and(Vec::is_empty) {
        return Err(unfit(py, "`wrt` has no names", "name inputs, or leave out `wrt` for all real inputs"));
    }
    let task = task(compiled, &request).map_err(error)?.ok_or_else(|| {
        let cause = "several of `grad`, `jacobian`, `hessian` and `back` are given";
        unfit(py, cause, "choose one of them")
    })?;
    let stop = Arc::<AtomicBool>::default();
    let options = BatchOptions {
        most_steps: compiled.most_steps(),
        keeps_going: request.keep_going,
        interrupt: Some(Arc::clone(&stop)),
        ..BatchOptions::default()
    };
    let device = device(py, &request)?;
    let batch = Batch::new(&compiled.executable, device).with(options);
    let shared = shared(compiled, request.shared.as_ref())?;
    if arrow::is_arrow(lanes)? {
        return arrow::run(py, compiled, (&batch, task), &shared, (lanes, &stop));
    }
    let given = LaneArrays::of(compiled, lanes.cast::<PyMapping>()?)?;
    if given.is_empty() {
        let cure = "give an array with a number for each lane, or call the program itself";
        return Err(unfit(py, "no input has lanes", cure));
    }
    let inputs = with_shared(given.inputs(), &shared);
    let columns = given.names();
    let outcome = patiently(py, &stop, || batch.prepare(task, &columns, &inputs)?.begin().lanes_of(&inputs))?;
    let mut results = outcome.map_err(error)?;
    let numbers = results.take_columns();
    let values = grouped(py, compiled, (numbers, given.lanes), &results)?;
    remarks(py, compiled, values, results)
}

/// Returns what each lane computes; `None` if the arguments ask for several things.
fn task(compiled: &Compiled, request: &BatchRequest<'_, '_>) -> Result<Option<LaneTask>, Error> {
    let reals = |names: &[String]| -> Result<Vec<RealCells>, Error> {
        names.iter().map(|name| compiled.reals(name)).collect()
    };
    let by = reals(request.wrt.as_deref().unwrap_or_default())?;
    let loss = |name: &String| compiled.executable.loss(name);
    Ok(match (&request.grad, &request.jacobian, &request.hessian, request.back) {
        (None, None, None, false) => Some(LaneTask::Run),
        (None, None, None, true) => Some(LaneTask::Back),
        (Some(name), None, None, false) => Some(LaneTask::Gradient { loss: loss(name)?, by }),
        (None, Some(names), None, false) => Some(LaneTask::Jacobian { of: reals(names)?, by }),
        (None, None, Some(name), false) => Some(LaneTask::Hessian { loss: loss(name)?, by }),
        _ => None,
    })
}

fn device(py: Python<'_>, request: &BatchRequest<'_, '_>) -> PyResult<Device> {
    match (request.device, request.threads) {
        ("cpu", Some(threads)) => Ok(Device::cpu_with(threads)),
        (_, Some(_)) => Err(unfit(py, "only the CPU has `threads`", "leave out `threads` or `device`")),
        (name, None) => Device::named(name).map_err(|error| raised(py, None, &error.into())),
    }
}
