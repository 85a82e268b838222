//! The debugger on a screen. [`app`] is the application; it needs no terminal and draws into a buffer. With the
//! feature `terminal`, [`run`] connects the application with a terminal.

pub mod app;
mod colour;
pub mod event;
pub mod keys;
pub mod layout;
pub mod panes;
pub mod picture;
#[cfg(feature = "terminal")]
mod sgr;
#[cfg(feature = "terminal")]
mod signals;
#[cfg(feature = "terminal")]
mod split;
#[cfg(feature = "terminal")]
mod stage;
#[cfg(feature = "terminal")]
pub mod terminal;
pub mod theme;
pub mod tour;

#[cfg(feature = "terminal")]
pub use stage::{TuiError, run};
