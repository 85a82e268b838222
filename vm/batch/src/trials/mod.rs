//! Tests with the shaders of whole programs: each shader is valid, and its lanes have the same results as on the CPU.

mod device;
mod gradients;
mod irreducible_loops;
mod programs;
mod recursions;
mod runs;
mod speed;
mod walks;
