//! Shaders of whole programs: that they are well made, and that lanes come to what the processor comes to.

mod device;
mod gradients;
mod programs;
mod runs;
mod speed;
mod walks;
