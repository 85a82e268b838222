//! What kind of number a cell holds. Knows neither rows nor instructions.

use serde::{Deserialize, Serialize};

/// The two classes of cells. They never alias.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Ord, Eq, Hash, Serialize, Deserialize)]
pub enum Class {
    Int,
    Real,
}

impl Class {
    /// The spelling in source text.
    pub fn name(self) -> &'static str {
        match self {
            Class::Int => "int",
            Class::Real => "real",
        }
    }
}
