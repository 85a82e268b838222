//! The binding of one name of a bound expression, as data.

use crate::memory::{Storage, Target};

/// A name and the cells that it is bound to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BoundName {
    pub name: String,
    pub storage: Storage,
    /// The first of the cells; `None` if there are no cells.
    pub first: Option<Target>,
    /// True if the expression reads values of the cells.
    pub reads_value: bool,
    /// True if the expression reads adjoints of the cells.
    pub reads_adjoint: bool,
}
