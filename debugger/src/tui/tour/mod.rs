//! The tour: pages that explain the screen to somebody who sees it for the first time, and what the last step was, in
//! words. Which pages there are is data (`pages.rs`), where a reader stands among them is a value (`reading.rs`), and
//! the strip draws it (`strip.rs`). Nothing here carries a command out.

pub mod pages;
pub mod reading;
pub mod strip;
pub mod words;
