//! The binding of one name of a bound expression, as data.

use crate::memory::{Storage, Target};

/// A name and the cells that it is bound to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BoundName {
    pub name: String,
    pub storage: Storage,
    /// The first of the cells; `None` if there are no cells.
    pub first: Option<Target>,
    /// The expression reads values (`reads_value`), adjoints (`reads_adjoint`), or both.
    pub reads_value: bool,
    pub reads_adjoint: bool,
}
