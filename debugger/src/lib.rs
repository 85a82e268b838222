//! The debugger: time travel through a program. Only [`repl`] and [`tui`] know a terminal.
//!
//! From the machine to a screen, each layer knowing those before it only:
//!
//! | module | what it is |
//! |---|---|
//! | [`memory`], [`cell_set`], [`access`], [`cotangents`], [`listing`] | facts about a program: names and cells, what a step touches, what it carries to adjoints, source text |
//! | [`expression`], [`format`](mod@format), [`points`] | what users write: expressions, formats, breakpoints, watchpoints |
//! | [`timeline`] | exact travel: branches, checkpoints, residues, edits |
//! | [`scale`] | steps in the columns of a bar or a plot |
//! | [`session`] | every command as a method that returns an outcome ([`outcome`]) |
//! | [`view`] | what there is to see, as plain data, one file a pane |
//! | [`command`] | commands as lines of text, from one table |
//! | [`render`] | outcomes in words |
//! | [`batch`], [`repl`] | scripts; a prompt, and a word to who waits at it |
//! | [`tui`] | the screen: an application without a terminal, pictures of it, and the terminal |
//!
//! One command looks the other way: `picture` has the screen drawn, into a file.
//!
//! A front end holds a [`session::Session`] (or a [`command::Console`], which also takes lines of text),
//! calls its methods, and draws the panes of [`view`]. To stop a long run it sets the flag of
//! [`session::Session::interrupt`] from another thread.
//!
//! A session travels both ways:
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

pub mod access;
pub mod answer;
pub mod batch;
mod belongings;
pub mod cell_set;
pub mod columns;
pub mod command;
pub mod cotangents;
#[cfg(unix)]
mod ending_signals;
pub mod expression;
pub mod format;
pub mod listing;
pub mod memory;
pub mod outcome;
pub mod points;
mod prompt_settings;
pub mod question;
pub mod render;
pub mod repl;
pub mod scale;
pub mod session;
pub mod timeline;
pub mod tui;
pub mod view;
mod waiting;
