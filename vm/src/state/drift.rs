//! Drift of float programs: the difference between the state at the start and after a round trip.

use reviver_isa::instruction::Class;

use crate::program::Program;
use crate::state::values::Value;
use crate::state::{MODE, State};

/// The cell with the largest difference between the start and the end of a round trip, and this difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The name of the cell, such as `x` or `A[3]`.
    pub cell: String,
    /// The absolute difference as a binary64, in the unit of the cell's values.
    pub absolute: f64,
    /// The difference in units in the last place (ulp) of the cell. Of the cell's values at the start and at the
    /// turning point, the value with the greater magnitude determines the ulp. The field is `None` if the ulp is
    /// meaningless: if that magnitude is within the tolerance, or isn't larger than the difference.
    pub ulps: Option<f64>,
}

/// Returns the largest drift of all real cells and of the values on a declared stack. Returns `None` if all
/// of them are restored bit for bit.
pub fn largest_drift(program: &Program, start: &State, turn: &State, end: &State) -> Option<Drift> {
    let real = program.module().globals.iter().enumerate().filter(|(_, g)| g.class == Class::Real);
    let mut largest: Option<Drift> = None;
    for (n, _) in real {
        for element in 0..program.count(start, n).min(program.count(end, n)) {
            // A stack value may not exist at the turning point.
            let bits = [start, turn, end].map(|state| match program.value(state, n, element) {
                Some(Value::Real(bits)) => bits,
                _ => 0,
            });
            if bits[0] == bits[2] {
                continue;
            }
            let [from, middle, to] = bits.map(|b| program.approximate(Value::Real(b)));
            let absolute = (to - from).abs();
            if largest.as_ref().is_none_or(|l| absolute > l.absolute) {
                let peak = if middle.abs() > from.abs() { bits[1] } else { bits[0] };
                let is_measured = middle.abs().max(from.abs()) > absolute.max(program.module().tolerance());
                let ulps = is_measured.then(|| absolute / program.ulp(peak));
                largest = Some(Drift { cell: program.cell_name(n, element), absolute, ulps });
            }
        }
    }
    largest
}

/// Returns true if two states are the same bit for bit, except for counters.
pub fn same(a: &State, b: &State) -> bool {
    a.ints == b.ints && a.reals == b.reals && active(a).eq(active(b)) && same_but_for_cells(a, b)
}

/// Returns true if two states differ at most in adjoints and the mode.
pub fn same_values<B: PartialEq>(a: &State<B>, b: &State<B>) -> bool {
    a.ints.get(MODE + 1..) == b.ints.get(MODE + 1..) && a.reals == b.reals && same_but_for_cells(a, b)
}

/// Returns true if two states are equal up to the module's tolerance in float cells and on the stack of
/// reals.
pub fn restored(program: &Program, a: &State, b: &State) -> bool {
    let tolerance = if program.module().real.is_exact() { 0.0 } else { program.module().tolerance() };
    let value = |bits: u64| program.approximate(Value::Real(bits));
    let close = |(&x, &y): (&u64, &u64)| x == y || (value(x) - value(y)).abs() <= tolerance;
    let all_close = |x: &[u64], y: &[u64]| x.len() == y.len() && x.iter().zip(y).all(close);
    a.ints == b.ints
        && all_close(&a.reals, &b.reals)
        && all_close(&a.real_stack, &b.real_stack)
        && same_but_for_reals(a, b)
}

fn same_but_for_cells<B: PartialEq>(a: &State<B>, b: &State<B>) -> bool {
    a.real_stack == b.real_stack && same_but_for_reals(a, b)
}

fn same_but_for_reals<B: PartialEq>(a: &State<B>, b: &State<B>) -> bool {
    let parts = |s: &State<B>| (s.position, s.inverted, s.frame);
    parts(a) == parts(b)
        && a.int_stack == b.int_stack
        && a.input == b.input
        && a.output == b.output
        && a.calls == b.calls
        && a.references == b.references
}

/// Returns the non-zero adjoints with their indices.
fn active(state: &State) -> impl Iterator<Item = (usize, u64)> {
    let all = state.adjoints.iter().flat_map(|adjoints| adjoints.all());
    all.copied().enumerate().filter(|&(_, bits)| bits != 0)
}
