//! Comments with the statements of a program: for an instruction, the source location and text of its statement. This
//! module is independent of SSA functions.

use reviver_compile::foreign::place;
use reviver_isa::instruction::Instruction;
use reviver_isa::structure::{Block, BlockKind, TextPlace};
use reviver_isa::text::TextRenderer;
use reviver_isa::update::Update;
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
        let text = format!("{}: {}", place(self.0.module(), at), self.words(at));
        let short: String = text.chars().take(LONGEST).collect();
        let more = if short.len() < text.len() { " ..." } else { "" };
        // The text must not contain the beginning or end of a C comment.
        format!("/* {}{more} */", short.replace("*/", "* /").replace("/*", "/ *"))
    }

    /// Returns the text of the statement that an instruction belongs to: the text of the source if it is known,
    /// otherwise a generated text.
    fn words(self, at: u32) -> String {
        let Some(instruction) = self.0.module().code.get(at as usize) else { return String::new() };
        let Some(procedure) = self.0.module().procedures.get(self.0.procedure_of(at)) else {
            return String::new();
        };
        let renderer = TextRenderer { module: self.0.module(), procedure };
        match (instruction.update, self.0.seam(at)) {
            (Update::Enter, _) => format!(".proc {}", procedure.name),
            (Update::Exit, _) => ".end".to_owned(),
            (_, Some((block, seam))) => match computed_for(block) {
                Some(whole) => self.words(whole),
                None => renderer.words_at(block, seam, instruction),
            },
            (_, None) => self.whole(renderer, at, instruction),
        }
    }

    /// Returns the text of an instruction that belongs to no keyword of a block. If the source has expressions instead
    /// of temporaries, the text has the same expressions.
    fn whole(self, renderer: TextRenderer, at: u32, instruction: &Instruction) -> String {
        let innermost = self.0.blocks_around(at).next();
        let takes = innermost.is_some_and(|block| block.kind == BlockKind::Temporaries);
        let with_expressions = takes.then(|| renderer.with_expressions(instruction)).flatten();
        with_expressions.unwrap_or_else(|| renderer.instruction(instruction, |other| self.label(other)))
    }

    fn label(self, at: u32) -> String {
        let labels = &self.0.module().structure.labels;
        let found = labels.iter().find(|(index, _)| *index == at);
        found.map_or_else(|| format!("#{at}"), |(_, label)| label.clone())
    }
}

/// Returns the instruction that uses the expressions of a block of temporaries: the first instruction after the block's
/// first seam. Returns `None` for other blocks, and if no instruction is between the block's seams.
fn computed_for(block: &Block) -> Option<u32> {
    let first = block.seams.first().filter(|_| block.kind == BlockKind::Temporaries)?;
    let last = block.seams.last()?;
    (first.end < last.start).then_some(first.end)
}
