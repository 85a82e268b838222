//! The tour: pages that explain the screen to new users, and a description of the last step. The pages are
//! data (`pages.rs`), the user's position in them is a value (`reading.rs`), and a strip above the panes
//! shows both (`strip.rs`). The application executes the commands.

pub mod pages;
pub mod reading;
pub mod strip;
pub mod words;
