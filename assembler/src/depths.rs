//! Depths of gradient mode. `grad.on 2` differentiates code that switches to depth 1 itself. So a cell x has an adjoint x' at
//! depth 1 and an adjoint x'2 at depth 2, and x' has an adjoint x'' at depth 2, and so on.
//!
//! The machine knows one depth. An adjoint of depth 1 is marked in the tree. Other adjoints keep their primes in the name
//! until the program's gradients are replaced by statements ([`crate::adjoint::own`]), which removes a depth at a time.

use std::fmt::Write as _;

use compact_str::CompactString;

/// The greatest depth. Each depth doubles the number of cells.
pub const DEEPEST: u32 = 8;

/// The depths of an adjoint; none for a value. Bit n is set if the depth n + 1 is among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Depths(u8);

impl Depths {
    /// Adds a depth, which must exceed the others. Without a number, it is the next one. Returns `None` if it doesn't fit.
    pub fn deeper(self, depth: Option<u64>) -> Option<Depths> {
        let deepest = u8::BITS - self.0.leading_zeros();
        let depth = depth.unwrap_or(u64::from(deepest) + 1);
        let fits = depth > u64::from(deepest) && depth <= u64::from(DEEPEST);
        fits.then(|| Depths(self.0 | 1 << (depth - 1)))
    }

    /// Returns false for a value, and true for an adjoint of depth 1 only. Returns `None` for other adjoints.
    pub fn is_first_or_none(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    /// Returns true if depth 1 is one of the depths.
    pub fn has_first(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns the greatest depth; 0 for a value.
    pub fn deepest(self) -> u32 {
        u8::BITS - self.0.leading_zeros()
    }

    /// Returns the depths without depth 1, each of them lowered by 1.
    pub fn lowered(self) -> Depths {
        Depths(self.0 >> 1)
    }

    /// Returns a name followed by the primes of these depths.
    pub fn name(self, name: &str) -> CompactString {
        let mut text = CompactString::from(name);
        let mut before = 0;
        for depth in (1..=DEEPEST).filter(|depth| self.0 >> (depth - 1) & 1 == 1) {
            // Writing to a string can't fail.
            let _ = if depth == before + 1 { text.write_char('\'') } else { write!(text, "'{depth}") };
            before = depth;
        }
        text
    }

    /// Splits a name in the tree into the name of the cell and the depths.
    pub fn of(name: &str, is_adjoint: bool) -> (&str, Depths) {
        let mut parts = name.split('\'');
        let cell = parts.next().unwrap_or(name);
        let first = if is_adjoint { Depths(1) } else { Depths::default() };
        let depths = parts.try_fold(first, |depths, number| depths.deeper(number.parse().ok()));
        (cell, depths.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_the_cell_and_its_depths() {
        for (name, deepest) in [("x'2", 2), ("x''", 2), ("x'2'", 3), ("x''4", 4), ("p.v'8", 8)] {
            let (cell, depths) = Depths::of(name, false);
            assert_eq!((depths.name(cell).as_str(), depths.deepest()), (name, deepest));
        }
        assert_eq!(Depths::of("x", true).1.is_first_or_none(), Some(true));
        assert_eq!(Depths::of("x", false).1.is_first_or_none(), Some(false));
        assert_eq!(Depths::of("x''", false).1.lowered().is_first_or_none(), Some(true));
        assert_eq!(Depths::default().deeper(Some(9)), None);
        assert_eq!(Depths(2).deeper(Some(2)), None);
    }
}
