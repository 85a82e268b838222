//! Tests of the screen without a terminal.

mod behaviour;
mod keys;
mod layout;
mod lines;
mod panes;
mod picture;
mod planted;
mod random;
mod runs;
mod screen;
mod selection;
mod snapshots;
mod speed;
#[path = "../support/mod.rs"]
mod support;
mod time;
mod tour;
mod walk;
mod words;
