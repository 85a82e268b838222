//! What a program is expected to do, as its header says it (`;! run n=10 -> a=55`), and whether it does: run there and
//! back, differentiated, compared with a reference, judged by its properties. Any engine makes the steps. Prints nothing, and
//! reads no disk: what is read comes through the assembler's `Files`.
//!
//! | module | what it is |
//! |---|---|
//! | [`grammar`] | a line as data |
//! | [`expected`] | all lines of a text |
//! | [`program`] | a program under test |
//! | [`examine()`] | what becomes of each line |
//! | [`assessment`] | what was expected and what was found |
//! | [`given`] | what a line gives, as a machine at its start |
//! | [`settings`] | who makes the steps, and limits |
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

pub mod assessment;
mod bounded;
mod derivatives;
mod draw;
mod examine;
mod excursion;
pub mod expected;
pub mod given;
pub mod grammar;
mod judged;
pub mod program;
mod properties;
mod reference;
mod runs;
pub mod settings;
mod words;

pub use examine::{examine, is_met};
