//! Records as operands: arguments of calls, operands of `swap`, and the names that are left over.

use std::rc::Rc;

use compact_str::{CompactString, format_compact};
use reviver_isa::codes::ProblemCode;
use reviver_isa::update::Update;

use super::Records;
use super::classes::NumberClass;
use super::fields::of_field;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::tree::{CallNode, Expression, ExpressionKind, FieldNode, InstructionNode, Operands, Statement};
use crate::visit;

impl Records {
    /// Returns the record to which an expression refers: a variable or an element of an array.
    pub(super) fn record_of(&self, expression: &Expression) -> Option<&CompactString> {
        match &expression.kind {
            ExpressionKind::Name { name, adjoint: false } => self.record(name),
            ExpressionKind::Element(element) if !element.adjoint => self.record(&element.name),
            _ => None,
        }
    }

    /// Returns the class of numbers to which an expression refers.
    pub(super) fn number_class(&self, expression: &Expression) -> Option<NumberClass> {
        self.record_of(expression).and_then(|record| NumberClass::of(record))
    }

    /// Returns the name before the dot of a field, if it denotes a cell here.
    fn hidden_record(&self, expression: &Expression) -> Option<CompactString> {
        let name = match &expression.kind {
            ExpressionKind::Name { name, .. } => name,
            ExpressionKind::Element(element) => &element.name,
            _ => return None,
        };
        let (record, _) = name.split_once('.')?;
        let visible = self.find(record)?;
        visible.record.is_none().then(|| visible.name.clone())
    }

    fn fields_at(&self, expression: &Expression) -> Option<Rc<[FieldNode]>> {
        self.record_of(expression).and_then(|record| self.fields.get(record)).cloned()
    }

    /// Returns the swaps of the fields of two records.
    pub(super) fn swapped(&mut self, instruction: &InstructionNode) -> Option<Vec<Statement>> {
        let (Update::Swap, Operands::Cells(cells)) = (instruction.update, &instruction.operands) else {
            return None;
        };
        let [a, b] = &**cells else { return None };
        let (first, second) = (self.record_of(a)?, self.record_of(b)?);
        if first != second {
            let place = b.span;
            let message = format!("a `{second}` can't be exchanged with a `{first}`");
            let problem =
                Diagnostic::error(ProblemCode::ClassesMixed, message, place, format!("a `{second}`"));
            self.diagnostics.push(problem.with(a.span, format!("a `{first}`")));
            return Some(Vec::new());
        }
        let fields = self.fields_at(a)?;
        let swap = |field: &FieldNode| {
            let operands = Operands::Cells([of_field(a, field), of_field(b, field)].into());
            Statement::Instruction(InstructionNode { operands, ..instruction.clone() })
        };
        Some(fields.iter().map(swap).collect())
    }

    pub(super) fn called(&mut self, instruction: &mut InstructionNode) {
        if let Operands::Call(call) = &mut instruction.operands {
            self.call(call);
        }
    }

    /// Replaces the arguments that are records by those of the fields.
    pub(super) fn call(&mut self, call: &mut CallNode) {
        let wanted = self.parameters.get(&call.procedure.text).cloned().unwrap_or_default();
        let has_records = wanted.iter().any(Option::is_some)
            || call.arguments.iter().any(|it| self.record_of(it).is_some());
        if !has_records {
            return;
        }
        if wanted.len() != call.arguments.len() && self.parameters.contains_key(&call.procedure.text) {
            return self.refuse_count(call, wanted.len());
        }
        let arguments = std::mem::take(&mut call.arguments);
        for (n, argument) in arguments.into_iter().enumerate() {
            let wanted = wanted.get(n).cloned().flatten();
            let found = self.record_of(&argument).cloned();
            if wanted != found {
                self.refuse_argument(wanted.as_deref(), found.as_deref(), argument.span);
            }
            match self.fields_at(&argument) {
                Some(fields) => call.arguments.extend(fields.iter().map(|field| of_field(&argument, field))),
                None => call.arguments.push(argument),
            }
        }
    }

    fn refuse_count(&mut self, call: &CallNode, wanted: usize) {
        let noun = if wanted == 1 { "argument" } else { "arguments" };
        let message =
            format!("`{}` takes {wanted} {noun}, found {}", call.procedure.text, call.arguments.len());
        let label = "a record counts as one argument";
        self.diagnostics.push(Diagnostic::error(
            ProblemCode::WrongNumberOfOperands,
            message,
            call.span,
            label,
        ));
    }

    fn refuse_argument(&mut self, wanted: Option<&str>, found: Option<&str>, place: Span) {
        let spelled = |record: Option<&str>| match record {
            Some(record) => format!("a `{record}`"),
            None => "a cell, an array or a value".to_owned(),
        };
        let message = format!("expected {}, found {}", spelled(wanted), spelled(found));
        let problem = Diagnostic::error(ProblemCode::ClassesMixed, message, place, spelled(found));
        self.diagnostics.push(match (wanted, found) {
            (None, Some(_)) => problem.help("name a field, such as `p.x` or `p[i].x`"),
            _ => problem,
        });
    }

    /// Reports records in other places, and replaces `len(p)` by the length of a field.
    pub(super) fn check(&mut self, statement: &mut Statement) {
        let mut found = Vec::new();
        let mut hidden = Vec::new();
        visit::expressions_mut(statement, &mut |part| {
            if let Some(name) = self.hidden_record(part) {
                hidden.push((part.span, name));
            }
            if let Some(fields) =
                self.fields_at(part).filter(|_| self.number_class(part) != Some(NumberClass::Tropical))
            {
                found.push((part.span, fields));
            }
            if let ExpressionKind::Length(length) = &mut part.kind
                && let Some(record) = self.record(&length.name)
                && let Some(first) = self.fields.get(record).and_then(|fields| fields.first())
                && !first.name.text.is_empty()
            {
                length.name = Rc::new(format_compact!("{}.{}", length.name, first.name.text));
            }
        });
        for (place, name) in hidden {
            let message = format!("`{name}` isn't a record here");
            let problem = Diagnostic::error(ProblemCode::ClassesMixed, message, place, "a field of a record");
            self.diagnostics.push(problem.help("give the variable that hides the record another name"));
        }
        for (place, fields) in found {
            let names: Vec<String> = fields.iter().map(|field| format!("`.{}`", field.name.text)).collect();
            let problem = Diagnostic::error(
                ProblemCode::ClassesMixed,
                "a record is used in the place of a cell",
                place,
                "a record",
            );
            self.diagnostics.push(problem.help(format!("name one of its fields: {}", names.join(", "))));
        }
    }
}
