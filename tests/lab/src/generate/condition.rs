//! Generates conditions. The cells that they test stay constant until the condition is tested again.

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use super::operand::{Operand, Term};
use super::scope::{Extent, Id, Variable};
use super::writer::Writer;

/// Comparison that a `br` or `from` can test.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub a: String,
    pub order: Order,
    pub b: String,
    /// Variables on which the comparison depends.
    pub uses: Vec<Id>,
}

/// Condition made of comparisons.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub text: String,
    pub uses: Vec<Id>,
}

const ORDERS: [Order; 6] = [Order::Eq, Order::Ne, Order::Lt, Order::Le, Order::Gt, Order::Ge];

fn negated(order: Order) -> Order {
    match order {
        Order::Eq => Order::Ne,
        Order::Ne => Order::Eq,
        Order::Lt => Order::Ge,
        Order::Le => Order::Gt,
        Order::Gt => Order::Le,
        Order::Ge => Order::Lt,
    }
}

/// Returns the order that holds for swapped operands: `<` becomes `>`.
fn mirrored(order: Order) -> Order {
    match order {
        Order::Lt => Order::Gt,
        Order::Le => Order::Ge,
        Order::Gt => Order::Lt,
        Order::Ge => Order::Le,
        Order::Eq | Order::Ne => order,
    }
}

impl Comparison {
    pub fn text(&self) -> String {
        format!("{} {} {}", self.a, self.order.symbol(), self.b)
    }

    pub fn negated(&self) -> Comparison {
        Comparison { order: negated(self.order), ..self.clone() }
    }

    fn mirrored(&self) -> Comparison {
        let (a, b) = (self.b.clone(), self.a.clone());
        Comparison { a, order: mirrored(self.order), b, uses: self.uses.clone() }
    }
}

impl Writer<'_> {
    /// Returns a comparison of cells and constants.
    pub fn comparison(&mut self) -> Comparison {
        self.compared(|w, class, _| w.plain_source(class))
    }

    /// Returns a constant or a cell, which needs no computation.
    pub fn plain_source(&mut self, class: Class) -> Operand {
        self.plain_indices = true;
        let source = self.source(class, &[]);
        self.plain_indices = false;
        source
    }

    /// Returns a comparison of expressions, which only blocks may contain.
    pub fn block_comparison(&mut self) -> Comparison {
        self.compared(Writer::value)
    }

    fn compared(&mut self, mut side: impl FnMut(&mut Self, Class, &[&Operand]) -> Operand) -> Comparison {
        let class = self.class();
        let order = *self.rng.pick(&ORDERS);
        let a = side(self, class, &[]);
        // Two random reals are hardly ever equal, so sometimes an operand is compared with itself.
        let equal = class == Class::Real && matches!(order, Order::Eq | Order::Ne) && self.rng.chance(35);
        let b = if equal { a.clone() } else { side(self, class, &[]) };
        let uses = a.uses().into_iter().chain(b.uses()).collect();
        Comparison { a: a.text, order, b: b.text, uses }
    }

    /// Returns a condition for a block, mostly a single comparison.
    pub fn condition(&mut self) -> Condition {
        let first = self.block_comparison();
        if self.rng.chance(65) {
            return Condition { text: first.text(), uses: first.uses };
        }
        if self.rng.chance(40)
            && let Some(guarded) = self.guarded()
        {
            return guarded;
        }
        let second = self.block_comparison();
        let text = match self.rng.below(4) {
            0 => format!("{} and {}", first.text(), second.text()),
            1 => format!("{} or {}", first.text(), second.text()),
            2 => format!("not ({} or {})", first.text(), second.text()),
            _ => format!("not {} and ({} or {})", first.text(), second.text(), first.mirrored().text()),
        };
        Condition { text, uses: [first.uses, second.uses].concat() }
    }

    /// Returns a condition with an array element in its last part. The element's index is out of bounds exactly if the
    /// earlier parts already decide the condition, so that the last part isn't evaluated.
    pub fn guarded(&mut self) -> Option<Condition> {
        let arrays = self
            .scope
            .find(|v| matches!(v.extent, Extent::Vector(1..)) && v.class == Class::Int && !v.accumulator);
        let is_cell = |v: &Variable| v.extent == Extent::Scalar && v.class == Class::Int && v.has_adjoint;
        let cells = self.scope.find(|v| is_cell(v) && !v.accumulator);
        if arrays.is_empty() || cells.is_empty() {
            return None;
        }
        let (array, cell) = (*self.rng.pick(&arrays), *self.rng.pick(&cells));
        let Extent::Vector(length) = self.scope.get(array).extent else { return None };
        let (offset, value, order) = (self.rng.within(-2..=2), self.small_int(), *self.rng.pick(&ORDERS));
        [array, cell].into_iter().for_each(|id| self.scope.touch(id));
        let (low, high) = (-offset, length - offset);
        let index = self.spell(&Term { cell: Some(cell), offset });
        let (i, order) = (self.scope.get(cell).name.clone(), order.symbol());
        let last = format!("{}[{index}] {order} {value}", self.scope.get(array).name);
        let text = match self.rng.below(5) {
            0 => format!("{i} >= {low} and {i} < {high} and {last}"),
            1 => format!("{i} < {low} or {i} >= {high} or {last}"),
            2 => format!("not ({i} < {low} or {i} >= {high} or {last})"),
            3 => format!("({i} > {value} or {i} < {high}) and {i} < {high} and ({i} < {low} or {last})"),
            _ => format!(
                "(({i} < {low} or {i} >= {high}) and {i} != {value}) or {i} >= {low} and ({i} >= {high} or {last})"
            ),
        };
        Some(Condition { text, uses: vec![array, cell] })
    }

    /// Returns the text of a comparison, sometimes in an equivalent form. The conditions at both ends of a block only
    /// need to be equivalent.
    pub fn reworded(&mut self, comparison: &Comparison) -> String {
        match self.rng.below(4) {
            0 => comparison.mirrored().text(),
            1 => format!("not {}", comparison.negated().text()),
            _ => comparison.text(),
        }
    }
}
