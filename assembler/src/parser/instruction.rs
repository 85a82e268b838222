//! Flat instructions, uses of macros, `local` and `delocal`: statements of one line. How many
//! operands there are is checked here; what they may be is not.

use reviver_isa::function::Function;
use reviver_isa::update::{Shape, Update};

use super::words;
use super::{Parse, Parser};
use crate::diagnostic::Diagnostic;
use crate::lexer::{Kind, Token};
use crate::suggest::{did_you_mean, nearest};
use crate::tree::{Call, Expression, Instruction, Local, Name, Operands, Statement};

impl Parser<'_> {
    /// `update operands` or `update.function operands`
    pub(super) fn instruction(&mut self) -> Parse<Statement> {
        let token = self.current;
        let (update, function) = self.mnemonic(token)?;
        self.bump();
        let mnemonic = self.span(token);
        let operands = self.operands(update, function, token)?;
        Ok(Statement::Instruction(Instruction { update, function, mnemonic, operands }))
    }

    fn mnemonic(&mut self, token: Token) -> Parse<(Update, Function)> {
        let text = self.text(token);
        let place = self.span(token);
        if let Some(update) = words::update(text) {
            if update.shape() == Shape::Boundary {
                let message = format!("`{text}` is not written in source text");
                let problem = Diagnostic::error(message, place, "a procedure has it anyway");
                return self.fail(problem.help("write `.proc name()` and `.end`"));
            }
            return Ok((update, Function::Copy));
        }
        let (update, function) = text.split_once('.').unwrap_or((text, ""));
        let Some(row) = words::update(update) else {
            let problem = Diagnostic::error(format!("there is no update `{update}`"), place, "unknown");
            let meant = nearest(text, words::mnemonics())
                .map(String::from)
                .or_else(|| nearest(update, words::mnemonics()).map(|meant| format!("{meant}.{function}")));
            return self.fail(problem.help_if(meant.map(did_you_mean)));
        };
        if row.shape() != Shape::Accumulate {
            let problem = Diagnostic::error(format!("`{update}` takes no function"), place, "one is named");
            return self.fail(problem.help(format!("write `{}`", usage(update, row, Function::Copy))));
        }
        match words::function(function).filter(|f| f.arity() > 0) {
            Some(function) => Ok((row, function)),
            None => {
                let problem =
                    Diagnostic::error(format!("there is no function `{function}`"), place, "unknown");
                let meant = nearest(function, words::functions());
                let meant = meant.map(|meant| did_you_mean(format_args!("{update}.{meant}")));
                self.fail(problem.help_if(meant))
            }
        }
    }

    fn operands(&mut self, update: Update, function: Function, token: Token) -> Parse<Operands> {
        match update.shape() {
            Shape::Condition => self.condition().map(Operands::Condition),
            Shape::Branch => self.branch(token, update),
            Shape::Call => Ok(Operands::Calls(vec![self.call()?])),
            Shape::Parallel => self.calls(),
            Shape::CallVia => self.call_via(),
            _ => self.cells(update, function, token).map(Operands::Cells),
        }
    }

    fn cells(&mut self, update: Update, function: Function, token: Token) -> Parse<Vec<Expression>> {
        let operands = if self.at_line_end() { Vec::new() } else { self.expressions()? };
        let wanted = count(update, function);
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
        let problem = Diagnostic::error(message, self.since(token.start), signature(update, wanted));
        let no_function = function == Function::Copy && update.shape() == Shape::Accumulate;
        self.fail(if no_function && operands.len() == 3 {
            problem.help(format!("name a function of two sources, as in `{mnemonic}.mul y, a, b`"))
        } else {
            problem.help(format!("write `{}`", usage(mnemonic, update, function)))
        })
    }

    /// `br partner, condition`
    fn branch(&mut self, token: Token, update: Update) -> Parse<Operands> {
        let partner = self.name("the label of the partner")?;
        if !self.eat(Kind::Comma) {
            let problem = self.unexpected("`,` and a condition");
            let help = format!("write `{}`", usage(self.text(token), update, Function::Copy));
            return self.fail(problem.help(help));
        }
        let condition = self.condition()?;
        Ok(Operands::Branch { partner, condition })
    }

    /// `p(…)`
    fn call(&mut self) -> Parse<Call> {
        let procedure = self.name("the name of a procedure")?;
        let arguments = self.arguments(&procedure)?;
        Ok(Call { procedure, arguments })
    }

    fn arguments(&mut self, procedure: &Name) -> Parse<Vec<Expression>> {
        if !self.at(Kind::ParenOpen) {
            let problem = self.unexpected("`(`");
            return self.fail(problem.help(format!("write `{}(…)`, or `{0}()`", procedure.text)));
        }
        self.parenthesized()
    }

    /// `(a, b)`, perhaps empty.
    fn parenthesized(&mut self) -> Parse<Vec<Expression>> {
        let open = self.expect(Kind::ParenOpen, "`(`")?;
        let list = if self.at(Kind::ParenClose) { Vec::new() } else { self.expressions()? };
        self.close(Kind::ParenClose, open, "`,` or `)`")?;
        Ok(list)
    }

    fn calls(&mut self) -> Parse<Operands> {
        let mut calls = vec![self.call()?];
        while self.eat(Kind::Comma) {
            calls.push(self.call()?);
        }
        Ok(Operands::Calls(calls))
    }

    fn call_via(&mut self) -> Parse<Operands> {
        let cell = self.expression()?;
        let arguments = self.parenthesized()?;
        Ok(Operands::CallVia { cell, arguments })
    }

    /// A word that nothing else claims, and its arguments.
    pub(super) fn macro_use(&mut self) -> Parse<Statement> {
        self.use_of_macro(false)
    }

    pub(super) fn undo(&mut self) -> Parse<Statement> {
        self.bump();
        self.use_of_macro(true)
    }

    fn use_of_macro(&mut self, undo: bool) -> Parse<Statement> {
        let name = self.name("the name of a macro")?;
        self.refuse_assignment(&name)?;
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
        Ok(Statement::MacroUse { name, arguments, undo })
    }

    fn begins_operand(&self) -> bool {
        matches!(self.current.kind, Kind::Word | Kind::Number | Kind::Minus | Kind::Tilde | Kind::ParenOpen)
    }

    /// What looks like the use of a macro and isn't one is most likely a misspelt word.
    fn no_use<T>(&mut self, name: &Name) -> Parse<T> {
        let problem = self.unexpected("`,` or the end of the line");
        let problem = problem.with(name.span, "no instruction, so taken for a macro");
        self.fail(problem.help_if(words::statement_hint(&name.text)))
    }

    fn refuse_assignment(&mut self, name: &Name) -> Parse<()> {
        let mnemonic = match (self.current.kind, self.next.kind) {
            (Kind::Assign, _) => "overwrite",
            (Kind::Plus, Kind::Assign | Kind::Plus) => "add",
            (Kind::Minus, Kind::Assign) => "sub",
            (Kind::Caret, Kind::Assign) => "xor",
            (Kind::Star, Kind::Assign) => "mul",
            (Kind::Slash, Kind::Assign) => "div",
            _ => return Ok(()),
        };
        let problem =
            Diagnostic::error("statements begin with a mnemonic", self.here(), "not an instruction");
        let name = &name.text;
        self.fail(problem.help(match mnemonic {
            "overwrite" => {
                format!("write `add {name}, value` if `{name}` is 0; `overwrite` loses the old value")
            }
            _ => format!("write `{mnemonic} {name}, value`"),
        }))
    }

    pub(super) fn local(&mut self) -> Parse<Statement> {
        self.local_value().map(Statement::Local)
    }

    pub(super) fn delocal(&mut self) -> Parse<Statement> {
        self.local_value().map(Statement::Delocal)
    }

    /// `local name: class = value`
    fn local_value(&mut self) -> Parse<Box<Local>> {
        let keyword = self.bump();
        let name = self.name("the name of a variable")?;
        let class = self.class()?;
        if !self.eat(Kind::Assign) {
            let problem = self.unexpected("`=` and a value");
            let help = match self.text(keyword) {
                "delocal" => "say what it holds at its end: `delocal t = 0` if it is vacant",
                _ => "say what it starts with: `local t = 0` for a vacant one",
            };
            return self.fail(problem.help(help));
        }
        let (function, sources) = self.value()?;
        Ok(Box::new(Local { name, class, function, sources }))
    }

    /// A source, or `function(sources)`
    fn value(&mut self) -> Parse<(Function, Vec<Expression>)> {
        if !(self.at(Kind::Word) && self.next.kind == Kind::ParenOpen) {
            return Ok((Function::Copy, vec![self.expression()?]));
        }
        let token = self.bump();
        let text = self.text(token);
        let Some(function) = words::function(text).filter(|f| f.arity() > 0) else {
            let problem =
                Diagnostic::error(format!("there is no function `{text}`"), self.span(token), "unknown");
            let meant = nearest(text, words::functions());
            return self.fail(problem.help_if(meant.map(did_you_mean)));
        };
        let sources = self.parenthesized()?;
        if sources.len() == function.arity() {
            return Ok((function, sources));
        }
        let nouns = if function.arity() == 1 { "source" } else { "sources" };
        let message = format!("`{text}` takes {} {nouns}, found {}", function.arity(), sources.len());
        let given = format!("{} given", sources.len());
        let problem = Diagnostic::error(message, self.since(token.start), given);
        self.fail(problem)
    }
}

/// Number of operands that are cells and values.
fn count(update: Update, function: Function) -> usize {
    match update.shape() {
        Shape::Accumulate => 1 + function.arity(),
        Shape::Single | Shape::Show => 1,
        Shape::Exchange => 2,
        Shape::Rotate => 3,
        _ => 0,
    }
}

/// What the operands are, in words.
fn signature(update: Update, wanted: usize) -> &'static str {
    match (update.shape(), wanted) {
        (Shape::Accumulate, 2) => "takes a target and a source",
        (Shape::Accumulate, _) => "takes a target and two sources",
        (Shape::Single, _) => "takes a target",
        (Shape::Show, _) => "takes a source",
        (Shape::Exchange, _) => "takes two targets",
        (Shape::Rotate, _) => "takes two targets and an angle",
        _ => "takes no operands",
    }
}

/// An example of its use.
fn usage(mnemonic: &str, update: Update, function: Function) -> String {
    let operands = match update.shape() {
        Shape::Accumulate if function.arity() == 1 => " y, a",
        Shape::Accumulate => " y, a, b",
        Shape::Single | Shape::Show => " x",
        Shape::Exchange => " x, y",
        Shape::Rotate => " x, y, angle",
        Shape::Condition => " a == b",
        Shape::Branch => " partner, a == b",
        Shape::Call => " p(x)",
        Shape::CallVia => " c(x)",
        Shape::Parallel => " p(x), q(y)",
        Shape::Switch | Shape::Boundary => "",
    };
    format!("{mnemonic}{operands}")
}
