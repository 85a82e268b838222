//! The course: the book and the exercises, which are part of the program, and how what somebody made of the latter is graded. Prints nothing.

pub mod book;
pub mod grading;
pub mod hints;
pub mod place;
pub mod set;
