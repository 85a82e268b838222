//! A pass of a device: one shader, with the columns that it reads and the columns that it fills. This module doesn't
//! depend on the device's internals.

use std::borrow::Cow;
use std::sync::Arc;

use reviver_batch::{
    BatchDevice, BatchError, DeviceLanes, LaneRunKind, LaneStatus, LanesRequest, LanesRun, RequestedNumber,
    ShaderCell,
};
use reviver_compile::op::Space;
use reviver_compile::start::RunStart;
use reviver_isa::instruction::Class;
use reviver_memory::ask;

use super::device::zeros;
use super::plan::{LaneCell, LanePlan};
use crate::error::Error;

/// Execution of all lanes by one shader.
#[derive(Debug)]
pub(super) enum DevicePass {
    /// Pass from the lane inputs to results. `columns` has the index of the result column for each number that the
    /// shader returns. `direction` has the bits of the components of a direction, the same in each lane; several passes
    /// along different directions share a shader.
    To { lanes: Arc<DeviceLanes>, columns: Vec<usize>, direction: Vec<u64> },
    /// Second pass of a round trip: from the results to the initial state, which must be restored. `shared` has the
    /// bits of the cells that all lanes share.
    Again { lanes: DeviceLanes, shared: Vec<u64> },
}

/// Compiles a shader whose lanes begin with the inputs of a plan. All other cells are those of `start`.
pub(super) fn shader(
    device: &BatchDevice,
    plan: &LanePlan,
    start: &RunStart,
    (run_kind, outputs): (LaneRunKind, Vec<RequestedNumber>),
) -> Result<DeviceLanes, Error> {
    let inputs = plan.inputs.iter().map(of_cell).collect();
    let request =
        LanesRequest { run_kind, level: plan.executable.level(), inputs, outputs, reports_steps: false };
    DeviceLanes::new(device, start.program(), start, &request).map_err(failed)
}

/// Converts a device error into the error that the caller of the batch gets.
pub(super) fn failed(error: BatchError) -> Error {
    match error {
        BatchError::Interrupted => Error::Interrupted,
        error => Error::Device(error.into()),
    }
}

pub(super) fn of_cell(cell: &LaneCell) -> ShaderCell {
    of_class(cell.class, cell.cell)
}

pub(super) fn of_class(class: Class, address: usize) -> ShaderCell {
    let space = match class {
        Class::Int => Space::Ints,
        Class::Real => Space::Reals,
    };
    ShaderCell { space, address }
}

impl DevicePass {
    /// Returns the number of loops that the pass executes by a dispatch switch.
    pub fn switched_loops(&self) -> u32 {
        match self {
            DevicePass::To { lanes, .. } => lanes.irreducible_loops(),
            DevicePass::Again { lanes, .. } => lanes.irreducible_loops(),
        }
    }

    /// Runs the pass. Writes the lanes' numbers to `results`, and returns the status of each lane. `is_open` marks
    /// lanes that an earlier pass didn't complete; their results and status are meaningless.
    pub fn run(
        &self,
        inputs: &[&[u64]],
        results: &mut [&mut [u64]],
        is_open: &[bool],
        run: impl Fn(&DeviceLanes, &[&[u64]], &mut [&mut [u64]]) -> Result<LanesRun, Error>,
    ) -> Result<LanesRun, Error> {
        match self {
            DevicePass::To { lanes: shader, columns, direction } => {
                let mut distinct = direction.clone();
                distinct.sort_unstable();
                distinct.dedup();
                let components = distinct.iter().map(|&bits| ask::filled(bits, is_open.len()));
                let components = components.collect::<Result<Vec<_>, _>>()?;
                let component =
                    |bits: &u64| distinct.binary_search(bits).ok().and_then(|n| components.get(n));
                let along = direction.iter().filter_map(component).map(Vec::as_slice);
                let given: Vec<&[u64]> = inputs.iter().copied().chain(along).collect();
                let mut columns_left: Vec<Option<&mut [u64]>> =
                    results.iter_mut().map(|column| Some(&mut **column)).collect();
                let own = columns.iter().filter_map(|&n| columns_left.get_mut(n)?.take());
                let mut found: Vec<&mut [u64]> = own.collect();
                run(shader, &given, &mut found)
            }
            DevicePass::Again { .. } if is_open.iter().all(|is_open| *is_open) => {
                let mut ran = LanesRun::default();
                ran.statuses = vec![LaneStatus::Failed; is_open.len()];
                Ok(ran)
            }
            DevicePass::Again { lanes: shader, shared } => {
                let given = arrived(results, is_open);
                let given: Vec<&[u64]> = given.iter().map(|column| &**column).collect();
                let mut begun = zeros(inputs.len() + shared.len(), is_open.len())?;
                let mut found: Vec<&mut [u64]> = begun.iter_mut().map(Vec::as_mut_slice).collect();
                let mut ran = run(shader, &given, &mut found)?;
                let (own, common) = begun.split_at(inputs.len());
                for (row, status) in ran.statuses.iter_mut().enumerate() {
                    let at = |column: &[u64]| column.get(row).copied();
                    let is_own = own.iter().zip(inputs).all(|(found, given)| at(found) == at(given));
                    let is_common = common.iter().zip(shared).all(|(found, &bits)| at(found) == Some(bits));
                    if !(is_own && is_common) {
                        *status = LaneStatus::Failed;
                    }
                }
                Ok(ran)
            }
        }
    }
}

/// Returns the results as inputs of the second pass. Lanes marked in `is_open` have arbitrary results, so the results
/// of a completed lane replace them.
fn arrived<'r>(results: &'r [&mut [u64]], is_open: &[bool]) -> Vec<Cow<'r, [u64]>> {
    let open: Vec<usize> = (0..).zip(is_open).filter(|(_, is_open)| **is_open).map(|(row, _)| row).collect();
    let closed = is_open.iter().position(|is_open| !is_open);
    let as_closed = |column: &'r [u64]| {
        if open.is_empty() {
            return Cow::Borrowed(column);
        }
        let mut own = column.to_vec();
        let bits = closed.and_then(|row| column.get(row)).copied().unwrap_or_default();
        for &row in &open {
            own.get_mut(row).into_iter().for_each(|slot| *slot = bits);
        }
        Cow::Owned(own)
    };
    results.iter().map(|column| as_closed(column)).collect()
}
