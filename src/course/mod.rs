//! The embedded course: the book, the exercises, and their grading. Prints nothing.

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
