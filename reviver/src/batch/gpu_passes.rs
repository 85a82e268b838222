//! Translation of a plan into device passes. Each pass is a shader, with the columns that it reads and the columns
//! that it fills. This module doesn't depend on the device's internals.

use std::borrow::Cow;

use reviver_batch::{
    BatchDevice, BatchError, DeviceLanes, LaneRunKind, LaneStatus, LanesRequest, LanesRun, NoShader,
    RequestedNumber, ShaderCell,
};
use reviver_compile::op::Space;
use reviver_isa::instruction::Class;
use reviver_vm::Travel;

use super::device::zeros;
use super::lane;
use super::plan::{LaneCell, LanePlan, LaneTask, ResultSource};
use crate::error::Error;
use crate::loss::LossCell;

/// Execution of all lanes by one shader.
#[derive(Debug)]
pub(super) enum DevicePass {
    /// First pass: from the lane inputs to results. `columns` has the index of the result column for each number that
    /// the shader returns.
    To { lanes: DeviceLanes, columns: Vec<usize> },
    /// Second pass of a round trip: from the results to the initial state, which must be restored. `shared` has the
    /// bits of the cells that all lanes share.
    Again { lanes: DeviceLanes, shared: Vec<u64> },
}

/// Returns all passes of a plan, in order.
pub(super) fn passes(device: &BatchDevice, plan: &LanePlan) -> Result<Vec<DevicePass>, Error> {
    let results = || plan.results.iter().enumerate();
    let cells: Vec<(usize, ShaderCell)> = results()
        .filter_map(|(n, column)| match column.source {
            ResultSource::Cell(address) => Some((n, of_class(column.class, address))),
            _ => None,
        })
        .collect();
    let run_kind = LaneRunKind::Whole(plan.task.travel());
    let requested = |cells: Vec<(usize, ShaderCell)>| -> Vec<(usize, RequestedNumber)> {
        cells.into_iter().map(|(n, cell)| (n, RequestedNumber::Cell(cell))).collect()
    };
    match &plan.task {
        LaneTask::Run | LaneTask::Back => Ok(vec![to(device, plan, run_kind, requested(cells))?]),
        LaneTask::RoundTrip | LaneTask::RoundTripBack => {
            let arrived = cells.iter().map(|&(_, cell)| cell).collect();
            Ok(vec![to(device, plan, run_kind, requested(cells))?, again(device, plan, arrived)?])
        }
        LaneTask::Hessian { .. } | LaneTask::HessianProduct { .. } | LaneTask::JacobianProduct { .. } => {
            Err(failed(NoShader::DualNumbers.into()))
        }
        LaneTask::Gradient { .. } | LaneTask::Jacobian { .. } => {
            let together = plan.together(LossCell::turns_with);
            let passes = together.map(|losses| slopes(device, plan, losses));
            Ok(passes.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect())
        }
    }
}

/// Returns the second pass of a round trip, from the results to the initial state. `inputs` are the cells of the
/// results, which this pass takes as inputs.
fn again(device: &BatchDevice, plan: &LanePlan, inputs: Vec<ShaderCell>) -> Result<DevicePass, Error> {
    let travel = plan.task.travel().reversed();
    let begun = plan.inputs.iter().chain(plan.shared.iter().map(|(cell, _)| cell)).map(of_cell);
    let mut call = plan.executable.workspace()?;
    if travel == Travel::Backward {
        call.prepare_results()?;
    }
    let start = lane::start(call, travel).ok_or(Error::NoBeginning)?;
    let request = LanesRequest {
        run_kind: LaneRunKind::Whole(travel),
        level: plan.executable.level(),
        inputs,
        outputs: begun.map(RequestedNumber::Cell).collect(),
        reports_steps: false,
    };
    let lanes = DeviceLanes::new(device, plan.executable.program(), &start, &request).map_err(failed)?;
    Ok(DevicePass::Again { lanes, shared: plan.shared.iter().map(|(_, bits)| *bits).collect() })
}

/// Returns passes that compute gradients of losses with the same turning point: one pass for all if possible,
/// otherwise one for each. `first` is the index of the first loss.
fn slopes(
    device: &BatchDevice,
    plan: &LanePlan,
    (first, losses): (usize, &[LossCell]),
) -> Result<Vec<DevicePass>, Error> {
    let own = first..first + losses.len();
    let of_column = |source: ResultSource| match source {
        ResultSource::Adjoint { loss, cell } if own.contains(&loss) => {
            Some(RequestedNumber::Adjoint { row: loss - first, real: cell })
        }
        ResultSource::Value { loss, seeded } if own.contains(&loss) => {
            Some(RequestedNumber::Value { row: loss - first, seeded })
        }
        _ => None,
    };
    let columns = plan.results.iter().enumerate();
    let outputs = columns.filter_map(|(n, column)| Some((n, of_column(column.source)?))).collect();
    let seeds = losses.iter().map(|loss| loss.seeds.to_vec()).collect();
    match to(device, plan, LaneRunKind::Gradient { losses: seeds }, outputs) {
        Ok(pass) => Ok(vec![pass]),
        Err(error) if losses.len() == 1 || plan.options.is_interrupted() => Err(error),
        // The shader for all losses may fail, for example because it needs too much memory. Then each loss gets its
        // own shader.
        Err(_) => {
            let alone = (first..).zip(losses.chunks(1)).map(|alone| slopes(device, plan, alone));
            Ok(alone.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().collect())
        }
    }
}

fn to(
    device: &BatchDevice,
    plan: &LanePlan,
    run_kind: LaneRunKind,
    outputs: Vec<(usize, RequestedNumber)>,
) -> Result<DevicePass, Error> {
    let start = lane::start(lane::workspace(plan)?, plan.task.travel()).ok_or(Error::NoBeginning)?;
    let (columns, outputs) = outputs.into_iter().unzip();
    let inputs = plan.inputs.iter().map(of_cell).collect();
    let request =
        LanesRequest { run_kind, level: plan.executable.level(), inputs, outputs, reports_steps: false };
    let lanes = DeviceLanes::new(device, plan.executable.program(), &start, &request).map_err(failed)?;
    Ok(DevicePass::To { lanes, columns })
}

/// Converts a device error into the error that the caller of the batch gets.
pub(super) fn failed(error: BatchError) -> Error {
    match error {
        BatchError::Interrupted => Error::Interrupted,
        error => Error::Device(error.into()),
    }
}

fn of_cell(cell: &LaneCell) -> ShaderCell {
    of_class(cell.class, cell.cell)
}

fn of_class(class: Class, address: usize) -> ShaderCell {
    let space = match class {
        Class::Int => Space::Ints,
        Class::Real => Space::Reals,
    };
    ShaderCell { space, address }
}

impl DevicePass {
    /// Returns the number of loops that the pass executes by a dispatch switch.
    pub fn switched_loops(&self) -> u32 {
        let (DevicePass::To { lanes, .. } | DevicePass::Again { lanes, .. }) = self;
        lanes.irreducible_loops()
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
            DevicePass::To { lanes: shader, columns } => {
                let mut columns_left: Vec<Option<&mut [u64]>> =
                    results.iter_mut().map(|column| Some(&mut **column)).collect();
                let own = columns.iter().filter_map(|&n| columns_left.get_mut(n)?.take());
                let mut found: Vec<&mut [u64]> = own.collect();
                run(shader, inputs, &mut found)
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
