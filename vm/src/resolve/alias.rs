//! Whether two places may be one cell, as far as that is known before a call. The frame of a call is fresh, so
//! none of its variables is anything that was there before; arguments that a callee may change share no cells
//! with others, which is checked where it is entered. Knows no instruction.

use crate::op::{Place, Spot, Term};

/// The cells that a place may be one of.
struct Region {
    spot: Spot,
    length: u32,
}

fn region(place: &Place) -> Option<Region> {
    match *place {
        Place::Scalar(spot) => Some(Region { spot, length: 1 }),
        Place::Vector { base, length, .. } => Some(Region { spot: base, length }),
        Place::Matrix { base, rows, columns, .. } => Some(Region { spot: base, length: rows * columns }),
        // Adjoints are no cells of their class.
        Place::AdjointOf(_) => None,
    }
}

/// Whether two different places of a verified instruction may be one cell. What is written as one cell,
/// `verify` has refused.
pub(super) fn may_meet(a: &Place, b: &Place) -> bool {
    match (a, b) {
        (Place::Scalar(a), Place::Scalar(b)) => matches!(
            (a, b),
            (Spot::Parameter(_), Spot::Absolute(_)) | (Spot::Absolute(_), Spot::Parameter(_))
        ),
        _ => is_or_may_meet(a, b) && !differ(a, b),
    }
}

/// Whether two places are one cell or may be.
pub(super) fn is_or_may_meet(a: &Place, b: &Place) -> bool {
    let (Some(a), Some(b)) = (region(a), region(b)) else { return false };
    let overlap = |first: u32, other: u32| {
        u64::from(first) < u64::from(other) + u64::from(b.length)
            && u64::from(other) < u64::from(first) + u64::from(a.length)
    };
    match (a.spot, b.spot) {
        (Spot::Absolute(first), Spot::Absolute(other)) => overlap(first, other),
        (Spot::Frame(class, first), Spot::Frame(other_class, other)) => {
            class == other_class && overlap(first, other)
        }
        (Spot::Parameter(n), Spot::Parameter(m)) => n == m,
        (Spot::Frame(..), _) | (_, Spot::Frame(..)) => false,
        (Spot::Parameter(_), Spot::Absolute(_)) | (Spot::Absolute(_), Spot::Parameter(_)) => true,
    }
}

/// Whether two elements of one array have an index that differs by a constant.
fn differ(a: &Place, b: &Place) -> bool {
    let differs = |one: Term, other: Term| one.cell == other.cell && one.offset != other.offset;
    match (*a, *b) {
        (Place::Vector { base, term, .. }, Place::Vector { base: other, term: other_term, .. }) => {
            base == other && differs(term, other_term)
        }
        (
            Place::Matrix { base, row, column, .. },
            Place::Matrix { base: other, row: other_row, column: other_column, .. },
        ) => base == other && (differs(row, other_row) || differs(column, other_column)),
        _ => false,
    }
}
