//! Single-line statements: flat instructions, uses of macros, `local` and `delocal`. The number of operands
//! is checked here, their kinds are not.

use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::text::compound;
use reviver_isa::update::{OperandShape, Update};

use super::foreign::{advice, statement_help};
use super::words;
use super::{Parse, Parser};
use crate::depths::DEEPEST;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::suggest::{did_you_mean, nearest};
use crate::tree::{
    CallNode, Directive, Expression, ExpressionKind, InstructionNode, Local, Name, Operands, Statement,
};

impl Parser<'_> {
    /// Parses `update operands` or `update.function operands`.
    pub(super) fn instruction(&mut self) -> Parse<Statement> {
        let token = self.current;
        let (update, function) = self.mnemonic(token)?;
        self.bump();
        if update.shape() != OperandShape::Call {
            self.refuse_parentheses(self.text(token))?;
        }
        let mnemonic = self.span(token);
        let operands = self.operands(update, function, token)?;
        Ok(Statement::Instruction(InstructionNode { update, function, mnemonic, operands }))
    }

    fn mnemonic(&mut self, token: Token) -> Parse<(Update, Function)> {
        let text = self.text(token);
        let place = self.span(token);
        if let Some(update) = words::update(text) {
            if update.shape() == OperandShape::Boundary {
                let message = format!("`{text}` is not written in source text");
                let problem = Diagnostic::error(
                    ProblemCode::UnknownInstruction,
                    message,
                    place,
                    "the assembler generates it for each procedure",
                );
                return self.fail(problem.help("write `.proc name()` and `.end`"));
            }
            return Ok((update, Function::Copy));
        }
        let (update, function) = text.split_once('.').unwrap_or((text, ""));
        let Some(row) = words::update(update) else {
            let problem = Diagnostic::error(
                ProblemCode::UnknownInstruction,
                format!("there is no update `{update}`"),
                place,
                "unknown",
            );
            let whole = || nearest(text, words::mnemonics()).map(did_you_mean);
            let parts = || words::meant_instruction(update, function).map(did_you_mean);
            return self.fail(problem.help_if(whole().or_else(parts).or_else(|| advice(update, &[]))));
        };
        if row.shape() != OperandShape::Accumulate {
            let problem = Diagnostic::error(
                ProblemCode::UnknownFunction,
                format!("`{update}` takes no function"),
                place,
                "names a function",
            );
            return self.fail(problem.help(format!("write `{}`", usage(update, row, Function::Copy))));
        }
        match words::function(function).filter(|f| f.arity() > 0) {
            Some(function) => Ok((row, function)),
            None => {
                let problem = Diagnostic::error(
                    ProblemCode::UnknownFunction,
                    format!("there is no function `{function}`"),
                    place,
                    "unknown",
                );
                self.fail(problem.help_if(words::meant_instruction(update, function).map(did_you_mean)))
            }
        }
    }

    fn operands(&mut self, update: Update, function: Function, token: Token) -> Parse<Operands> {
        match update.shape() {
            OperandShape::Condition => {
                self.condition().map(|condition| Operands::Condition(Box::new(condition)))
            }
            OperandShape::Branch => self.branch(token, update),
            OperandShape::Call => Ok(Operands::Call(Box::new(self.call()?))),
            OperandShape::Switch if self.at(TokenKind::Number) => self.depth(),
            _ => self.cells(update, function, token).map(|list| Operands::Cells(list.into())),
        }
    }

    fn cells(&mut self, update: Update, function: Function, token: Token) -> Parse<Vec<Expression>> {
        let wanted = count(update, function);
        let operands = if self.at_line_end() { Vec::new() } else { self.about_so_many_expressions(wanted)? };
        if !self.at_line_end() {
            return self.expected("`,` or the end of the line");
        }
        if operands.len() == wanted {
            return Ok(operands);
        }
        let mnemonic = self.text(token);
        let wants = match wanted {
            0 => "no operands".into(),
            1 => "1 operand".into(),
            n => format!("{n} operands"),
        };
        let message = format!("`{mnemonic}` takes {wants}, found {}", operands.len());
        let problem = Diagnostic::error(
            ProblemCode::WrongNumberOfOperands,
            message,
            self.since(token.start),
            signature(update, wanted),
        );
        let no_function = function == Function::Copy && update.shape() == OperandShape::Accumulate;
        self.fail(if no_function && operands.len() == 3 {
            problem.help(with_two_sources(update))
        } else {
            problem.help(format!("write `{}`", usage(mnemonic, update, function)))
        })
    }

    /// Parses the depth of `grad.on depth`. The first depth is that of an instruction without an operand.
    fn depth(&mut self) -> Parse<Operands> {
        let place = self.here();
        let depth = self.integer("the depth of gradient mode")?;
        if !(1..=u64::from(DEEPEST)).contains(&depth) {
            let message = format!("the depth of gradient mode is from 1 to {DEEPEST}");
            return self.fail(Diagnostic::error(ProblemCode::OutOfRange, message, place, "not a depth"));
        }
        if !self.at_line_end() {
            return self.expected("the end of the line");
        }
        let operand = (depth > 1)
            .then(|| Expression { kind: ExpressionKind::Int { value: depth, pattern: false }, span: place });
        Ok(Operands::Cells(operand.into_iter().collect()))
    }

    /// Parses the operands of `br partner, condition`.
    fn branch(&mut self, token: Token, update: Update) -> Parse<Operands> {
        let partner = Box::new(self.name("the label of the partner")?);
        if !self.eat(TokenKind::Comma) {
            let problem = self.unexpected("`,` and a condition");
            let help = format!("write `{}`", usage(self.text(token), update, Function::Copy));
            return self.fail(problem.help(help));
        }
        let condition = Box::new(self.condition()?);
        Ok(Operands::Branch { partner, condition })
    }

    /// Parses a call `p(…)`.
    pub(super) fn call(&mut self) -> Parse<CallNode> {
        let procedure = self.name("the name of a procedure")?;
        let arguments = self.arguments(&procedure)?;
        let span = self.since(procedure.span.start);
        Ok(CallNode { procedure, arguments, span })
    }

    fn arguments(&mut self, procedure: &Name) -> Parse<Vec<Expression>> {
        if !self.at(TokenKind::ParenOpen) {
            let problem = self.unexpected("`(`");
            return self.fail(problem.help(format!("write `{}(…)`, or `{0}()`", procedure.text)));
        }
        self.parenthesized()
    }

    /// Parses `(a, b)`, which may be empty.
    pub(super) fn parenthesized(&mut self) -> Parse<Vec<Expression>> {
        let open = self.expect(TokenKind::ParenOpen, "`(`")?;
        let list = if self.at(TokenKind::ParenClose) { Vec::new() } else { self.expressions()? };
        self.close(TokenKind::ParenClose, open, "`,` or `)`")?;
        Ok(list)
    }

    /// Parses the use of a macro: a word that isn't reserved, and its arguments.
    pub(super) fn macro_use(&mut self) -> Parse<Statement> {
        self.note_foreign_end();
        self.use_of_macro(false)
    }

    pub(super) fn undo(&mut self) -> Parse<Statement> {
        self.bump();
        self.use_of_macro(true)
    }

    fn use_of_macro(&mut self, undo: bool) -> Parse<Statement> {
        let name = self.name("the name of a macro")?;
        if matches!(self.current.kind, TokenKind::BracketOpen | TokenKind::Prime) {
            return self.no_use_of_element(&name);
        }
        self.refuse_assignment(&name.text)?;
        self.refuse_parentheses(&name.text)?;
        let arguments = if self.at_line_end() {
            Vec::new()
        } else if self.begins_operand() {
            self.expressions()?
        } else {
            return self.no_use(&name);
        };
        if !self.at_line_end() {
            return self.no_use(&name);
        }
        Ok(Statement::MacroUse { name: Box::new(name), arguments: arguments.into(), undo })
    }

    /// Reports parentheses around all operands, as in `swap(a, b)`. Parentheses around one operand are part
    /// of its expression.
    fn refuse_parentheses(&mut self, word: &str) -> Parse<()> {
        if !self.at(TokenKind::ParenOpen) {
            return Ok(());
        }
        let open = self.current;
        let Some(operands) = self.parenthesized_list() else { return Ok(()) };
        let message = format!("the operands of `{word}` have no parentheses");
        let place = self.span(open);
        self.skip_line();
        let problem = Diagnostic::error(ProblemCode::SomethingElseExpected, message, place, "leave them out");
        self.fail(problem.help(format!("write `{word} {}`", operands.trim())))
    }

    /// Returns the text between the current parenthesis and the closing one. Returns `None` unless the text
    /// is a list and the closing parenthesis ends the line.
    fn parenthesized_list(&self) -> Option<String> {
        let mut lexer = Lexer::new(self.source.get(self.current.start as usize..)?);
        let (mut depth, mut is_list, mut close) = (0_u32, false, None);
        loop {
            let token = lexer.token();
            if close.is_some()
                && !matches!(token.kind, TokenKind::Newline | TokenKind::Comment | TokenKind::End)
            {
                return None;
            }
            match token.kind {
                TokenKind::ParenOpen | TokenKind::BracketOpen => depth += 1,
                TokenKind::ParenClose | TokenKind::BracketClose if depth > 1 => depth -= 1,
                TokenKind::ParenClose => close = Some(token.start as usize),
                TokenKind::Comma if depth == 1 => is_list = true,
                TokenKind::Newline | TokenKind::Comment | TokenKind::End => break,
                _ => {}
            }
        }
        let inner = self.source.get(self.current.start as usize..)?.get(1..close?)?;
        is_list.then(|| inner.to_owned())
    }

    fn begins_operand(&self) -> bool {
        matches!(
            self.current.kind,
            TokenKind::Word | TokenKind::Number | TokenKind::Minus | TokenKind::Tilde | TokenKind::ParenOpen
        )
    }

    /// Reports a line that isn't a valid use of a macro. Most likely its first word is a misspelt
    /// instruction.
    fn no_use<T>(&mut self, name: &Name) -> Parse<T> {
        if self.at(TokenKind::Comma) {
            self.refuse_parallel_assignment(name.span.start)?;
        }
        let problem = self.unexpected("`,` or the end of the line");
        let problem = problem.with(name.span, "not an instruction, so parsed as a use of a macro");
        self.fail(problem.help_if(statement_help(&name.text, &[])))
    }

    /// Reports an assignment to an element or an adjoint, such as `A[i] = …` or `x' += …`. Such a line can't be
    /// the use of a macro, because names of macros have neither brackets nor a prime.
    fn no_use_of_element<T>(&mut self, name: &Name) -> Parse<T> {
        let target = self.target_after_name(name)?;
        let text = self.source.get(target.start as usize..target.end as usize).unwrap_or("");
        self.refuse_assignment(text)?;
        self.no_use(name)
    }

    pub(super) fn local(&mut self) -> Parse<Statement> {
        self.local_value().map(Statement::Local)
    }

    pub(super) fn delocal(&mut self) -> Parse<Statement> {
        self.local_value().map(Statement::Delocal)
    }

    /// Parses `local name: class = value` or `local name[shape]: class`. Without a value, the variable is 0.
    fn local_value(&mut self) -> Parse<Box<Local>> {
        let keyword = self.bump();
        let name = self.operand_name("the name of a variable")?;
        let shape = self.shape()?;
        let (class, record) = self.class_or_record()?;
        if self.at_line_end() {
            let (function, sources) = (Function::Copy, Vec::new());
            return Ok(Box::new(Local { name, shape, class, record, function, sources }));
        }
        if !shape.is_empty() {
            let problem = Diagnostic::error(
                ProblemCode::NoSuchBeginning,
                "a local array can't have a value",
                self.here(),
                "the array begins and ends as 0",
            );
            return self.fail(problem.help(
                "add values to the elements after the `local`, and subtract them again before the `delocal`",
            ));
        }
        if !self.eat(TokenKind::Assign) {
            let problem = self.unexpected("`=` and a value");
            let help = match self.text(keyword) {
                "delocal" => "write the value at the end: `delocal t = 0` if the variable is vacant",
                _ => "write the initial value: `local t = 0` for a vacant variable",
            };
            return self.fail(problem.help(help));
        }
        let (function, sources) = self.value()?;
        Ok(Box::new(Local { name, shape, class, record, function, sources }))
    }

    /// Parses an expression. Returns its outermost function with that function's sources; for a plain
    /// operand, `copy`.
    fn value(&mut self) -> Parse<(Function, Vec<Expression>)> {
        let expression = self.expression()?;
        Ok(match expression.kind {
            ExpressionKind::Apply(application) => (application.function, application.sources),
            _ => (Function::Copy, vec![expression]),
        })
    }

    /// Parses `variable = function(sources)`.
    pub(super) fn recorded_value(&mut self) -> Parse<Directive> {
        let name = self.operand_name("the name of a variable")?;
        self.expect(TokenKind::Assign, "`=`")?;
        let (function, sources) = self.value()?;
        Ok(Directive::Value(Box::new(Local {
            name,
            shape: Vec::new(),
            class: None,
            record: None,
            function,
            sources,
        })))
    }
}

/// Returns the number of operands that an update takes with a function: targets and sources.
fn count(update: Update, function: Function) -> usize {
    match update.shape() {
        OperandShape::Accumulate => 1 + function.arity(),
        OperandShape::Single | OperandShape::Show => 1,
        OperandShape::Exchange => 2,
        OperandShape::Rotate => 3,
        _ => 0,
    }
}

/// Returns the suggestion for an update without a function but with three operands, such as `add y, a, b`.
fn with_two_sources(update: Update) -> String {
    let named = words::function(update.name()).filter(|function| function.arity() == 2);
    match named {
        Some(function) if !words::combine(update, Function::Mul) => {
            format!("`{} y, a, b` adds the result to y", compound(Update::Add, function))
        }
        _ => format!("name a function of two sources, as in `{} y, a, b`", compound(update, Function::Mul)),
    }
}

/// Returns a description of an update's operands for messages, such as "takes a target and a source".
fn signature(update: Update, wanted: usize) -> &'static str {
    match (update.shape(), wanted) {
        (OperandShape::Accumulate, 2) => "takes a target and a source",
        (OperandShape::Accumulate, _) => "takes a target and two sources",
        (OperandShape::Single, _) => "takes a target",
        (OperandShape::Show, _) => "takes a source",
        (OperandShape::Exchange, _) => "takes two targets",
        (OperandShape::Rotate, _) => "takes two targets and an angle",
        _ => "takes no operands",
    }
}

/// Returns an example of an instruction.
fn usage(mnemonic: &str, update: Update, function: Function) -> String {
    let operands = match update.shape() {
        OperandShape::Accumulate if function.arity() == 1 => " y, a",
        OperandShape::Accumulate => " y, a, b",
        OperandShape::Single | OperandShape::Show => " x",
        OperandShape::Exchange => " x, y",
        OperandShape::Rotate => " x, y, angle",
        OperandShape::Condition => " a == b",
        OperandShape::Branch => " partner, a == b",
        OperandShape::Call => " p(x)",
        OperandShape::Tasks | OperandShape::Switch | OperandShape::Boundary => "",
    };
    format!("{mnemonic}{operands}")
}
