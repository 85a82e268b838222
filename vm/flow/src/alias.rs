//! Alias analysis: decides whether two slots of one step are the same cell, as far as that is known before a run. The
//! frame of a call is fresh, so its variables alias no older cell. An argument that the callee may change shares no
//! cells with other arguments, because the entry of the callee checks this.

use crate::call::Passed;
use crate::slot::{Anchor, ArrayElement, ArrayIndex, Location, Locus, Region, Slot};

/// The result of an alias query for two slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// The slots are different cells in every run.
    Never,
    /// The answer is known only when the step is executed.
    Maybe,
    /// The slots are the same cell in every run.
    Always,
}

/// Alias queries over the table of array elements that slots refer to by number.
#[derive(Clone, Copy)]
pub struct Aliases<'e> {
    /// The array elements of the flow. [`Location::Element`] is an index in this table.
    pub elements: &'e [ArrayElement],
}

impl Aliases<'_> {
    /// Returns the alias relation of a target (`a`) and another slot (`b`) of the same step.
    pub fn of(self, a: &Slot, b: &Slot) -> Alias {
        if a.class != b.class || a.adjoint != b.adjoint {
            return Alias::Never;
        }
        // The adjoints of `in` parameters are targets too, and two `in` parameters may share cells.
        let parameters = if a.adjoint { Alias::Maybe } else { Alias::Never };
        match (a.location, b.location) {
            (Location::Cell(a), Location::Cell(b)) => cells(a, b, parameters),
            _ if a.location == b.location => Alias::Always,
            _ if self.are_apart(a, b, parameters) => Alias::Never,
            _ => Alias::Maybe,
        }
    }

    /// Returns true if two arguments that one call passes may share cells. Both must have the same class.
    pub fn may_share(self, a: &Passed, b: &Passed) -> bool {
        let adjoint = |passed: &Passed| matches!(passed, Passed::Cell(slot) if slot.adjoint);
        if adjoint(a) != adjoint(b) {
            return false;
        }
        let parameters = if adjoint(a) { Alias::Maybe } else { Alias::Never };
        match (a.region(self.elements), b.region(self.elements)) {
            (Some(a), Some(b)) => meet(a, b, parameters),
            _ => true,
        }
    }

    /// Returns true if two slots certainly aren't the same cell: their arrays have no cell in common, or their
    /// indices differ in every run.
    fn are_apart(self, a: &Slot, b: &Slot, parameters: Alias) -> bool {
        let (Some(a), Some(b)) = (a.locus(self.elements), b.locus(self.elements)) else { return false };
        !meet(a.region(), b.region(), parameters) || differ(&a, &b)
    }
}

/// Returns true if the indices of two elements of one array differ by a non-zero constant in at least one dimension.
fn differ(a: &Locus, b: &Locus) -> bool {
    let (Locus::Element(a), Locus::Element(b)) = (a, b) else { return false };
    let differs =
        |(one, other): (ArrayIndex, ArrayIndex)| one.cell == other.cell && one.offset != other.offset;
    a.base() == b.base() && a.subscripts().zip(b.subscripts()).any(differs)
}

/// Returns the alias relation of two anchors. `parameters` is the relation of two different parameters, which depends
/// on whether cells or adjoints are compared.
fn cells(a: Anchor, b: Anchor, parameters: Alias) -> Alias {
    let maybe = |other: Anchor| if is_of_caller(other) { Alias::Maybe } else { Alias::Never };
    match (a, b) {
        (a, b) if a == b => Alias::Always,
        (Anchor::Parameter(_), Anchor::Parameter(_)) => parameters,
        (Anchor::Parameter(_), other) | (other, Anchor::Parameter(_)) => maybe(other),
        _ => Alias::Never,
    }
}

/// Returns true if a caller may have passed the cell at this anchor as an `inout` argument.
fn is_of_caller(anchor: Anchor) -> bool {
    matches!(anchor, Anchor::Fixed(_))
}

fn meet(a: Region, b: Region, parameters: Alias) -> bool {
    let overlap = |first: u32, other: u32| {
        u64::from(first) < u64::from(other) + u64::from(b.length)
            && u64::from(other) < u64::from(first) + u64::from(a.length)
    };
    match (a.anchor, b.anchor) {
        (Anchor::Fixed(first), Anchor::Fixed(other)) => overlap(first, other),
        (Anchor::Frame(class, first), Anchor::Frame(other_class, other)) => {
            class == other_class && overlap(first, other)
        }
        (Anchor::Parameter(n), Anchor::Parameter(m)) => n == m || parameters != Alias::Never,
        (Anchor::Parameter(_), other) | (other, Anchor::Parameter(_)) => is_of_caller(other),
        _ => false,
    }
}
