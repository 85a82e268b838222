//! The list of all mutants. Compiled only with the feature `mutants`.

use std::sync::LazyLock;

use super::{Mutant, Rule, Slip};
use crate::function::{Function, Signature};
use crate::number::{Arithmetic, F64, Wide};
use crate::update::{Action, Over, Update};

/// Every mutant: at least one for each row and one for each rule. The list is derived from the rows, so a new
/// row adds its own mutants.
pub static ALL: LazyLock<Vec<Mutant>> = LazyLock::new(|| {
    let functions = || Function::ALL.iter().copied();
    let inverses = Update::ALL.iter().map(|&update| Mutant::Inverse(update, wrong_inverse(update)));
    let effects = Update::ALL.iter().copied().filter(|&update| computes(update)).map(Mutant::Effect);
    let rules = Rule::ALL.iter().map(|&rule| Mutant::Broken(rule));
    functions()
        .flat_map(values)
        .chain(functions().flat_map(partials))
        .chain(inverses)
        .chain(effects)
        .chain(rules)
        .collect()
});

fn values(function: Function) -> impl Iterator<Item = Mutant> {
    let slips = [
        Some(Slip::OffByOne),
        is_ordered(function).then_some(Slip::Swapped),
        lookalike(function).map(Slip::Another),
    ];
    slips.into_iter().flatten().map(move |slip| Mutant::Value(function, slip))
}

/// Returns true if exchanging the two sources changes the function's value. Determined by evaluating the row
/// at samples.
fn is_ordered(function: Function) -> bool {
    let numbers = Arithmetic { words: Wide, reals: F64 };
    function.arity() == 2
        && function.signatures().any(|signature| match signature {
            Signature::Int => function.int(&numbers, 5, 2) != function.int(&numbers, 2, 5),
            Signature::Real => function.real(&numbers, 0.5, 2.0) != function.real(&numbers, 2.0, 0.5),
            _ => false,
        })
}

/// Returns a row of the same signatures that a programmer could confuse with this one.
fn lookalike(function: Function) -> Option<Function> {
    use Function::*;
    Some(match function {
        Sum => Diff,
        Diff => Sum,
        Mul => Sum,
        Rem => Mod,
        Floordiv => Div,
        Mod => Rem,
        Ltu => Leu,
        Leu => Ltu,
        Gtu => Geu,
        Geu => Gtu,
        Min => Max,
        Max => Min,
        Abs => Relu,
        Square => Copy,
        Relu => Abs,
        Exp => Sinh,
        Sin => Cos,
        Cos => Sin,
        Tan => Tanh,
        Asin => Sin,
        Acos => Asin,
        Atan => Tan,
        Sinh => Cosh,
        Cosh => Sinh,
        Tanh => Tan,
        Floor => Round,
        Round => Floor,
        And => Or,
        Or => Xor,
        Xor => Or,
        Shl => Shr,
        Shr => Sar,
        Sar => Shr,
        Eq => Ge,
        Ne => Gt,
        Lt => Le,
        Le => Lt,
        Gt => Ge,
        Ge => Gt,
        _ => return None,
    })
}

/// Returns true if an update computes a new value (it isn't a move, a test or a jump) over an implemented
/// number system.
fn computes(update: Update) -> bool {
    let exists = |over: &Over| matches!(over, Over::Integers | Over::AdditiveReals);
    let computes =
        matches!(update.action(), Action::Accumulate | Action::Replace | Action::Map | Action::Rotate);
    computes && update.over().iter().any(exists)
}

fn partials(function: Function) -> impl Iterator<Item = Mutant> {
    let sources = |signature: Signature| match signature {
        Signature::Real => function.arity() as u8,
        Signature::RealInt => 1,
        _ => 0,
    };
    let count = function.signatures().map(sources).max().unwrap_or(0);
    (0..count).map(move |source| Mutant::Partial(function, source))
}

/// Returns an update that doesn't undo the given update: the given update itself or, if the given update is its
/// own inverse, a similar update.
fn wrong_inverse(update: Update) -> Update {
    match update {
        _ if update.inverse() != update => update,
        Update::Xor | Update::Overwrite => Update::Add,
        Update::Not | Update::Conj | Update::Erase | Update::Forget => Update::Neg,
        Update::Neg => Update::Vacate,
        Update::Swap => Update::Show,
        Update::Show => Update::Erase,
        Update::Assert => Update::From,
        _ => Update::Push,
    }
}
