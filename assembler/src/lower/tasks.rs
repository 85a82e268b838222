//! Statements that become several calls. Tasks are calls between a `fork` and a `join`. A `callvia` calls the
//! procedure whose number a cell holds.
//!
//! ```text
//! par p(a), q(b)        fork
//!                       call p(a)
//!                       call q(b)
//!                       join
//!
//! callvia c(x)          assert c == 1 or c == 2       ; the procedures that take x
//!                       if c == 1
//!                           call p(x)
//!                       fi c == 1
//!                       if c == 2
//!                           call q(x)
//!                       fi c == 2
//!                       assert c == 1 or c == 2
//! ```
//!
//! `unpar` is the inverse, with `uncall`. Expressions in arguments are computed before the `fork`. For a
//! `par for`, the code between `fork` and `join` is that of a `for` loop around one call.

use compact_str::CompactString;
use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class, Instruction, Operand, Place};
use reviver_isa::module::{Extent, Parameter, Passing, Rank, Shape};
use reviver_isa::update::Update;

use super::Lowering;
use super::applied::{Checking, Source};
use super::scope::Meaning;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{
    Body, CallNode, CallVia, Condition, ConditionKind, Expression, ExpressionKind, For, If, InstructionNode,
    Name, Operands, Statement, StatementNode, TaskKind, Tasks,
};

impl Lowering<'_> {
    pub(super) fn tasks(&mut self, tree: &Tasks, span: Span) {
        match &tree.kind {
            TaskKind::Calls(calls) => self.several(calls, tree.undo, span),
            TaskKind::Rounds(rounds) => self.iterations_of_tasks(rounds, span),
        }
    }

    fn several(&mut self, calls: &[CallNode], undo: bool, span: Span) {
        let update = if undo { Update::Uncall } else { Update::Call };
        let (lowered, temporaries) = self.collect(|this| {
            let lowered = calls.iter().map(|call| this.calling(update, call)).collect::<Vec<_>>();
            lowered.into_iter().collect::<Option<Vec<Instruction>>>()
        });
        let checked = lowered.and_then(|lowered| {
            let mut checking = Checking::Taken;
            for (instruction, call) in lowered.iter().zip(calls) {
                if self.checking(instruction, &temporaries, call.span)? == Checking::Watched {
                    checking = Checking::Watched;
                }
            }
            Some((lowered, checking))
        });
        let Some((lowered, checking)) = checked else {
            self.release_temporaries(temporaries);
            self.code.stand_in(span);
            return;
        };
        let mut tasks: Vec<(Instruction, Span)> =
            lowered.into_iter().zip(calls.iter().map(|call| call.span)).collect();
        if undo {
            tasks.reverse();
        }
        self.between(temporaries, checking, span, |this| {
            this.bounded(span, |this| {
                for (Instruction { update, function, operands, link }, span) in tasks {
                    this.code.push(update, function, operands, link, span);
                }
            });
        });
    }

    /// Emits `fork`, the given tasks, and `join`.
    fn bounded(&mut self, span: Span, tasks: impl FnOnce(&mut Self)) {
        self.code.plain(Update::Fork, super::operands([]), span);
        tasks(self);
        self.code.plain(Update::Join, super::operands([]), span);
    }

    fn iterations_of_tasks(&mut self, rounds: &For, span: Span) {
        let start = self.code.here();
        self.bounded(span, |this| this.for_statement(rounds));
        self.refuse_reals(start, rounds.end);
    }

    /// Reports real temporaries between `fork` and `join`. Such temporaries belong to no task, so no derivative
    /// may propagate through them.
    fn refuse_reals(&mut self, start: u32, place: Span) {
        let is_real = |instruction: &Instruction| match instruction.operands.first() {
            Some(Operand::Place(Place { base: Base::Frame(variable), .. })) => self
                .current
                .frame
                .variables
                .get(*variable as usize)
                .is_some_and(|variable| variable.class == Class::Real),
            _ => false,
        };
        let between = self.code.instructions.iter().enumerate().skip(start as usize);
        let reals: Vec<u32> =
            between.filter(|(_, instruction)| is_real(instruction)).map(|(at, _)| at as u32).collect();
        if reals.is_empty() {
            return;
        }
        self.code.broken.extend(reals);
        self.report.add(
            Diagnostic::error(
                ProblemCode::NoTask,
                "`par for` can't pass the value of a real expression",
                place,
                "a call in this loop passes a real expression",
            )
            .help("pass the cells of the expression, and compute the expression in the procedure"),
        );
    }

    /// Lowers `callvia c(…)`. Each procedure that accepts these arguments is called if the cell holds its
    /// number.
    pub(super) fn call_via(&mut self, tree: &CallVia, span: Span) {
        let (cell, temporaries) = self.collect(|this| this.source(&tree.cell));
        self.release_temporaries(temporaries);
        if cell.is_some_and(|cell| cell.class() == Class::Real) {
            let message = "the number of a procedure is an integer";
            self.report.add(Diagnostic::error(ProblemCode::ClassesMixed, message, tree.cell.span, "a real"));
            self.code.stand_in(span);
            return;
        }
        let Some(fitting) = self.fitting(tree, span) else {
            self.code.stand_in(span);
            return;
        };
        let known = |number: u32| compared(&tree.cell, number);
        let any = fitting.iter().map(|(number, _)| known(*number)).reduce(|all, next| Condition {
            kind: ConditionKind::Or(Box::new(all), Box::new(next)),
            span: tree.cell.span,
        });
        let Some(any) = any else { return };
        let update = if tree.undo { Update::Uncall } else { Update::Call };
        let mut body = vec![asserted(any.clone(), span)];
        body.extend(fitting.into_iter().map(|(number, name)| {
            let procedure = Name { text: name, span };
            let call = CallNode { procedure, arguments: tree.arguments.clone(), span };
            let call = instruction(update, Operands::Call(Box::new(call)), span);
            statement(Statement::If(Box::new(guarded(known(number), call))), span)
        }));
        body.push(asserted(any, span));
        self.nodes(&body);
    }

    /// Returns the numbers and names of the procedures whose parameters fit the arguments. Reports an error
    /// if there is none.
    fn fitting(&mut self, tree: &CallVia, span: Span) -> Option<Vec<(u32, CompactString)>> {
        let (meanings, temporaries) = self.collect(|this| {
            let meanings = tree
                .arguments
                .iter()
                .map(|argument| Some((this.evaluate(argument)?, argument.span)))
                .collect::<Vec<_>>();
            meanings.into_iter().collect::<Option<Vec<_>>>()
        });
        self.release_temporaries(temporaries);
        let meanings = meanings?;
        let mut fitting = Vec::new();
        for number in 1..self.declared.procedure_count() {
            let parameters = self.declared.parameters_of(number);
            let asked = self.declared.asked_lengths(number).len();
            let written = parameters.get(..parameters.len().saturating_sub(asked)).unwrap_or_default();
            let fits = written.len() == meanings.len()
                && written
                    .iter()
                    .zip(&meanings)
                    .all(|((parameter, _), (meaning, span))| self.fits(meaning, *span, parameter));
            if fits {
                fitting.push((number, self.declared.head(number).name));
            }
        }
        if fitting.is_empty() {
            return self.report.fail(
                Diagnostic::error(
                    ProblemCode::ArgumentDoesNotFit,
                    "no procedure takes these arguments",
                    span,
                    "no such procedure",
                )
                .help("write a procedure with such parameters: `callvia` chooses among the procedures that take these arguments"),
            );
        }
        Some(fitting)
    }

    /// Returns true if an argument fits a parameter. Nothing is reported if it doesn't.
    fn fits(&mut self, meaning: &Meaning, span: Span, parameter: &Parameter) -> bool {
        let is_changed = parameter.passing == Passing::InOut;
        let of_base = |this: &Self, base: Base| {
            this.class_of(base) == parameter.class && (!is_changed || this.is_writable(base))
        };
        match (meaning, parameter.rank) {
            (Meaning::Slice(slice), Rank::Vector) => of_base(self, slice.base),
            (Meaning::Variable { base, adjoint: false }, rank) => {
                let extent = self.extent(*base);
                let is_of_rank = match rank {
                    Rank::Scalar => extent == Extent::Cells(Shape::Scalar),
                    Rank::Vector => extent != Extent::Cells(Shape::Scalar),
                    Rank::Matrix => extent.is_matrix(),
                };
                is_of_rank && of_base(self, *base)
            }
            (Meaning::Slice(_), _) | (_, Rank::Vector | Rank::Matrix) => false,
            (meaning, Rank::Scalar) => {
                let (source, temporaries) = self.collect(|this| this.source_of(meaning.clone(), span));
                self.release_temporaries(temporaries);
                match source {
                    Some(Source::Literal(number)) => {
                        !is_changed && (number.class() == parameter.class || parameter.class == Class::Real)
                    }
                    Some(Source::Cell(Operand::Place(place), class)) => {
                        class == parameter.class
                            && (!is_changed || !self.is_temporary(place.base) && self.is_writable(place.base))
                    }
                    Some(Source::Length(_)) => !is_changed,
                    Some(Source::Cell(_, class)) => class == parameter.class && !is_changed,
                    None => false,
                }
            }
        }
    }
}

/// Returns the condition `cell == number`.
fn compared(cell: &Expression, number: u32) -> Condition {
    let number = Expression {
        kind: ExpressionKind::Int { value: u64::from(number), pattern: false },
        span: cell.span,
    };
    let kind = ConditionKind::Compare(Order::Eq, Box::new(cell.clone()), Box::new(number));
    Condition { kind, span: cell.span }
}

fn guarded(condition: Condition, call: StatementNode) -> If {
    let middle = condition.span;
    If {
        entry: condition.clone(),
        then: Body::from([call]),
        otherwise: None,
        chained: false,
        exit: condition,
        else_comment: None,
        end_comment: None,
        middle,
    }
}

fn asserted(condition: Condition, span: Span) -> StatementNode {
    instruction(Update::Assert, Operands::Condition(Box::new(condition)), span)
}

fn instruction(update: Update, operands: Operands, span: Span) -> StatementNode {
    let node = InstructionNode { update, function: Function::Copy, mnemonic: span, operands };
    statement(Statement::Instruction(node), span)
}

fn statement(statement: Statement, span: Span) -> StatementNode {
    StatementNode { label: None, statement, comment: None, span }
}
