//! Structured statements, procedures and macros. If the end of a block is missing or superfluous, the error
//! shows both places.

use super::open::Open;
use super::{Parse, Parsed, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::source::Span;
use crate::tree::{
    Body, Comment, Compute, Condition, Expression, For, If, Loop, Macro, Name, ProcedureNode, Statement,
    StatementNode,
};
use reviver_isa::codes::ProblemCode;

/// The maximum nesting depth of blocks, which bounds the recursion in traversals of the tree.
const DEEPEST: usize = 200;

/// The words that end a block or a part of a block, each with the word at which the block begins.
const TERMINATORS: [(&str, &str); 9] = [
    ("else", "if"),
    ("fi", "if"),
    ("loop", "from"),
    ("until", "from"),
    ("rof", "for"),
    ("apply", "compute"),
    ("uncompute", "compute"),
    (".end", ".proc"),
    (".endm", ".macro"),
];

/// The words that end a block in other languages, listed for each word at which a block begins.
const FOREIGN_ENDS: [(&str, &[&str]); 5] = [
    ("for", &["next", "endfor", "end_for", "end", "done", "od", "NEXT"]),
    ("if", &["endif", "end_if", "end", "ENDIF"]),
    ("from", &["endwhile", "wend", "end", "done", "repeat", "endloop"]),
    ("compute", &["end"]),
    (".macro", &["endm", "endmacro", "end"]),
];

const FOR_USAGE: &str = "write `for i in 0..n`; the end is exclusive";

/// The head of a `for`: its counter, bounds, step and direction.
pub(super) struct ForHead {
    pub counter: Name,
    pub from: Expression,
    pub to: Expression,
    pub step: Option<Expression>,
    pub reversed: bool,
}

impl Parser<'_> {
    /// Returns the current word if it ends a block or a part of one, otherwise `None`.
    pub(super) fn terminator(&self) -> Option<&'static str> {
        let is_label = self.next.kind == TokenKind::Colon;
        if is_label || !matches!(self.current.kind, TokenKind::Word | TokenKind::Directive) {
            return None;
        }
        let text = self.text(self.current);
        TERMINATORS.iter().map(|(end, _)| *end).find(|end| *end == text)
    }

    /// Returns true if a procedure or a macro begins here although a block is open. Definitions don't nest,
    /// so most likely the end of the block is missing.
    pub(super) fn at_misplaced_definition(&self) -> bool {
        !self.open.is_empty() && (self.at_word(".proc") || self.at_word(".macro"))
    }

    /// Returns true if the word can end one of the open blocks, or its current part.
    pub(super) fn is_awaited(&self, word: &str) -> bool {
        self.open.iter().any(|open| open.ends.contains(&word))
    }

    /// If the current word would end the innermost block in another language, records its place. The word isn't
    /// an error yet, because it may be the name of a macro. If the block's end turns out to be missing, the
    /// error shows this place.
    pub(super) fn note_foreign_end(&mut self) {
        let (word, place) = (self.text(self.current), self.here());
        if let Some(open) = self.open.last_mut()
            && FOREIGN_ENDS.iter().any(|(keyword, words)| *keyword == open.keyword && words.contains(&word))
        {
            open.foreign_end = Some(place);
        }
    }

    /// Reports a word that ends a block although no such block is open. Skips its line.
    pub(super) fn stray(&mut self, word: &'static str) {
        let opener = TERMINATORS.iter().find(|(end, _)| *end == word).map_or("", |(_, opener)| *opener);
        let place = self.here();
        let problem = match self.open.last_mut() {
            Some(open) if open.keyword == opener => Diagnostic::error(
                ProblemCode::EndsNothing,
                format!("a second `{word}`"),
                place,
                "one too many",
            )
            .with(open.span, format!("this `{opener}` has one already")),
            Some(open) => {
                // Most likely the word is meant to end the innermost block. So a missing end of that block
                // isn't reported.
                open.blamed = true;
                let ends = open.ends.last().copied().unwrap_or("");
                Diagnostic::error(
                    ProblemCode::EndsNothing,
                    format!("`{word}` without `{opener}`"),
                    place,
                    "ends nothing",
                )
                .with(open.span, format!("this `{}` is open here; it ends with `{ends}`", open.keyword))
            }
            None => Diagnostic::error(
                ProblemCode::EndsNothing,
                format!("`{word}` without `{opener}`"),
                place,
                "ends nothing",
            ),
        };
        self.report(problem);
        self.bump();
        self.finish_line(true);
    }

    /// Parses the lines of a block, or of a part of one, until one of the words `ends` or the end of the
    /// text.
    fn body(&mut self, keyword: &'static str, span: Span, ends: &'static [&'static str]) -> (Body, Open) {
        self.body_with(keyword, span, ends, false)
    }

    /// Parses the lines of a block. If `chained` is true, the block begins with an `if` on the current line,
    /// as in `else if`.
    fn body_with(
        &mut self,
        keyword: &'static str,
        span: Span,
        ends: &'static [&'static str],
        chained: bool,
    ) -> (Body, Open) {
        let open = Open { keyword, span, ends, blamed: false, is_ladder: chained, foreign_end: None };
        if self.open.len() >= DEEPEST {
            let message = format!("more than {DEEPEST} blocks are open here");
            let problem = Diagnostic::error(ProblemCode::TooMuch, message, span, "one too many");
            self.report(problem.help("move inner blocks to procedures"));
            self.give_up();
            return (Body::new(), open);
        }
        self.open.push(open);
        let mut body = Body::new();
        if chained {
            body.push(self.inner_if());
            let rest = self.lines();
            self.refuse_between(&rest);
            body.extend(rest);
        } else {
            body = self.lines();
        }
        let lost = Open { keyword, span, ends, blamed: true, is_ladder: chained, foreign_end: None };
        let open = self.open.pop().unwrap_or(lost);
        (body, open)
    }

    /// Skips the rest of the text, after an error that would cause many others.
    fn give_up(&mut self) {
        self.gave_up = true;
        let nothing = Token { kind: TokenKind::End, ..self.current };
        (self.lexer, self.current, self.next) = (Lexer::new(""), nothing, nothing);
    }

    /// If the current word is the expected end of a block, consumes it and returns true. Otherwise reports
    /// that it is missing.
    fn ended(&mut self, open: &Open, end: &'static str) -> bool {
        if self.at_word(end) {
            self.statement_start = self.current.start;
            self.bump();
            return true;
        }
        if !open.blamed && !self.gave_up {
            let found = match self.current.kind {
                TokenKind::End => "the text ends here".into(),
                _ => format!("`{end}` is missing before this"),
            };
            let message = format!("this `{}` has no `{end}`", open.keyword);
            let problem = Diagnostic::error(ProblemCode::NeverEnded, message, open.span, "begins here")
                .with(self.here(), found);
            let problem = match open.foreign_end {
                Some(place) => problem.with(place, format!("this is no `{end}`")),
                None => problem,
            };
            let usage = if open.is_ladder { Some(FI_OF_LADDER) } else { usage(end) };
            self.report(match usage {
                Some(usage) => problem.help(usage),
                None => problem,
            });
        }
        false
    }

    /// Parses the end of a block without a condition, and returns its comment and its span.
    fn end_line(&mut self, open: &Open, end: &'static str) -> (Option<Comment>, Span) {
        let start = self.current.start;
        if !self.ended(open, end) {
            return (None, self.since(self.last_end));
        }
        let span = self.since(start);
        (self.finish_line(false), span)
    }

    /// Parses the end of a block with a condition, such as `fi a < b`. The condition is `None` if it, or the
    /// whole end, is missing or invalid.
    fn end_condition(
        &mut self,
        open: &Open,
        end: &'static str,
    ) -> (Option<Condition>, Option<Comment>, Span) {
        let start = self.current.start;
        if !self.ended(open, end) {
            return (None, None, self.since(self.last_end));
        }
        let condition = self.condition().ok();
        let span = self.since(start);
        let comment = self.finish_line(condition.is_none());
        (condition, comment, span)
    }

    /// Parses `if entry` or `from entry`. Returns its condition, its comment and the span of its first word.
    /// If the condition is invalid, the caller still parses the block to its end, but doesn't add it to the
    /// tree.
    fn head(&mut self) -> (Option<Condition>, Option<Comment>, Span) {
        let token = self.bump();
        let entry = self.condition().ok();
        let comment = self.finish_line(entry.is_none());
        (entry, comment, self.span(token))
    }

    pub(super) fn if_block(&mut self) -> Parsed {
        let (entry, comment, span) = self.head();
        let (then, mut open) = self.body("if", span, &["else", "fi"]);
        let (mut otherwise, mut else_comment) = (None, None);
        let middle = self.here();
        let mut chained = false;
        if self.eat_word("else") {
            chained = self.at_word("if");
            if !chained {
                else_comment = self.finish_line(false);
            }
            let (body, rest) = self.body_with("if", span, &["fi"], chained);
            (otherwise, open) = (Some(body), rest);
        }
        open.blamed |= entry.is_none();
        let (exit, end_comment, end) = self.end_condition(&open, "fi");
        let statement = match (entry, exit) {
            (Some(entry), Some(exit)) => Statement::If(Box::new(If {
                entry,
                then,
                otherwise,
                chained,
                exit,
                else_comment,
                end_comment,
                middle,
            })),
            _ => Statement::Empty,
        };
        Parsed { statement, comment, end: end.end }
    }

    /// Parses the `if` on the line of an `else`. This `if` has its own `fi`, before the `fi` of the outer `if`.
    fn inner_if(&mut self) -> StatementNode {
        let (file, start) = (self.file, self.current.start);
        let Parsed { statement, comment, end } = self.if_block();
        StatementNode { label: None, statement, comment, span: Span { file, start, end: end.max(start) } }
    }

    /// Reports statements between the `fi` of an `else if` and the `fi` of the outer `if`.
    fn refuse_between(&mut self, rest: &Body) {
        let says =
            |node: &&StatementNode| !matches!(node.statement, Statement::Empty) || node.label.is_some();
        if let Some(node) = rest.iter().find(says) {
            let message = "expected the `fi` of the `if` directly after the `fi` of its `else if`";
            let problem = Diagnostic::error(ProblemCode::ElseIfParted, message, node.span, "in between");
            self.report(problem.help("write the `else` and the inner `if … fi` on separate lines"));
        }
    }

    pub(super) fn loop_block(&mut self) -> Parsed {
        let (entry, comment, span) = self.head();
        let (first, mut open) = self.body("from", span, &["loop", "until"]);
        let (mut again, mut loop_comment) = (None, None);
        let middle = self.here();
        if self.eat_word("loop") {
            loop_comment = self.finish_line(false);
            let (body, rest) = self.body("from", span, &["until"]);
            (again, open) = (Some(body), rest);
        }
        open.blamed |= entry.is_none();
        let (exit, end_comment, end) = self.end_condition(&open, "until");
        let statement = match (entry, exit) {
            (Some(entry), Some(exit)) => Statement::Loop(Box::new(Loop {
                entry,
                first,
                again,
                exit,
                loop_comment,
                end_comment,
                middle,
            })),
            _ => Statement::Empty,
        };
        Parsed { statement, comment, end: end.end }
    }

    pub(super) fn for_block(&mut self) -> Parsed {
        let token = self.bump();
        let head = self.for_head();
        let comment = self.finish_line(head.is_err());
        let (body, mut open) = self.body("for", self.span(token), &["rof"]);
        open.blamed |= head.is_err();
        let (end_comment, end) = self.end_line(&open, "rof");
        let statement = match head {
            Ok(ForHead { counter, from, to, step, reversed }) => {
                let is_of_arrays = false;
                let tree = For { counter, from, to, step, reversed, is_of_arrays, body, end_comment, end };
                Statement::For(Box::new(tree))
            }
            Err(_) => Statement::Empty,
        };
        Parsed { statement, comment, end: end.end }
    }

    /// Parses `i in from..to step s reversed`.
    pub(super) fn for_head(&mut self) -> Parse<ForHead> {
        if !self.at(TokenKind::Word) {
            let problem = self.unexpected("the name of a counter");
            return self.fail(problem.help(FOR_USAGE));
        }
        let counter = self.operand_name("the name of a counter")?;
        if !self.eat_word("in") {
            let problem = self.unexpected("`in`");
            return self.fail(problem.help(FOR_USAGE));
        }
        let from = self.expression()?;
        if !self.eat(TokenKind::Range) {
            let problem = self.unexpected("`..`");
            return self.fail(problem.help(FOR_USAGE));
        }
        let to = self.expression()?;
        let mut reversed = self.eat_word("reversed");
        let step = if self.eat_word("step") { Some(self.expression()?) } else { None };
        reversed = reversed || self.eat_word("reversed");
        Ok(ForHead { counter, from, to, step, reversed })
    }

    pub(super) fn compute_block(&mut self) -> Parsed {
        let token = self.bump();
        let span = self.span(token);
        let comment = self.finish_line(false);
        let (body, mut open) = self.body("compute", span, &["apply", "uncompute"]);
        let (mut apply, mut apply_comment) = (Body::new(), None);
        let middle = self.here();
        if self.ended(&open, "apply") {
            apply_comment = self.finish_line(false);
            (apply, open) = self.body("compute", span, &["uncompute"]);
        } else {
            open.blamed = true;
        }
        let (end_comment, end) = self.end_line(&open, "uncompute");
        let tree = Compute { body, middle, apply, apply_comment, end_comment, end };
        Parsed { statement: Statement::Compute(Box::new(tree)), comment, end: end.end }
    }

    pub(super) fn procedure(&mut self) -> Parsed {
        let token = self.bump();
        let head = self.procedure_head();
        let comment = self.finish_line(head.is_err());
        let (body, mut open) = self.body(".proc", self.span(token), &[".end"]);
        open.blamed |= head.is_err();
        let (end_comment, end) = self.end_line(&open, ".end");
        let statement = match head {
            Ok((name, parameters, [rule, tangent])) => {
                let tree = ProcedureNode { name, parameters, rule, tangent, body, end_comment, end };
                Statement::Procedure(Box::new(tree))
            }
            Err(_) => Statement::Empty,
        };
        Parsed { statement, comment, end: end.end }
    }

    pub(super) fn macro_definition(&mut self) -> Parsed {
        let token = self.bump();
        let head = self.macro_head();
        let comment = self.finish_line(head.is_err());
        let (body, mut open) = self.body(".macro", self.span(token), &[".endm"]);
        open.blamed |= head.is_err();
        let (end_comment, end) = self.end_line(&open, ".endm");
        let statement = match head {
            Ok((name, parameters)) => {
                Statement::Macro(Box::new(Macro { name, parameters, body, end_comment, end }))
            }
            Err(_) => Statement::Empty,
        };
        Parsed { statement, comment, end: end.end }
    }

    /// Reports a directive that isn't allowed inside of the current block.
    pub(super) fn refuse_directive(&mut self, directive: &str) -> Parse<()> {
        let Some(open) = self.open.last() else { return Ok(()) };
        let in_procedure = open.keyword == ".proc";
        if matches!(directive, ".ancilla" | ".strategy" | ".block" | ".scope" | ".value") && in_procedure {
            return Ok(());
        }
        let inside = format!("inside of this `{}`", open.keyword);
        let message = format!("`{directive}` isn't allowed inside of `{}`", open.keyword);
        let problem = Diagnostic::error(ProblemCode::OutOfPlace, message, self.here(), "out of place")
            .with(open.span, inside);
        self.fail(match (directive, in_procedure) {
            (".ancilla", _) => problem.help("declare a variable of a block by `local` and `delocal`"),
            (".var" | ".in" | ".out" | ".inout" | ".garbage", true) => problem
                .help("declare variables of a procedure by `.ancilla`, and globals outside of the procedure"),
            _ => problem.help("move the directive out of the block"),
        })
    }

    /// Returns true if the word `from` begins a flat instruction, such as `from top, n == 0`: a label and a
    /// comma follow.
    pub(super) fn at_flat_from(&self) -> bool {
        if self.next.kind != TokenKind::Word || matches!(self.text(self.next), "always" | "forgotten" | "not")
        {
            return false;
        }
        let third = self.lexer.clone().token().kind;
        matches!(third, TokenKind::Comma | TokenKind::Newline | TokenKind::Comment | TokenKind::End)
    }
}

/// The suggestion if an `if` with `else if` has only one `fi`, which belongs to the inner `if`.
const FI_OF_LADDER: &str = "write another `fi condition` after the `fi` of the `else if`: each `if` of a chain has its own `fi`, the last `if` first";

/// Returns the suggestion for a missing end of a block, or `None` if there is none.
fn usage(end: &str) -> Option<&'static str> {
    Some(match end {
        "fi" => "end it with `fi condition`; the condition must hold exactly when the first body ran",
        "until" => "end it with `until condition`; the loop ends when the condition holds",
        "rof" => "end it with `rof`",
        "uncompute" => "end it with `uncompute`, which undoes the part before `apply`",
        ".end" => "end it with `.end`: the procedure returns there, and nowhere else",
        ".endm" => "end it with `.endm`",
        "apply" => {
            "write `apply` between the two parts: `compute … apply … uncompute` undoes its first part after the second"
        }
        _ => return None,
    })
}
