//! Tokens: kinds and byte ranges of a text, one at a time. The lexer is independent of the grammar.
//!
//! Lexing never fails: characters that begin no token become a token of kind [`TokenKind::Unknown`]. A token
//! owns nothing, so lexing allocates no memory.

/// The kind of a token; the token's text is that of its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name, keyword or mnemonic.
    Word,
    /// A word with a dot in it: `add.mul`
    Dotted,
    /// A word after a dot: `.proc`
    Directive,
    /// A literal that begins with a digit; it may be malformed.
    Number,
    /// A quoted text: `"…"`
    Text,
    /// A `"` without a closing one on its line.
    UnclosedText,
    /// A comment: from `;` to the end of the line.
    Comment,
    /// A line end, `\n` or `\r\n`. A carriage return alone is [`TokenKind::Unknown`].
    Newline,
    /// The sign `,` between operands, declarations and subscripts.
    Comma,
    /// The sign `:` after a label, or before a class.
    Colon,
    /// The sign `=`
    Assign,
    /// The sign `:=`, which no statement uses
    Becomes,
    /// The sign `'`
    Prime,
    /// The sign `..`
    Range,
    /// The sign `(` of calls, functions and groups.
    ParenOpen,
    /// The sign `)` that closes a `(`.
    ParenClose,
    /// The sign `[` before lengths or subscripts.
    BracketOpen,
    /// The sign `]` that closes a `[`.
    BracketClose,
    /// The sign `{` before a list of initial values.
    BraceOpen,
    /// The sign `}` that closes a `{`.
    BraceClose,
    /// The sign `+`, a binary operator.
    Plus,
    /// The sign `-`, a unary or a binary operator.
    Minus,
    /// The sign `*`, the operator of products.
    Star,
    /// The sign `/`, the operator of quotients.
    Slash,
    /// The sign `%`, the operator of remainders.
    Percent,
    /// The sign `~`, the unary operator of bitwise complements.
    Tilde,
    /// The sign `<<`, the operator of left shifts.
    ShiftLeft,
    /// The sign `>>`, the operator of right shifts.
    ShiftRight,
    /// The sign `&`, bitwise and. Conditions are joined by the word `and`.
    Ampersand,
    /// The sign `^`, bitwise exclusive or.
    Caret,
    /// The sign `|`, bitwise or. Conditions are joined by the word `or`.
    Bar,
    /// The comparison sign `==`
    Equal,
    /// The comparison sign `!=`
    NotEqual,
    /// The comparison sign `<`
    Less,
    /// The comparison sign `<=`
    LessEqual,
    /// The comparison sign `>`
    Greater,
    /// The comparison sign `>=`
    GreaterEqual,
    /// Characters that begin no token.
    Unknown,
    /// The end of the text, which is returned repeatedly.
    End,
}

/// A token: its kind and the bytes `start..end` of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind, which depends on the characters only: keywords are words.
    pub kind: TokenKind,
    /// The index of the first byte, from 0.
    pub start: u32,
    /// The index after the last byte; equal to `start` at the end of the text.
    pub end: u32,
}

/// A lexer for a text of at most `u32::MAX` bytes.
#[derive(Clone, Debug)]
pub struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    /// Returns a lexer at the beginning of a text.
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0 }
    }

    /// Returns the next token. At the end of the text, every call returns [`TokenKind::End`].
    pub fn token(&mut self) -> Token {
        self.skip(|b| matches!(b, b' ' | b'\t'));
        let start = self.at;
        let kind = match self.byte(0) {
            None => TokenKind::End,
            Some(first) => self.scan(first),
        };
        Token { kind, start: start as u32, end: self.at as u32 }
    }

    /// Returns the byte at this distance from the current position.
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&wanted) {
            self.at += 1;
        }
    }

    /// Advances to the end of the line.
    pub(crate) fn skip_line(&mut self) {
        self.skip(|b| b != b'\n');
        if self.text.as_bytes().get(..self.at).is_some_and(|before| before.ends_with(b"\r")) {
            self.at -= 1;
        }
    }

    fn take(&mut self, bytes: usize, kind: TokenKind) -> TokenKind {
        self.at += bytes;
        kind
    }

    /// Consumes the token that begins with the current byte.
    fn scan(&mut self, first: u8) -> TokenKind {
        match first {
            b'\n' => self.take(1, TokenKind::Newline),
            b'\r' if self.byte(1) == Some(b'\n') => self.take(2, TokenKind::Newline),
            b';' => {
                self.skip_line();
                TokenKind::Comment
            }
            b'"' => self.quoted(),
            b'.' => self.dot(),
            b'0'..=b'9' => self.number(),
            b if begins_word(b) => self.word(),
            _ => self.symbol(first),
        }
    }

    fn word(&mut self) -> TokenKind {
        self.skip(continues_word);
        if self.byte(0) == Some(b'.') && self.byte(1).is_some_and(begins_word) {
            while self.byte(0).is_some_and(continues_word)
                || self.byte(0) == Some(b'.') && self.byte(1) != Some(b'.')
            {
                self.at += 1;
            }
            return TokenKind::Dotted;
        }
        TokenKind::Word
    }

    fn dot(&mut self) -> TokenKind {
        match self.byte(1) {
            Some(b'.') => self.take(2, TokenKind::Range),
            Some(b'0'..=b'9') => self.number(),
            Some(b) if begins_word(b) => {
                self.at += 1;
                self.skip(continues_word);
                TokenKind::Directive
            }
            _ => self.unknown(),
        }
    }

    /// Consumes a number with all adjacent word characters, so that `12ab` is one malformed literal.
    fn number(&mut self) -> TokenKind {
        let decimal = !(self.byte(0) == Some(b'0')
            && self.byte(1).is_some_and(|b| matches!(b, b'x' | b'X' | b'b' | b'B' | b'o' | b'O')));
        while let Some(byte) = self.byte(0) {
            let exponent = decimal && matches!(byte, b'e' | b'E');
            let more = continues_word(byte) || (byte == b'.' && self.byte(1) != Some(b'.'));
            if !more {
                break;
            }
            self.at += 1;
            let sign = matches!(self.byte(0), Some(b'+' | b'-'));
            if exponent && sign && self.byte(1).is_some_and(|b| b.is_ascii_digit()) {
                self.at += 1;
            }
        }
        TokenKind::Number
    }

    fn quoted(&mut self) -> TokenKind {
        self.at += 1;
        self.skip(|b| !matches!(b, b'"' | b'\n' | b'\r'));
        if self.byte(0) == Some(b'"') { self.take(1, TokenKind::Text) } else { TokenKind::UnclosedText }
    }

    fn symbol(&mut self, first: u8) -> TokenKind {
        match (first, self.byte(1)) {
            (b':', Some(b'=')) => self.take(2, TokenKind::Becomes),
            (b'=', Some(b'=')) => self.take(2, TokenKind::Equal),
            (b'!', Some(b'=')) => self.take(2, TokenKind::NotEqual),
            (b'<', Some(b'=')) => self.take(2, TokenKind::LessEqual),
            (b'>', Some(b'=')) => self.take(2, TokenKind::GreaterEqual),
            (b'<', Some(b'<')) => self.take(2, TokenKind::ShiftLeft),
            (b'>', Some(b'>')) => self.take(2, TokenKind::ShiftRight),
            _ => match single(first) {
                Some(kind) => self.take(1, kind),
                None => self.unknown(),
            },
        }
    }

    /// Consumes one invalid character. Consecutive non-ASCII characters form one token.
    fn unknown(&mut self) -> TokenKind {
        let rest = self.text.get(self.at..).unwrap_or("");
        let first = rest.chars().next();
        self.at += first.map_or(1, char::len_utf8);
        if first.is_some_and(|c| !c.is_ascii()) {
            self.skip(|b| !b.is_ascii());
        }
        TokenKind::Unknown
    }
}

fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

fn single(byte: u8) -> Option<TokenKind> {
    Some(match byte {
        b',' => TokenKind::Comma,
        b':' => TokenKind::Colon,
        b'=' => TokenKind::Assign,
        b'\'' => TokenKind::Prime,
        b'(' => TokenKind::ParenOpen,
        b')' => TokenKind::ParenClose,
        b'[' => TokenKind::BracketOpen,
        b']' => TokenKind::BracketClose,
        b'{' => TokenKind::BraceOpen,
        b'}' => TokenKind::BraceClose,
        b'+' => TokenKind::Plus,
        b'-' => TokenKind::Minus,
        b'*' => TokenKind::Star,
        b'/' => TokenKind::Slash,
        b'%' => TokenKind::Percent,
        b'~' => TokenKind::Tilde,
        b'&' => TokenKind::Ampersand,
        b'^' => TokenKind::Caret,
        b'|' => TokenKind::Bar,
        b'<' => TokenKind::Less,
        b'>' => TokenKind::Greater,
        _ => return None,
    })
}
