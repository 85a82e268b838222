//! Finds the values that are numbers of steps. They have 64 bits, even if the program's integers have fewer. This
//! module is independent of text.

use std::collections::BTreeSet;

use reviver_compile::emit_plan::{EmitPlan, followed};
use reviver_compile::function::SsaFunction;
use reviver_compile::op::{OpKind, SsaOp, SsaValue};

use crate::no_shader::NoShader;

/// Returns the values that are numbers of steps: values read from the step counter, values computed from numbers of
/// steps, and parameters that receive numbers of steps.
///
/// # Errors
/// Returns [`NoShader::Steps`] if an operation other than `Place` uses such a value.
pub(super) fn numbers_of_steps(
    function: &SsaFunction,
    plan: &EmitPlan,
) -> Result<BTreeSet<SsaValue>, NoShader> {
    let blocks = || plan.order.iter().filter_map(|&number| function.blocks.get(number as usize));
    let ops = || {
        let values = blocks().flat_map(|block| &block.ops);
        values.filter_map(|&value| Some((value, function.op(value)?)))
    };
    let mut found: BTreeSet<SsaValue> = BTreeSet::new();
    let mut count = None;
    while count != Some(found.len()) {
        count = Some(found.len());
        for (value, op) in ops() {
            if matches!(op.kind, OpKind::Clock { .. }) || op.kind == OpKind::Place && uses(op, plan, &found) {
                found.insert(value);
            }
        }
        for jump in blocks().flat_map(|block| followed(&block.end)) {
            let passed = plan.passed(function, jump).into_iter();
            found.extend(
                passed
                    .filter(|(_, from)| found.contains(&plan.resolved(*from)))
                    .map(|(to, _)| to)
                    .collect::<Vec<_>>(),
            );
        }
    }
    let is_foreign = |(_, op): (SsaValue, &SsaOp)| op.kind != OpKind::Place && uses(op, plan, &found);
    if ops().any(is_foreign) { Err(NoShader::Steps) } else { Ok(found) }
}

fn uses(op: &SsaOp, plan: &EmitPlan, values: &BTreeSet<SsaValue>) -> bool {
    op.operands.iter().any(|&operand| values.contains(&plan.resolved(operand)))
}
