//! States in lifted numbers: a plain state becomes one of constants, with other coefficients put in;
//! and one coefficient of a lifted state is a plain state again.

use crate::lanes::Lanes;
use crate::state::{Adjoints, State, TapeEntry};

/// The state with every real's bits mapped.
pub(crate) fn map<A: Copy, B>(state: &State<A>, real: impl Fn(A) -> B) -> State<B> {
    let reals = |list: &[A]| list.iter().map(|&bits| real(bits)).collect();
    let tape = |entries: &[TapeEntry<A>]| {
        entries
            .iter()
            .map(|entry| match *entry {
                TapeEntry::Int(value) => TapeEntry::Int(value),
                TapeEntry::Real(bits) => TapeEntry::Real(real(bits)),
            })
            .collect()
    };
    State {
        ints: state.ints.clone(),
        reals: reals(&state.reals),
        adjoints: state.adjoints.as_ref().map(|adjoints| Adjoints {
            cells: reals(&adjoints.cells),
            stack: reals(&adjoints.stack),
            input: reals(&adjoints.input),
            output: reals(&adjoints.output),
        }),
        int_stack: state.int_stack.clone(),
        real_stack: reals(&state.real_stack),
        input: tape(&state.input),
        output: tape(&state.output),
        calls: state.calls.clone(),
        references: state.references.clone(),
        frame: state.frame,
        inverted: state.inverted,
        position: state.position,
        step: state.step,
        rule_steps: state.rule_steps,
        counters: state.counters,
    }
}

/// The state in lifted numbers, all constants.
pub fn lift<B: Lanes>(state: &State) -> State<B> {
    map(state, B::of_word)
}

/// Coefficient `lane` of every real.
pub fn lower<B: Lanes>(state: &State<B>, lane: usize) -> State {
    map(state, |bits| bits.lane(lane))
}
