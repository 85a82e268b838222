//! Makes programs that overwrite values reversible, by Bennett's method (1973, 1989). The method is applied as a
//! transformation of program text.
//!
//! A program is cut into *parts* at the heads of its lossy loops. Running one part is a *round*, and a segment is a
//! number of rounds. A segment runs and pushes lost values onto the machine's stacks. Then its final state is copied,
//! and the segment is undone, which empties the stacks again. Segments are grouped into levels. A level copies its
//! final state and undoes its segments, which removes the copied states between its start and its end.
//!
//! This crate runs no program, reads files only through the assembler's `Files`, and is independent of the
//! command line.
//!
//! | module | purpose |
//! |---|---|
//! | `plan` | segments, levels, and their costs |
//! | `program` | a text with its includes, sorted by kind of declaration |
//! | `refuse` | programs that can't be transformed |
//! | `expand`, `constant` | macro expansion, and the value of a constant expression |
//! | `cut` | main divided into parts |
//! | `state` | the cells of a state |
//! | `transform` | the order of all these steps |
//! | `words`, `declare`, `level`, `emit` | the names that are added, and the whole text |
//!
//! ```
//! use reviver_assembler::files::FilesInMemory;
//! use reviver_bennett::{SegmentPlan, bennett};
//!
//! let text = ".inout n default 7\nfrom forgotten\nloop\noverwrite n, n / 2\nuntil n == 0\n";
//! let made = bennett("halve.rasm", text.into(), &FilesInMemory::new(), &SegmentPlan::default());
//! assert!(made.text.unwrap().contains("push"));
//! ```

#![deny(missing_docs)]

mod constant;
mod cut;
mod declare;
mod emit;
mod expand;
mod level;
mod plan;
mod program;
mod refuse;
mod state;
mod transform;
mod words;

use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::files::Files;
use reviver_assembler::source::Sources;

pub use plan::{SegmentPlan, Unplanned, WantedPlan};

/// The result of making a program reversible.
#[derive(Debug)]
pub struct BennettText {
    /// The program's files; the first one is the program itself.
    pub sources: Sources,
    /// The text of the reversible program, or the errors.
    pub text: Result<String, Vec<Diagnostic>>,
}

/// Makes a program reversible. `name` is its file's name, relative to which `files` finds includes.
pub fn bennett(name: &str, bytes: Vec<u8>, files: &dyn Files, plan: &SegmentPlan) -> BennettText {
    bennett_within(name, bytes, files, &WantedPlan::Exact(*plan))
}

/// Makes a program reversible, with a given plan or one chosen for the available space.
pub fn bennett_within(name: &str, bytes: Vec<u8>, files: &dyn Files, wanted: &WantedPlan) -> BennettText {
    let (sources, program) = program::load(name, bytes, files);
    let text = program.and_then(|program| emit::emit(&sources, program, wanted));
    BennettText { sources, text }
}
