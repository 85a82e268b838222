//! Tests with shaders of whole programs: the shaders are valid, and lanes have the same results as on the CPU.

mod device;
mod gradients;
mod irreducible_loops;
mod programs;
mod recursions;
mod runs;
mod speed;
mod walks;
