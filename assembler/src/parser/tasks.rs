//! Special calls: several calls in parallel (`par`), and a call of the procedure that a cell selects
//! (`callvia`).

use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::update::Update;

use super::block::ForHead;
use super::{Parse, Parser, words};
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::tree::{CallVia, For, InstructionNode, Operands, Statement, StatementNode, TaskKind, Tasks};

const PAR_USAGE: &str = "write `par p(x), q(y)`, or `par for i in 0..n call p(A[i])`";

const UNPAR_USAGE: &str =
    "to undo calls, write `unpar p(x), q(y)`; to undo a single call, write `uncall p(x)`";

const UNPAR_ITERATIONS: &str =
    "to undo the calls of all iterations, write `unpar for i in 0..n call p(A[i])`";

const UNCALLED: &str = "to undo calls, write `unpar p(x), q(y)`; to undo one call while another one runs, call a procedure that contains the `uncall`";

impl Parser<'_> {
    /// Parses `par p(…), q(…)`, `par for i in 0..n call p(…)`, and the same with `unpar`.
    pub(super) fn tasks(&mut self) -> Parse<Statement> {
        let undo = self.at_word("unpar");
        self.bump();
        let kind = if self.eat_word("for") { self.rounds(undo)? } else { self.calls()? };
        Ok(Statement::Tasks(Box::new(Tasks { undo, kind })))
    }

    fn calls(&mut self) -> Parse<TaskKind> {
        self.refuse_word()?;
        let mut calls = vec![self.call()?];
        while self.eat(TokenKind::Comma) {
            self.refuse_word()?;
            calls.push(self.call()?);
        }
        Ok(TaskKind::Calls(calls.into()))
    }

    /// Reports a token that can't begin a call of a `par`.
    fn refuse_word(&mut self) -> Parse<()> {
        if !self.at(TokenKind::Word) {
            let problem = self.unexpected("the name of a procedure");
            return self.fail(problem.help(PAR_USAGE));
        }
        if self.next.kind == TokenKind::Word && self.text(self.next) == "in" {
            let problem = self.unexpected("the name of a procedure");
            return self.fail(problem.help(PAR_USAGE));
        }
        let word = self.text(self.current);
        if words::reserved(word).is_some() {
            let (message, help) = match word {
                "call" => ("the calls of a `par` are written without `call`", PAR_USAGE),
                "uncall" => ("the calls of a `par` are written without `uncall`", UNCALLED),
                "undo" => ("`undo` is for macros, and a `par` calls procedures", UNPAR_USAGE),
                _ => ("a `par` takes calls of procedures", PAR_USAGE),
            };
            let problem =
                Diagnostic::error(ProblemCode::SomethingElseExpected, message, self.here(), "no procedure");
            return self.fail(problem.help(help));
        }
        Ok(())
    }

    /// Parses `i in 0..n call p(…)`.
    fn rounds(&mut self, undo: bool) -> Parse<TaskKind> {
        let ForHead { counter, from, to, step, reversed } = self.for_head()?;
        let token = self.current;
        if !self.eat_word("call") {
            let help = if self.at_word("uncall") { UNPAR_ITERATIONS } else { PAR_USAGE };
            let problem = self.unexpected("`call`");
            return self.fail(problem.help(help));
        }
        let call = self.call()?;
        let (span, mnemonic) = (call.span, self.span(token));
        let update = if undo { Update::Uncall } else { Update::Call };
        let operands = Operands::Call(Box::new(call));
        let call = InstructionNode { update, function: Function::Copy, mnemonic, operands };
        let node =
            StatementNode { label: None, statement: Statement::Instruction(call), comment: None, span };
        let rounds = For {
            counter,
            from,
            to,
            step,
            reversed: reversed != undo,
            is_of_arrays: false,
            body: vec![node],
            end_comment: None,
            end: span,
        };
        Ok(TaskKind::Rounds(Box::new(rounds)))
    }

    /// Parses `callvia c(…)` or `uncallvia c(…)`.
    pub(super) fn call_via(&mut self) -> Parse<Statement> {
        let undo = self.at_word("uncallvia");
        self.bump();
        if !self.at(TokenKind::Word) {
            return self.expected("the cell that holds a procedure's number");
        }
        self.begin_expression();
        let cell = self.named()?;
        let arguments = self.parenthesized()?;
        Ok(Statement::CallVia(Box::new(CallVia { undo, cell, arguments })))
    }
}
