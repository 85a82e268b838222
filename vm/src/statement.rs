//! Statements of a program as text: the source text of an instruction, or the text that it would have.

use reviver_isa::structure::BlockKind;
use reviver_isa::text::TextRenderer;
use reviver_isa::update::Update;

use crate::program::Program;

impl Program {
    /// Returns the statement of an instruction as in the text, with expressions instead of the temporaries that hold
    /// their values. For an instruction that computes a temporary, returns the computation alone. Returns an empty text
    /// if there is no such instruction.
    pub fn statement(&self, at: u32) -> String {
        let Some(instruction) = self.module().code.get(at as usize) else { return String::new() };
        let Some(procedure) = self.module().procedures.get(self.procedure_of(at)) else {
            return String::new();
        };
        let renderer = TextRenderer { module: self.module(), procedure };
        match (instruction.update, self.seam(at)) {
            (Update::Enter, _) => format!(".proc {}", procedure.name),
            (Update::Exit, _) => ".end".to_owned(),
            (_, Some((block, seam))) => renderer.words_at(block, seam, instruction),
            (_, None) => {
                let innermost = self.blocks_around(at).next();
                let takes = innermost.is_some_and(|block| block.kind == BlockKind::Temporaries);
                let with_expressions = takes.then(|| renderer.with_expressions(instruction)).flatten();
                with_expressions
                    .unwrap_or_else(|| renderer.instruction(instruction, |other| self.label(other)))
            }
        }
    }

    /// Returns the statement that an instruction was assembled from, as [`Program::statement`] does. For an instruction
    /// that computes a temporary, returns the statement that uses the temporary.
    pub fn whole_statement(&self, at: u32) -> String {
        self.statement(self.seam(at).and_then(|(block, _)| block.user_of_temporaries()).unwrap_or(at))
    }

    /// Returns the label of an instruction, or its number.
    fn label(&self, at: u32) -> String {
        let found = self.module().structure.label(at);
        found.map_or_else(|| format!("#{at}"), str::to_owned)
    }
}
