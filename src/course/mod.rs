//! The course: exercises that are part of the program, and how what somebody made of them is graded. Prints nothing.

pub mod grading;
pub mod hints;
pub mod place;
pub mod set;
