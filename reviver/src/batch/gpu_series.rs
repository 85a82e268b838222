//! Device passes of derivatives along directions: products of a Jacobian or a Hessian with a direction, and Hessians
//! row by row. Lanes compute on truncated Taylor series. This module doesn't depend on the device's internals.

use std::sync::Arc;

use reviver_batch::{BatchDevice, DeviceLanes, LaneRunKind, RequestedNumber};
use reviver_compile::start::RunStart;
use reviver_vm::ShownMark;
use reviver_vm::differentiate::matrices::patternless;
use reviver_vm::differentiate::{Subject, Variable};

use super::dual_lane::outputs;
use super::gpu_pass::{DevicePass, shader};
use super::lane;
use super::plan::{LanePlan, LaneTask, ResultSource, cell_of};
use crate::error::Error;
use crate::loss::LossCell;

/// A shader's output: the index of the result column, and the number that the shader returns.
type Output = (usize, RequestedNumber);

/// Returns the passes of a plan whose lanes compute with dual numbers.
pub(super) fn passes(device: &BatchDevice, plan: &LanePlan) -> Result<Vec<DevicePass>, Error> {
    let failed = |error| Error::of_derivative(&plan.executable.shared.name, error);
    let subject = lane::workspace(plan)?.subject().map_err(failed)?;
    let inputs = plan.dual_inputs()?;
    let series = |subject, inputs: &[Variable]| SeriesPasses {
        device,
        plan,
        subject,
        direction: inputs.iter().filter_map(cell_of).collect(),
    };
    match (&plan.task, plan.losses.first()) {
        (LaneTask::JacobianProduct { along, .. }, _) => {
            let components = inputs.into_iter().zip(along.components.iter().copied());
            let (moved, components): (Vec<Variable>, Vec<f64>) =
                components.filter(|(_, component)| *component != 0.0).unzip();
            series(subject.prepared(&outputs(plan), &moved, false), &moved).tangents(&components)
        }
        (LaneTask::HessianProduct { along, .. }, Some(loss)) => {
            let subject = subject.prepared_for_seeds(&loss.seeds, &inputs, false);
            series(subject, &inputs).second_derivatives(loss, &[&along.components])
        }
        (_, Some(loss)) => {
            let subject = subject.prepared_for_seeds(&loss.seeds, &inputs, false);
            let unit = |row| (0..inputs.len()).map(|n| if n == row { 1.0 } else { 0.0 }).collect();
            let rows: Vec<Vec<f64>> = (0..inputs.len()).map(unit).collect();
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            series(subject, &inputs).second_derivatives(loss, &rows)
        }
        (_, None) => Ok(Vec::new()),
    }
}

/// Passes along directions that move the same reals.
struct SeriesPasses<'p> {
    device: &'p BatchDevice,
    plan: &'p LanePlan,
    /// Start of the lanes, with the program prepared for the derivatives.
    subject: Subject,
    /// The reals that the directions move.
    direction: Vec<usize>,
}

impl SeriesPasses<'_> {
    /// Returns the pass of a product of the Jacobian with a direction.
    fn tangents(&self, components: &[f64]) -> Result<Vec<DevicePass>, Error> {
        let reals =
            self.plan.losses.iter().flat_map(|loss| loss.seeds.iter().map(|seed| seed.cell)).collect();
        let value = |seeded, order| RequestedNumber::Value { row: 0, seeded, order };
        let outputs = self.outputs(|source| match source {
            ResultSource::Value { loss, .. } => Some(value(loss, 0)),
            ResultSource::Product { index } => Some(value(index, 1)),
            _ => None,
        });
        let direction = self.direction.clone();
        let kind = LaneRunKind::ValuesAlong { reals, direction, order: 1, rejects_ties: false };
        let (lanes, columns) = self.shader(kind, outputs)?;
        Ok(vec![self.pass(&lanes, columns, components.iter().copied())])
    }

    /// Returns the passes of a loss's gradient and of the products of its Hessian with some directions, which share a
    /// shader. In one more pass, lanes fail where the CPU would report the loss of a second derivative.
    fn second_derivatives(&self, loss: &LossCell, rows: &[&[f64]]) -> Result<Vec<DevicePass>, Error> {
        let adjoint = |real, order| RequestedNumber::Adjoint { row: 0, real, order };
        let of_row = |row: usize| {
            self.outputs(move |source| match source {
                ResultSource::Value { seeded, .. } => {
                    Some(RequestedNumber::Value { row: 0, seeded, order: 0 })
                }
                ResultSource::Adjoint { cell, .. } => Some(adjoint(cell, 0)),
                ResultSource::Second { row: own, column } if own == row => {
                    self.direction.get(column).map(|&real| adjoint(real, 1))
                }
                ResultSource::Product { index } => self.direction.get(index).map(|&real| adjoint(real, 1)),
                ResultSource::Second { .. } | ResultSource::Cell(_) => None,
            })
        };
        let (seeds, direction) = (loss.seeds.to_vec(), self.direction.clone());
        let reals = seeds.iter().map(|seed| seed.cell).collect();
        let kind = LaneRunKind::GradientAlong { loss: seeds, direction: direction.clone() };
        let (lanes, _) = self.shader(kind, of_row(0))?;
        let mut passes: Vec<DevicePass> = Vec::with_capacity(rows.len() + 1);
        for (row, components) in rows.iter().enumerate() {
            let columns = of_row(row).into_iter().map(|(column, _)| column).collect();
            passes.push(self.pass(&lanes, columns, components.iter().copied()));
        }
        let kind = LaneRunKind::ValuesAlong { reals, direction, order: 2, rejects_ties: true };
        let values = self.outputs(|source| match source {
            ResultSource::Value { seeded, .. } => Some(RequestedNumber::Value { row: 0, seeded, order: 0 }),
            _ => None,
        });
        let (lanes, columns) = self.shader(kind, values)?;
        passes.push(self.pass(&lanes, columns, patternless(self.direction.len())));
        Ok(passes)
    }

    /// Returns the result columns for which `of` returns a number, with the number.
    fn outputs(&self, of: impl Fn(ResultSource) -> Option<RequestedNumber>) -> Vec<Output> {
        let columns = self.plan.results.iter().enumerate();
        columns.filter_map(|(n, column)| Some((n, of(column.source)?))).collect()
    }

    /// Compiles a shader. Returns it with the result columns of its outputs.
    fn shader(
        &self,
        kind: LaneRunKind,
        outputs: Vec<Output>,
    ) -> Result<(Arc<DeviceLanes>, Vec<usize>), Error> {
        let mut state = self.subject.start.try_clone()?;
        state.counters.shown = ShownMark::SILENT;
        let start = RunStart::new(&self.subject.program, state).ok_or(Error::NoBeginning)?;
        let (columns, outputs) = outputs.into_iter().unzip();
        Ok((Arc::new(shader(self.device, self.plan, &start, (kind, outputs))?), columns))
    }

    fn pass(
        &self,
        lanes: &Arc<DeviceLanes>,
        columns: Vec<usize>,
        components: impl Iterator<Item = f64>,
    ) -> DevicePass {
        let direction = components.map(|component| self.subject.number(component)).collect();
        DevicePass::To { lanes: Arc::clone(lanes), columns, direction }
    }
}
