//! The position in the token stream, and error reporting. This module is independent of the grammar.

use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;

use super::words::{self, Reserved};
use super::{AlreadyReported, Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::source::Span;
use crate::suggest::did_you_mean;
use crate::tree::{Comment, Name};

impl<'t> Parser<'t> {
    /// Returns the next token that the grammar accepts. Invalid tokens before it are reported and skipped.
    pub(super) fn lex(&mut self) -> Token {
        loop {
            let token = self.lexer.token();
            match token.kind {
                TokenKind::Unknown => self.unknown(token),
                TokenKind::UnclosedText => {
                    self.spoilt = token.end;
                    let problem = Diagnostic::error(
                        ProblemCode::UnclosedQuote,
                        "this quoted text has no end",
                        self.span(token),
                        "begins here",
                    );
                    self.report(problem.help("close it with `\"` on the same line"));
                    return Token { kind: TokenKind::Text, ..token };
                }
                _ => return token,
            }
        }
    }

    fn unknown(&mut self, token: Token) {
        self.spoilt = token.end;
        let text = self.text(token);
        if text.starts_with('#') {
            // In other languages `#` begins a comment. Most likely that is intended, so the rest of the line
            // is skipped.
            self.lexer.skip_line();
        }
        let shown: String = text.chars().take(20).flat_map(char::escape_debug).collect();
        let message = format!("unknown character `{shown}`");
        let problem = Diagnostic::error(
            ProblemCode::UnknownCharacter,
            message,
            self.span(token),
            "not part of the language",
        );
        self.report(match text.chars().next().and_then(meant) {
            Some(cure) => problem.help(cure),
            None => problem,
        });
    }

    /// Advances to the next token. Returns the token that was the current one before.
    pub(super) fn bump(&mut self) -> Token {
        let token = self.current;
        if !matches!(token.kind, TokenKind::Newline | TokenKind::Comment | TokenKind::End) {
            self.last_end = token.end;
        }
        self.current = self.next;
        self.next = self.lex();
        token
    }

    pub(super) fn at(&self, kind: TokenKind) -> bool {
        self.current.kind == kind
    }

    /// Returns true if the rest of the line is empty or a comment.
    pub(super) fn at_line_end(&self) -> bool {
        matches!(self.current.kind, TokenKind::Newline | TokenKind::Comment | TokenKind::End)
    }

    /// Returns true if the current token is this word or directive.
    pub(super) fn at_word(&self, word: &str) -> bool {
        matches!(self.current.kind, TokenKind::Word | TokenKind::Directive) && self.text(self.current) == word
    }

    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let here = self.at(kind);
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.at_word(word);
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn expect(&mut self, kind: TokenKind, what: &str) -> Parse<Token> {
        if self.at(kind) { Ok(self.bump()) } else { self.expected(what) }
    }

    /// Parses a closing bracket. `open` is the matching opening bracket, which the error shows if the closing
    /// bracket is missing.
    pub(super) fn close(&mut self, kind: TokenKind, open: Token, what: &str) -> Parse<Token> {
        if self.at(kind) {
            return Ok(self.bump());
        }
        let problem = self.unexpected(what).with(self.span(open), "opened here");
        self.fail(problem)
    }

    /// Parses the name of a procedure, a macro or a label, which is defined or used here. `what` describes it in
    /// messages. A reserved word is reported.
    pub(super) fn name(&mut self, what: &str) -> Parse<Name> {
        self.name_unless(what, false, words::reserved)
    }

    /// Parses the name of a cell, a constant or a counter, which is defined or used here.
    pub(super) fn operand_name(&mut self, what: &str) -> Parse<Name> {
        let is_field = self.at(TokenKind::Dotted) && words::operand(self.text(self.current)).is_none();
        self.name_unless(what, is_field, words::operand)
    }

    fn name_unless(
        &mut self,
        what: &str,
        is_field: bool,
        reserved: fn(&str) -> Option<Reserved>,
    ) -> Parse<Name> {
        if !self.at(TokenKind::Word) && !is_field {
            return self.expected(what);
        }
        let span = self.here();
        let text = self.text(self.current);
        if let Some(reserved) = reserved(text) {
            let message = format!("`{text}` can't be a name");
            let problem = Diagnostic::error(
                ProblemCode::ReservedName,
                message,
                span,
                format!("{} here", words::describe(reserved)),
            );
            return self.fail(problem.help("choose another name"));
        }
        let text = CompactString::from(text);
        self.bump();
        Ok(Name { text, span })
    }

    /// Returns the text of a name. All uses of the name in expressions of the file share this text.
    pub(super) fn shared(&mut self, text: &'t str) -> Rc<CompactString> {
        Rc::clone(self.names.entry(text).or_insert_with(|| Rc::new(text.into())))
    }

    pub(super) fn text(&self, token: Token) -> &'t str {
        self.source.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    pub(super) fn text_of(&self, span: Span) -> &'t str {
        self.source.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    pub(super) fn span(&self, token: Token) -> Span {
        Span { file: self.file, start: token.start, end: token.end }
    }

    /// Returns the span of the current token.
    pub(super) fn here(&self) -> Span {
        self.span(self.current)
    }

    /// Returns the span from an earlier place to the end of the last consumed token.
    pub(super) fn since(&self, start: u32) -> Span {
        Span { file: self.file, start, end: self.last_end.max(start) }
    }

    /// Skips the rest of the line.
    pub(super) fn skip_line(&mut self) {
        while !self.at_line_end() {
            self.bump();
        }
    }

    /// Parses the end of a statement: an optional comment, and the end of the line. Other tokens are
    /// reported, unless an error in the statement (`broken`) has been reported.
    pub(super) fn finish_line(&mut self, broken: bool) -> Option<Comment> {
        if !self.at_line_end() {
            if !broken {
                let _: Parse<()> = self.expected("the end of the line");
            }
            self.skip_line();
        }
        let comment = self.comment();
        self.eat(TokenKind::Newline);
        comment
    }

    /// Parses a comment, without its semicolon, if there is one.
    pub(super) fn comment(&mut self) -> Option<Comment> {
        if !self.at(TokenKind::Comment) {
            return None;
        }
        let text = self.text(self.current);
        let comment = Comment::from(text.strip_prefix(';').unwrap_or(text).trim_end());
        self.bump();
        Some(comment)
    }

    /// Returns a description of the current token for messages.
    pub(super) fn found(&self) -> String {
        const SHOWN: usize = 40;
        match self.current.kind {
            TokenKind::Newline | TokenKind::Comment => "the end of the line".into(),
            TokenKind::End => "the end of the text".into(),
            _ => {
                let text = self.text(self.current);
                match text.char_indices().nth(SHOWN) {
                    Some((cut, _)) => format!("`{}…`", text.get(..cut).unwrap_or("")),
                    None => format!("`{text}`"),
                }
            }
        }
    }

    /// Returns the span of the current token for messages. For a line end, it is the place after the last
    /// character of the line.
    fn found_span(&self) -> Span {
        if self.at_line_end() { self.since(self.last_end).after() } else { self.here() }
    }

    pub(super) fn unexpected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::error(
            ProblemCode::SomethingElseExpected,
            message,
            self.found_span(),
            format!("expected {what}"),
        )
    }

    /// Reports that `what` was expected instead of the current token.
    pub(super) fn expected<T>(&mut self, what: &str) -> Parse<T> {
        let problem = self.unexpected(what);
        self.fail(problem)
    }

    /// Reports an error that ends the parsing of a statement. If the statement contains a character that the
    /// lexer has rejected, the error is most likely a consequence, and isn't reported.
    pub(super) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        let consequence = self.statement_start < self.spoilt && self.spoilt <= self.current.start;
        if !consequence {
            self.report(diagnostic);
        }
        Err(AlreadyReported)
    }

    /// Records an error as a diagnostic.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.add(diagnostic);
    }
}

/// Returns a suggestion for an unknown character: the sign that is most likely meant; `None` if there is
/// none.
fn meant(character: char) -> Option<String> {
    let wanted = match character {
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{3000}' | '\u{feff}' => {
            return Some("replace this character by a space: it only looks like one".into());
        }
        '#' => return Some("begin a comment with `;`".into()),
        '\u{2010}'..='\u{2015}' | '−' => "-",
        '‘' | '’' | '′' | '`' => "'",
        '“' | '”' => "\"",
        '×' | '·' => "*",
        '÷' => "/",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '…' => "..",
        '!' => "not",
        '∧' => "and",
        '∨' => "or",
        '¬' => "not",
        _ => return None,
    };
    Some(did_you_mean(wanted))
}
