//! Programs in SSA form, for engines that compile. A form is a *version* of a program: the code from a position to where
//! the machine does something that isn't compiled, in one direction, with adjoints or without. It is built from the flow
//! by a reading of the rows and templates whose numbers are values of the form, so that nothing here says what an
//! instruction does. This crate makes no machine code.
//!
//! | module | what it is |
//! |---|---|
//! | [`form`], [`op`] | blocks of operations, and the table of what is known of each |
//! | [`build()`] | from the flow to a form |
//! | [`bounded`] | forms that open so many calls at most |
//! | [`passes`] | what makes a form better |
//! | [`known`], [`left`] | what cells hold where a form begins that goes on where another has arrived |
//! | [`range`] | integers between two numbers |
//! | [`check`], [`order`] | whether a form is well made; orders of its blocks |
//! | [`backend`] | what an engine that compiles has to have |
//! | [`driver`], [`run`] | a machine that is moved by compiled code, and what such code is asked and answers |
//! | `versions` | the code of a driver: when it is compiled, and how much of it |
//! | [`route`], [`start`] | all the way between two positions, for who can begin anew, and where that begins |
//! | [`turning`], [`bare`] | the two ways of a gradient, as one; the cells of those that need no machine |
//! | [`group`] | the same for several lanes side by side |
//! | [`written`] | what of a form is text, for engines that write some |
//! | [`evaluate`] | forms carried out as they stand |
//!
//! Cells that only steps which name them reach are values of a form; they are loaded where it begins, and stored where it
//! is left. All others stay in memory. A call whose callee isn't put in place is made of stores, loads and branches, so that a
//! recursion is a loop over records of what is open ([`form::FormCall`]). A check that fails leaves no state: the driver goes back to a copy of the
//! machine, and the interpreter finds the trap, its place and its step. So a check may fail where the interpreter
//! finds nothing wrong, and no check may hold where it does.
//!
//! A run by forms comes to what the interpreter comes to:
//!
//! ```
//! use std::sync::Arc;
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_compile::driver::Driver;
//! use reviver_compile::evaluate::Evaluator;
//! use reviver_vm::{Machine, Program, Stop, Travel};
//!
//! let text = ".in n default 100\n.out sum\nfor i in 0..n\n    add sum, i\nrof\n";
//! let module = assemble("sum.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let program = Arc::new(Program::new(module, 0).unwrap());
//! let mut plain = Machine::at_begin(program.clone()).unwrap();
//! let mut driven = Machine::at_begin(program.clone()).unwrap();
//! driven.run_by(Arc::new(Driver::new(&program, Evaluator)));
//! assert_eq!(plain.run(Travel::Forward, 10_000), Ok(Stop::Bound));
//! assert_eq!(driven.run(Travel::Forward, 10_000), Ok(Stop::Bound));
//! assert!(plain.state() == driven.state());
//! ```

pub mod backend;
pub mod bounded;
mod build;
pub mod call;
pub mod check;
mod compiled;
pub mod driver;
pub mod error;
pub mod evaluate;
pub mod form;
mod frames;
pub mod group;
pub mod known;
pub mod left;
pub mod op;
pub mod order;
pub mod passes;
pub mod range;
pub mod route;
pub mod rows;
pub mod run;
pub mod start;
mod text;
mod versions;
pub mod written;

pub use build::build;
pub use error::Outside;
pub use versions::CodeTiming;
