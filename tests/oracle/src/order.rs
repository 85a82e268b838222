//! The six comparisons, told by the order of two values. Knows no values.

use std::cmp::Ordering;

use reviver_isa::arith::Order;
use reviver_isa::function::Function;

/// Whether a comparison holds; `None` if the function is none.
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

/// The comparison that a condition writes as a symbol.
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

/// The orders for which a condition holds.
pub(crate) fn holds(wanted: Order, found: Ordering) -> bool {
    truth(comparison(wanted), found) == Some(true)
}
