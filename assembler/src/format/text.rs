//! Statements of one line, conditions and expressions as text. Knows no columns but the one inside
//! of an instruction.

use std::fmt::Write as _;

use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, RealSystem, Role};
use reviver_isa::update::Shape;

use crate::parser::words::block_name;
use crate::source::{Sources, Span};
use crate::tree::{
    BinaryOperator, Call, Condition, ConditionKind, Declaration, Directive, Expression, ExpressionKind, For,
    Initial, Instruction, Limit, Local, Operands, Parameter, Procedure, Subscript, UnaryOperator,
};

/// Operands begin in this column of an instruction, if the mnemonic lets them.
const OPERANDS: usize = 6;
/// Values of a list are wrapped here where no source text says how.
const WIDTH: usize = 100;
/// Line numbers in one `.lines`.
const LINES_IN_ROW: usize = 16;

/// Writes one statement.
pub(super) struct Text<'s> {
    out: String,
    /// Where the tree was read from, for the spelling of literals and the lines of lists.
    sources: Option<&'s Sources>,
}

/// Whether operators of two sides have spaces around them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Wide,
    /// In subscripts and ranges.
    Tight,
}

impl<'s> Text<'s> {
    pub(super) fn new(sources: Option<&'s Sources>) -> Text<'s> {
        Text { out: String::new(), sources }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// A mnemonic, and spaces up to its operands.
    fn mnemonic(&mut self, text: &str, operands: bool) {
        self.push(text);
        if operands {
            let padding = OPERANDS.saturating_sub(text.len()).max(1);
            self.out.extend(std::iter::repeat_n(' ', padding));
        }
    }

    fn separated<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            write(self, item);
        }
    }

    // Instructions.

    pub(super) fn instruction(&mut self, instruction: &Instruction) {
        let update = instruction.update.name();
        let none = matches!(&instruction.operands, Operands::Cells(cells) if cells.is_empty());
        let named = instruction.function != Function::Copy && instruction.update.shape() == Shape::Accumulate;
        if named {
            self.mnemonic(&format!("{update}.{}", instruction.function.name()), !none);
        } else {
            self.mnemonic(update, !none);
        }
        match &instruction.operands {
            Operands::Cells(cells) => self.expressions(cells),
            Operands::Condition(condition) => self.condition(condition),
            Operands::Branch { partner, condition } => {
                self.push(&partner.text);
                self.push(", ");
                self.condition(condition);
            }
            Operands::Calls(calls) => self.separated(calls, Text::call),
            Operands::CallVia { cell, arguments } => {
                self.expression(cell);
                self.arguments(arguments);
            }
        }
    }

    fn call(&mut self, call: &Call) {
        self.push(&call.procedure.text);
        self.arguments(&call.arguments);
    }

    fn arguments(&mut self, arguments: &[Expression]) {
        self.push("(");
        self.expressions(arguments);
        self.push(")");
    }

    pub(super) fn macro_use(&mut self, name: &str, arguments: &[Expression], undo: bool) {
        if undo {
            self.push("undo ");
            self.push(name);
            if !arguments.is_empty() {
                self.push(" ");
            }
        } else {
            self.mnemonic(name, !arguments.is_empty());
        }
        self.expressions(arguments);
    }

    /// `local` or `delocal`
    pub(super) fn local(&mut self, keyword: &str, local: &Local) {
        self.push(keyword);
        self.push(" ");
        self.push(&local.name.text);
        self.class(local.class);
        self.push(" = ");
        match (local.function, local.sources.as_slice()) {
            (Function::Copy, sources) => self.expressions(sources),
            (function, sources) => {
                self.push(function.name());
                self.arguments(sources);
            }
        }
    }

    // Structured statements and definitions: their first and last lines.

    /// A keyword and its condition.
    pub(super) fn guarded(&mut self, keyword: &str, condition: &Condition) {
        self.push(keyword);
        self.push(" ");
        self.condition(condition);
    }

    pub(super) fn for_head(&mut self, tree: &For) {
        self.push("for ");
        self.push(&tree.counter.text);
        self.push(" in ");
        self.range(&tree.from, &tree.to);
        if let Some(step) = &tree.step {
            self.push(" step ");
            self.tight(step);
        }
        if tree.reversed {
            self.push(" reversed");
        }
    }

    pub(super) fn procedure_head(&mut self, tree: &Procedure) {
        self.push(".proc ");
        self.push(&tree.name.text);
        self.push("(");
        self.separated(&tree.parameters, Text::parameter);
        self.push(")");
        if let Some(rule) = &tree.rule {
            self.push(" rule ");
            self.push(&rule.text);
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        self.push(match parameter.passing {
            Passing::In => "in ",
            Passing::InOut => "inout ",
        });
        self.push(&parameter.name.text);
        if parameter.slice {
            self.push("[]");
        }
        self.class(parameter.class);
    }

    pub(super) fn macro_head(&mut self, name: &str, parameters: &[crate::tree::Name]) {
        self.push(".macro ");
        self.push(name);
        self.push("(");
        self.separated(parameters, |text, parameter| text.push(&parameter.text));
        self.push(")");
    }

    fn class(&mut self, class: Option<Class>) {
        if let Some(class) = class {
            self.push(": ");
            self.push(class.name());
        }
    }

    // Directives.

    pub(super) fn directive(&mut self, directive: &Directive) {
        match directive {
            Directive::Globals { role, declarations } => self.globals(*role, declarations),
            Directive::Ancillas(declarations) => {
                self.push(".ancilla ");
                self.separated(declarations, Text::declaration);
            }
            Directive::Const { name, value } => {
                self.push(".const ");
                self.push(&name.text);
                self.push(" = ");
                self.expression(value);
            }
            Directive::Real { system } => self.real_system(*system),
            Directive::Word { word } => {
                let _ = write!(self.out, ".word {}", word.bits());
            }
            Directive::Tolerance { value } => {
                self.push(".tolerance ");
                self.expression(value);
            }
            Directive::Limit { what, value } => {
                self.push(match what {
                    Limit::Depth => ".limit depth ",
                    Limit::Stack => ".limit stack ",
                });
                self.expression(value);
            }
            Directive::Include { path, .. } => {
                let _ = write!(self.out, ".include \"{path}\"");
            }
            Directive::Lines(lines) => self.line_numbers(lines),
            Directive::Block { kind, start, end } => {
                let _ = write!(self.out, ".block {} {start} {end}", block_name(*kind));
            }
        }
    }

    fn real_system(&mut self, system: RealSystem) {
        self.push(".real ");
        match system {
            RealSystem::Fixed(RealSystem::DEFAULT_FRACTION_BITS) => self.push("fixed"),
            other => {
                let _ = write!(self.out, "{other}");
            }
        }
    }

    fn globals(&mut self, role: Role, declarations: &[Declaration]) {
        /// `.in` and `.out` often stand together.
        const WIDEST: usize = 4;
        let _ = write!(self.out, "{:WIDEST$} ", role.directive());
        self.separated(declarations, Text::declaration);
    }

    fn declaration(&mut self, declaration: &Declaration) {
        self.push(&declaration.name.text);
        if !declaration.shape.is_empty() {
            self.push("[");
            self.separated(&declaration.shape, |text, length| text.tight(length));
            self.push("]");
        }
        self.class(declaration.class);
        if let Some(initial) = &declaration.initial {
            self.push(" = ");
            self.initial(initial);
        }
        if let Some(default) = &declaration.default {
            self.push(" default ");
            self.initial(default);
        }
    }

    fn initial(&mut self, initial: &Initial) {
        match initial {
            Initial::Every(value) => self.expression(value),
            Initial::Each(values) => self.list(values),
        }
    }

    /// `{a, b, …}` with the author's line breaks, the lines one below the other.
    fn list(&mut self, values: &[Expression]) {
        self.push("{");
        let line_start = |out: &str| out.rfind('\n').map_or(0, |at| at + 1);
        let indent = self.out.get(line_start(&self.out)..).map_or(0, |line| line.chars().count());
        for (n, value) in values.iter().enumerate() {
            let before = n.checked_sub(1).and_then(|before| values.get(before));
            let full = self.out.len() - line_start(&self.out) > WIDTH;
            if let Some(before) = before {
                let wrap = self.is_below(before.span, value.span).unwrap_or(full);
                self.push(",");
                self.push(if wrap { "\n" } else { " " });
                self.out.extend(std::iter::repeat_n(' ', if wrap { indent } else { 0 }));
            }
            self.expression(value);
        }
        self.push("}");
    }

    /// Whether the second place is on a later line, if that can be known.
    fn is_below(&self, first: Span, second: Span) -> Option<bool> {
        let between = Span { start: first.end, end: second.start, ..first };
        Some(self.sources?.text(between).contains('\n'))
    }

    fn line_numbers(&mut self, lines: &[u32]) {
        for (n, row) in lines.chunks(LINES_IN_ROW).enumerate() {
            self.push(if n > 0 { "\n.lines " } else { ".lines " });
            self.separated(row, |text, line| {
                let _ = write!(text.out, "{line}");
            });
        }
        if lines.is_empty() {
            self.push(".lines");
        }
    }

    // Conditions.

    pub(super) fn condition(&mut self, condition: &Condition) {
        self.bare_condition(condition);
    }

    fn bare_condition(&mut self, condition: &Condition) {
        match &condition.kind {
            ConditionKind::Always => self.push("always"),
            ConditionKind::Compare(order, left, right) => {
                self.expression(left);
                let _ = write!(self.out, " {} ", order.symbol());
                self.expression(right);
            }
            ConditionKind::Not(inner) => {
                self.push("not ");
                self.inner_condition(inner, 3);
            }
            ConditionKind::And(left, right) => self.junction(left, " and ", right, 2),
            ConditionKind::Or(left, right) => self.junction(left, " or ", right, 1),
        }
    }

    /// Two conditions with a word between them, which groups from the left.
    fn junction(&mut self, left: &Condition, word: &str, right: &Condition, strength: u8) {
        self.inner_condition(left, strength);
        self.push(word);
        self.inner_condition(right, strength + 1);
    }

    /// A part of a condition: in parentheses if it binds less than it must, or if its author
    /// wrote some.
    fn inner_condition(&mut self, condition: &Condition, least: u8) {
        let (strength, first) = match &condition.kind {
            ConditionKind::Always | ConditionKind::Not(_) => (3, None),
            ConditionKind::Compare(_, left, _) => (3, Some(left.span)),
            ConditionKind::And(left, _) => (2, Some(left.span)),
            ConditionKind::Or(left, _) => (1, Some(left.span)),
        };
        if strength < least || is_grouped(condition.span, first) {
            self.push("(");
            self.bare_condition(condition);
            self.push(")");
        } else {
            self.bare_condition(condition);
        }
    }

    // Expressions.

    fn expressions(&mut self, list: &[Expression]) {
        self.separated(list, Text::expression);
    }

    fn expression(&mut self, expression: &Expression) {
        self.bare(expression, Spacing::Wide);
    }

    fn tight(&mut self, expression: &Expression) {
        self.bare(expression, Spacing::Tight);
    }

    fn bare(&mut self, expression: &Expression, spacing: Spacing) {
        match &expression.kind {
            ExpressionKind::Int { value, pattern } => self.int(*value, *pattern, expression.span),
            ExpressionKind::Real(value) => self.real(*value, expression.span),
            ExpressionKind::Name { name, adjoint } => self.name(name, *adjoint),
            ExpressionKind::Element { name, adjoint, subscripts } => {
                self.name(name, *adjoint);
                self.push("[");
                self.separated(subscripts, Text::subscript);
                self.push("]");
            }
            ExpressionKind::Unary(operator, operand) => {
                self.push(match operator {
                    UnaryOperator::Negate => "-",
                    UnaryOperator::Complement => "~",
                });
                self.inner(operand, u8::MAX, spacing);
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.inner(left, operator.strength(), spacing);
                self.operator(*operator, spacing);
                self.inner(right, operator.strength() + 1, spacing);
            }
        }
    }

    /// A part of an expression: in parentheses if it binds less than it must, or if its author
    /// wrote some.
    fn inner(&mut self, expression: &Expression, least: u8, spacing: Spacing) {
        let parentheses = match &expression.kind {
            ExpressionKind::Binary(operator, left, _) => {
                operator.strength() < least || is_grouped(expression.span, Some(left.span))
            }
            _ => false,
        };
        if parentheses {
            self.push("(");
            self.bare(expression, spacing);
            self.push(")");
        } else {
            self.bare(expression, spacing);
        }
    }

    fn operator(&mut self, operator: BinaryOperator, spacing: Spacing) {
        if spacing == Spacing::Wide {
            let _ = write!(self.out, " {} ", operator.symbol());
        } else {
            self.push(operator.symbol());
        }
    }

    fn name(&mut self, name: &str, adjoint: bool) {
        self.push(name);
        if adjoint {
            self.push("'");
        }
    }

    fn subscript(&mut self, subscript: &Subscript) {
        match subscript {
            Subscript::At(index) => self.tight(index),
            Subscript::All => self.push(".."),
            Subscript::Span { from, to, step } => {
                self.range(from, to);
                if let Some(step) = step {
                    self.push(" step ");
                    self.tight(step);
                }
            }
        }
    }

    fn range(&mut self, from: &Expression, to: &Expression) {
        self.tight(from);
        self.push("..");
        self.tight(to);
    }

    /// The author's spelling of a literal, where there is a text to find it in.
    fn spelling(&self, span: Span) -> Option<&'s str> {
        let text = self.sources?.text(span);
        text.starts_with(|c: char| c.is_ascii_digit()).then_some(text)
    }

    fn int(&mut self, value: i128, pattern: bool, span: Span) {
        match self.spelling(span) {
            Some(text) => self.push(text),
            None => {
                let _ = if pattern { write!(self.out, "{value:#x}") } else { write!(self.out, "{value}") };
            }
        }
    }

    fn real(&mut self, value: f64, span: Span) {
        match self.spelling(span) {
            Some(text) => self.push(text),
            None => {
                let _ = write!(self.out, "{value:?}");
            }
        }
    }
}

/// Whether parentheses stood around something: its extent begins before its first part's.
fn is_grouped(span: Span, first: Option<Span>) -> bool {
    first.is_some_and(|first| span.file == first.file && span.start < first.start)
}
