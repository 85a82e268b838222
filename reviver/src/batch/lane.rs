//! Executes one lane in a workspace: sets its inputs, runs it, and reads its results. This module accesses no other
//! lanes.

#[cfg(feature = "gpu")]
use reviver_compile::start::RunStart;
use reviver_isa::instruction::Class;
use reviver_vm::Travel;
use reviver_vm::differentiate::VerificationReport;

use super::device::BlockOutcome;
use super::dual_lane;
use super::plan::{LaneCell, LanePlan, LaneTask, LossColumn, ResultSource};
use crate::error::Error;
use crate::gradient::certain;
use crate::workspace::{GivenInputs, Workspace};

/// Creates a workspace for the lanes of a plan, with the shared inputs set.
pub(super) fn workspace(plan: &LanePlan) -> Result<Workspace, Error> {
    let mut call = plan.executable.workspace()?;
    call.limit_steps(plan.options.most_steps);
    if let Some(flag) = &plan.options.interrupt {
        call.stop_when(flag.clone());
    }
    let travel = plan.task.travel();
    if travel == Travel::Backward {
        call.prepare_results()?;
    }
    let Some(gifts) = gifts(&mut call, travel) else { return Err(Error::NoBeginning) };
    for (cell, bits) in &plan.shared {
        put(gifts, cell, *bits);
    }
    // The plan has already checked that every array is given as a whole.
    let given = plan.inputs.iter().chain(plan.shared.iter().map(|(cell, _)| cell));
    given.for_each(|cell| gifts.missing.retain(|&n| n != cell.global));
    Ok(call)
}

/// Consumes a workspace, and returns its start state for runs in the direction `travel`.
#[cfg(feature = "gpu")]
pub(super) fn start(call: Workspace, travel: Travel) -> Option<RunStart> {
    match travel {
        Travel::Forward => Some(call.inputs.start),
        Travel::Backward => call.results.map(|results| results.start),
    }
}

fn gifts(call: &mut Workspace, travel: Travel) -> Option<&mut GivenInputs> {
    if travel == Travel::Forward { Some(&mut call.inputs) } else { call.results.as_mut() }
}

fn put(gifts: &mut GivenInputs, cell: &LaneCell, bits: u64) {
    let range = cell.cell..cell.cell + 1;
    match cell.class {
        Class::Int => gifts.start.ints_mut(cell.global, range).fill(bits as i64),
        Class::Real => gifts.start.reals_mut(cell.global, range).fill(bits),
    }
}

/// Sets the inputs of a lane in a workspace; `number` returns the lane's number in an input column.
pub(super) fn give(call: &mut Workspace, plan: &LanePlan, number: impl Fn(usize) -> Option<u64>) {
    if let Some(gifts) = gifts(call, plan.task.travel()) {
        for (column, cell) in plan.inputs.iter().enumerate() {
            put(gifts, cell, number(column).unwrap_or_default());
        }
    }
}

/// One lane: its number in the batch, and the index of its row in the input and result columns.
pub(super) struct LaneRow<'l, 'r> {
    pub lane: u64,
    pub row: usize,
    pub inputs: &'l [&'l [u64]],
    pub results: &'l mut [&'r mut [u64]],
}

/// Executes a lane. Its results are 0 if it fails.
pub(super) fn carry_out(
    call: &mut Workspace,
    plan: &LanePlan,
    mut lane: LaneRow<'_, '_>,
    outcome: &mut BlockOutcome,
) -> Result<(), Error> {
    give(call, plan, |column| lane.inputs.get(column).and_then(|column| column.get(lane.row)).copied());
    let done = go(call, plan, &mut lane, outcome);
    if done.is_err() {
        lane.results.iter_mut().filter_map(|column| column.get_mut(lane.row)).for_each(|bits| *bits = 0);
    }
    done
}

fn go(
    call: &mut Workspace,
    plan: &LanePlan,
    lane: &mut LaneRow<'_, '_>,
    outcome: &mut BlockOutcome,
) -> Result<(), Error> {
    match &plan.task {
        LaneTask::Run => {
            call.run()?;
            read(call, plan, lane);
            note_leftovers(call, lane.lane, outcome)
        }
        LaneTask::Back => {
            call.run_back()?;
            read(call, plan, lane);
            Ok(())
        }
        LaneTask::RoundTrip => {
            call.run()?;
            read(call, plan, lane);
            round_trip(call)
        }
        LaneTask::RoundTripBack => {
            call.run_back()?;
            read(call, plan, lane);
            round_trip(call)
        }
        LaneTask::Gradient { .. } | LaneTask::Jacobian { .. } => differentiate(call, plan, lane, outcome),
        LaneTask::Hessian { .. } | LaneTask::HessianProduct { .. } | LaneTask::JacobianProduct { .. } => {
            let (columns, report) = dual_lane::derivatives(call, plan)?;
            note_trust(plan, lane.lane, &report, outcome)?;
            for (slot, bits) in lane.results.iter_mut().zip(columns) {
                slot.get_mut(lane.row).into_iter().for_each(|slot| *slot = bits);
            }
            Ok(())
        }
    }
}

/// Reads the results after a completed run.
fn read(call: &Workspace, plan: &LanePlan, lane: &mut LaneRow<'_, '_>) {
    let state = call.machine.state();
    for (column, slot) in plan.results.iter().zip(lane.results.iter_mut()) {
        let (ResultSource::Cell(cell), Some(slot)) = (column.source, slot.get_mut(lane.row)) else {
            continue;
        };
        let bits = match column.class {
            Class::Int => state.ints.get(cell).map(|&value| value as u64),
            Class::Real => state.reals.get(cell).copied(),
        };
        *slot = bits.unwrap_or_default();
    }
}

fn note_leftovers(call: &Workspace, lane: u64, outcome: &mut BlockOutcome) -> Result<(), Error> {
    let garbage = call.leftovers()?;
    if !garbage.is_empty() {
        outcome.leftovers.note(lane, || Error::Leftovers { garbage }.to_string());
    }
    Ok(())
}

/// Checks that no cell, tape or stack has leftovers. Then runs backward to the start, which must be restored.
fn round_trip(call: &mut Workspace) -> Result<(), Error> {
    let garbage = call.leftovers()?;
    if !garbage.is_empty() {
        return Err(Error::Leftovers { garbage });
    }
    match call.come_back()?.restored {
        true => Ok(()),
        false => Err(Error::NotRestored),
    }
}

/// Notes a lane whose derivatives may be wrong, or whose reverse sweep was recomputed with a history. If derivatives may
/// be wrong and the batch doesn't allow that, returns an error instead.
fn note_trust(
    plan: &LanePlan,
    lane: u64,
    verification_report: &VerificationReport,
    outcome: &mut BlockOutcome,
) -> Result<(), Error> {
    if let Err(doubt) = certain(&plan.executable.shared, verification_report) {
        match plan.options.allows_doubt {
            true => outcome.doubtful.note(lane, || doubt.to_string()),
            false => return Err(doubt),
        }
    }
    if let Some(divergence) = &verification_report.recomputed {
        outcome.recomputed.note(lane, || divergence.to_string());
    }
    Ok(())
}

/// Computes each loss and its derivatives, and writes them to the result columns.
fn differentiate(
    call: &mut Workspace,
    plan: &LanePlan,
    lane: &mut LaneRow<'_, '_>,
    outcome: &mut BlockOutcome,
) -> Result<(), Error> {
    let LaneRow { lane, row, results, .. } = lane;
    let each = |n: usize, values: &[u64], adjoints: &[u64]| {
        for &(column, source) in plan.columns_of(n) {
            let slot = results.get_mut(column).and_then(|column| column.get_mut(*row));
            if let Some(slot) = slot {
                *slot = match source {
                    LossColumn::Value(seeded) => values.get(seeded).copied().unwrap_or_default(),
                    LossColumn::Adjoint(cell) => adjoints.get(cell).copied().unwrap_or_default(),
                };
            }
        }
    };
    call.gradients_bits(&plan.losses, each, |verification_report| {
        note_trust(plan, *lane, verification_report, outcome)
    })
}
