//! Programs as highlighted HTML. The assembler's lexer splits the text, and its language tables classify the words.
//! Style sheets define the colors of the classes.

use reviver_assembler::lexer::{Lexer, Token, TokenKind};
use reviver_assembler::used::is_of_the_language;
use reviver_isa::names::is_reserved;

use crate::html;

/// Syntax class of a token in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A mnemonic or a keyword.
    Keyword,
    /// A function name in a call, such as `sin(x)`.
    Applied,
    Directive,
    /// A label at its definition.
    Label,
    Number,
    Quoted,
    Remark,
    /// Names, signs, and everything without another class.
    Plain,
}

impl WordKind {
    /// All classes with highlighting.
    pub const MARKED: [WordKind; 7] = [
        WordKind::Keyword,
        WordKind::Applied,
        WordKind::Directive,
        WordKind::Label,
        WordKind::Number,
        WordKind::Quoted,
        WordKind::Remark,
    ];

    /// Returns the CSS class.
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

/// Returns a program as highlighted HTML. A browser displays exactly the program's text.
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

/// Classifies token `n`, whose text is `word`, by this text and by the tokens before and after it.
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
        // A label can have the name of a keyword, such as `loop`. A branch target can have such a name, too; it is
        // followed by a comma.
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
    fn words_have_the_kinds_of_the_assembler() {
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
    fn all_output_is_shown() {
        for text in ["", "\n", "a < b & \"c\" > d\r\n", "\tq := ü§ \"open\n;", "<script>\n", "  x\n\n"] {
            assert_eq!(html::shown(&marked(text)), text);
        }
    }
}
