//! The parser: it turns tokens into the syntax tree, line by line.
//!
//! Parsing never fails: invalid statements are reported and left out, and parsing continues at the next line.
//! So one run finds every syntax error of a file. Names, classes, values and included files are handled
//! elsewhere.
//!
//! | file | subject |
//! |---|---|
//! | `cursor` | the position in the token stream; error reporting |
//! | `words` | reserved words, and suggestions for misspelt ones |
//! | `foreign`, `assignment` | suggestions for the syntax of other languages |
//! | `block`, `open` | structured statements, procedures and macros, with their ends |
//! | `instruction` | flat instructions, macro uses, `local` |
//! | `tasks` | parallel calls, and calls through cells |
//! | `directive`, `recorded` | single-line directives, and those of a disassembly |
//! | `condition`, `expression`, `literal` | the parts of statements |

mod assignment;
mod block;
mod condition;
mod cursor;
mod directive;
mod expression;
pub(crate) mod foreign;
mod instruction;
mod literal;
mod open;
mod recorded;
mod tasks;
pub(crate) mod words;

use std::collections::HashMap;
use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;

use self::open::Open;
use crate::diagnostic::{Collection, Diagnostic};
use crate::lexer::{Lexer, Token, TokenKind};
use crate::source::{FileId, Sources, Span};
use crate::tree::{Body, Comment, Name, Statement, StatementNode};

/// Parses a file. If there are diagnostics, the tree lacks the invalid statements.
pub fn parse(sources: &Sources, file: FileId) -> (Body, Vec<Diagnostic>) {
    if let Some(problem) = sources.problem(file) {
        return (Body::new(), vec![problem.clone()]);
    }
    let mut parser = Parser::new(sources.file_text(file), file);
    let body = parser.lines();
    (body, parser.diagnostics.finish())
}

/// The maximum number of diagnostics listed; further ones are only counted.
const MOST: usize = 200;

/// The error of a parsing function whose diagnostic has been recorded already.
struct AlreadyReported;

type Parse<T> = Result<T, AlreadyReported>;

/// A parsed statement, which may be a block of several lines.
struct Parsed {
    statement: Statement,
    /// The comment on the first line of the statement.
    comment: Option<Comment>,
    end: u32,
}

/// The state of a parse. Each file of this directory adds methods for the statements of its subject.
struct Parser<'t> {
    source: &'t str,
    file: FileId,
    lexer: Lexer<'t>,
    current: Token,
    next: Token,
    /// The end of the last consumed token.
    last_end: u32,
    statement_start: u32,
    /// The end of the last token that the lexer rejected. Errors after this token in the same statement are
    /// most likely consequences of the rejected token.
    spoilt: u32,
    /// The number of operators and brackets in the current expression.
    weight: u32,
    /// The blocks around the current line, outermost first.
    open: Vec<Open>,
    /// True if the rest of the text was skipped, so that missing ends of blocks aren't reported.
    gave_up: bool,
    /// Comments inside of braces that span several lines. These comments become separate lines before the
    /// statement.
    loose_comments: Vec<StatementNode>,
    /// The names in expressions. All uses of a name share the text stored here.
    names: HashMap<&'t str, Rc<CompactString>>,
    diagnostics: Collection,
}

impl<'t> Parser<'t> {
    fn new(source: &'t str, file: FileId) -> Parser<'t> {
        let nothing = Token { kind: TokenKind::Newline, start: 0, end: 0 };
        let mut parser = Parser {
            source,
            file,
            lexer: Lexer::new(source),
            current: nothing,
            next: nothing,
            last_end: 0,
            statement_start: 0,
            spoilt: 0,
            weight: 0,
            open: Vec::new(),
            gave_up: false,
            loose_comments: Vec::new(),
            names: HashMap::new(),
            diagnostics: Collection::up_to(MOST),
        };
        parser.bump();
        parser.bump();
        parser
    }

    /// Parses lines up to the end of an open block, or of the text.
    fn lines(&mut self) -> Body {
        let mut body = Body::new();
        while !self.at(TokenKind::End) && !self.at_misplaced_definition() {
            match self.terminator() {
                Some(word) if self.is_awaited(word) => break,
                Some(word) => self.stray(word),
                None => self.line(&mut body),
            }
        }
        body
    }

    fn line(&mut self, body: &mut Body) {
        let start = self.current.start;
        self.statement_start = start;
        let label = self.labels(body);
        if let Some(label) = &label
            && self.refuse_label(label.span)
        {
            return;
        }
        let parsed = self.statement();
        body.append(&mut self.loose_comments);
        let span = Span { file: self.file, start, end: parsed.end.max(start) };
        let label = label.map(Box::new);
        let node = StatementNode { label, statement: parsed.statement, comment: parsed.comment, span };
        if !(node.is_blank() && body.last().is_some_and(StatementNode::is_blank)) {
            body.push(node);
        }
    }

    /// Parses the labels before a statement. All but the last become separate lines.
    fn labels(&mut self, body: &mut Body) -> Option<Name> {
        let mut last: Option<Name> = None;
        while self.at(TokenKind::Word) && self.next.kind == TokenKind::Colon {
            let label = self.name("a label");
            if label.is_err() {
                self.bump();
            }
            self.bump();
            let Ok(label) = label else { continue };
            if let Some(earlier) = last.replace(label) {
                let span = earlier.span;
                let label = Some(Box::new(earlier));
                body.push(StatementNode { label, statement: Statement::Empty, comment: None, span });
            }
        }
        last
    }

    /// Reports a label before something that isn't an instruction. Returns true if the current word ends a block or a
    /// part of one.
    fn refuse_label(&mut self, label: Span) -> bool {
        let ends = self.terminator().is_some();
        if ends || self.at(TokenKind::Directive) {
            let message = format!("a label isn't allowed in front of `{}`", self.text(self.current));
            let problem =
                Diagnostic::error(ProblemCode::LabelOfNothing, message, label, "labels name instructions");
            self.report(problem.with(self.here(), "not an instruction"));
        }
        ends
    }

    fn statement(&mut self) -> Parsed {
        match self.current.kind {
            TokenKind::Newline | TokenKind::Comment | TokenKind::End => self.empty(),
            TokenKind::Dotted => self.single(Parser::instruction),
            TokenKind::Directive => match self.text(self.current) {
                ".proc" => self.procedure(),
                ".macro" => self.macro_definition(),
                _ => self.single(Parser::directive),
            },
            TokenKind::Word => self.word_statement(),
            _ => self.single(Parser::no_statement),
        }
    }

    fn word_statement(&mut self) -> Parsed {
        match self.text(self.current) {
            "if" => self.if_block(),
            "from" if !self.at_flat_from() => self.loop_block(),
            "for" => self.for_block(),
            "compute" => self.compute_block(),
            "local" => self.single(Parser::local),
            "delocal" => self.single(Parser::delocal),
            "undo" => self.single(Parser::undo),
            "par" | "unpar" => self.single(Parser::tasks),
            "callvia" | "uncallvia" => self.single(Parser::call_via),
            word if words::update(word).is_some() => self.single(Parser::instruction),
            word if words::reserved(word).is_some() => self.single(Parser::no_statement),
            _ => self.single(Parser::macro_use),
        }
    }

    fn empty(&mut self) -> Parsed {
        let end = if self.at(TokenKind::Comment) {
            self.current.end
        } else {
            self.current.start.max(self.last_end)
        };
        let comment = self.finish_line(false);
        Parsed { statement: Statement::Empty, comment, end }
    }

    /// Parses a statement of a single line by a method for its kind, and the end of the line.
    fn single(&mut self, rule: impl FnOnce(&mut Self) -> Parse<Statement>) -> Parsed {
        let statement = rule(self);
        let end = self.last_end;
        let comment = self.finish_line(statement.is_err());
        Parsed { statement: statement.unwrap_or(Statement::Empty), comment, end }
    }

    fn no_statement(&mut self) -> Parse<Statement> {
        if self.at(TokenKind::ParenOpen) {
            self.refuse_parallel_assignment(self.current.start)?;
        }
        let problem = self.unexpected("a statement");
        let twice = self.next.kind == self.current.kind;
        let help = match self.current.kind {
            TokenKind::Slash if twice => Some("begin a comment with `;`".to_owned()),
            TokenKind::Plus if twice => Some("write `add x, 1`".to_owned()),
            TokenKind::Minus if twice => Some("write `sub x, 1`".to_owned()),
            TokenKind::BraceOpen | TokenKind::BraceClose => Some(
                "end a body with its word: `if … fi`, `from … until`, `for … rof`, `.proc … .end`".to_owned(),
            ),
            TokenKind::Word => foreign::advice(self.text(self.current), &[]),
            _ => None,
        };
        self.fail(problem.help_if(help))
    }
}
