//! SIMD groups: lanes that execute one call function side by side, each on its own cells. A lane's results don't depend
//! on its neighbours, because its operations, their order, and the bounds of verification are those of a single lane.

pub mod call;
pub mod divergence;
