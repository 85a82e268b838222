//! The words of the language that a text uses: mnemonics, keywords, directives and functions. Names and
//! comments of the text don't count.

use std::collections::BTreeSet;

use reviver_isa::function::Function;
use reviver_isa::language::DIRECTIVES;
use reviver_isa::names::is_reserved;
use reviver_isa::update::Update;

use crate::lexer::{Lexer, TokenKind};
use crate::parser::parse;
use crate::source::{FileId, Sources};
use crate::tree::{ExpressionKind, Statement};
use crate::visit::{expressions, statements};

/// Returns the words of the language that a file uses. `add.mul` counts as three words: `add.mul`, `add` and
/// `mul`. An operator counts as the function that it denotes.
pub fn used_words(sources: &Sources, file: FileId) -> BTreeSet<String> {
    let mut words = written_words(sources.file_text(file));
    let (body, _) = parse(sources, file);
    statements(&body, &mut |statement| {
        words.extend(own_function(statement).map(|function| function.name().to_owned()));
        expressions(statement, &mut |expression| {
            words.extend(function_of(&expression.kind).map(|function| function.name().to_owned()));
        });
    });
    words
}

/// Returns true for a word of the language: one that [`used_words`] may return.
pub fn is_of_the_language(word: &str) -> bool {
    let is_function = |word: &str| Function::from_name(word).is_some();
    let is_dotted = word.split_once('.').is_some_and(|(update, function)| {
        Update::from_name(update).is_some() && is_function(function) || Update::from_name(word).is_some()
    });
    is_reserved(word) || is_function(word) || DIRECTIVES.contains(&word) || is_dotted
}

/// Returns the words of the language that occur as tokens: reserved words, words with a dot, and directives.
fn written_words(text: &str) -> BTreeSet<String> {
    let mut lexer = Lexer::new(text);
    let mut words = BTreeSet::new();
    loop {
        let token = lexer.token();
        let word = text.get(token.start as usize..token.end as usize).unwrap_or_default();
        match token.kind {
            TokenKind::End => return words,
            TokenKind::Word if is_reserved(word) => drop(words.insert(word.to_owned())),
            TokenKind::Directive => drop(words.insert(word.to_owned())),
            TokenKind::Dotted => {
                words.insert(word.to_owned());
                words.extend(word.split('.').map(str::to_owned));
            }
            _ => {}
        }
    }
}

/// Returns the function in the value of a `local` or `delocal`, or `None` for other statements.
fn own_function(statement: &Statement) -> Option<Function> {
    match statement {
        Statement::Local(local) | Statement::Delocal(local) => {
            Some(local.function).filter(|function| *function != Function::Copy)
        }
        _ => None,
    }
}

fn function_of(kind: &ExpressionKind) -> Option<Function> {
    match kind {
        ExpressionKind::Binary(operator, _) => Some(operator.function()),
        ExpressionKind::Apply(application) => Some(application.function),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut sources = Sources::new();
        let file = sources.add("text", text);
        used_words(&sources, file).into_iter().collect()
    }

    #[test]
    fn keywords_are_found_and_names_are_not() {
        let text = "; overwrite\n.inout square, x\nadd.mul x, square, 2 ; swap\nif x < 2\nlocal t = max(x, 1)\n\
                    add x, t % 2\ndelocal t = max(x, 1)\nfi forgotten\n";
        let expected =
            [".inout", "add", "add.mul", "delocal", "fi", "forgotten", "if", "local", "max", "mul", "rem"];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn invalid_programs_have_words_too() {
        assert_eq!(words("if overwrite )("), ["if", "overwrite"]);
    }

    #[test]
    fn words_of_the_language_are_known() {
        for word in ["add", "add.mul", "mul", "grad.on", "for", "forgotten", ".proc"] {
            assert!(is_of_the_language(word), "{word}");
        }
        for word in ["square2", "add.square2", "", "mul.add", ".prok", "x"] {
            assert!(!is_of_the_language(word), "{word}");
        }
    }
}
