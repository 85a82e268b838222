//! Comments with the statements of a program: for an instruction, the source location and text of its statement. This
//! module is independent of SSA functions.

use reviver_compile::foreign::place;
use reviver_isa::structure::TextPlace;
use reviver_vm::Program;

/// Maximum length of a comment's text, in characters. A source line may contain a long table.
const LONGEST: usize = 100;

/// Writer of comments with a program's statements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statements<'p>(pub &'p Program);

impl Statements<'_> {
    /// Returns the source line of an instruction; `None` if the source is unknown.
    pub fn line(self, at: u32) -> Option<TextPlace> {
        self.0.module().structure.place(at)
    }

    /// Returns a comment with an instruction's source location and its statement.
    pub fn comment(self, at: u32) -> String {
        let text = format!("{}: {}", place(self.0.module(), at), self.0.whole_statement(at));
        let short: String = text.chars().take(LONGEST).collect();
        let more = if short.len() < text.len() { " ..." } else { "" };
        // The text must not contain the beginning or end of a C comment.
        format!("/* {}{more} */", short.replace("*/", "* /").replace("/*", "/ *"))
    }
}
