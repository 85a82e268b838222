//! Programs as HTML with their words marked by kind. What a word is, the assembler says: its lexer cuts the text up, and
//! its table of the language knows the words. It knows no pages, and no colours.

use reviver_assembler::lexer::{Lexer, Token, TokenKind};
use reviver_assembler::used::is_of_the_language;
use reviver_isa::names::is_reserved;

use crate::html;

/// What a piece of a program is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A mnemonic or a keyword.
    Keyword,
    /// A function that is applied.
    Applied,
    Directive,
    /// A name that a place is given.
    Label,
    Number,
    Quoted,
    Remark,
    /// Names, signs, and whatever has no kind of its own.
    Plain,
}

impl WordKind {
    /// All that are marked.
    pub const MARKED: [WordKind; 7] = [
        WordKind::Keyword,
        WordKind::Applied,
        WordKind::Directive,
        WordKind::Label,
        WordKind::Number,
        WordKind::Quoted,
        WordKind::Remark,
    ];

    /// The class that the style sheet knows it by.
    pub fn class(self) -> Option<&'static str> {
        match self {
            WordKind::Keyword => Some("rasm-keyword"),
            WordKind::Applied => Some("rasm-applied"),
            WordKind::Directive => Some("rasm-directive"),
            WordKind::Label => Some("rasm-label"),
            WordKind::Number => Some("rasm-number"),
            WordKind::Quoted => Some("rasm-quoted"),
            WordKind::Remark => Some("rasm-remark"),
            WordKind::Plain => None,
        }
    }
}

/// A program as HTML that shows the same text.
pub fn marked(text: &str) -> String {
    let tokens = tokens(text);
    let mut marked = String::with_capacity(text.len() * 2);
    let mut shown = 0;
    for (n, token) in tokens.iter().enumerate() {
        let (start, end) = (token.start as usize, token.end as usize);
        marked.push_str(&html::escaped(text.get(shown..start).unwrap_or_default()));
        let word = text.get(start..end).unwrap_or_default();
        marked.push_str(&html::span(kind(word, n, &tokens).class(), word));
        shown = end;
    }
    marked.push_str(&html::escaped(text.get(shown..).unwrap_or_default()));
    marked
}

fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer::new(text);
    let token = move || Some(lexer.token()).filter(|token| token.kind != TokenKind::End);
    std::iter::from_fn(token).collect()
}

/// What a token is, from its word and from those beside it.
fn kind(word: &str, n: usize, tokens: &[Token]) -> WordKind {
    let at = |n: Option<usize>| n.and_then(|n| tokens.get(n)).map(|token| token.kind);
    let next = at(n.checked_add(1));
    let begins_line = matches!(at(n.checked_sub(1)), None | Some(TokenKind::Newline));
    match tokens.get(n).map(|token| token.kind) {
        Some(TokenKind::Comment) => WordKind::Remark,
        Some(TokenKind::Number) => WordKind::Number,
        Some(TokenKind::Text | TokenKind::UnclosedText) => WordKind::Quoted,
        Some(TokenKind::Directive) if is_of_the_language(word) => WordKind::Directive,
        Some(TokenKind::Dotted) if is_of_the_language(word) => WordKind::Keyword,
        // A label may be a word that means something elsewhere, such as `loop`; so may what a branch names, before a comma.
        Some(TokenKind::Word) if begins_line && next == Some(TokenKind::Colon) => WordKind::Label,
        Some(TokenKind::Word) if next == Some(TokenKind::Comma) => WordKind::Plain,
        Some(TokenKind::Word) if is_reserved(word) => WordKind::Keyword,
        Some(TokenKind::Word) if next == Some(TokenKind::ParenOpen) && is_of_the_language(word) => {
            WordKind::Applied
        }
        _ => WordKind::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(&str, WordKind)> {
        let tokens = tokens(text);
        let word = |token: &Token| &text[token.start as usize..token.end as usize];
        tokens.iter().enumerate().map(|(n, token)| (word(token), kind(word(token), n, &tokens))).collect()
    }

    fn has(text: &str, word: &str, kind: WordKind) {
        assert!(kinds(text).contains(&(word, kind)), "{word} is no {kind:?}: {:?}", kinds(text));
    }

    #[test]
    fn words_have_the_kind_that_the_assembler_gives_them() {
        has("loop:   from  again, a != 0 ; came\n", "loop", WordKind::Label);
        has("loop:   from  again, a != 0 ; came\n", "from", WordKind::Keyword);
        has("loop:   from  again, a != 0 ; came\n", "again", WordKind::Plain);
        has("loop:   from  again, a != 0 ; came\n", "; came", WordKind::Remark);
        has("again:  br    loop, always\n", "loop", WordKind::Plain);
        has("again:  br    loop, always\n", "always", WordKind::Keyword);
        has("        .in  n\n", ".in", WordKind::Directive);
        has("        .nonsense  n\n", ".nonsense", WordKind::Plain);
        has("add.mul y, a, 2\n", "add.mul", WordKind::Keyword);
        has("add.nonsense y, a, 2\n", "add.nonsense", WordKind::Plain);
        has("add y, 0x1f\n", "0x1f", WordKind::Number);
        has("y += sqrt(x)\n", "sqrt", WordKind::Applied);
        has("y += sqrt\n", "sqrt", WordKind::Plain);
        has(".include \"a.rasm\"\n", "\"a.rasm\"", WordKind::Quoted);
    }

    #[test]
    fn whatever_is_written_is_shown() {
        for text in ["", "\n", "a < b & \"c\" > d\r\n", "\tq := ü§ \"open\n;", "<script>\n", "  x\n\n"] {
            assert_eq!(html::shown(&marked(text)), text);
        }
    }
}
