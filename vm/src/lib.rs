//! The machine: verified programs, states, and the interpreter that moves a state through a program in both directions.
//! The crate prints nothing, reads no source text and does no I/O.
//!
//! | module | contents |
//! |---|---|
//! | [`program`], [`state`], [`machine`], [`observer`] | verified programs, states, runs, observers of runs |
//! | [`travel`], [`stops`], [`trap`], [`explain`] | directions, breakpoints, traps and their explanations |
//! | [`level`] | check levels for engines that replace the interpreter |
//! | [`values`], [`given`], [`notation`], [`garbage`], [`drift`] | cells and tapes in text form; residues in cells |
//! | [`history`], [`checkpoint`], [`digest`] | records for going back; a state as bytes, and as a hash |
//! | [`strategy`] | how much of the history is kept, and what is recomputed instead |
//! | [`differentiate`], [`reports`], [`watch`] | gradients, and their verification |
//! | [`lookup`], [`lanes`], [`allocation`] | cells by name; numbers of several words; allocation that may fail |
//!
//! A program runs forward and backward:
//!
//! ```
//! use std::sync::Arc;
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_vm::digest::state_digest;
//! use reviver_vm::{Machine, Program, Stop, Travel};
//!
//! let text = ".inout a default 20\n.inout b default 22\nadd a, b\n";
//! let module = assemble("sum.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let program = Arc::new(Program::new(module, 0).unwrap());
//! let mut machine = Machine::at_begin(program).unwrap();
//! let start = state_digest(machine.state());
//! assert_eq!(machine.run(Travel::Forward, 100).unwrap(), Stop::Bound);
//! assert_eq!(machine.state().step, 1);
//! machine.run(Travel::Backward, 100).unwrap();
//! assert_eq!(state_digest(machine.state()), start);
//! ```
//!
//! A trap has an explanation, and changes nothing:
//!
//! ```
//! use std::sync::Arc;
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_vm::explain::explain;
//! use reviver_vm::{Machine, Program, Travel};
//!
//! let text = ".inout n default 3\nassert n > 5\n";
//! let module = assemble("no.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let mut machine = Machine::at_begin(Arc::new(Program::new(module, 0).unwrap())).unwrap();
//! let trap = machine.run(Travel::Forward, 100).unwrap_err();
//! let words = explain(machine.program(), machine.state(), trap);
//! assert!(words.message.contains("n > 5"), "{}", words.message);
//! ```
//!
//! The gradient of a result with respect to the inputs:
//!
//! ```
//! use std::sync::Arc;
//! use reviver_assembler::{assemble::assemble, files::FilesInMemory};
//! use reviver_vm::differentiate::{Subject, gradient};
//! use reviver_vm::{Machine, Program};
//!
//! let text = ".inout x: real default 3\n.out y: real\nadd.square y, x\n";
//! let module = assemble("square.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
//! let program = Arc::new(Program::new(module, 0).unwrap());
//! let start = Machine::at_begin(program.clone()).unwrap().into_state();
//! let subject = Subject::new(program, start, false, 100).unwrap();
//! let (x, y) = (&subject.inputs()[0], &subject.outputs()[1]);
//! let found = gradient(&subject, y).unwrap();
//! assert_eq!(f64::from_bits(x.origin.adjoint(&found.adjoints)), 6.0);
//! ```

#![deny(missing_docs)]

pub mod allocation;
pub mod codes;
pub mod differentiate;
pub mod explain;
pub mod history;
mod interp;
pub mod level;
pub mod machine;
mod no_derivative;
mod numbers;
pub mod observer;
pub mod program;
pub mod reports;
pub mod shown;
pub mod state;
mod statement;
pub mod stops;
pub mod strategy;
pub mod trap;
pub mod travel;
pub mod watch;
pub mod workers;

pub use level::CheckLevel;
pub use machine::{Machine, Runner};
pub use program::Program;
pub use shown::{NotShown, ShowSink, ShownValue};
pub use state::State;
pub use state::shown_mark::ShownMark;
pub use state::{checkpoint, digest, drift, garbage, given, lanes, lookup, notation, values};
pub use trap::{Cause, Trap};
pub use travel::{Stop, Travel};
