//! Parses and checks the expectations in the header of a program (`;! run n=10 -> a=55`). The checks run programs
//! forward and backward, differentiate them, compare them with a reference program, and test properties.
//!
//! Any engine can execute the programs. This crate prints nothing and reads no disk: files are read through
//! the assembler's `Files`.
//!
//! | module | purpose |
//! |---|---|
//! | [`grammar`] | a line as data |
//! | [`expected`] | all lines of a text |
//! | [`program`] | a program under test |
//! | [`examine()`] | the check of all lines |
//! | [`assessment`] | the expected and the actual outcome |
//! | [`given`] | a machine at its start, with the inputs of a line |
//! | [`settings`] | the engine and the limits |
//!
//! ```
//! use reviver_assembler::files::FilesInMemory;
//! use reviver_expectations::expected::Expectations;
//! use reviver_expectations::program::ProgramUnderTest;
//! use reviver_expectations::settings::TestSettings;
//! use reviver_expectations::{examine, is_met};
//!
//! let text = ";! run n=20 -> twice=41\n;! no garbage\n.in n\n.out twice\nadd twice, 2*n\nsub n, twice / 2\n";
//! let files = FilesInMemory::new();
//! let program = ProgramUnderTest::assemble("twice.rasm", text.into(), &files);
//! let lines = examine(&program, &Expectations::of("twice.rasm", text), &files, &TestSettings::interpreted());
//! assert!(!is_met(&lines));
//! let miss = &lines[0].misses()[0];
//! assert_eq!((lines[0].line, &*miss.expected, &*miss.found), (1, "twice = 41", "twice = 40"));
//! assert!(lines[1].misses().is_empty());
//! ```

#![deny(missing_docs)]

pub mod assessment;
mod bounded;
mod comparison;
mod derivatives;
mod draw;
mod examine;
pub mod expected;
pub mod given;
pub mod grammar;
pub mod program;
mod properties;
mod reference;
mod round_trip;
mod runs;
pub mod settings;
mod words;

pub use examine::{examine, is_met};
