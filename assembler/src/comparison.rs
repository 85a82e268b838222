//! The functions that compare two numbers.

use reviver_isa::arith::Order;
use reviver_isa::function::Function;

/// Returns the function row of an ordering.
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

/// Returns the comparison that holds where another one doesn't. Returns `None` for other functions, such as `always` and
/// unsigned comparisons.
pub(crate) fn opposite(comparison: Function) -> Option<Function> {
    match comparison {
        Function::Eq => Some(Function::Ne),
        Function::Ne => Some(Function::Eq),
        Function::Lt => Some(Function::Ge),
        Function::Ge => Some(Function::Lt),
        Function::Gt => Some(Function::Le),
        Function::Le => Some(Function::Gt),
        _ => None,
    }
}
