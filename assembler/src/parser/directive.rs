//! Single-line directives, and the heads of procedures and macros. Lowering evaluates the constant
//! expressions in them.

use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::language::DIRECTIVES;
use reviver_isa::module::{Passing, Rank, RealSystem, Role, Word};

use super::foreign::advice;
use super::{Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Token, TokenKind};
use crate::source::Span;
use crate::suggest::{did_you_mean, nearest};
use crate::tree::{
    DeclarationNode, Directive, Expression, ExpressionKind, FieldNode, Initial, KeptStrategy, Limit, Name,
    ParameterNode, ShapeNode, Statement, StatementNode,
};

/// The most segments into which a strategy divides a loop.
const MOST_SEGMENTS: u32 = 1 << 20;

impl<'t> Parser<'t> {
    pub(super) fn directive(&mut self) -> Parse<Statement> {
        let text = self.text(self.current);
        if !DIRECTIVES.contains(&text) {
            return self.unknown_directive(text);
        }
        self.refuse_directive(text)?;
        let place = self.here();
        self.bump();
        let directive = match text {
            ".const" => self.constant()?,
            ".record" => self.record()?,
            ".real" => self.real_system()?,
            ".word" => self.word_width()?,
            ".tolerance" => Directive::Tolerance { value: Box::new(self.expression()?) },
            ".inverse" => Directive::Inverse,
            ".limit" => self.limit()?,
            ".include" => self.include()?,
            ".ancilla" => self.ancillas()?,
            ".strategy" => self.strategy(place)?,
            ".lines" => self.line_numbers()?,
            ".labels" => self.no_labels()?,
            ".path" => Directive::Path(self.path(".path \"path\"")?.0.to_owned()),
            ".file" => self.file_start()?,
            ".block" => self.recorded_block()?,
            ".scope" => self.recorded_scope()?,
            ".value" => self.recorded_value()?,
            _ => self.globals(text, place)?,
        };
        Ok(Statement::Directive(directive))
    }

    fn unknown_directive(&mut self, text: &str) -> Parse<Statement> {
        let problem = Diagnostic::error(
            ProblemCode::UnknownDirective,
            format!("there is no directive `{text}`"),
            self.here(),
            "unknown",
        );
        let near = || nearest(text, DIRECTIVES.iter().copied()).map(did_you_mean);
        self.fail(problem.help_if(advice(text, &[]).or_else(near)))
    }

    fn globals(&mut self, text: &str, place: Span) -> Parse<Directive> {
        let Some(role) = Role::ALL.into_iter().find(|role| role.directive() == text) else {
            let problem = Diagnostic::error(
                ProblemCode::OutOfPlace,
                format!("`{text}` isn't allowed here"),
                place,
                "out of place",
            );
            return self.fail(problem);
        };
        Ok(Directive::Globals { role, declarations: self.declarations()? })
    }

    fn ancillas(&mut self) -> Parse<Directive> {
        let start = self.current.start;
        let declarations = self.declarations()?;
        if let Some(stack) = declarations.iter().find(|d| matches!(d.shape, ShapeNode::Stack)) {
            let name = &stack.name;
            let problem = Diagnostic::error(
                ProblemCode::NoSuchShape,
                "a stack can't be declared by `.ancilla`",
                name.span,
                "a stack exists during the whole run",
            );
            return self.fail(problem.help(format!(
                "declare a stack outside of procedures: `.var {0}[]`, or `.garbage {0}[]` if it may end with values. \
                 For an array, write a length: `{0}[10]`",
                name.text
            )));
        }
        if declarations.iter().any(|d| d.initial.is_some() || d.is_shared || d.default.is_some()) {
            let place = self.since(start);
            let problem = Diagnostic::error(
                ProblemCode::NoSuchBeginning,
                "an ancilla has no initial value",
                place,
                "a value is given here",
            );
            return self
                .fail(problem.help(
                    "delete the value: an ancilla is 0 at the entry and at the exit of its procedure",
                ));
        }
        Ok(Directive::Ancillas(declarations))
    }

    fn declarations(&mut self) -> Parse<Vec<DeclarationNode>> {
        let mut declarations = vec![self.declaration()?];
        while self.eat(TokenKind::Comma) {
            declarations.push(self.declaration()?);
        }
        if !self.at_line_end() {
            return self.expected("`,` or the end of the line");
        }
        Ok(declarations)
    }

    /// Parses `name[shape]: class = initial shared default given`.
    fn declaration(&mut self) -> Parse<DeclarationNode> {
        let name = self.operand_name("the name of a cell")?;
        let shape = self.declared_shape()?;
        let (class, record) = self.class_or_record()?;
        let initial = if self.eat(TokenKind::Assign) { Some(self.initial()?) } else { None };
        let is_shared = self.eat_word("shared");
        let default = if self.eat_word("default") { Some(self.initial()?) } else { None };
        Ok(DeclarationNode { name, shape, class, record, initial, is_shared, default })
    }

    /// Parses `[n]`, `[rows, columns]`, or `[]` for a stack.
    fn declared_shape(&mut self) -> Parse<ShapeNode> {
        if !self.at(TokenKind::BracketOpen) {
            return Ok(ShapeNode::Lengths(Vec::new()));
        }
        let open = self.bump();
        if self.eat(TokenKind::BracketClose) {
            return Ok(ShapeNode::Stack);
        }
        self.lengths(open).map(ShapeNode::Lengths)
    }

    /// Parses `[n]` or `[rows, columns]`, if the current token is a bracket.
    pub(super) fn shape(&mut self) -> Parse<Vec<Expression>> {
        if !self.at(TokenKind::BracketOpen) {
            return Ok(Vec::new());
        }
        let open = self.bump();
        self.lengths(open)
    }

    /// Parses the lengths after an opening bracket.
    fn lengths(&mut self, open: Token) -> Parse<Vec<Expression>> {
        if self.at(TokenKind::BracketClose) {
            let problem = Diagnostic::error(
                ProblemCode::NoSuchShape,
                "an array needs a length",
                self.span(open),
                "no length",
            );
            return self.fail(problem.help(
                "write a length: `[3]`. A stack has none, and is declared outside of procedures: `.garbage NAME[]`",
            ));
        }
        let shape = self.expressions()?;
        self.close(TokenKind::BracketClose, open, "`,` or `]`")?;
        if shape.len() > 2 {
            let place = self.since(open.start);
            return self.fail(Diagnostic::error(
                ProblemCode::NoSuchShape,
                "arrays have at most two dimensions",
                place,
                "too many dimensions",
            ));
        }
        Ok(shape)
    }

    /// Parses `: int` or `: real`, if the current token is a colon.
    fn class(&mut self) -> Parse<Option<Class>> {
        if !self.eat(TokenKind::Colon) {
            return Ok(None);
        }
        let class = match self.text(self.current) {
            "int" => Class::Int,
            "real" => Class::Real,
            _ => {
                let problem = self.unexpected("a class");
                return self.fail(
                    problem
                        .help("write `int` or `real`; the directives `.word` and `.real` set their widths"),
                );
            }
        };
        self.bump();
        Ok(Some(class))
    }

    /// Parses `: class`, `: record`, `: tropical class`, or nothing. Names of records are checked after all files are loaded.
    pub(super) fn class_or_record(&mut self) -> Parse<(Option<Class>, Option<Box<Name>>)> {
        let is_class = matches!(self.text(self.next), "int" | "real") || self.next.kind != TokenKind::Word;
        if !self.at(TokenKind::Colon) || is_class {
            return Ok((self.class()?, None));
        }
        self.bump();
        let name = self.name("a class or the name of a record")?;
        let class = match (name.text.as_str(), self.text(self.current)) {
            ("tropical", "int") => Some(Class::Int),
            ("tropical", "real") => Some(Class::Real),
            _ => None,
        };
        if class.is_some() {
            self.bump();
        }
        Ok((class, Some(Box::new(name))))
    }

    /// Parses `name: field: class, …`.
    fn record(&mut self) -> Parse<Directive> {
        let name = Box::new(self.name("the name of a record")?);
        self.expect(TokenKind::Colon, "`:` and the fields")?;
        let mut fields = vec![self.field()?];
        while self.eat(TokenKind::Comma) {
            fields.push(self.field()?);
        }
        Ok(Directive::Record { name, fields: fields.into() })
    }

    fn field(&mut self) -> Parse<FieldNode> {
        let name = self.operand_name("the name of a field")?;
        Ok(FieldNode { name, class: self.class()? })
    }

    /// Parses the value for all cells, or a list `{…}` with one value per cell. A list may span several
    /// lines.
    fn initial(&mut self) -> Parse<Initial> {
        if !self.at(TokenKind::BraceOpen) {
            return Ok(Initial::Every(self.expression()?));
        }
        let open = self.bump();
        let mut values = Vec::new();
        loop {
            self.skip_lines();
            if self.at(TokenKind::BraceClose) && !values.is_empty() {
                break;
            }
            values.push(self.expression()?);
            self.skip_lines();
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(TokenKind::BraceClose, open, "`,` or `}`")?;
        Ok(Initial::Each(values))
    }

    /// Skips line ends inside of braces. A comment inside of the braces becomes a separate line before the statement.
    fn skip_lines(&mut self) {
        while matches!(self.current.kind, TokenKind::Newline | TokenKind::Comment) {
            let span = self.here();
            match self.comment() {
                Some(comment) => self.loose_comments.push(StatementNode {
                    label: None,
                    statement: Statement::Empty,
                    comment: Some(comment),
                    span,
                }),
                None => {
                    self.bump();
                }
            }
        }
    }

    fn constant(&mut self) -> Parse<Directive> {
        let name = Box::new(self.operand_name("the name of a constant")?);
        self.expect(TokenKind::Assign, "`=` and a value")?;
        Ok(Directive::Const { name, value: Box::new(self.expression()?) })
    }

    fn real_system(&mut self) -> Parse<Directive> {
        let system = match self.text(self.current) {
            "f64" => RealSystem::F64,
            "f32" => RealSystem::F32,
            "fixed" => RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS),
            _ => return self.expected("`f64`, `f32` or `fixed`"),
        };
        self.bump();
        if !matches!(system, RealSystem::Fixed(_)) || self.at_line_end() {
            return Ok(Directive::Real { system });
        }
        let place = self.here();
        let bits = self.integer("the number of fraction bits")?;
        match u8::try_from(bits).ok().filter(|bits| RealSystem::FRACTION_BITS.contains(bits)) {
            Some(bits) => Ok(Directive::Real { system: RealSystem::Fixed(bits) }),
            None => {
                let (least, most) = (RealSystem::FRACTION_BITS.start(), RealSystem::FRACTION_BITS.end());
                let message = format!("fixed point has {least} to {most} fraction bits");
                self.fail(Diagnostic::error(ProblemCode::OutOfRange, message, place, "out of this range"))
            }
        }
    }

    fn word_width(&mut self) -> Parse<Directive> {
        let place = self.here();
        let bits = self.integer("8, 16, 32 or 64")?;
        match u32::try_from(bits).ok().and_then(Word::from_bits) {
            Some(word) => Ok(Directive::Word { word }),
            None => {
                let problem = Diagnostic::error(
                    ProblemCode::OutOfRange,
                    "a word has 8, 16, 32 or 64 bits",
                    place,
                    "another width",
                );
                self.fail(problem.help(
                    "choose one of these widths of integers; to declare a cell with a value, write `.var x = 5`",
                ))
            }
        }
    }

    /// Parses the rest of `.strategy reverse`, `.strategy tape` or `.strategy checkpoint=N`.
    fn strategy(&mut self, place: Span) -> Parse<Directive> {
        if self.open.is_empty() {
            let message = "`.strategy` isn't allowed outside of a procedure";
            let problem = Diagnostic::error(ProblemCode::OutOfPlace, message, place, "out of place");
            return self.fail(problem.help("write it in the procedure that keeps what it discards"));
        }
        let strategy = match self.text(self.current) {
            "reverse" => KeptStrategy::Reverse,
            "tape" => KeptStrategy::Tape,
            "checkpoint" => {
                self.bump();
                self.expect(TokenKind::Assign, "`=` and a number of segments")?;
                let here = self.here();
                let number = self.integer("the number of segments")?;
                return match u32::try_from(number).ok().filter(|number| (1..=MOST_SEGMENTS).contains(number))
                {
                    Some(number) => Ok(Directive::Strategy(KeptStrategy::Checkpoint(number))),
                    None => {
                        let message = format!("the number of segments is from 1 to {MOST_SEGMENTS}");
                        self.fail(Diagnostic::error(ProblemCode::OutOfRange, message, here, "out of range"))
                    }
                };
            }
            _ => return self.expected("`reverse`, `tape` or `checkpoint=N`"),
        };
        self.bump();
        Ok(Directive::Strategy(strategy))
    }

    fn limit(&mut self) -> Parse<Directive> {
        let what = match self.text(self.current) {
            "depth" => Limit::Depth,
            "stack" => Limit::Stack,
            "tape" => Limit::Tape,
            "grad" => Limit::Grad,
            "history" => Limit::History,
            _ => return self.expected("`depth`, `stack`, `tape`, `grad` or `history`"),
        };
        self.bump();
        if what == Limit::Grad && !self.at(TokenKind::Number) {
            return self.expected("a number, because the depth must be known before constants are");
        }
        Ok(Directive::Limit { what, value: Box::new(self.expression()?) })
    }

    fn include(&mut self) -> Parse<Directive> {
        let (path, path_span) = self.path(".include \"path\"")?;
        if path.is_empty() {
            return self.fail(Diagnostic::error(
                ProblemCode::FileNotIncluded,
                "this path is empty",
                path_span,
                "names no file",
            ));
        }
        Ok(Directive::Include { path: path.into(), path_span })
    }

    /// Parses a path in quotes. `example` shows the whole directive.
    fn path(&mut self, example: &str) -> Parse<(&'t str, Span)> {
        let token = self.current;
        if !self.at(TokenKind::Text) {
            let problem = self.unexpected("a path in quotes");
            return self.fail(problem.help(format!("write `{example}`")));
        }
        self.bump();
        Ok((self.text(token).trim_matches('"'), self.span(token)))
    }

    fn line_numbers(&mut self) -> Parse<Directive> {
        if self.eat_word("none") {
            return Ok(Directive::Lines(Vec::new()));
        }
        let mut lines = vec![self.count("a line number, or `none`")?];
        self.eat(TokenKind::Comma);
        while !self.at_line_end() {
            lines.push(self.count("a line number")?);
            self.eat(TokenKind::Comma);
        }
        Ok(Directive::Lines(lines))
    }

    fn no_labels(&mut self) -> Parse<Directive> {
        if self.eat_word("none") { Ok(Directive::NoLabels) } else { self.expected("`none`") }
    }

    fn file_start(&mut self) -> Parse<Directive> {
        let start = self.count("the index of its first instruction")?;
        let file = self.count("the number of a file")?;
        Ok(Directive::File { start, file })
    }

    /// Parses a number without a sign; `what` describes it in messages.
    pub(super) fn integer(&mut self, what: &str) -> Parse<u64> {
        let token = self.current;
        if !self.at(TokenKind::Number) {
            return self.expected(what);
        }
        self.bump();
        match self.literal(token)? {
            ExpressionKind::Int { value, .. } => Ok(value),
            // A literal with more than 64 bits exceeds every limit, so the caller rejects this value, too.
            ExpressionKind::LongInt { .. } => Ok(u64::MAX),
            _ => self.fail(Diagnostic::error(
                ProblemCode::SomethingElseExpected,
                format!("expected {what}"),
                self.span(token),
                "not an integer",
            )),
        }
    }

    pub(super) fn count(&mut self, what: &str) -> Parse<u32> {
        let place = self.here();
        let value = self.integer(what)?;
        match u32::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => self.fail(Diagnostic::error(
                ProblemCode::OutOfRange,
                "this number is too large",
                place,
                "above 2^32 - 1",
            )),
        }
    }

    /// Parses `name(parameters) rule other tangent third`. The rules are returned in this order.
    pub(super) fn procedure_head(&mut self) -> Parse<(Name, Vec<ParameterNode>, [Option<Name>; 2])> {
        let name = self.name("the name of a procedure")?;
        let open = self.expect(TokenKind::ParenOpen, "`(`")?;
        let mut parameters = Vec::new();
        while !self.at(TokenKind::ParenClose) {
            parameters.push(self.parameter()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(TokenKind::ParenClose, open, "`,` or `)`")?;
        let rule = self.rule("rule")?;
        let tangent = self.rule("tangent")?;
        Ok((name, parameters, [rule, tangent]))
    }

    fn rule(&mut self, word: &str) -> Parse<Option<Name>> {
        if self.eat_word(word) { self.name("the name of a procedure").map(Some) } else { Ok(None) }
    }

    /// Parses `in name: class`, `inout name[]: class` or `in name[,]: class`.
    fn parameter(&mut self) -> Parse<ParameterNode> {
        let passing = if self.eat_word("in") {
            Passing::In
        } else if self.eat_word("inout") {
            Passing::InOut
        } else {
            let problem = self.unexpected("`in` or `inout`");
            return self
                .fail(problem.help("write `in` if the parameter is only read, and `inout` otherwise"));
        };
        let name = self.operand_name("the name of a parameter")?;
        let rank = self.rank()?;
        let (class, record) = self.class_or_record()?;
        Ok(ParameterNode { passing, name, rank, class, record })
    }

    /// Parses an optional `[]` or `[,]`.
    fn rank(&mut self) -> Parse<Rank> {
        if !self.at(TokenKind::BracketOpen) {
            return Ok(Rank::Scalar);
        }
        let open = self.bump();
        let (rank, what) = match self.eat(TokenKind::Comma) {
            true => (Rank::Matrix, "`]` (a parameter has no lengths)"),
            false => (Rank::Vector, "`]` or `,]` (a parameter has no lengths)"),
        };
        self.close(TokenKind::BracketClose, open, what)?;
        Ok(rank)
    }

    /// Parses `name(parameters)` of a macro.
    pub(super) fn macro_head(&mut self) -> Parse<(Name, Vec<Name>)> {
        let name = self.name("the name of a macro")?;
        let open = self.expect(TokenKind::ParenOpen, "`(`")?;
        let mut parameters = Vec::new();
        while !self.at(TokenKind::ParenClose) {
            parameters.push(self.operand_name("the name of a parameter")?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(TokenKind::ParenClose, open, "`,` or `)`")?;
        Ok((name, parameters))
    }
}
