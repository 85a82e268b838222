//! Derivatives of a lane by dual numbers: Hessians, and products of Hessians and Jacobians with a direction. This
//! module uses one workspace, and accesses no other lanes.

#[cfg(feature = "gpu")]
use reviver_isa::number::literal_bits;
use reviver_vm::differentiate::check::{Check, check_jacobian_product, check_second_derivatives};
use reviver_vm::differentiate::matrices::{self, Hessian, JacobianProduct, Sweep};
use reviver_vm::differentiate::{DifferentiateError, Subject, Variable, VerificationReport};

use super::plan::{LanePlan, LaneTask, ResultSource};
use crate::error::Error;
use crate::gradient::approximate;
use crate::loss::LossCell;
use crate::workspace::Workspace;

/// Computes the derivatives of a plan's task at the inputs of a workspace. Returns the bits of each result column.
pub(super) fn derivatives(
    call: &Workspace,
    plan: &LanePlan,
) -> Result<(Vec<u64>, VerificationReport), Error> {
    let failed = |error: DifferentiateError| Error::of_derivative(&plan.executable.shared.name, error);
    let subject = call.subject().map_err(failed)?;
    let inputs = plan.dual_inputs()?;
    let found = DualNumbers::of(plan, &subject, &inputs).map_err(failed)?;
    let number = |number: Option<&f64>| number.map_or(0, |&number| subject.number(number));
    let mut gradient = found.gradient.iter();
    let mut values = found.values.iter();
    let bits = plan.results.iter().map(|column| match column.source {
        ResultSource::Value { .. } => values.next().copied().unwrap_or_default(),
        ResultSource::Adjoint { .. } => number(gradient.next()),
        ResultSource::Second { row, column } => number(found.rows.get(row).and_then(|row| row.get(column))),
        ResultSource::Product { index } => number(found.rows.first().and_then(|row| row.get(index))),
        ResultSource::Cell(_) => 0,
    });
    Ok((bits.collect(), found.verification_report))
}

/// Rounds the derivatives of lanes on a device to binary64, because the CPU computes derivatives with dual numbers as
/// binary64. Only fixed-point numbers may have more digits.
#[cfg(feature = "gpu")]
pub(super) fn round(plan: &LanePlan, results: &mut [&mut [u64]]) {
    let program = plan.executable.program();
    let real = program.module().real;
    if !plan.task.is_dual() || !real.is_exact() {
        return;
    }
    let columns = plan.results.iter().zip(results).filter(|(column, _)| column.is_derivative());
    for bits in columns.flat_map(|(_, numbers)| numbers.iter_mut()) {
        *bits = literal_bits(real, approximate(program, *bits));
    }
}

/// Verifies the derivatives of a lane by finite differences. `results` has the bits of each result column.
pub(super) fn check(call: &Workspace, plan: &LanePlan, results: &[u64]) -> Result<Check, Error> {
    let shared = &plan.executable.shared;
    let failed = |error: DifferentiateError| Error::of_derivative(&shared.name, error);
    let subject = call.subject().map_err(failed)?;
    let inputs = plan.dual_inputs()?;
    let numbers = |is_wanted: fn(ResultSource) -> bool| -> Vec<f64> {
        let wanted = plan.results.iter().zip(results).filter(|(column, _)| is_wanted(column.source));
        wanted.map(|(_, &bits)| approximate(&shared.program, bits)).collect()
    };
    let gradient = numbers(|source| matches!(source, ResultSource::Adjoint { .. }));
    let product = numbers(|source| matches!(source, ResultSource::Product { .. }));
    let checked = match &plan.task {
        LaneTask::JacobianProduct { along, .. } => {
            let found = JacobianProduct {
                values: Vec::new(),
                product,
                sweep: Sweep::Forward,
                reverse_sweeps: None,
                verification_report: VerificationReport::default(),
            };
            check_jacobian_product(&subject, &outputs(plan), (&inputs, &along.components), &found)
        }
        LaneTask::HessianProduct { loss, along } => {
            let found = (&gradient[..], &[product][..]);
            check_second_derivatives(&subject, &loss.seeds, &inputs, found, Some(&along.components))
        }
        LaneTask::Hessian { loss, .. } => {
            let entries = numbers(|source| matches!(source, ResultSource::Second { .. }));
            let rows: Vec<Vec<f64>> = entries.chunks(inputs.len().max(1)).map(<[f64]>::to_vec).collect();
            check_second_derivatives(&subject, &loss.seeds, &inputs, (&gradient, &rows), None)
        }
        _ => Ok(Check::default()),
    };
    checked.map_err(failed)
}

/// Results of a lane that computes with dual numbers.
struct DualNumbers {
    /// Values of the losses' cells, as bits.
    values: Vec<u64>,
    /// Components of the gradient; empty for a product with a Jacobian.
    gradient: Vec<f64>,
    /// Rows of the Hessian, or a single product.
    rows: Vec<Vec<f64>>,
    verification_report: VerificationReport,
}

impl DualNumbers {
    fn of(
        plan: &LanePlan,
        subject: &Subject,
        inputs: &[Variable],
    ) -> Result<DualNumbers, DifferentiateError> {
        match &plan.task {
            LaneTask::HessianProduct { loss, along } => {
                let directions = std::slice::from_ref(&along.components);
                let found = matrices::hessian_products(subject, &loss.seeds, inputs, directions)?;
                Ok(DualNumbers::of_hessian(found))
            }
            LaneTask::JacobianProduct { along, .. } => {
                let found = matrices::jacobian_product(subject, &outputs(plan), inputs, &along.components)?;
                let JacobianProduct { values, product, verification_report, .. } = found;
                Ok(DualNumbers { values, gradient: Vec::new(), rows: vec![product], verification_report })
            }
            _ => {
                let seeds = plan.losses.first().map_or(&[][..], |loss| &loss.seeds);
                Ok(DualNumbers::of_hessian(matrices::hessian(subject, seeds, inputs)?))
            }
        }
    }

    fn of_hessian(found: Hessian) -> DualNumbers {
        let Hessian { values, gradient, products, verification_report, .. } = found;
        DualNumbers { values, gradient, rows: products, verification_report }
    }
}

/// Returns the variables of a plan's losses, in order.
pub(super) fn outputs(plan: &LanePlan) -> Vec<Variable> {
    let of = |loss: &LossCell| loss.shared.variables.clone();
    plan.losses.iter().flat_map(of).collect()
}
