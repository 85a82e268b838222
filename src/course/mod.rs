//! The course: the book and the exercises, which are part of the program, and how what somebody made of the latter is graded. Prints nothing.

pub mod book;
pub mod children;
pub mod grading;
pub mod hidden;
pub mod hints;
mod own_files;
mod pipes;
pub mod place;
pub mod score;
pub mod set;
pub mod similar;
mod words;
