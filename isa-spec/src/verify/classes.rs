//! The rule that a function has a signature for the classes of its operands. A violation names the operand or
//! result to convert, and the conversion.

use super::{Checker, Site, a_class};
use crate::codes::ProblemCode;
use crate::function::{Function, Signature};
use crate::instruction::{Class, Instruction, Operand};
use crate::module::Procedure;
use crate::operator::{BinaryOperator, advice_on_powers};
use crate::text::TextRenderer;
use crate::update::OperandShape;

/// The conversion of an operand or a result by which an instruction becomes valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// The source with this number must be converted to this class.
    Source(usize, Class),
    /// The result must be converted to this class.
    Result(Class),
}

/// Returns the function that converts to a class.
pub fn converter(to: Class) -> Function {
    match to {
        Class::Int => Function::ToInt,
        Class::Real => Function::ToReal,
    }
}

/// Returns the signature of a function that fits a target and sources, or the first conversion that is needed.
pub fn conversion(function: Function, target: Class, sources: &[Class]) -> Result<Signature, Conversion> {
    let misfit =
        |signature: Signature| (0..sources.len()).find(|&n| sources.get(n) != Some(&signature.source(n)));
    let mut making: Vec<Signature> =
        function.signatures().filter(|signature| signature.result() == target).collect();
    if let Some(&signature) = making.iter().find(|signature| misfit(**signature).is_none()) {
        return Ok(signature);
    }
    let fits = function.signatures().any(|signature| misfit(signature).is_none());
    // The signature that needs the fewest conversions comes first.
    making.sort_by_key(|signature| {
        (0..sources.len()).filter(|&n| sources.get(n) != Some(&signature.source(n))).count()
    });
    let wanted = making
        .first()
        .and_then(|signature| misfit(*signature).map(|n| Conversion::Source(n, signature.source(n))));
    // If the function has a form for these sources, the result is converted. For `copy`, which has the class of
    // its source, the source is converted instead.
    Err(wanted.filter(|_| !fits || function == Function::Copy).unwrap_or(Conversion::Result(target)))
}

impl<'a> Checker<'a> {
    pub(super) fn function_signature(
        &mut self,
        procedure: &'a Procedure,
        at: u32,
        instruction: &'a Instruction,
        target: Option<Class>,
        sources: &[Class],
    ) {
        let function = instruction.function;
        let Some(target) = target else { return };
        let Err(wanted) = conversion(function, target, sources) else { return };
        let spell = |operand: &Operand| TextRenderer { module: self.module, procedure }.operand(operand);
        let is_test = instruction.update.shape() != OperandShape::Accumulate;
        let (message, help) = if is_test {
            let real = sources.iter().position(|class| *class == Class::Int);
            let int = real.and_then(|n| instruction.operands.get(n)).map(spell).unwrap_or_default();
            let help = format!("compare with `toreal({int})`");
            ("an integer and a real can't be compared".to_owned(), help)
        } else {
            let operands: Vec<String> = instruction.operands.iter().map(spell).collect();
            let value = TextRenderer { module: self.module, procedure }.value_of(instruction);
            (message(instruction, target, sources), help(instruction, wanted, (&operands, &value)))
        };
        self.report(ProblemCode::ClassesMixed, Site::Instruction(at), message).help = Some(help);
    }
}

fn message(instruction: &Instruction, target: Class, sources: &[Class]) -> String {
    let result = a_class(target);
    let given: Vec<&str> = sources.iter().map(|&class| a_class(class)).collect();
    let given = given.join(" and ");
    match instruction.function {
        Function::Copy => format!("`{}` changes {result} by {given}", instruction.update.name()),
        function => {
            let name = BinaryOperator::of(function).map_or(function.name(), BinaryOperator::symbol);
            format!("`{name}` does not compute {result} from {given}")
        }
    }
}

fn help(instruction: &Instruction, wanted: Conversion, (operands, value): (&[String], &str)) -> String {
    let update = instruction.update;
    let (target, sources) = operands.split_first().map_or(("y", operands), |(y, rest)| (y.as_str(), rest));
    if instruction.function == Function::Xor {
        return advice_on_powers(sources.first().map_or("a", String::as_str));
    }
    match wanted {
        Conversion::Source(n, class) => {
            let source = sources.get(n).map_or("x", String::as_str);
            let convert = format!("write `{}({source})`", converter(class).name());
            match class {
                Class::Real => convert,
                Class::Int => {
                    format!("{convert}, which drops the fraction; `round` and `floor` give whole reals")
                }
            }
        }
        Conversion::Result(class) => {
            let line = format!("{} {target}, {}({value})", update.name(), converter(class).name());
            format!("convert its result: `{line}`")
        }
    }
}
