//! Taylor series of programs with derivative rules. A rule acts only in a reverse sweep, so a forward run over series
//! would ignore it. The rules define the gradient g of each result. Along a direction v, the series is the integral of
//! v·g: coefficient k of the result is coefficient k-1 of v·g, divided by k. A reverse sweep over Taylor numbers
//! computes the series of g.

use crate::allocation;
use crate::interp::engine::Interpreted;

use super::pass::{PassHistory, SweepEnd, sweeps};
use super::series_run::{MAX_ORDER, Series, lost_along, origins_of};
use super::{DifferentiateError, Subject, Variable, VerificationReport};

/// Taylor coefficients of each result, and the verification report of the sweeps.
type Integrated = (Vec<Vec<f64>>, VerificationReport);

/// Computes the Taylor coefficients of results up to `order`, by a reverse sweep for each result. `moving` lists the
/// inputs that the direction changes, with their components.
///
/// # Errors
/// A trap or the step limit.
pub(super) fn integrated_gradients(
    subject: &Subject,
    outputs: &[Variable],
    moving: &[(&Variable, f64)],
    order: usize,
) -> Result<Integrated, DifferentiateError> {
    let order = order.min(MAX_ORDER);
    // The first coefficient needs the gradient only at the start, so the values need no derivatives along the direction.
    match order {
        0 | 1 => integrated::<u64>(subject, outputs, moving, order),
        _ => integrated::<Series>(subject, outputs, moving, order),
    }
}

/// Integrates the gradient of each result. The numbers `B` have at least `order` coefficients.
fn integrated<B: Interpreted>(
    subject: &Subject,
    outputs: &[Variable],
    moving: &[(&Variable, f64)],
    order: usize,
) -> Result<Integrated, DifferentiateError> {
    // Series are always checked.
    let subject = if subject.level.is_checked() { subject.clone() } else { subject.checked() };
    let subject = &subject.with_strategy_where_needed();
    let mut losses = allocation::with_capacity(outputs.len())?;
    for output in outputs {
        losses.push(subject.seeds_of(output)?);
    }
    let direction = origins_of(moving)?;
    let start = subject.series_start::<B>(&direction)?;
    let sweeps = sweeps(subject, PassHistory::of(subject), &start, &losses, |sweep_end| {
        let mut coefficients = allocation::with_capacity(order + 1)?;
        let value = sweep_end.turn.values.first().copied().unwrap_or_default();
        coefficients.push(subject.approximate(value));
        coefficients.extend((1..=order).map(|k| slope(subject, &sweep_end, moving, k - 1) / k as f64));
        Ok((coefficients, sweep_end.reports, sweep_end.loss_error))
    })?;
    let mut verification_report =
        VerificationReport { recomputed: sweeps.recomputed, ..VerificationReport::default() };
    let mut coefficients = allocation::with_capacity(outputs.len())?;
    for (series, reports, loss_error) in sweeps.sweep_ends {
        verification_report.add(&reports, loss_error);
        coefficients.push(series);
    }
    // The gradient at the start depends on no higher derivative.
    if order > 1
        && let Some(reports) = lost_along(subject, &losses, (&direction, order))
    {
        verification_report.reports.complete(&reports);
    }
    Ok((coefficients, verification_report))
}

/// Returns coefficient `lane` of the gradient's component along the direction.
fn slope<B: Interpreted>(
    subject: &Subject,
    sweep_end: &SweepEnd<B>,
    moving: &[(&Variable, f64)],
    lane: usize,
) -> f64 {
    let Some(adjoints) = &sweep_end.state.adjoints else { return 0.0 };
    let adjoint = |variable: &Variable| subject.approximate(variable.origin.adjoint(adjoints).lane(lane));
    moving.iter().map(|(input, component)| adjoint(input) * component).sum()
}
