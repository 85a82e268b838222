//! A name of an expression that stands for certain cells, as data.

use crate::memory::{Storage, Target};

/// A name, and the cells that it stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BoundName {
    pub name: String,
    pub storage: Storage,
    /// The first of its cells; none where it has none.
    pub first: Option<Target>,
    /// What of it is read: values, adjoints, or both.
    pub reads_value: bool,
    pub reads_adjoint: bool,
}
