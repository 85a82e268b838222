//! The class of number that a cell holds. Independent of rows and instructions.

use serde::{Deserialize, Serialize};

/// The two classes of cells. Cells of different classes never alias.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Ord, Eq, Hash, Serialize, Deserialize)]
pub enum Class {
    /// A signed integer of the module's width, 8 to 64 bits.
    Int,
    /// A real of the module's number system. Only reals have adjoints.
    Real,
}

impl Class {
    /// Returns the spelling in source text.
    pub fn name(self) -> &'static str {
        match self {
            Class::Int => "int",
            Class::Real => "real",
        }
    }
}
