//! Which way registers are given out to a form's values. Cranelift's careful way takes more than linear time where many values are alive side
//! by side, and its quick way, one pass over the code, where values are alive across many blocks. Knows no target.

use reviver_compile::form::{Definition, SsaForm};
use reviver_compile::op::OpKind;

/// Forms with more values alive at an operation, on average, and with more operations than [`SHORT`] are crowded.
const MOST_ALIVE: u64 = 200;
/// The careful way is quick enough for so many operations, however many values are alive.
const SHORT: u64 = 2_000;

/// Whether values are so many side by side that only the quick way is quick.
pub fn is_crowded(form: &SsaForm) -> bool {
    let length = form.length() as u64;
    length > SHORT && lifetimes(form) / length > MOST_ALIVE
}

/// From where each value is made to its last use, in operations, in the order of the blocks; the sum of all. Literals are made anew where they
/// are used.
fn lifetimes(form: &SsaForm) -> u64 {
    let mut begun = vec![u64::MAX; form.definitions.len()];
    let mut ended = vec![0; form.definitions.len()];
    let mut at = 0;
    for block in &form.blocks {
        for value in &block.parameters {
            begun[value.0 as usize] = at;
        }
        for value in &block.ops {
            if let Some(op) = form.op(*value) {
                op.operands.iter().chain(&op.guard).for_each(|used| ended[used.0 as usize] = at);
            }
            begun[value.0 as usize] = at;
            at += 1;
        }
        let passed = block.end.jumps().flat_map(|jump| &jump.arguments).copied();
        passed.chain(block.end.value()).for_each(|used| ended[used.0 as usize] = at);
    }
    let is_literal = |definition: &Definition| matches!(definition, Definition::Op(op) if matches!(op.kind, OpKind::Int(_) | OpKind::Real(_)));
    let spans = begun.into_iter().zip(ended).zip(&form.definitions);
    spans
        .filter(|(_, definition)| !is_literal(definition))
        .map(|((begun, ended), _)| ended.saturating_sub(begun))
        .sum()
}
