//! More than one derivative: tangents, Jacobians, Hessians and Taylor series. Rows and columns are in
//! the order in which variables are given.

use std::borrow::Cow;

use crate::lanes::Lanes as _;
use crate::values::Value;

use super::lift::{lift, lower};
use super::pass::{forward, round};
use super::{DifferentiateError, Subject, Trust, Variable};
use crate::reports::Reports;
use crate::state::{State, TapeEntry};
use crate::values::literal_bits;

/// The highest order of a Taylor series.
pub const MAX_ORDER: usize = 16;

/// Bits of a truncated Taylor series.
type Series = [u64; MAX_ORDER + 1];

/// Which way a Jacobian was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// One gradient pass per output.
    Reverse,
    /// One run over dual numbers per input.
    Forward,
}

/// All partial derivatives of some results by some inputs.
#[derive(Clone, Debug)]
pub struct Jacobian {
    /// The results' values, as bits.
    pub values: Vec<u64>,
    /// One row per output, one column per input.
    pub rows: Vec<Vec<f64>>,
    pub sweep: Sweep,
    pub trust: Trust,
}

/// A value, its gradient and second derivatives.
#[derive(Clone, Debug)]
pub struct Hessian {
    /// The loss, as bits.
    pub value: u64,
    pub gradient: Vec<f64>,
    /// One row per direction: the Hessian's product with it. With unit directions, the Hessian.
    pub products: Vec<Vec<f64>>,
    pub trust: Trust,
}

/// A number that can move at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A real cell.
    Cell(usize),
    /// A real of the input tape.
    Tape(usize),
}

impl Origin {
    /// The number in a state.
    pub fn of<B>(self, state: &mut State<B>) -> Option<&mut B> {
        match self {
            Origin::Cell(cell) => state.reals.get_mut(cell),
            Origin::Tape(entry) => match state.input.get_mut(entry) {
                Some(TapeEntry::Real(bits)) => Some(bits),
                _ => None,
            },
        }
    }
}

/// What a forward run over dual numbers ends with.
pub(super) struct TangentRun {
    pub values: State,
    pub tangents: State,
    pub reports: Reports,
}

impl Subject {
    /// The bits of the number nearest to a value.
    pub fn number(&self, value: f64) -> u64 {
        literal_bits(self.program.module(), value)
    }

    pub(super) fn approximate(&self, bits: u64) -> f64 {
        self.program.approximate(Value::Real(bits))
    }

    fn lifted<const N: usize>(&self, direction: &[(Origin, f64)]) -> State<[u64; N]>
    where
        [u64; N]: crate::lanes::Lanes,
    {
        let mut state = lift::<[u64; N]>(&self.start);
        for &(origin, component) in direction {
            if let Some(bits) = origin.of(&mut state) {
                *bits = bits.with_lane(1, self.number(component));
            }
        }
        state
    }

    /// The reals of the input tape, in the order of reading.
    pub(super) fn on_tape(&self) -> impl Iterator<Item = Origin> {
        let entries = self.start.input.iter().enumerate().rev();
        entries.filter(|(_, entry)| matches!(entry, TapeEntry::Real(_))).map(|(n, _)| Origin::Tape(n))
    }

    /// The numbers at the start.
    pub(super) fn numbers(&self, origins: &[Origin]) -> Vec<f64> {
        let mut start = self.start.clone();
        let bits = origins.iter().map(|origin| origin.of(&mut start).copied().unwrap_or_default());
        bits.map(|bits| self.approximate(bits)).collect()
    }

    /// Runs forward over dual numbers, the inputs moving in a direction.
    pub(super) fn tangents(&self, direction: &[(Origin, f64)]) -> Result<TangentRun, DifferentiateError> {
        let mut machine = self.machine(self.lifted::<2>(direction), self.exact);
        forward(self, &mut machine)?;
        Ok(TangentRun {
            values: lower(machine.state(), 0),
            tangents: lower(machine.state(), 1),
            reports: machine.reports().clone(),
        })
    }
}

/// The Jacobian, by one pass per output or per input, whichever are fewer.
///
/// # Errors
/// A trap or the step limit.
pub fn jacobian(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
) -> Result<Jacobian, DifferentiateError> {
    if outputs.len() <= inputs.len() {
        by_output(subject, outputs, inputs)
    } else {
        by_input(subject, outputs, inputs)
    }
}

fn by_output(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
) -> Result<Jacobian, DifferentiateError> {
    let losses: Vec<usize> = outputs.iter().map(|output| output.cell).collect();
    let round = round(subject, subject.start.clone(), &losses, |arrival| {
        let adjoints = arrival.state.adjoints.unwrap_or_default().cells;
        (subject.components(&adjoints, inputs), arrival.reports, arrival.loss_error)
    })?;
    let mut trust = Trust { mended: round.mended, ..Trust::default() };
    let mut rows = Vec::with_capacity(outputs.len());
    for (row, reports, error) in round.arrivals {
        trust.add(&reports, error);
        rows.push(row);
    }
    Ok(Jacobian { values: round.results, rows, sweep: Sweep::Reverse, trust })
}

fn by_input(
    subject: &Subject,
    outputs: &[Variable],
    inputs: &[Variable],
) -> Result<Jacobian, DifferentiateError> {
    let mut rows = vec![Vec::with_capacity(inputs.len()); outputs.len()];
    let (mut values, mut trust) = (Vec::new(), Trust::default());
    for input in inputs {
        let run = subject.tangents(&[(Origin::Cell(input.cell), 1.0)])?;
        trust.add(&run.reports, 0.0);
        values = outputs.iter().map(|o| run.values.reals.get(o.cell).copied().unwrap_or_default()).collect();
        for (row, partial) in rows.iter_mut().zip(subject.components(&run.tangents.reals, outputs)) {
            row.push(partial);
        }
    }
    Ok(Jacobian { values, rows, sweep: Sweep::Forward, trust })
}

impl Subject {
    /// The numbers in the cells of some variables.
    pub fn components(&self, bits: &[u64], variables: &[Variable]) -> Vec<f64> {
        let cell = |variable: &Variable| bits.get(variable.cell).copied().unwrap_or_default();
        variables.iter().map(|variable| self.approximate(cell(variable))).collect()
    }
}

/// Products of the Hessian with directions (components in the order of the inputs): one gradient pass
/// over dual numbers each.
///
/// # Errors
/// A trap or the step limit.
pub fn hessian_products(
    subject: &Subject,
    loss: &Variable,
    inputs: &[Variable],
    directions: &[Vec<f64>],
) -> Result<Hessian, DifferentiateError> {
    let mut subject = Cow::Borrowed(subject);
    let mut hessian =
        Hessian { value: 0, gradient: Vec::new(), products: Vec::new(), trust: Trust::default() };
    for direction in directions {
        let cells = inputs.iter().map(|input| Origin::Cell(input.cell));
        let components: Vec<_> = cells.zip(direction.iter().copied()).collect();
        let round = round(&subject, subject.lifted::<2>(&components), &[loss.cell], |arrival| arrival)?;
        for (result, arrival) in round.results.iter().zip(round.arrivals) {
            hessian.value = result.word();
            hessian.trust.add(&arrival.reports, arrival.loss_error);
            let adjoints = |lane| lower(&arrival.state, lane).adjoints.unwrap_or_default().cells;
            hessian.gradient = subject.components(&adjoints(0), inputs);
            hessian.products.push(subject.components(&adjoints(1), inputs));
        }
        // All directions have one way: what went astray once does so again.
        if round.mended.is_some() {
            subject.to_mut().exact = true;
            hessian.trust.mended = round.mended;
        }
    }
    Ok(hessian)
}

/// The Hessian: its product with each unit direction.
///
/// # Errors
/// A trap or the step limit.
pub fn hessian(
    subject: &Subject,
    loss: &Variable,
    inputs: &[Variable],
) -> Result<Hessian, DifferentiateError> {
    let unit = |n: usize| (0..inputs.len()).map(|m| if m == n { 1.0 } else { 0.0 }).collect();
    let directions: Vec<Vec<f64>> = (0..inputs.len()).map(unit).collect();
    hessian_products(subject, loss, inputs, &directions)
}

/// The Taylor coefficients c₀ … c_order of results along one input: f(x + t) = Σ c_k·t^k.
///
/// # Errors
/// A trap or the step limit.
pub fn taylor(
    subject: &Subject,
    outputs: &[Variable],
    along: &Variable,
    order: usize,
) -> Result<Vec<Vec<f64>>, DifferentiateError> {
    let mut machine =
        subject.machine::<Series>(subject.lifted(&[(Origin::Cell(along.cell), 1.0)]), subject.exact);
    forward(subject, &mut machine)?;
    let lanes: Vec<Vec<f64>> = (0..=order.min(MAX_ORDER))
        .map(|lane| subject.components(&lower(machine.state(), lane).reals, outputs))
        .collect();
    let coefficients = |n: usize| lanes.iter().filter_map(|lane| lane.get(n).copied()).collect();
    Ok((0..outputs.len()).map(coefficients).collect())
}
