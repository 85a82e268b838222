//! How far a float program is from where it started after going there and back.

use reviver_isa::instruction::Class;

use crate::program::Program;
use crate::state::values::Value;
use crate::state::{MODE, State};

/// The largest difference of a cell between the start and the end of a round trip.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The cell, as `x` or `A[3]`.
    pub cell: String,
    pub absolute: f64,
    /// In units of the last place of the larger magnitude that the cell had at start and turn. None where
    /// that counts as 0, or isn't larger than the drift: the last place of such a value measures nothing.
    pub ulps: Option<f64>,
}

/// The largest drift of all real cells, and of the values on a declared stack; `None` if every one came
/// back bit for bit.
pub fn largest_drift(program: &Program, start: &State, turn: &State, end: &State) -> Option<Drift> {
    let real = program.module().globals.iter().enumerate().filter(|(_, g)| g.class == Class::Real);
    let mut largest: Option<Drift> = None;
    for (n, _) in real {
        for element in 0..program.count(start, n).min(program.count(end, n)) {
            // A value of a stack may be gone at the turn.
            let bits = [start, turn, end].map(|state| match program.value(state, n, element) {
                Some(Value::Real(bits)) => bits,
                _ => 0,
            });
            if bits[0] == bits[2] {
                continue;
            }
            let [from, there, to] = bits.map(|b| program.approximate(Value::Real(b)));
            let absolute = (to - from).abs();
            if largest.as_ref().is_none_or(|l| absolute > l.absolute) {
                let peak = if there.abs() > from.abs() { bits[1] } else { bits[0] };
                let is_measured = there.abs().max(from.abs()) > absolute.max(program.module().tolerance());
                let ulps = is_measured.then(|| absolute / program.ulp(peak));
                largest = Some(Drift { cell: program.cell_name(n, element), absolute, ulps });
            }
        }
    }
    largest
}

/// Whether two states are the same bit for bit, whatever was counted on the way.
pub fn same(a: &State, b: &State) -> bool {
    a.ints == b.ints && a.reals == b.reals && active(a).eq(active(b)) && same_but_for_cells(a, b)
}

/// Whether two states differ in adjoints and the mode at most.
pub fn same_values<B: PartialEq>(a: &State<B>, b: &State<B>) -> bool {
    a.ints.get(MODE + 1..) == b.ints.get(MODE + 1..) && a.reals == b.reals && same_but_for_cells(a, b)
}

/// Whether two states are the same up to the module's tolerance in float cells and on the stack of reals.
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

/// The adjoints that aren't 0, and where.
fn active(state: &State) -> impl Iterator<Item = (usize, u64)> {
    let all = state.adjoints.iter().flat_map(|adjoints| adjoints.all());
    all.copied().enumerate().filter(|&(_, bits)| bits != 0)
}
