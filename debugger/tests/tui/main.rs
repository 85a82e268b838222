//! The screen, without a terminal.

mod behaviour;
mod keys;
mod random;
mod screen;
mod snapshots;
mod speed;
#[path = "../support/mod.rs"]
mod support;
