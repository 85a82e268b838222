//! Messages about functions that have a value but no derivative, with the function's formula. The input is one
//! instruction with the values of its operands. The module uses no machine.

use reviver_isa::fault::Fault;
use reviver_isa::formula::Formulas;
use reviver_isa::function::Signature;
use reviver_isa::instruction::Instruction;
use reviver_isa::text::TextRenderer;

/// The message if an adjoint or tangent exceeds the range of the number system although every derivative exists.
pub const OUT_OF_RANGE: &str = "a derivative is too large for the number system";

/// Returns a message such as "`sqrt(x)` has no finite derivative by `x` where `x` is 0.0". `values` are the
/// operands' values, the target's first.
pub fn message(
    instruction: &Instruction,
    renderer: &TextRenderer,
    values: &[Option<String>],
    source: usize,
    fault: Fault,
) -> String {
    let sources = instruction.operands.get(1..).unwrap_or_default();
    let names: Vec<String> = sources.iter().map(|operand| renderer.operand(operand)).collect();
    let by = names.get(source).map_or("its source", String::as_str);
    let verdict = match fault {
        Fault::Overflow => "a derivative that does not fit into the number system",
        _ => "no finite derivative",
    };
    let place = match values.get(source + 1) {
        Some(Some(value)) => format!(" where `{by}` is {value}"),
        _ => String::new(),
    };
    format!("`{}` has {verdict} by `{by}`{place}", formula(instruction, &names))
}

/// Returns the formula of the function with its sources, or the function's name if it has no formula for
/// reals.
fn formula(instruction: &Instruction, names: &[String]) -> String {
    let function = instruction.function;
    let formulas = Formulas::as_written();
    let leaf = |n: usize| formulas.leaf(names.get(n).map_or("", String::as_str));
    let signature =
        function.signatures().find(|signature| matches!(signature, Signature::Real | Signature::RealInt));
    let value = signature.and_then(|signature| formulas.value(function, signature, leaf(0), leaf(1)).ok());
    let spelled = value.and_then(|value| formulas.spell(&[value]).formulas.pop());
    spelled.map_or_else(|| function.name().to_owned(), |formula| formula.text)
}
