//! Generates branch pairs between labels: blocks in flat form, and interleaved pairs that no block can express.

use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;

use super::condition::Comparison;
use super::facts::{Fact, Ints};
use super::scope::{Extent, Variable};
use super::writer::{Place, Writer};

impl Writer<'_> {
    fn label(&mut self) -> String {
        self.name("l")
    }

    /// Writes a jump over a body.
    pub fn flat_skip(&mut self) -> bool {
        let skips = self.comparison();
        let (out, back) = (self.label(), self.label());
        self.scope.freeze(&skips.uses);
        self.labelled(&out, format!("br {back}, {}", skips.text()));
        self.nested(Place::Branch, |w| w.statements(3));
        self.labelled(&back, format!("from {out}, {}", skips.text()));
        self.scope.thaw(&skips.uses);
        true
    }

    /// Writes a choice between two bodies.
    pub fn flat_choice(&mut self) -> bool {
        let first = self.comparison();
        let (split, leave, other, join) = (self.label(), self.label(), self.label(), self.label());
        self.scope.freeze(&first.uses);
        self.labelled(&split, format!("br {other}, {}", first.negated().text()));
        self.nested(Place::Branch, |w| w.statements(2));
        self.labelled(&leave, format!("br {join}, always"));
        self.labelled(&other, format!("from {split}, always"));
        self.nested(Place::Branch, |w| w.statements(2));
        self.labelled(&join, format!("from {leave}, {}", first.text()));
        self.scope.thaw(&first.uses);
        true
    }

    /// Writes a loop that tests at its beginning, such as that of the Fibonacci program.
    pub fn flat_while(&mut self) -> bool {
        if self.room < 100 {
            return false;
        }
        let n = self.rng.within(0..=5);
        let (counter, i) = self.flat_counter(n);
        let (top, out, again, done) = (self.label(), self.label(), self.label(), self.label());
        self.labelled(&top, format!("from {again}, {i} != 0"));
        self.labelled(&out, format!("br {done}, {i} == {n}"));
        self.flat_round(counter, n);
        self.labelled(&again, format!("br {top}, always"));
        self.labelled(&done, format!("from {out}, always"));
        self.line(format!("sub {i}, {n}"));
        true
    }

    /// Writes a loop that tests at its end.
    pub fn flat_repeat(&mut self) -> bool {
        if self.room < 100 {
            return false;
        }
        let n = self.rng.within(1..=5);
        let (counter, i) = self.flat_counter(n);
        let (top, back) = (self.label(), self.label());
        let comparisons = [("> 0", "<"), ("!= 0", "!="), (">= 1", "<")];
        let (entry, exit) = *self.rng.pick(&comparisons);
        self.labelled(&top, format!("from {back}, {i} {entry}"));
        self.flat_round(counter, n);
        self.labelled(&back, format!("br {top}, {i} {exit} {n}"));
        self.line(format!("sub {i}, {n}"));
        true
    }

    fn flat_counter(&mut self, n: i64) -> (Variable, String) {
        let counter = self.ancilla(Class::Int, Extent::Scalar, Fact::Int(Ints::new(0, (n - 1).max(0))));
        let name = counter.name.clone();
        (counter.fixed(), name)
    }

    fn flat_round(&mut self, counter: Variable, n: i64) {
        let i = counter.name.clone();
        self.scope.push(counter);
        self.repeated(n as u64, |w| w.nested(Place::Branch, |w| w.statements(3)));
        self.scope.pop();
        self.line(format!("    add {i}, 1"));
    }

    /// Writes two branch pairs that are interleaved: neither encloses the other. At most one of them jumps.
    pub fn flat_crossing(&mut self) -> bool {
        let Some((first, second)) = self.exclusive() else { return false };
        let (a, b, from_a, from_b) = (self.label(), self.label(), self.label(), self.label());
        self.scope.freeze(&first.uses);
        self.labelled(&a, format!("br {from_a}, {}", first.text()));
        self.nested(Place::Branch, |w| w.statements(1));
        self.labelled(&b, format!("br {from_b}, {}", second.text()));
        self.nested(Place::Branch, |w| w.statements(1));
        self.labelled(&from_a, format!("from {a}, {}", first.text()));
        self.nested(Place::Branch, |w| w.statements(1));
        self.labelled(&from_b, format!("from {b}, {}", second.text()));
        self.scope.thaw(&first.uses);
        true
    }

    /// Returns two comparisons of one integer that are never both true.
    fn exclusive(&mut self) -> Option<(Comparison, Comparison)> {
        let cell = self.plain_source(Class::Int);
        let uses = cell.uses();
        let value = match cell.fact {
            Fact::Int(range) if range.hi.saturating_sub(range.lo) < 32 => {
                self.rng.within(range.lo..=range.hi)
            }
            _ => self.rng.within(-3..=9),
        };
        let other = if value > 0 { value - self.rng.within(1..=3) } else { value + self.rng.within(1..=3) };
        let equal = |value: i64| Comparison {
            a: cell.text.clone(),
            order: Order::Eq,
            b: value.to_string(),
            uses: uses.clone(),
        };
        (!uses.is_empty()).then(|| (equal(value), equal(other)))
    }
}
