//! Conditions over cells that can be kept from changing for as long as they matter.

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use super::scope::Id;
use super::writer::Writer;

/// A comparison: what `br` and `from` test.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub a: String,
    pub order: Order,
    pub b: String,
    /// Every variable that it depends on.
    pub uses: Vec<Id>,
}

/// Anything made of comparisons.
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

/// The ordering of the same two values, named the other way round.
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
    pub fn comparison(&mut self) -> Comparison {
        let class = self.class();
        let order = *self.rng.pick(&ORDERS);
        let a = self.source(class, &[]);
        // Two reals are hardly ever equal by chance.
        let equal = class == Class::Real && matches!(order, Order::Eq | Order::Ne) && self.rng.chance(35);
        let b = if equal { a.clone() } else { self.source(class, &[]) };
        let uses = a.uses().into_iter().chain(b.uses()).collect();
        Comparison { a: a.text, order, b: b.text, uses }
    }

    /// A condition of a block: most often one comparison.
    pub fn condition(&mut self) -> Condition {
        let first = self.comparison();
        if self.rng.chance(65) {
            return Condition { text: first.text(), uses: first.uses };
        }
        let second = self.comparison();
        let text = match self.rng.below(4) {
            0 => format!("{} and {}", first.text(), second.text()),
            1 => format!("{} or {}", first.text(), second.text()),
            2 => format!("not ({} or {})", first.text(), second.text()),
            _ => format!("not {} and ({} or {})", first.text(), second.text(), first.mirrored().text()),
        };
        Condition { text, uses: [first.uses, second.uses].concat() }
    }

    /// The same condition in other words, now and then: both ends of a block only have to agree.
    pub fn reworded(&mut self, comparison: &Comparison) -> String {
        match self.rng.below(4) {
            0 => comparison.mirrored().text(),
            1 => format!("not {}", comparison.negated().text()),
            _ => comparison.text(),
        }
    }
}
