//! The parser: tokens become the syntax tree, line by line.
//!
//! It never fails: what can't be read is reported and left out, and the next line starts afresh, so
//! that one run finds every error of a file. Names, classes and values are no concern of it, and
//! neither are included files.
//!
//! | file | subject |
//! |---|---|
//! | `cursor` | the walk through the tokens; reporting |
//! | `words` | reserved words, and what a misspelt one may mean |
//! | `foreign`, `assignment` | what other languages write, and how it is said here |
//! | `block`, `open` | structured statements, procedures and macros: what pairs with what |
//! | `instruction` | flat instructions, macro uses, `local` |
//! | `directive` | directives of one line |
//! | `condition`, `expression`, `literal` | what statements are made of |

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

/// Parses a file. The tree is complete if there are no diagnostics; otherwise it lacks what they
/// are about.
pub fn parse(sources: &Sources, file: FileId) -> (Body, Vec<Diagnostic>) {
    if let Some(problem) = sources.problem(file) {
        return (Body::new(), vec![problem.clone()]);
    }
    let mut parser = Parser::new(sources.file_text(file), file);
    let body = parser.lines();
    (body, parser.diagnostics.finish())
}

/// Diagnostics beyond this many are only counted.
const MOST: usize = 200;

/// What was wrong is already among the diagnostics.
struct AlreadyReported;

type Parse<T> = Result<T, AlreadyReported>;

/// A statement with all its lines.
struct Parsed {
    statement: Statement,
    /// Of its first line.
    comment: Option<Comment>,
    end: u32,
}

/// The state of a parse. Each file of this directory adds the rules of its subject.
struct Parser<'t> {
    source: &'t str,
    file: FileId,
    lexer: Lexer<'t>,
    current: Token,
    next: Token,
    /// Where the last token left behind ends.
    last_end: u32,
    statement_start: u32,
    /// Where the last token that the lexer refused ends.
    spoilt: u32,
    /// Operators and brackets of the expression at hand so far.
    weight: u32,
    /// The blocks around the line at hand, outermost first.
    open: Vec<Open>,
    /// The rest of the text was left alone: nothing about its absence is worth saying.
    gave_up: bool,
    /// Comments between the lines of a list in braces: they move in front of the statement.
    loose_comments: Vec<StatementNode>,
    /// Names in expressions, so that many uses of one share its text.
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

    /// Lines up to the end of a block that is open, or of the text.
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

    /// The labels in front of a statement. All but the last get a line of their own.
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

    /// Reports a label in front of something that is no instruction; true if a block ends here.
    fn refuse_label(&mut self, label: Span) -> bool {
        let ends = self.terminator().is_some();
        if ends || self.at(TokenKind::Directive) {
            let message = format!("a label can't stand in front of `{}`", self.text(self.current));
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

    /// A statement of one line.
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
            TokenKind::Slash if twice => Some("comments begin with `;`".to_owned()),
            TokenKind::Plus if twice => Some("write `add x, 1`".to_owned()),
            TokenKind::Minus if twice => Some("write `sub x, 1`".to_owned()),
            TokenKind::BraceOpen | TokenKind::BraceClose => Some(
                "bodies end with a word: `if … fi`, `from … until`, `for … rof`, `.proc … .end`".to_owned(),
            ),
            TokenKind::Word => foreign::advice(self.text(self.current), &[]),
            _ => None,
        };
        self.fail(problem.help_if(help))
    }
}
