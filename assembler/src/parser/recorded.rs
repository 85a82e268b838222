//! The directives `.block` and `.scope`, with which a disassembly records the structure of the original text.
//! Names are resolved elsewhere.

use reviver_isa::structure::TextPlace;

use super::words::BLOCK_WORDS;
use super::{Parse, Parser};
use crate::lexer::TokenKind;
use crate::tree::{About, Directive, Name, RecordedBlock, RecordedScope, RecordedSeam};

/// Returns true if a seam can begin with this word.
fn is_seam_word(word: &str) -> bool {
    BLOCK_WORDS.contains(&word) || matches!(word, "macro" | "end" | "assert" | "value")
}

impl Parser<'_> {
    pub(super) fn recorded_block(&mut self) -> Parse<Directive> {
        let undone = self.eat_word("undone");
        let mut seams = vec![self.recorded_seam()?];
        while self.eat(TokenKind::Comma) {
            seams.push(self.recorded_seam()?);
        }
        Ok(Directive::Block(RecordedBlock { undone, seams: seams.into() }))
    }

    fn recorded_seam(&mut self) -> Parse<RecordedSeam> {
        let token = self.current;
        let text = self.text(token);
        if !is_seam_word(text) {
            return self.expected("the word of a block");
        }
        self.bump();
        let word = Name { text: text.into(), span: self.span(token) };
        let (start, end) = self.extent()?;
        let place = self.recorded_place()?;
        let about = match text {
            "if" | "fi" | "from" | "until" | "assert" => About::Condition(self.condition()?),
            "for" => self.recorded_counting()?,
            "macro" => {
                let undo = self.eat_word("undo");
                About::Use { name: self.name("the name of a macro")?, undo }
            }
            _ => About::Nothing,
        };
        Ok(RecordedSeam { word, start, end, place, about })
    }

    /// Parses `start..end`.
    fn extent(&mut self) -> Parse<(u32, u32)> {
        let start = self.count("the index of its first instruction")?;
        self.expect(TokenKind::Range, "`..`")?;
        Ok((start, self.count("the index after its last instruction")?))
    }

    /// Parses `(line, first, last, file)`. Omitted columns and files are 0.
    fn recorded_place(&mut self) -> Parse<TextPlace> {
        let open = self.expect(TokenKind::ParenOpen, "`(`")?;
        let mut place = TextPlace { line: self.count("a line")?, ..TextPlace::default() };
        if self.eat(TokenKind::Comma) {
            place.first = self.count("a column")?;
            self.expect(TokenKind::Comma, "`,`")?;
            place.last = self.count("a column")?;
        }
        if self.eat(TokenKind::Comma) {
            place.file = self.count("the number of a file")?;
        }
        self.close(TokenKind::ParenClose, open, "`)`")?;
        Ok(place)
    }

    fn recorded_counting(&mut self) -> Parse<About> {
        let counter = self.operand_name("the name of a counter")?;
        if !self.eat_word("in") {
            return self.expected("`in`");
        }
        let from = self.expression()?;
        self.expect(TokenKind::Range, "`..`")?;
        let bounds = Box::new([from, self.expression()?]);
        let step = if self.eat_word("step") { self.count("a step")? } else { 1 };
        let reversed = self.eat_word("reversed");
        Ok(About::Counting { counter, bounds, step, reversed })
    }

    /// Parses `name variable start..end (place)`.
    pub(super) fn recorded_scope(&mut self) -> Parse<Directive> {
        let name = self.operand_name("a name")?;
        let variable = self.operand_name("the name of a variable")?;
        let (start, end) = self.extent()?;
        let place = self.recorded_place()?;
        Ok(Directive::Scope(Box::new(RecordedScope { name, variable, start, end, place })))
    }
}
