//! The tour: pages that explain the screen to new users, and a description of the last step. The pages are
//! data (`pages.rs`), the reader's position is a value (`reading.rs`), and the strip draws both
//! (`strip.rs`). Commands are executed elsewhere.

pub mod pages;
pub mod reading;
pub mod strip;
pub mod words;
