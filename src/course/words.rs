//! Words of a text, without comments and layout.

use std::collections::HashMap;

use reviver_assembler::lexer::{Lexer, TokenKind};
use reviver_expectations::expected::unmarked;

/// Returns the kind and the text of each token, except comments and line ends. Expectation lines in the text count as
/// comments.
pub fn words(text: &str) -> impl Iterator<Item = (TokenKind, &str)> {
    let text = unmarked(text);
    let mut lexer = Lexer::new(text);
    let tokens = std::iter::from_fn(move || Some(lexer.token()).filter(|token| token.kind != TokenKind::End));
    let counts = |kind: TokenKind| !matches!(kind, TokenKind::Comment | TokenKind::Newline);
    tokens.filter(move |token| counts(token.kind)).filter_map(move |token| {
        let word = text.get(token.start as usize..token.end as usize)?;
        Some((token.kind, word))
    })
}

/// Returns true if two texts differ only in comments and layout.
pub fn same_words(a: &str, b: &str) -> bool {
    words(a).map(|(_, word)| word).eq(words(b).map(|(_, word)| word))
}

/// Word of a text, in which names that the program chose are replaced by numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamelessWord {
    /// Number of a name, counted from 0 in the order in which the names first occur.
    Name(usize),
    Other(String),
}

/// Returns the words of a text, to compare programs that differ only in names. Names that the program chose are
/// replaced by numbers. `is_known` returns true for words of the language.
pub fn nameless(text: &str, is_known: impl Fn(&str) -> bool) -> Vec<NamelessWord> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let word = |(kind, word): (TokenKind, &str)| {
        let is_name = kind == TokenKind::Word && !word.starts_with('.') && !is_known(word);
        if !is_name {
            return NamelessWord::Other(word.to_owned());
        }
        let next = numbers.len();
        NamelessWord::Name(*numbers.entry(word.to_owned()).or_insert(next))
    };
    words(text).map(word).collect()
}
