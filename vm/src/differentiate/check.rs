//! Verification of derivatives by two other methods: tangents (dual numbers, run forward), and finite differences of
//! runs at nearby inputs. Each comparison has an error estimate; a larger deviation counts as a disagreement.
//!
//! A tangent follows the same branches as the run that is differentiated, so neither the tangent nor the checked
//! derivative shows that a derivative doesn't exist. At a kink, or at a branch that only this input takes, both are the
//! derivative of one piece. Runs at nearby inputs may take other branches, so only finite differences make a derivative
//! *verified*. Runs on either side of the input (*below* and *above* it along the direction), at halved distances, give
//! two one-sided derivatives. If the two differ, there is a kink, and the derivative doesn't exist.

use super::matrices::{Hessian, Jacobian, JacobianProduct, Sweep, TangentRun};
use super::origin::Origin;
use super::pass::{Gradient, forward};
use super::seeds::{SeededCell, SumSize, seeded_sum};
use super::suspended::seeded_gradient;
use super::{DifferentiateError, Subject, Variable};
use crate::allocation::{self, OutOfMemory};
use crate::machine::Machine;
use crate::reports::Reports;
use crate::state::State;
use crate::state::lanes::Lanes;
use crate::watch::Watch;

/// If there are at most this many inputs, each input is also moved alone. If there are more, the inputs are only moved
/// together.
const FEW: usize = 16;
/// Number of step sizes of a difference. Each step size is half of the previous one.
const LEVELS: usize = 10;
/// Number of further step sizes, which are tried if a one-sided derivative doesn't converge, or if the two sides seem
/// to differ.
const MORE_LEVELS: usize = 12;
/// First step size, relative to the size of the inputs.
const FIRST_STEP: f64 = 1.0 / 64.0;
/// Factor by which rounding errors may grow during a run.
const GROWTH: f64 = 1e6;
/// Error allowed for terms that cancel inside the program, in units in the last place of the terms.
const CANCELLED: f64 = 1e3;
/// Factor by which an extrapolated error is multiplied to get an error bound. The extrapolated error alone is only an
/// estimate.
const SAFETY: f64 = 8.0;
/// Maximum relative error of a difference quotient that counts as evidence. The error is relative to the derivative or
/// to `Differences::scale`, whichever is larger.
const EVIDENCE: f64 = 1e-2;

/// Number with an error bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Estimated number, such as a directional derivative.
    pub value: f64,
    /// Bound on the absolute error of the value. A derivative that deviates from the value by at most this bound
    /// agrees.
    pub error: f64,
}

/// Outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The estimates that the verdict uses agree with the derivative within their errors.
    Verified,
    /// An estimate that the verdict uses differs from the derivative by more than the estimate's error.
    Differs,
    /// No estimate decides, for the given reason.
    NotVerified(Unverified),
}

/// Reason why a derivative is neither confirmed nor refuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unverified {
    /// There is no real input to move.
    NoInput,
    /// No difference quotient converges: nearby runs trap, or the result jumps.
    NoDifference,
    /// The one-sided derivatives differ, and the checked derivative is between them.
    Kink,
}

impl Unverified {
    /// Returns a short name for machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            Unverified::NoInput => "no-input",
            Unverified::NoDifference => "no-difference",
            Unverified::Kink => "kink",
        }
    }
}

/// Directional derivative with its estimates by other methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Index of the result among the differentiated results. A Hessian's results are the components of the gradient,
    /// followed by the loss.
    pub output: usize,
    /// Index of the moved input. The list consists of the inputs, followed by the reals of the input tape in the order
    /// of reading. `None` if all inputs move at once.
    pub input: Option<usize>,
    /// The derivative to be verified, along the direction.
    pub derivative: f64,
    /// Estimate by dual numbers; `None` if the derivative itself was computed by them.
    pub tangent: Option<Estimate>,
    /// Estimate by central differences; `None` if nearby runs take another path, or if the differences don't converge.
    pub difference: Option<Estimate>,
    /// Estimates by one-sided differences, below and above, whichever path the nearby runs take; `None` if they don't
    /// converge.
    pub sides: [Option<Estimate>; 2],
}

impl Comparison {
    /// Returns true if an estimate agrees with the derivative within its error.
    pub fn is_close(&self, estimate: Estimate) -> bool {
        (estimate.value - self.derivative).abs() <= estimate.error
    }

    /// Returns the verdict of all estimates. A tangent that disagrees refutes the derivative, even if the finite
    /// differences agree.
    pub fn verdict(&self) -> Verdict {
        let of = |agrees: bool| if agrees { Verdict::Verified } else { Verdict::Differs };
        let close = |estimate: Estimate| self.is_close(estimate);
        if self.tangent.is_some_and(|tangent| !close(tangent)) {
            return Verdict::Differs;
        }
        match self.sides {
            [Some(below), Some(above)] if is_kink([below, above]) => {
                let low = (below.value - below.error).min(above.value - above.error);
                let high = (below.value + below.error).max(above.value + above.error);
                let is_between = (low..=high).contains(&self.derivative);
                if is_between { Verdict::NotVerified(Unverified::Kink) } else { Verdict::Differs }
            }
            [Some(below), Some(above)] => of(self.difference.map_or(close(below) && close(above), close)),
            [Some(side), None] | [None, Some(side)] => of(close(side)),
            [None, None] => {
                self.difference.map_or(Verdict::NotVerified(Unverified::NoDifference), |d| of(close(d)))
            }
        }
    }

    /// Returns the differences on which the verdict is based: the central difference if it exists, otherwise the
    /// one-sided differences.
    pub fn differences(&self) -> impl Iterator<Item = Estimate> {
        let is_kink = matches!(self.sides, [Some(below), Some(above)] if is_kink([below, above]));
        let central = self.difference.filter(|_| !is_kink);
        let sides = if central.is_some() { [None, None] } else { self.sides };
        central.into_iter().chain(sides.into_iter().flatten())
    }
}

/// Returns true if the one-sided derivatives differ.
fn is_kink([below, above]: [Estimate; 2]) -> bool {
    (above.value - below.value).abs() > above.error + below.error
}

/// Comparisons of some derivatives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    /// One comparison for each checked derivative; empty if no input is real.
    pub comparisons: Vec<Comparison>,
    /// Reports of the tangent runs: freed cells and conversions that depend on an input.
    pub reports: Reports,
}

impl Check {
    /// Returns the joint verdict: `Differs` if any derivative differs, otherwise the first `NotVerified`, otherwise
    /// `Verified`. Without comparisons the verdict is `NotVerified`.
    pub fn verdict(&self) -> Verdict {
        let verdicts = || self.comparisons.iter().map(Comparison::verdict);
        let is_open = |verdict: &Verdict| matches!(verdict, Verdict::NotVerified(_));
        if self.comparisons.is_empty() {
            return Verdict::NotVerified(Unverified::NoInput);
        }
        let differs = verdicts().find(|verdict| *verdict == Verdict::Differs);
        differs.or_else(|| verdicts().find(is_open)).unwrap_or(Verdict::Verified)
    }

    /// Returns true if all derivatives are verified, and false if at least one differs. Otherwise returns `None`.
    pub fn agrees(&self) -> Option<bool> {
        match self.verdict() {
            Verdict::Verified => Some(true),
            Verdict::Differs => Some(false),
            Verdict::NotVerified(_) => None,
        }
    }
}

/// Verifies a gradient by tangents and differences. All inputs and the reals of the input tape move together in one
/// direction. If there are few inputs (at most `FEW`), each input is also moved alone.
///
/// # Errors
/// A trap or the step limit in a tangent run.
pub fn check(
    subject: &Subject,
    seeds: &[SeededCell],
    inputs: &[Variable],
    gradient: &Gradient,
) -> Result<Check, DifferentiateError> {
    let origins = origins(subject, inputs, true)?;
    let adjoint = |origin: &Origin| subject.approximate(origin.adjoint(&gradient.adjoints));
    let row = allocation::mapped(&origins, adjoint)?;
    check_rows(subject, &[allocation::copied(seeds)?], &origins, &[row])
}

/// Verifies a Jacobian in the same way in which [`check`] verifies a gradient.
///
/// # Errors
/// A trap or the step limit in a tangent run.
pub fn check_jacobian(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
    jacobian: &Jacobian,
) -> Result<Check, DifferentiateError> {
    check_rows(subject, &results_of(subject, outputs)?, &origins(subject, inputs, false)?, &jacobian.rows)
}

/// Verifies a Jacobian-vector product by differences along its direction. If reverse sweeps computed the product, dual
/// numbers verify it, too.
///
/// # Errors
/// A trap or the step limit in the run from the unmoved start, or in a tangent run.
pub fn check_jacobian_product(
    subject: &Subject,
    outputs: &[Variable],
    (inputs, direction): (&[Variable], &[f64]),
    found: &JacobianProduct,
) -> Result<Check, DifferentiateError> {
    let subject = &subject.without_shows();
    let origins = origins(subject, inputs, false)?;
    let (start, results) = (subject.numbers(&origins)?, results_of(subject, outputs)?);
    let mut check = Check::default();
    if direction.iter().all(|&part| part == 0.0) {
        return Ok(check);
    }
    let probe = Probe { subject, origins: &origins, start: &start, parts: direction.to_vec() };
    let tangents = match found.sweep {
        Sweep::Forward => None,
        Sweep::Reverse => Some(subject.tangents(&probe.moves()?)?),
    };
    tangents.iter().for_each(|run| check.reports.absorb(&run.reports));
    let differences = probe.differences(&|state| values_at(subject, &results, state), &[])?;
    for (output, ((differences, &derivative), seeds)) in
        differences.into_iter().zip(&found.product).zip(&results).enumerate()
    {
        let rounding = probe.rounding(&[derivative], &[], differences.here.size, differences.steps);
        let tangent = tangents.as_ref().map(|run| probe.tangent(run, seeds, rounding)).transpose()?;
        check.comparisons.push(differences.compared((output, None), derivative, tangent, rounding));
    }
    Ok(check)
}

/// Returns a seeded sum for each result. The sum has a single term, the result itself.
fn results_of(subject: &Subject, outputs: &[Variable]) -> Result<Vec<Vec<SeededCell>>, DifferentiateError> {
    let mut results = allocation::with_capacity(outputs.len())?;
    for output in outputs {
        results.push(subject.seeds_of(output)?);
    }
    Ok(results)
}

/// Verifies a Hessian by differences of gradients. Verifies the gradient too, in the same way as [`check`]. `along` is
/// the direction of the Hessian's single product. If it is `None`, the Hessian has a product for each unit direction.
///
/// # Errors
/// A trap or the step limit in the gradient at the unmoved start.
pub fn check_hessian(
    subject: &Subject,
    loss: &Variable,
    inputs: &[Variable],
    hessian: &Hessian,
    along: Option<&[f64]>,
) -> Result<Check, DifferentiateError> {
    let found = (&hessian.gradient[..], &hessian.products[..]);
    check_second_derivatives(subject, &subject.seeds_of(loss)?, inputs, found, along)
}

/// Verifies the first and second derivatives of a seeded sum, as [`check_hessian`] does.
///
/// # Errors
/// A trap or the step limit in the gradient at the unmoved start.
pub fn check_second_derivatives(
    subject: &Subject,
    seeds: &[SeededCell],
    inputs: &[Variable],
    (gradient, products): (&[f64], &[Vec<f64>]),
    along: Option<&[f64]>,
) -> Result<Check, DifferentiateError> {
    let subject = &subject.without_shows();
    let origins = origins(subject, inputs, false)?;
    let start = subject.numbers(&origins)?;
    let gradient_at = |state: State| -> Result<Sample, DifferentiateError> {
        let path = PrimalPath::of(&primal_path(subject, state.try_clone()?)?);
        let found = seeded_gradient(&subject.at(state), seeds)?;
        let components =
            |origin: &Origin| SampledSum::of_number(subject.approximate(origin.adjoint(&found.adjoints)));
        Ok(Sample { path, values: allocation::mapped(&origins, components)? })
    };
    let directions = match along {
        Some(direction) => vec![(None, direction.to_vec())],
        None => directions(&start)?,
    };
    // The Hessian is compared with differences of gradients. If the gradient is wrong, the Hessian may be wrong in the
    // same way, and the comparison doesn't show it. So the gradient is verified first.
    let row = allocation::copied(gradient)?;
    let mut check = check_rows(subject, &[allocation::copied(seeds)?], &origins, &[row])?;
    check.comparisons.iter_mut().for_each(|comparison| comparison.output = inputs.len());
    for (input, parts) in directions {
        let probe = Probe { subject, origins: &origins, start: &start, parts };
        let differences = probe.differences(&gradient_at, if along.is_some() { &[] } else { products })?;
        for (output, differences) in differences.into_iter().enumerate() {
            // The Hessian is symmetric, so its rows are also its columns.
            let row = products.get(output).map_or(&[][..], Vec::as_slice);
            let (derivative, terms) = match along {
                Some(_) => {
                    let product = products.first().and_then(|product| product.get(output)).copied();
                    (product.unwrap_or_default(), vec![product.unwrap_or_default()])
                }
                None => probe.derivative(row)?,
            };
            let value = gradient.get(output).copied().unwrap_or_default();
            let rounding = probe.rounding(&terms, row, value, differences.steps);
            check.comparisons.push(differences.compared((output, input), derivative, None, rounding));
        }
    }
    Ok(check)
}

/// Returns the locations of inputs in the start state. If `with_tape` is true, the locations of the reals on the input
/// tape follow.
fn origins(subject: &Subject, inputs: &[Variable], with_tape: bool) -> Result<Vec<Origin>, OutOfMemory> {
    let on_tape = || subject.on_tape().filter(|_| with_tape);
    let mut origins = allocation::with_capacity(inputs.len() + on_tape().count())?;
    origins.extend(inputs.iter().map(|input| input.origin).chain(on_tape()));
    Ok(origins)
}

/// Verifies the derivatives of some seeded sums in the same way as [`check`]. `rows` has a row for each sum, with a
/// component for each origin.
///
/// # Errors
/// A trap or the step limit in a tangent run.
pub fn check_rows(
    subject: &Subject,
    results: &[Vec<SeededCell>],
    origins: &[Origin],
    rows: &[Vec<f64>],
) -> Result<Check, DifferentiateError> {
    let subject = &subject.without_shows();
    let start = subject.numbers(origins)?;
    let mut check = Check::default();
    for (input, parts) in directions(&start)? {
        let probe = Probe { subject, origins, start: &start, parts };
        let tangents = subject.tangents(&probe.moves()?)?;
        check.reports.absorb(&tangents.reports);
        let differences = probe.differences(&|state| values_at(subject, results, state), rows)?;
        for (output, ((differences, row), seeds)) in
            differences.into_iter().zip(rows).zip(results).enumerate()
        {
            let (derivative, terms) = probe.derivative(row)?;
            let rounding = probe.rounding(&terms, row, differences.here.size, differences.steps);
            let tangent = Some(probe.tangent(&tangents, seeds, rounding)?);
            check.comparisons.push(differences.compared((output, input), derivative, tangent, rounding));
        }
    }
    Ok(check)
}

/// Runs the program from `state`, and returns the seeded sums at the end.
fn values_at(
    subject: &Subject,
    results: &[Vec<SeededCell>],
    state: State,
) -> Result<Sample, DifferentiateError> {
    let machine = primal_path(subject, state)?;
    let reals = &machine.state().reals;
    let mut values = allocation::with_capacity(results.len())?;
    for seeds in results {
        let bits = allocation::mapped(seeds, |seed| reals.get(seed.cell).copied().unwrap_or_default())?;
        let size = SumSize::of(&subject.program, seeds, &bits).terms;
        values.push(SampledSum { value: seeded_sum(&subject.program, seeds, &bits), size });
    }
    Ok(Sample { path: PrimalPath::of(&machine), values })
}

/// Direction, as a pair: the index of the moved input (`None` if several inputs move), and the component of each input.
type Direction = (Option<usize>, Vec<f64>);

/// Returns the directions in which inputs move: all at once, and if there are few inputs (at most [`FEW`]), each input
/// separately.
fn directions(start: &[f64]) -> Result<Vec<Direction>, OutOfMemory> {
    let mut directions = Vec::new();
    if start.len() > 1 {
        directions.push((None, scattered(start)?));
    }
    if start.len() <= FEW {
        directions.extend((0..start.len()).map(|n| (Some(n), one_of(start.len(), n))));
    }
    Ok(directions)
}

/// Returns the unit in the last place of the number 1.
fn unit(subject: &Subject) -> f64 {
    subject.program.ulp(subject.number(1.0))
}

fn one_of(count: usize, n: usize) -> Vec<f64> {
    (0..count).map(|m| if m == n { 1.0 } else { 0.0 }).collect()
}

/// Returns a fixed direction without a pattern: multiples of the golden ratio modulo 1, mapped to -1 … 1 and scaled by
/// the size of each input.
fn scattered(start: &[f64]) -> Result<Vec<f64>, OutOfMemory> {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let parts = (1..=start.len()).map(|n| 2.0 * (n as f64 * golden).fract() - 1.0);
    let mut direction = allocation::with_capacity(start.len())?;
    direction.extend(parts.zip(start).map(|(part, &input)| part * size(input)));
    Ok(direction)
}

/// Returns a typical distance by which an input may be moved: the input's magnitude, or 1 if the input is 0.
fn size(input: f64) -> f64 {
    if input == 0.0 { 1.0 } else { input.abs() }
}

/// Summary of a run's path, by which the paths of two runs are compared. A summary consists of the number of the last
/// step, and for floats a hash of the steps at which the run jumped.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PrimalPath {
    step: i64,
    marks: Option<u64>,
}

impl PrimalPath {
    fn of(machine: &Machine) -> PrimalPath {
        let marks = machine.reports().watch().map(Watch::marks);
        PrimalPath { step: machine.state().step, marks }
    }
}

/// Runs from a start to the end of the program, and records the steps at which the run jumps.
fn primal_path(subject: &Subject, start: State) -> Result<Machine, DifferentiateError> {
    let mut machine = subject.machine(start);
    machine.watch();
    let machine = forward(subject, machine)?;
    Ok(machine)
}

/// Path and results of a run.
struct Sample {
    path: PrimalPath,
    values: Vec<SampledSum>,
}

/// Seeded sum at the end of a run.
#[derive(Clone, Copy)]
struct SampledSum {
    value: f64,
    /// Σ |seed·value|: rounding errors are relative to the size of each term, not of the sum.
    size: f64,
}

impl SampledSum {
    /// Creates the sum of a single number.
    fn of_number(value: f64) -> SampledSum {
        SampledSum { value, size: value.abs() }
    }
}

/// Direction in which the inputs move, with a component (`parts`) for each input (`origins`).
struct Probe<'a> {
    subject: &'a Subject,
    origins: &'a [Origin],
    /// Values of the inputs at the start.
    start: &'a [f64],
    parts: Vec<f64>,
}

/// Difference quotients of one result in one direction.
struct Differences {
    /// Result of the run from the unmoved start.
    here: SampledSum,
    /// Largest magnitude of the result at the start and at nearby inputs, divided by the factor that `Probe::reach`
    /// returns.
    scale: f64,
    /// Number of steps of the run from the start.
    steps: u64,
    central: Extrapolation,
    sides: [Extrapolation; 2],
}

impl Differences {
    /// Returns true if both sides converge to one derivative. No smaller step size is needed then.
    fn are_done(&self) -> bool {
        let sides = self.sides.each_ref().map(|side| self.evidence(side, 0.0, 0.0));
        matches!(sides, [Some(below), Some(above)] if !is_kink([below, above]))
    }

    /// Returns the best estimate of an extrapolation if the error of the estimate is small enough to count as evidence.
    /// `rounding` is added to the error.
    fn evidence(&self, found: &Extrapolation, derivative: f64, rounding: f64) -> Option<Estimate> {
        let Estimate { value, error } = found.best?;
        let error = SAFETY * error;
        let size = value.abs().max(derivative.abs()).max(self.scale);
        (error <= EVIDENCE * size).then_some(Estimate { value, error: error + rounding })
    }

    fn compared(
        &self,
        (output, input): (usize, Option<usize>),
        derivative: f64,
        tangent: Option<Estimate>,
        rounding: f64,
    ) -> Comparison {
        let evidence = |found: &Extrapolation| self.evidence(found, derivative, rounding);
        let (difference, sides) = (evidence(&self.central), self.sides.each_ref().map(evidence));
        Comparison { output, input, derivative, tangent, difference, sides }
    }
}

impl Probe<'_> {
    /// Returns the derivative along the direction, Σ component·part, and the terms of this sum. `row` has the
    /// components: the partial derivatives by each input.
    fn derivative(&self, row: &[f64]) -> Result<(f64, Vec<f64>), OutOfMemory> {
        let mut terms = allocation::with_capacity(row.len())?;
        terms.extend(row.iter().zip(&self.parts).map(|(component, part)| component * part));
        Ok((terms.iter().sum(), terms))
    }

    /// Returns the tangent of a seeded sum at the end of a dual-valued run, as an estimate of the sum's derivative
    /// along the direction.
    fn tangent(
        &self,
        run: &TangentRun,
        seeds: &[SeededCell],
        rounding: f64,
    ) -> Result<Estimate, OutOfMemory> {
        let lane = |seed: &SeededCell| run.state.reals.get(seed.cell).copied().unwrap_or_default().lane(1);
        let value = seeded_sum(&self.subject.program, seeds, &allocation::mapped(seeds, lane)?);
        Ok(Estimate { value, error: rounding + unit(self.subject) * GROWTH * value.abs() })
    }

    /// Returns the location of each moved input, with the input's component of the direction.
    fn moves(&self) -> Result<Vec<(Origin, f64)>, OutOfMemory> {
        let mut moves = allocation::with_capacity(self.origins.len())?;
        moves.extend(self.origins.iter().copied().zip(self.parts.iter().copied()));
        Ok(moves)
    }

    /// Returns a bound on the rounding error of a derivative. The bound is proportional to the sum of the absolute
    /// `terms`; errors of terms that cancel inside the program are added. If the reverse sweep isn't exact, the
    /// module's tolerance is part of the factor.
    fn rounding(&self, terms: &[f64], row: &[f64], value: f64, steps: u64) -> f64 {
        let (module, exact) = (self.subject.program.module(), self.subject.exact);
        let is_exact = module.real.is_exact();
        let tolerance = if !is_exact && !exact { module.tolerance() } else { 0.0 };
        let relative = unit(self.subject) * (GROWTH + steps as f64) + tolerance;
        // Fixed point rounds to a multiple of the unit, for numbers of any size.
        let absolute = if is_exact { relative } else { 0.0 };
        relative * terms.iter().map(|term| term.abs()).sum::<f64>() + absolute + self.cancelled(row, value)
    }

    /// Estimates the rounding errors of terms that cancel inside the program. These errors are relative to the size of
    /// the terms, not of their sum. The size of the terms is estimated from the largest component of `row`, and from
    /// the quotient of the result and each input.
    fn cancelled(&self, row: &[f64], value: f64) -> f64 {
        let largest = row.iter().map(|component| component.abs()).fold(0.0, f64::max);
        let moved = self.start.iter().zip(&self.parts);
        let terms: f64 =
            moved.map(|(&input, part)| largest.max(value.abs() / size(input)) * part.abs()).sum();
        unit(self.subject) * CANCELLED * terms
    }

    /// Returns the largest factor by which the direction can be multiplied if no input may move by more than its own
    /// size.
    fn reach(&self) -> f64 {
        let moved = self.start.iter().zip(&self.parts).filter(|(_, part)| **part != 0.0);
        moved.map(|(&input, part)| size(input) / part.abs()).fold(f64::MAX, f64::min)
    }

    /// Computes the difference quotients of each result. `sample` runs the program from a given start and returns the
    /// results. `rows` has the derivatives of each result; `rows` is empty if the derivatives are unknown.
    fn differences(
        &self,
        sample: &dyn Fn(State) -> Result<Sample, DifferentiateError>,
        rows: &[Vec<f64>],
    ) -> Result<Vec<Differences>, DifferentiateError> {
        let here = sample(self.subject.start.try_clone()?)?;
        let (reach, unit) = (self.reach(), unit(self.subject));
        let steps = here.path.step.abs_diff(self.subject.start.step);
        let mut all = allocation::mapped(&here.values, |&value| Differences {
            here: value,
            scale: value.size / reach,
            steps,
            central: Extrapolation::new(4.0, 4.0),
            sides: [(); 2].map(|()| Extrapolation::new(2.0, 2.0)),
        })?;
        let mut step = FIRST_STEP * reach;
        for level in 0..LEVELS + MORE_LEVELS {
            if level >= LEVELS && all.iter().all(Differences::are_done) {
                break;
            }
            let near = [self.near(sample, -step)?, self.near(sample, step)?];
            let is_one_path =
                near.iter().all(|near| near.as_ref().is_some_and(|near| near.path == here.path));
            for (n, differences) in all.iter_mut().enumerate() {
                let values =
                    near.each_ref().map(|near| near.as_ref().and_then(|near| near.values.get(n)).copied());
                for value in values.into_iter().flatten() {
                    differences.scale = differences.scale.max(value.size / reach);
                }
                let of_inputs = self.rounding_of_inputs(rows.get(n).map_or(&[], Vec::as_slice));
                let quotient = |a: SampledSum, b: SampledSum, distance: f64| {
                    let quotient = (a.value - b.value) / distance;
                    let rounding = 4.0 * unit * (a.size + b.size) / distance.abs();
                    (quotient, rounding + of_inputs / step)
                };
                match values {
                    [Some(below), Some(above)] if is_one_path => {
                        differences.central.add(None, quotient(above, below, 2.0 * step));
                    }
                    _ => differences.central.clear(),
                }
                let value = differences.here;
                for (((side, near), shifted), distance) in
                    differences.sides.iter_mut().zip(&near).zip(values).zip([-step, step])
                {
                    match (near, shifted) {
                        (Some(near), Some(shifted)) => {
                            side.add(Some(near.path), quotient(shifted, value, distance))
                        }
                        _ => side.clear(),
                    }
                }
            }
            step /= 2.0;
        }
        Ok(all)
    }

    /// Returns a bound on the change of a result that is caused by rounding the moved inputs. `row` has the derivatives
    /// of the result by each input.
    fn rounding_of_inputs(&self, row: &[f64]) -> f64 {
        let moved = row.iter().zip(self.start).zip(&self.parts).filter(|(_, part)| **part != 0.0);
        let ulp = |input: f64| self.subject.program.ulp(self.subject.number(input));
        moved.map(|((component, &input), _)| component.abs() * ulp(input)).sum()
    }

    /// Returns the results of a run whose inputs are moved by `step` times the direction, or `None` if that run fails.
    /// A stop request or a refused memory request is returned as an error, because it isn't a property of the moved
    /// inputs.
    fn near(
        &self,
        sample: &dyn Fn(State) -> Result<Sample, DifferentiateError>,
        step: f64,
    ) -> Result<Option<Sample>, DifferentiateError> {
        let mut start = self.subject.start.try_clone()?;
        for (origin, part) in self.origins.iter().zip(&self.parts) {
            if let Some(bits) = origin.of(&mut start) {
                *bits = self.subject.number(self.subject.approximate(*bits) + step * part);
            }
        }
        match sample(start) {
            Err(error @ (DifferentiateError::Interrupted { .. } | DifferentiateError::NoMemory(_))) => {
                Err(error)
            }
            Err(_) => Ok(None),
            Ok(found) => Ok(Some(found)),
        }
    }
}

/// Richardson extrapolation of difference quotients at halved step sizes: error terms of rising order in the step are
/// eliminated one by one. The error of an extrapolated value is estimated from neighbouring extrapolations (Ridders,
/// "Accurate computation of F'(x) and F'(x)F''(x)", 1982) and from the rounding of the values.
struct Extrapolation {
    /// Factors by which halving the step h divides the error terms. The first number is the factor for the first term.
    /// Each further term has the factor of the previous term times the second number. Both numbers are 4 for central
    /// differences (terms in h², h⁴, …), and 2 for one-sided differences (terms in h, h², …).
    factors: [f64; 2],
    rows: Vec<Vec<f64>>,
    path: Option<PrimalPath>,
    best: Option<Estimate>,
}

impl Extrapolation {
    fn new(first: f64, next: f64) -> Extrapolation {
        Extrapolation { factors: [first, next], rows: Vec::new(), path: None, best: None }
    }

    /// Discards the table, but keeps the best estimate. Called if a run with the current step size failed or took
    /// another path.
    fn clear(&mut self) {
        self.rows.clear();
    }

    /// Adds a quotient with its rounding error. If the runs of this quotient took another path than those of the
    /// previous quotient, the extrapolation restarts. The best estimate from larger step sizes is then discarded.
    fn add(&mut self, path: Option<PrimalPath>, (quotient, rounding): (f64, f64)) {
        if path != self.path {
            (self.path, self.best) = (path, None);
            self.rows.clear();
        }
        let row = self.extrapolated(quotient);
        for (n, (&value, &last)) in row.iter().skip(1).zip(&row).enumerate() {
            let before = self.rows.last().and_then(|row| row.get(n)).copied().unwrap_or(value);
            let error = (value - last).abs().max((value - before).abs()) + rounding;
            if self.best.is_none_or(|best| error < best.error) {
                self.best = Some(Estimate { value, error });
            }
        }
        self.rows.push(row);
    }

    /// Returns the next row of the extrapolation table.
    fn extrapolated(&self, quotient: f64) -> Vec<f64> {
        let mut row = vec![quotient];
        let [mut factor, next] = self.factors;
        for &above in self.rows.last().into_iter().flatten() {
            let last = row.last().copied().unwrap_or(quotient);
            row.push(last + (last - above) / (factor - 1.0));
            factor *= next;
        }
        row
    }
}
