//! Shaders of whole programs: that they are well made, and that lanes come to what the processor comes to.

mod device;
mod gradients;
mod programs;
mod recursions;
mod runs;
mod speed;
mod switched;
mod walks;
