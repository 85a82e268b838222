//! SIMD groups: lanes that execute one call function side by side, each on cells of its own. The results of a lane don't depend on its
//! neighbours: code does the same operations in the same order, and the bounds of verification are the same.

pub mod call;
pub mod form;
