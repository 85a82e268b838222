//! A gradient against two other ways to differentiate: the tangent (dual numbers, run forward), and
//! central differences. Each comparison has its own estimate of the error; what is beyond it counts
//! as a disagreement.

use super::matrices::Origin;
use super::pass::{Gradient, forward};
use super::{DifferentiateError, Subject, Variable};
use crate::interp::engine::Interpreted;
use crate::machine::Machine;
use crate::reports::Reports;
use crate::room::{self, OutOfMemory};
use crate::state::State;
use crate::watch::Watch;

/// With so many inputs or fewer, each is checked by itself.
const FEW: usize = 16;
/// Steps of a difference, each half of the one before.
const LEVELS: usize = 10;
/// The first step, relative to the size of the inputs.
const FIRST_STEP: f64 = 1.0 / 64.0;
/// Rounding errors may grow by this much on the way.
const GROWTH: f64 = 1e6;
/// So many roundings of terms that cancel may be left of a sum.
const CANCELLED: f64 = 1e3;

/// A number with the error that it may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub error: f64,
}

/// One directional derivative, found in several ways.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The input that moves: its place among the inputs, then among the reals of the input tape in the
    /// order of reading. `None` where all move at once.
    pub input: Option<usize>,
    /// The gradient times the direction.
    pub adjoint: f64,
    /// By dual numbers.
    pub tangent: Estimate,
    /// By central differences; `None` where no step is small enough for the probes to take the same path.
    pub difference: Option<Estimate>,
}

impl Comparison {
    /// Whether the tangent, and the differences, agree with the gradient up to their errors.
    pub fn agrees(&self) -> bool {
        let close = |estimate: Estimate| (estimate.value - self.adjoint).abs() <= estimate.error;
        close(self.tangent) && self.difference.is_none_or(close)
    }
}

/// What the comparison of a gradient came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub comparisons: Vec<Comparison>,
    /// What the tangent runs saw: freed cells and conversions that depend on an input.
    pub reports: Reports,
}

impl Check {
    pub fn agrees(&self) -> bool {
        self.comparisons.iter().all(Comparison::agrees)
    }
}

/// Compares a gradient with tangents and differences, in one direction in which all inputs and the reals
/// of the input tape move, and where these are few in the direction of each.
///
/// # Errors
/// A trap or the step limit in a tangent run.
pub fn check(
    subject: &Subject,
    loss: &Variable,
    inputs: &[Variable],
    gradient: &Gradient,
) -> Result<Check, DifferentiateError> {
    let mut origins = room::with_capacity(inputs.len() + subject.on_tape().count())?;
    origins.extend(inputs.iter().map(|input| input.origin).chain(subject.on_tape()));
    let start = subject.numbers(&origins)?;
    let way = WayThere::of(&way_there(subject, subject.start.try_clone()?)?);
    let mut directions = Vec::new();
    if origins.len() > 1 {
        directions.push((None, scattered(&start)?));
    }
    if origins.len() <= FEW {
        directions.extend((0..origins.len()).map(|n| (Some(n), unit(origins.len(), n))));
    }
    let mut check = Check { comparisons: Vec::new(), reports: Reports::default() };
    for (input, direction) in directions {
        let probe = Probe { subject, loss, origins: &origins, start: &start, gradient, way, direction };
        let (tangent, reports) = probe.tangent()?;
        check.reports.absorb(&reports);
        let (adjoint, difference) = (probe.adjoint(), probe.difference()?);
        check.comparisons.push(Comparison { input, adjoint, tangent, difference });
    }
    Ok(check)
}

fn unit(count: usize, n: usize) -> Vec<f64> {
    (0..count).map(|m| if m == n { 1.0 } else { 0.0 }).collect()
}

/// A fixed direction without a pattern: multiples of the golden ratio modulo 1, as -1 … 1, of the size of
/// each input.
fn scattered(start: &[f64]) -> Result<Vec<f64>, OutOfMemory> {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let parts = (1..=start.len()).map(|n| 2.0 * (n as f64 * golden).fract() - 1.0);
    let mut direction = room::with_capacity(start.len())?;
    direction.extend(parts.zip(start).map(|(part, &input)| part * size(input)));
    Ok(direction)
}

/// By how much an input may be moved, roughly.
fn size(input: f64) -> f64 {
    if input == 0.0 { 1.0 } else { input.abs() }
}

/// Which way a run took, as far as it can be told: the number of its last step, and in floats at which steps
/// it jumped.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WayThere {
    step: i64,
    marks: Option<u64>,
}

impl WayThere {
    fn of(machine: &Machine) -> WayThere {
        let marks = machine.reports().watch.as_ref().map(Watch::marks);
        WayThere { step: machine.state().step, marks }
    }
}

/// A run from a start to the end, whose jumps are watched.
fn way_there(subject: &Subject, start: State) -> Result<Machine, DifferentiateError> {
    let mut machine = subject.machine(start);
    machine.watch();
    let machine = forward(subject, machine)?;
    Ok(machine)
}

struct Probe<'a> {
    subject: &'a Subject,
    loss: &'a Variable,
    origins: &'a [Origin],
    /// The numbers there.
    start: &'a [f64],
    gradient: &'a Gradient,
    /// That of the run from the start.
    way: WayThere,
    direction: Vec<f64>,
}

impl Probe<'_> {
    /// The gradient, one component for each origin.
    fn gradient(&self) -> impl Iterator<Item = f64> {
        let adjoints = &self.gradient.adjoints;
        self.origins.iter().map(|origin| self.subject.approximate(origin.adjoint(adjoints)))
    }

    fn terms(&self) -> impl Iterator<Item = f64> {
        self.gradient().zip(&self.direction).map(|(g, v)| g * v)
    }

    /// The direction, by origin.
    fn moves(&self) -> impl Iterator<Item = (Origin, f64)> {
        self.origins.iter().copied().zip(self.direction.iter().copied())
    }

    fn adjoint(&self) -> f64 {
        self.terms().sum()
    }

    /// The distance of 1 to the next number.
    fn unit(&self) -> f64 {
        self.subject.program.ulp(self.subject.number(1.0))
    }

    /// What rounding may do to a gradient: a multiple of the sum of its absolute terms; and where the
    /// way back is not exact, as much as the module's tolerance lets pass.
    fn rounding(&self) -> f64 {
        let module = self.subject.program.module();
        let inexact = !module.real.is_exact() && !self.subject.exact;
        let tolerance = if inexact { module.tolerance() } else { 0.0 };
        let relative = self.unit() * (GROWTH + self.gradient.steps as f64) + tolerance;
        let terms: f64 = self.terms().map(f64::abs).sum();
        // Fixed point rounds to a multiple of the unit, however small the number.
        let absolute = if module.real.is_exact() { relative } else { 0.0 };
        relative * terms + absolute + self.cancelled()
    }

    /// Terms that cancel inside of the program leave rounding errors of their own size, not of the sum's.
    /// How large they are is estimated from the other components, and from the loss per input.
    fn cancelled(&self) -> f64 {
        let largest = self.gradient().map(f64::abs).fold(0.0, f64::max);
        let loss = self.subject.approximate(self.gradient.value).abs();
        let moved = self.start.iter().zip(&self.direction);
        let terms: f64 = moved.map(|(&input, part)| largest.max(loss / size(input)) * part.abs()).sum();
        self.unit() * CANCELLED * terms
    }

    fn tangent(&self) -> Result<(Estimate, Reports), DifferentiateError> {
        let mut moves = room::with_capacity(self.origins.len())?;
        moves.extend(self.moves());
        let run = self.subject.tangents(&moves)?;
        let value = self.read(&run.state, 1);
        Ok((Estimate { value, error: self.rounding() + self.rounding_of(value) }, run.reports))
    }

    fn rounding_of(&self, value: f64) -> f64 {
        self.unit() * GROWTH * value.abs()
    }

    fn read<B: Interpreted>(&self, state: &State<B>, lane: usize) -> f64 {
        let bits = self.loss.origin.read(state).unwrap_or_default();
        self.subject.approximate(bits.lane(lane))
    }

    /// Central differences of halved steps, extrapolated; the error is estimated from neighbouring
    /// extrapolations (Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", 1982) and from the
    /// rounding of the values.
    fn difference(&self) -> Result<Option<Estimate>, DifferentiateError> {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut best: Option<Estimate> = None;
        let mut step = FIRST_STEP * self.reach();
        for _ in 0..LEVELS {
            if let Some((quotient, rounding)) = self.quotient(step)? {
                let row = extrapolated(quotient, rows.last());
                for (n, &value) in row.iter().enumerate().skip(1) {
                    let before = rows.last().and_then(|row| row.get(n - 1)).copied().unwrap_or(value);
                    let error = (value - row[n - 1]).abs().max((value - before).abs()) + rounding;
                    if best.is_none_or(|best| error < best.error) {
                        best = Some(Estimate { value, error });
                    }
                }
                rows.push(row);
            } else {
                rows.clear();
            }
            step /= 2.0;
        }
        // Estimates of errors are no bounds.
        Ok(best.map(|best| Estimate { error: 8.0 * best.error + self.rounding(), ..best }))
    }

    /// The multiple of the direction that moves no input by more than its own size.
    fn reach(&self) -> f64 {
        let moved = self.start.iter().zip(&self.direction).filter(|(_, part)| **part != 0.0);
        moved.map(|(&input, part)| size(input) / part.abs()).fold(f64::MAX, f64::min)
    }

    /// A central difference quotient and its rounding error, if both probes take the path of the run.
    fn quotient(&self, step: f64) -> Result<Option<(f64, f64)>, DifferentiateError> {
        let (Some(above), Some(below)) = (self.probe(step)?, self.probe(-step)?) else { return Ok(None) };
        let results = self.unit() * 4.0 * (above.abs() + below.abs());
        Ok(Some(((above - below) / (2.0 * step), (results + self.rounding_of_inputs()) / step)))
    }

    /// What the loss changes because the moved inputs are rounded.
    fn rounding_of_inputs(&self) -> f64 {
        let moved = self.gradient().zip(self.start).zip(&self.direction).filter(|(_, part)| **part != 0.0);
        let ulp = |input: f64| self.subject.program.ulp(self.subject.number(input));
        moved.map(|((component, &input), _)| component.abs() * ulp(input)).sum()
    }

    /// The loss at the start moved by a multiple of the direction, if that has one by the same path. A probe
    /// that was stopped, or had no memory, tells nothing about that.
    fn probe(&self, step: f64) -> Result<Option<f64>, DifferentiateError> {
        let mut start = self.subject.start.try_clone()?;
        for (origin, component) in self.moves() {
            if let Some(bits) = origin.of(&mut start) {
                *bits = self.subject.number(self.subject.approximate(*bits) + step * component);
            }
        }
        match way_there(self.subject, start) {
            Err(error @ (DifferentiateError::Interrupted { .. } | DifferentiateError::NoMemory(_))) => {
                Err(error)
            }
            Err(_) => Ok(None),
            Ok(machine) => Ok((WayThere::of(&machine) == self.way).then(|| self.read(machine.state(), 0))),
        }
    }
}

/// The next row of the extrapolation table: errors of even order in the step are eliminated one by one.
fn extrapolated(quotient: f64, before: Option<&Vec<f64>>) -> Vec<f64> {
    let mut row = vec![quotient];
    let mut factor = 4.0;
    for &above in before.into_iter().flatten() {
        let last = row.last().copied().unwrap_or(quotient);
        row.push(last + (last - above) / (factor - 1.0));
        factor *= 4.0;
    }
    row
}
