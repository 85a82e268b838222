//! The six comparisons (`<`, `==`, …), given the order of two values. The values themselves are compared elsewhere.

use std::cmp::Ordering;

use reviver_isa::arith::Order;
use reviver_isa::function::Function;

/// Returns true if a comparison holds for values in the given order. Returns `None` if the function isn't a
/// comparison.
pub(crate) fn truth(function: Function, order: Ordering) -> Option<bool> {
    let holds = match function {
        Function::Eq => order.is_eq(),
        Function::Ne => order.is_ne(),
        Function::Lt => order.is_lt(),
        Function::Le => order.is_le(),
        Function::Gt => order.is_gt(),
        Function::Ge => order.is_ge(),
        Function::Always => true,
        _ => return None,
    };
    Some(holds)
}

/// Returns the comparison function for the sign in a condition.
pub(crate) fn comparison(order: Order) -> Function {
    match order {
        Order::Eq => Function::Eq,
        Order::Ne => Function::Ne,
        Order::Lt => Function::Lt,
        Order::Le => Function::Le,
        Order::Gt => Function::Gt,
        Order::Ge => Function::Ge,
    }
}

/// Returns true if a condition with the order `wanted` holds for values with the order `found`.
pub(crate) fn holds(wanted: Order, found: Ordering) -> bool {
    truth(comparison(wanted), found) == Some(true)
}
