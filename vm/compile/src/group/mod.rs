//! SIMD groups: several lanes execute one call function side by side, each on its own cells. A lane's results don't
//! depend on the other lanes. Its operations, their order, and the bounds of verification are the same as in a call of
//! this lane alone.

pub mod call;
pub mod divergence;
