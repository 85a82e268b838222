//! Programs whose procedures can't keep a history, because it would mix with other values or couldn't be marked.

use std::collections::HashSet;

use compact_str::CompactString;
use reviver_isa::codes::ProblemCode;
use reviver_isa::module::Word;
use reviver_isa::update::{Action, Store};

use super::History;
use super::facts::declare;
use super::lossy::strategy;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{
    Body, Directive, InstructionNode, KeptStrategy, Operands, ProcedureNode, Statement, StatementNode,
};
use crate::visit;

/// Reports what no procedure of a program with strategies may contain.
pub(super) fn program(trees: &[Body], problems: &mut Vec<Diagnostic>) {
    for tree in trees {
        let mut found = Vec::new();
        visit::statements(tree, &mut |statement| match statement {
            Statement::CallVia(call) => found.push((
                call.cell.span,
                "`callvia` can't be used in a program whose procedures keep a history",
                "write an `if` with a `call` of each procedure",
            )),
            Statement::Directive(Directive::Word { word: Word::W8 | Word::W16 }) => found.push((
                Span::default(),
                "procedures keep a history only in programs with integers of 32 or 64 bits",
                "choose a wider word: `.word 64`",
            )),
            _ => {}
        });
        problems.extend(found.into_iter().map(|(place, message, help)| problem(place, message).help(help)));
    }
}

fn problem(place: Span, message: &str) -> Diagnostic {
    Diagnostic::error(ProblemCode::NotTransformed, message, place, "not possible with `.strategy`")
}

impl History {
    /// Reports what a procedure with a strategy can't contain.
    pub(super) fn refuse(&mut self, procedure: &ProcedureNode, chosen: KeptStrategy) {
        let mut problems = Vec::new();
        let directives = procedure.body.iter().filter(|node| is_strategy(node));
        problems.extend(directives.skip(1).map(|node| {
            problem(node.span, "a procedure has one strategy").help("delete the second `.strategy`")
        }));
        let keeps_floats = chosen.keeps_floats() && !self.is_exact;
        self.refuse_in(procedure, keeps_floats, &mut HashSet::new(), &mut problems);
        self.problems.append(&mut problems);
    }

    /// Reports statements of a procedure, and of those that it calls.
    fn refuse_in(
        &self,
        procedure: &ProcedureNode,
        keeps_floats: bool,
        seen: &mut HashSet<CompactString>,
        problems: &mut Vec<Diagnostic>,
    ) {
        if !seen.insert(procedure.name.text.clone()) {
            return;
        }
        let mut conflicts = Vec::new();
        declare(&procedure.body, &mut self.classes.clone(), &mut conflicts);
        problems.extend(conflicts.into_iter().map(|name| {
            let message = format!("`{}` denotes an integer and a real in this procedure", name.text);
            problem(name.span, &message).help("give the variables different names")
        }));
        let mut called = Vec::new();
        visit::statements(&procedure.body, &mut |statement| {
            let Statement::Instruction(InstructionNode { update, operands, mnemonic, .. }) = statement else {
                return;
            };
            match (update.action(), operands) {
                (Action::Put(Store::Stack) | Action::Take(Store::Stack), _) => problems.push(
                    problem(*mnemonic, "a procedure that keeps a history can't use the stack itself")
                        .help("keep the values in an array or in a `local`"),
                ),
                (Action::Rotate, _) if keeps_floats => problems.push(
                    problem(*mnemonic, "the old values of a rotation of floats can't be kept")
                        .help("write `.real fixed`, or `.strategy reverse`"),
                ),
                (_, Operands::Call(call)) => called.extend(self.procedures.get(&call.procedure.text)),
                _ => {}
            }
        });
        for other in called.into_iter().filter(|it| strategy(it).is_none()) {
            self.refuse_in(other, keeps_floats, seen, problems);
        }
    }

    /// Reports statements that a divided loop would repeat.
    pub(super) fn refuse_repeated(&mut self, body: &Body) {
        let mut places = Vec::new();
        self.repeated(body, &mut HashSet::new(), &mut places);
        let problems = places.into_iter().map(|place| {
            problem(place, "a loop that is divided by `.strategy checkpoint` repeats this statement")
                .help("write `.strategy reverse`, or move the statement out of the loop")
        });
        self.problems.extend(problems);
    }

    fn repeated(&self, body: &Body, seen: &mut HashSet<CompactString>, places: &mut Vec<Span>) {
        let mut called = Vec::new();
        visit::statements(body, &mut |statement| {
            let Statement::Instruction(InstructionNode { update, operands, mnemonic, .. }) = statement else {
                return;
            };
            match (update.action(), operands) {
                (Action::Put(_) | Action::Take(_) | Action::Show, _) => places.push(*mnemonic),
                (_, Operands::Call(call)) => called.push(call.procedure.text.clone()),
                _ => {}
            }
        });
        for name in called {
            if let Some(other) = self.procedures.get(&name).filter(|_| seen.insert(name)) {
                self.repeated(&other.body, seen, places);
            }
        }
    }
}

fn is_strategy(node: &StatementNode) -> bool {
    matches!(node.statement, Statement::Directive(Directive::Strategy(_)))
}
