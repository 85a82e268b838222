//! The debugger: time travel through a program. Only `repl` and parts of [`tui`] access a terminal. They are built
//! only with the feature `terminal`, which is on by default.
//!
//! The layers, from the machine to the screen. Each layer depends only on layers above it in the table:
//!
//! | module | content |
//! |---|---|
//! | [`memory`], [`cell_set`], [`listing`] | facts about a program, from `reviver-inspect`: names, cells, source text |
//! | [`access`], [`cotangents`] | facts about a step, from `reviver-inspect`: cells accessed, adjoints changed |
//! | [`expression`], [`points`], [`format`](mod@format) | user input: expressions, breakpoints, watchpoints, formats |
//! | [`timeline`] | exact travel: branches, checkpoints, residues, edits |
//! | [`scale`] | mapping between steps and the columns of a bar or a plot |
//! | [`session`] | every command as a method; the methods return outcomes ([`outcome`]) |
//! | [`view`] | views as plain data, one file per pane |
//! | [`command`] | commands as lines of text, from one table |
//! | [`render`] | outcomes as text |
//! | [`batch`], `repl` | scripts; a prompt with a progress line |
//! | [`tui`] | the screen: an application without a terminal, its pictures, and the terminal |
//!
//! One command depends on a later layer: `picture` draws the screen into a file.
//!
//! A front end owns a [`session::Session`], or a [`command::Console`], which also executes lines of text. The
//! front end calls methods and draws the panes of [`view`]. To stop a long run, another thread sets the flag
//! of [`session::Session::interrupt`].
//!
//! A session travels in both directions:
//!
//! ```
//! use reviver_assembler::files::FilesInMemory;
//! use reviver_debugger::listing::OpenedProgram;
//! use reviver_debugger::session::Session;
//! use reviver_vm::Travel;
//!
//! let text = ".inout a default 1\n.inout b default 2\nadd a, b\nswap a, b\n";
//! let subject = OpenedProgram::open("swap.rasm", text.into(), &FilesInMemory::new()).unwrap();
//! let mut session = Session::at_begin(subject).unwrap();
//! session.step(Travel::Forward, 2);
//! assert_eq!(session.evaluate("a + 10*b").unwrap().1, "32");
//! session.step(Travel::Backward, 1);
//! assert_eq!(session.step_number(), 1);
//! assert_eq!(session.evaluate("a + 10*b").unwrap().1, "23");
//! ```

#![deny(missing_docs)]

pub mod answer;
pub mod batch;
pub mod columns;
pub mod command;
#[cfg(all(feature = "terminal", unix))]
mod ending_signals;
pub mod format;
pub mod outcome;
#[cfg(feature = "terminal")]
mod prompt_settings;
pub mod question;
pub mod render;
#[cfg(feature = "terminal")]
pub mod repl;
pub mod scale;
pub mod session;
mod session_content;
pub mod timeline;
pub mod tui;
pub mod view;
#[cfg(feature = "terminal")]
mod waiting;

pub use reviver_inspect::{access, cell_set, cotangents, expression, listing, memory, points};
