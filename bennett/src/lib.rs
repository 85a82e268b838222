//! Programs that overwrite, made reversible: Bennett's method (1973, 1989) as a transformation of text.
//!
//! A program is cut into *parts* at the heads of those loops that lose something. Running one part is a *round*; a
//! segment is a number of rounds. A segment runs with what it loses on the machine's stacks, its state is copied, and the
//! segment is undone, which empties the stacks again. Levels of segments take away the states in between by the same
//! method. It runs nothing, reads files through the assembler's `Files` alone, and knows no command line.
//!
//! | module | what it is |
//! |---|---|
//! | `plan` | segments, levels, and what they take |
//! | `program` | a text with its includes, sorted into what it consists of |
//! | `refuse` | what can't be transformed |
//! | `expand`, `names` | macros in place, and names that hide no others |
//! | `class`, `constant` | the class of an expression, and the value of a constant one |
//! | `keep` | statements whose losses are pushed |
//! | `cut` | main as parts |
//! | `state` | the cells that a state consists of |
//! | `transform` | the order of all these steps |
//! | `words`, `declare`, `level`, `emit` | the names of what is added, and the whole text |
//!
//! ```
//! use reviver_assembler::files::FilesInMemory;
//! use reviver_bennett::{SegmentPlan, bennett};
//!
//! let text = ".inout n default 7\nfrom forgotten\nloop\noverwrite n, n / 2\nuntil n == 0\n";
//! let made = bennett("halve.rasm", text.into(), &FilesInMemory::new(), &SegmentPlan::default());
//! assert!(made.text.unwrap().contains("push"));
//! ```

mod class;
mod constant;
mod cut;
mod declare;
mod emit;
mod expand;
mod keep;
mod level;
mod make;
mod names;
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

/// What became of a program that was to be made reversible.
#[derive(Debug)]
pub struct BennettText {
    /// The program's files, the first is the program itself.
    pub sources: Sources,
    /// The reversible program, or why there is none.
    pub text: Result<String, Vec<Diagnostic>>,
}

/// Makes a program reversible. `name` is its file's name, from which includes are found through `files`.
pub fn bennett(name: &str, bytes: Vec<u8>, files: &dyn Files, plan: &SegmentPlan) -> BennettText {
    bennett_within(name, bytes, files, &WantedPlan::Exact(*plan))
}

/// The same, with a plan that is chosen where only its room is wanted.
pub fn bennett_within(name: &str, bytes: Vec<u8>, files: &dyn Files, wanted: &WantedPlan) -> BennettText {
    let (sources, program) = program::load(name, bytes, files);
    let text = program.and_then(|program| emit::emit(&sources, program, wanted));
    BennettText { sources, text }
}
