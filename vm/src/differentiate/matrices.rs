//! Derivatives beyond one gradient: tangents, Jacobians, Hessians and Taylor series. Rows and columns are in the order
//! in which the caller names the variables.

use reviver_isa::number::literal_bits;

use crate::allocation::{self, OutOfMemory};
use crate::interp::engine::Interpreted;
use crate::reports::{Loss, Reports};
use crate::state::values::Value;
use crate::state::{Adjoints, State, TapeEntry};
use crate::strategy::{RunCost, UsedStrategy, state_bytes};

use super::origin::Origin;
use super::pass::{PassHistory, forward, sweeps};
use super::ruled_series::integrated_gradients;
use super::seeds::SeededCell;
use super::series_call::{SeriesGoal, SeriesInputs};
use super::series_run::{Series, lost_along, origins_of};
use super::series_state::series_state;
use super::{DifferentiateError, Subject, Variable, VerificationReport};

pub use super::series_run::MAX_ORDER;

/// Taylor coefficients c₀ … of some results along a direction v: f(x + t·v) = Σ c_k·t^k.
#[derive(Clone, Debug)]
pub struct Taylor {
    /// Coefficients of each output, c₀ first.
    pub coefficients: Vec<Vec<f64>>,
    /// Mode of differentiation that was used.
    pub sweep: Sweep,
    /// Verification report of the run.
    pub verification_report: VerificationReport,
}

/// Mode of differentiation of a Jacobian or a Taylor series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Reverse mode: one gradient pass for each output.
    Reverse,
    /// Forward mode: runs over dual numbers, one for each input or direction, or one run over Taylor numbers.
    Forward,
}

/// Partial derivatives of some results with respect to some inputs.
#[derive(Clone, Debug)]
pub struct Jacobian {
    /// Values of the results, as bits.
    pub values: Vec<u64>,
    /// Derivatives: one row for each output, one column for each input.
    pub rows: Vec<Vec<f64>>,
    /// Mode of differentiation that was used.
    pub sweep: Sweep,
    /// Strategy and cost of the reverse sweeps, if a strategy was requested.
    pub reverse_sweeps: Option<ReverseSweeps>,
    /// Verification report of all sweeps together.
    pub verification_report: VerificationReport,
}

/// Product of a Jacobian with a direction.
#[derive(Clone, Debug)]
pub struct JacobianProduct {
    /// Values of the results, as bits.
    pub values: Vec<u64>,
    /// Product: one component for each output.
    pub product: Vec<f64>,
    /// Mode of differentiation that was used.
    pub sweep: Sweep,
    /// Strategy and cost of the reverse sweeps, if a strategy was requested.
    pub reverse_sweeps: Option<ReverseSweeps>,
    /// Verification report of all sweeps together.
    pub verification_report: VerificationReport,
}

/// Value, gradient and second derivatives of a loss or seeded sum.
#[derive(Clone, Debug)]
pub struct Hessian {
    /// Values of the seeded cells, as bits.
    pub values: Vec<u64>,
    /// First derivatives: one component for each input.
    pub gradient: Vec<f64>,
    /// Products of the Hessian, one row for each direction. With unit directions they are the Hessian itself.
    pub products: Vec<Vec<f64>>,
    /// Strategy and cost of the reverse sweeps, if a strategy was requested.
    pub reverse_sweeps: Option<ReverseSweeps>,
    /// Verification report of all sweeps together.
    pub verification_report: VerificationReport,
}

/// Strategy of several reverse sweeps, and their total cost.
#[derive(Clone, Copy, Debug)]
pub struct ReverseSweeps {
    /// Strategy of the sweeps, and the reason for it.
    pub taken: UsedStrategy,
    /// Total steps of the primal sweeps.
    pub steps: u64,
    /// Total cost of the sweeps. The memory in this total is the maximum over the sweeps, not the sum.
    pub cost: RunCost,
}

impl ReverseSweeps {
    /// Adds one more sweep, if a strategy was requested.
    fn add(all: &mut Option<ReverseSweeps>, taken: Option<UsedStrategy>, primal_steps: u64, cost: RunCost) {
        let Some(taken) = taken else { return };
        let (steps, progress) =
            all.map_or_else(Default::default, |reverse_sweeps| (reverse_sweeps.steps, reverse_sweeps.cost));
        *all = Some(ReverseSweeps { taken, steps: steps + primal_steps, cost: progress.and(cost) });
    }
}

/// Returns the size in bytes of the initial state of a Hessian pass. The numbers of this state are dual numbers:
/// values, and their derivatives along one direction.
///
/// # Errors
/// A memory request was refused.
pub fn series_bytes(start: &State) -> Result<usize, OutOfMemory> {
    series_state::<[u64; 2]>(start).map(|series_start| state_bytes(&series_start))
}

/// Result of a forward run over dual numbers.
pub(super) struct TangentRun {
    pub state: State<[u64; 2]>,
    pub reports: Reports,
}

impl Subject {
    /// Returns the bits of the number nearest to `value` in the program's number system.
    pub fn number(&self, value: f64) -> u64 {
        literal_bits(self.program.module().real, value)
    }

    pub(super) fn approximate(&self, bits: u64) -> f64 {
        self.program.approximate(Value::Real(bits))
    }

    /// Iterates over the reals of the input tape, in the order of reading.
    pub(super) fn on_tape(&self) -> impl Iterator<Item = Origin> {
        let entries = self.start.input.iter().enumerate().rev();
        entries.filter(|(_, entry)| matches!(entry, TapeEntry::Real(_))).map(|(n, _)| Origin::Tape(n))
    }

    /// Returns the numbers at some locations of the start state, converted to binary64.
    pub(super) fn numbers(&self, origins: &[Origin]) -> Result<Vec<f64>, OutOfMemory> {
        allocation::mapped(origins, |origin| self.approximate(origin.read(&self.start).unwrap_or_default()))
    }

    /// Runs forward over dual numbers. The tangents of the inputs at the start are the components of `direction`.
    pub(super) fn tangents(&self, direction: &[(Origin, f64)]) -> Result<TangentRun, DifferentiateError> {
        let machine = forward(self, self.machine(self.series_start(direction)?))?;
        let reports = machine.reports().clone();
        Ok(TangentRun { state: machine.into_state(), reports })
    }
}

/// Computes a Jacobian in reverse mode, with a sweep for each output, or in forward mode, with a sweep for each input.
/// The mode with fewer sweeps is used. Two cases always use reverse mode. If a procedure has a rule, a forward run
/// would ignore the rule and differentiate the procedure itself. If the run reaches a function without a derivative,
/// only a sweep for each output shows which outputs are affected.
///
/// # Errors
/// A trap or the step limit.
pub fn jacobian(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
) -> Result<Jacobian, DifferentiateError> {
    let subject = &subject.prepared(outputs, inputs, false);
    if outputs.len() <= inputs.len() || subject.program.has_rules {
        return by_output(subject, outputs, inputs);
    }
    match by_input(subject, outputs, inputs) {
        Err(DifferentiateError::Trap { explanation, .. }) if explanation.cause.is_about_derivatives() => {
            by_output(subject, outputs, inputs)
        }
        Ok(found) if found.verification_report.reports.has(Loss::Hidden) => {
            by_output(subject, outputs, inputs)
        }
        found => found,
    }
}

fn by_output(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
) -> Result<Jacobian, DifferentiateError> {
    let mut losses = allocation::with_capacity(outputs.len())?;
    for output in outputs {
        losses.push(subject.seeds_of(output)?);
    }
    let sweeps = sweeps(subject, PassHistory::of(subject), &subject.start, &losses, |sweep_end| {
        let adjoints = sweep_end.state.adjoints.unwrap_or_default();
        let primal_steps = sweep_end.turn.at.step.abs_diff(subject.start.step);
        let totals = (sweep_end.taken, primal_steps, sweep_end.cost);
        let row = (sweep_end.turn.values, subject.components(&adjoints, 0, inputs)?);
        Ok((row, sweep_end.reports, sweep_end.loss_error, totals))
    })?;
    let mut verification_report =
        VerificationReport { recomputed: sweeps.recomputed, ..VerificationReport::default() };
    let (mut values, mut rows) =
        (allocation::with_capacity(outputs.len())?, allocation::with_capacity(outputs.len())?);
    let mut reverse_sweeps = None;
    for ((value, row), reports, error, (taken, primal_steps, cost)) in sweeps.sweep_ends {
        verification_report.add(&reports, error);
        ReverseSweeps::add(&mut reverse_sweeps, taken, primal_steps, cost);
        values.extend(value);
        rows.push(row);
    }
    Ok(Jacobian { values, rows, sweep: Sweep::Reverse, reverse_sweeps, verification_report })
}

fn by_input(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
) -> Result<Jacobian, DifferentiateError> {
    let cells = cells(subject, outputs)?;
    let mut rows = allocation::with_capacity(outputs.len())?;
    for _ in outputs {
        rows.push(allocation::with_capacity(inputs.len())?);
    }
    let (mut values, mut verification_report) = (Vec::new(), VerificationReport::default());
    let mut runs = TangentRuns::new(subject, &cells, inputs)?;
    for n in 0..inputs.len() {
        let run = runs.along((0..inputs.len()).map(|m| if m == n { 1.0 } else { 0.0 }), inputs.len() - n)?;
        verification_report.add(&run.reports, Some(0.0));
        for (row, tangent) in rows.iter_mut().zip(run.tangents) {
            row.push(tangent);
        }
        values = run.values;
    }
    Ok(Jacobian { values, rows, sweep: Sweep::Forward, reverse_sweeps: None, verification_report })
}

/// Computes the product of the Jacobian with a direction (components in the order of the inputs), by one run over dual
/// numbers. In the two cases in which [`jacobian`] always uses reverse mode, there is a reverse sweep for each output
/// instead. An input with component 0 doesn't move, so the derivative with respect to it may be undefined.
///
/// # Errors
/// A trap or the step limit.
pub fn jacobian_product(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
    direction: &[f64],
) -> Result<JacobianProduct, DifferentiateError> {
    let moving = moving(inputs, direction)?;
    let mut moved = allocation::with_capacity(moving.len())?;
    moved.extend(moving.iter().map(|(input, _)| Variable::clone(input)));
    let subject = &subject.prepared(outputs, &moved, false);
    let by_rows = || {
        let rows = by_output(subject, outputs, &moved)?;
        let along = |row: &Vec<f64>| row.iter().zip(&moving).map(|(by, (_, component))| by * component).sum();
        let product = allocation::mapped(&rows.rows, along)?;
        let Jacobian { values, sweep, reverse_sweeps, verification_report, .. } = rows;
        Ok(JacobianProduct { values, product, sweep, reverse_sweeps, verification_report })
    };
    if subject.program.has_rules {
        return by_rows();
    }
    match by_direction(subject, outputs, &moving) {
        Err(DifferentiateError::Trap { explanation, .. }) if explanation.cause.is_about_derivatives() => {
            by_rows()
        }
        Ok(found) if found.verification_report.reports.has(Loss::Hidden) => by_rows(),
        found => found,
    }
}

fn by_direction(
    subject: &Subject,
    outputs: &[Variable],
    moving: &[(&Variable, f64)],
) -> Result<JacobianProduct, DifferentiateError> {
    let (cells, inputs) =
        (cells(subject, outputs)?, allocation::mapped(moving, |(input, _)| (*input).clone())?);
    let mut runs = TangentRuns::new(subject, &cells, &inputs)?;
    let run = runs.along(moving.iter().map(|&(_, component)| component), 1)?;
    let mut verification_report = VerificationReport::default();
    verification_report.add(&run.reports, Some(0.0));
    let (values, product) = (run.values, run.tangents);
    Ok(JacobianProduct { values, product, sweep: Sweep::Forward, reverse_sweeps: None, verification_report })
}

/// Runs over dual numbers that compute the tangents of the same results. If the engine has compiled code for these
/// runs, the compiled code executes them.
struct TangentRuns<'s> {
    subject: &'s Subject,
    cells: &'s [usize],
    inputs: &'s [Variable],
    compiled: Option<(Vec<SeededCell>, SeriesInputs)>,
    /// Number of steps of the last run; 0 before the first.
    steps: u64,
}

/// Results of a run over dual numbers.
struct Tangents {
    /// Values of the results, as bits.
    values: Vec<u64>,
    /// Derivative of each result along the direction.
    tangents: Vec<f64>,
    reports: Reports,
}

impl<'s> TangentRuns<'s> {
    /// Prepares for runs that compute the tangents of the results in `cells`, along directions that change the inputs.
    fn new(
        subject: &'s Subject,
        cells: &'s [usize],
        inputs: &'s [Variable],
    ) -> Result<TangentRuns<'s>, OutOfMemory> {
        let outputs = allocation::mapped(cells, |&cell| SeededCell::loss(&subject.program, cell))?;
        let compiled = SeriesInputs::of(inputs)?.map(|inputs| (outputs, inputs));
        Ok(TangentRuns { subject, cells, inputs, compiled, steps: 0 })
    }

    /// Runs along a direction with a component for each input. `left` is the number of runs that are still to do,
    /// including this one.
    fn along(
        &mut self,
        direction: impl Iterator<Item = f64> + Clone,
        left: usize,
    ) -> Result<Tangents, DifferentiateError> {
        let TangentRuns { subject, cells, .. } = *self;
        let goal = SeriesGoal::Run { order: 1, rejects_ties: false };
        if let Some((outputs, inputs)) = &mut self.compiled
            && let Some(mut found) = subject.series_call(
                (goal, outputs),
                inputs,
                direction.clone(),
                self.steps.saturating_mul(left as u64),
            )?
        {
            self.steps = found.steps;
            let tangents = found.values.pop().unwrap_or_default();
            let tangents = allocation::mapped(&tangents, |&bits| subject.approximate(bits))?;
            let values = found.values.pop().unwrap_or_default();
            return Ok(Tangents { values, tangents, reports: Reports::default() });
        }
        let mut moves = allocation::with_capacity(self.inputs.len())?;
        let moving = self.inputs.iter().zip(direction).filter(|(_, component)| *component != 0.0);
        moves.extend(moving.map(|(input, component)| (input.origin, component)));
        let run = subject.tangents(&moves)?;
        self.steps = run.state.step.abs_diff(subject.start.step);
        let values = allocation::mapped(cells, |&cell| word_of(&run.state.reals, 0, cell))?;
        let tangent = |&cell: &usize| subject.approximate(word_of(&run.state.reals, 1, cell));
        Ok(Tangents { values, tangents: allocation::mapped(cells, tangent)?, reports: run.reports })
    }
}

/// Returns the inputs that a direction moves, each with its component.
fn moving<'v>(inputs: &'v [Variable], direction: &[f64]) -> Result<Vec<(&'v Variable, f64)>, OutOfMemory> {
    let mut moving = allocation::with_capacity(inputs.len())?;
    moving.extend(inputs.iter().zip(direction.iter().copied()).filter(|(_, component)| *component != 0.0));
    Ok(moving)
}

impl Subject {
    /// Returns the coefficient with index `lane` of the adjoint of each variable, as a binary64 number. Coefficient 0
    /// is the adjoint itself. If adjoints are dual numbers, coefficient 1 is the derivative of the adjoint along the
    /// direction.
    ///
    /// # Errors
    /// A memory request was refused.
    pub fn components<B: Interpreted>(
        &self,
        adjoints: &Adjoints<B>,
        lane: usize,
        variables: &[Variable],
    ) -> Result<Vec<f64>, OutOfMemory> {
        let component = |variable: &Variable| variable.origin.adjoint(adjoints).lane(lane);
        allocation::mapped(variables, |variable| self.approximate(component(variable)))
    }
}

/// Returns the cells of some results.
fn cells(subject: &Subject, outputs: &[Variable]) -> Result<Vec<usize>, DifferentiateError> {
    let mut cells = allocation::with_capacity(outputs.len())?;
    for output in outputs {
        cells.push(subject.cell(output)?);
    }
    Ok(cells)
}

fn word_of<B: Interpreted>(bits: &[B], lane: usize, cell: usize) -> u64 {
    bits.get(cell).copied().unwrap_or_default().lane(lane)
}

/// Computes products of the Hessian of a seeded sum with directions (components in the order of the inputs). Each
/// product takes one gradient pass over dual numbers.
///
/// # Errors
/// A trap or the step limit; a rule that is not the gradient of any function.
pub fn hessian_products(
    subject: &Subject,
    seeds: &[SeededCell],
    inputs: &[Variable],
    directions: &[Vec<f64>],
) -> Result<Hessian, DifferentiateError> {
    let subject = &subject.prepared_for_seeds(seeds, inputs, false);
    // A test of symmetry needs at least two directions. If the caller has only one, a second one is added.
    let further = subject.program.has_rules.then(|| patternless(inputs.len()).collect::<Vec<f64>>());
    let all = directions.iter().chain(&further);
    let mut hessian = products(subject, seeds, inputs, all.map(|direction| direction.iter().copied()))?;
    if let Some(further) = further {
        let all: Vec<&[f64]> = directions.iter().chain([&further]).map(Vec::as_slice).collect();
        check_symmetry(subject, &hessian, |n, m| {
            let product = hessian.products.get(n).map_or(&[][..], Vec::as_slice);
            product.iter().zip(all.get(m).copied().unwrap_or_default()).map(|(a, b)| a * b).sum()
        })?;
        hessian.products.truncate(directions.len());
    }
    Ok(hessian)
}

/// Returns a vector of length 1 whose components have no pattern, so that terms don't cancel by chance.
pub fn patternless(count: usize) -> impl Iterator<Item = f64> {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let component = move |n: usize| 0.5 + (n as f64 * golden).fract();
    let length = (1..=count).map(|n| component(n).powi(2)).sum::<f64>().sqrt();
    (1..=count).map(move |n| component(n) / length)
}

/// Fails if second derivatives depend on the order of differentiation. In that case, the derivative rule of some
/// procedure isn't the adjoint of any function. `entry(n, m)` is the scalar product of the Hessian's product `n` with
/// direction `m`.
fn check_symmetry(
    subject: &Subject,
    hessian: &Hessian,
    entry: impl Fn(usize, usize) -> f64,
) -> Result<(), DifferentiateError> {
    let count = hessian.products.len();
    let pairs = || (0..count).flat_map(|n| (0..n).map(move |m| (n, m)));
    let largest = hessian.products.iter().flatten().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    let rounding = subject.program.ulp(subject.number(1.0)).sqrt() * largest;
    match pairs().any(|(n, m)| (entry(n, m) - entry(m, n)).abs() > rounding) {
        true => Err(DifferentiateError::Asymmetric),
        false => Ok(()),
    }
}

/// Computes the Hessian's products with directions. Each direction is generated when it is needed, so that only one
/// direction at a time takes memory.
fn products<D: Iterator<Item = f64> + Clone>(
    subject: &Subject,
    seeds: &[SeededCell],
    inputs: &[Variable],
    mut directions: impl Iterator<Item = D>,
) -> Result<Hessian, DifferentiateError> {
    let outputs = [allocation::copied(seeds)?];
    let mut history = PassHistory::of(subject);
    let (gradient, products, verification_report) = (Vec::new(), Vec::new(), VerificationReport::default());
    let mut hessian =
        Hessian { values: Vec::new(), gradient, products, reverse_sweeps: None, verification_report };
    let goal = if history == PassHistory::Nothing { subject.product_goal(seeds)? } else { None };
    let mut compiled = goal.zip(SeriesInputs::of(inputs)?);
    // The length of the primal sweep, once it is known.
    let mut steps = 0_u64;
    while let Some(direction) = directions.next() {
        let left = directions.size_hint().0 as u64 + 1;
        let avoided_steps = steps.saturating_mul(2).saturating_mul(left);
        if let Some((goal, inputs)) = &mut compiled
            && let Some(found) =
                subject.series_call((*goal, seeds), inputs, direction.clone(), avoided_steps)?
        {
            let numbers = |bits: &[u64]| allocation::mapped(bits, |&bits| subject.approximate(bits));
            let [gradient, product] = &found.adjoints;
            (hessian.gradient, steps) = (numbers(gradient)?, found.steps);
            hessian.products.push(numbers(product)?);
            hessian.values = found.values.into_iter().next().unwrap_or_default();
            hessian.verification_report.add(&Reports::default(), found.loss_error);
            continue;
        }
        let mut components = allocation::with_capacity(inputs.len())?;
        let origins = inputs.iter().map(|input| input.origin);
        components.extend(origins.zip(direction));
        let start = subject.series_start::<[u64; 2]>(&components)?;
        let sweeps = sweeps(subject, history, &start, &outputs, Ok)?;
        for sweep_end in sweeps.sweep_ends {
            hessian.values = sweep_end.turn.values;
            hessian.verification_report.add(&sweep_end.reports, sweep_end.loss_error);
            let primal_steps = sweep_end.turn.at.step.abs_diff(start.step);
            ReverseSweeps::add(&mut hessian.reverse_sweeps, sweep_end.taken, primal_steps, sweep_end.cost);
            // The primal sweep has the same length for all directions, so the later passes know its length.
            history = history.of_length(primal_steps);
            steps = primal_steps;
            let adjoints = sweep_end.state.adjoints.unwrap_or_default();
            hessian.gradient = subject.components(&adjoints, 0, inputs)?;
            hessian.products.push(subject.components(&adjoints, 1, inputs)?);
        }
        // A sweep that diverged once would diverge again.
        if sweeps.recomputed.is_some() {
            history = PassHistory::recomputing(subject);
            compiled = None;
            hessian.verification_report.recomputed = sweeps.recomputed;
        }
    }
    if let Some(reports) = curved(subject, &outputs, inputs) {
        hessian.verification_report.reports.complete(&reports);
    }
    Ok(hessian)
}

/// Finds losses of information in the primal sweep that affect second derivatives only; dual numbers don't detect them.
/// The inputs move in a direction without a pattern, in which second derivatives don't cancel by chance. Returns `None`
/// if the run fails.
fn curved(subject: &Subject, outputs: &[Vec<SeededCell>], inputs: &[Variable]) -> Option<Reports> {
    let goal = SeriesGoal::Run { order: 2, rejects_ties: true };
    if let ([seeds], Some(mut moving)) = (outputs, SeriesInputs::of(inputs).ok()?)
        && subject.series_call((goal, seeds), &mut moving, patternless(inputs.len()), 0).ok()?.is_some()
    {
        return Some(Reports::default());
    }
    let mut direction = allocation::with_capacity(inputs.len()).ok()?;
    direction.extend(inputs.iter().map(|input| input.origin).zip(patternless(inputs.len())));
    lost_along(subject, outputs, (&direction, 2))
}

/// Computes the Hessian of a seeded sum: its product with each unit direction.
///
/// # Errors
/// A trap or the step limit.
pub fn hessian(
    subject: &Subject,
    seeds: &[SeededCell],
    inputs: &[Variable],
) -> Result<Hessian, DifferentiateError> {
    let count = inputs.len();
    let subject = &subject.prepared_for_seeds(seeds, inputs, false);
    let unit = |n: usize| (0..count).map(move |m| if m == n { 1.0 } else { 0.0 });
    let hessian = products(subject, seeds, inputs, (0..count).map(unit))?;
    if subject.program.has_rules {
        let entry = |n: usize, m: usize| hessian.products.get(n).and_then(|row| row.get(m)).copied();
        check_symmetry(subject, &hessian, |n, m| entry(n, m).unwrap_or_default())?;
    }
    Ok(hessian)
}

/// Computes the Taylor coefficients of results up to `order` along a direction, by one forward run. If a procedure has a
/// rule, there is a reverse sweep for each output instead, because a forward run would ignore the rule. `direction` has
/// a component for each input, in the order of the inputs. An input with component 0 is constant, so derivatives with
/// respect to that input may be undefined.
///
/// # Errors
/// A trap or the step limit.
pub fn taylor(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
    direction: &[f64],
    order: usize,
) -> Result<Taylor, DifferentiateError> {
    let moving = moving(inputs, direction)?;
    let mut moved = allocation::with_capacity(moving.len())?;
    moved.extend(moving.iter().map(|(input, _)| Variable::clone(input)));
    let subject = &subject.prepared(outputs, &moved, false);
    if subject.program.has_rules {
        let (coefficients, verification_report) = integrated_gradients(subject, outputs, &moving, order)?;
        return Ok(Taylor { coefficients, sweep: Sweep::Reverse, verification_report });
    }
    let cells = cells(subject, outputs)?;
    if let Some(coefficients) = compiled_taylor(subject, &cells, (&moved, &moving), order)? {
        let verification_report = VerificationReport::default();
        return Ok(Taylor { coefficients, sweep: Sweep::Forward, verification_report });
    }
    let start = subject.series_start::<Series>(&origins_of(&moving)?)?;
    let mut machine = subject.machine(start);
    machine.report_in(Reports::up_to(order));
    let machine = forward(subject, machine)?;
    let reals = &machine.state().reals;
    let mut series = allocation::with_capacity(outputs.len())?;
    for cell in cells {
        let mut coefficients = allocation::with_capacity(MAX_ORDER + 1)?;
        let lanes = 0..=order.min(MAX_ORDER);
        coefficients.extend(lanes.map(|lane| subject.approximate(word_of(reals, lane, cell))));
        series.push(coefficients);
    }
    let mut verification_report = VerificationReport::default();
    verification_report.add(machine.reports(), Some(0.0));
    Ok(Taylor { coefficients: series, sweep: Sweep::Forward, verification_report })
}

/// Computes the Taylor coefficients of the results in `cells` by compiled code. Returns `None` if compiled code can't
/// compute them.
fn compiled_taylor(
    subject: &Subject,
    cells: &[usize],
    (moved, moving): (&[Variable], &[(&Variable, f64)]),
    order: usize,
) -> Result<Option<Vec<Vec<f64>>>, DifferentiateError> {
    let Some(mut inputs) = SeriesInputs::of(moved)? else { return Ok(None) };
    let outputs = allocation::mapped(cells, |&cell| SeededCell::loss(&subject.program, cell))?;
    let goal = SeriesGoal::Run { order, rejects_ties: true };
    let direction = moving.iter().map(|&(_, component)| component);
    let Some(found) = subject.series_call((goal, &outputs), &mut inputs, direction, 0)? else {
        return Ok(None);
    };
    let mut series = allocation::with_capacity(cells.len())?;
    for n in 0..cells.len() {
        let mut coefficients = allocation::with_capacity(order + 1)?;
        let bits = found.values.iter().map(|of_results| of_results.get(n).copied().unwrap_or_default());
        coefficients.extend(bits.map(|bits| subject.approximate(bits)));
        series.push(coefficients);
    }
    Ok(Some(series))
}
