//! Translation of a plan into device passes. This module doesn't depend on the device's internals.

use std::sync::Arc;

use reviver_batch::{BatchDevice, DeviceLanes, LaneRunKind, LanesRequest, RequestedNumber, ShaderCell};
use reviver_vm::Travel;

use super::gpu_pass::{DevicePass, failed, of_cell, of_class, shader};
use super::gpu_series;
use super::lane;
use super::plan::{LanePlan, LaneTask, ResultSource};
use crate::error::Error;
use crate::loss::LossCell;

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
            gpu_series::passes(device, plan)
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
            Some(RequestedNumber::Adjoint { row: loss - first, real: cell, order: 0 })
        }
        ResultSource::Value { loss, seeded } if own.contains(&loss) => {
            Some(RequestedNumber::Value { row: loss - first, seeded, order: 0 })
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
    let lanes = Arc::new(shader(device, plan, &start, (run_kind, outputs))?);
    Ok(DevicePass::To { lanes, columns, direction: Vec::new() })
}
