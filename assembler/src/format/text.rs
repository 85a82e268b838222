//! Single-line statements, and the first and last lines of blocks, as text. The only column handled here is
//! that of operands.

use std::fmt::Write as _;

use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, RealSystem, Role};
use reviver_isa::structure::TextPlace;
use reviver_isa::update::OperandShape;

use crate::source::{Sources, Span};
use crate::tree::{
    About, CallNode, CallVia, Condition, DeclarationNode, Directive, Expression, For, Initial,
    InstructionNode, KeptStrategy, Limit, Local, Name, Operands, ParameterNode, ProcedureNode, RecordedBlock,
    RecordedScope, ShapeNode, TaskKind, Tasks,
};

/// The minimum column of operands, relative to the mnemonic.
const OPERANDS: usize = 6;
/// The width at which lists are wrapped if no source text is available.
const WIDTH: usize = 100;
/// The maximum number of entries of one `.lines` directive.
const LINES_IN_ROW: usize = 16;

/// Returns the position `(line, first, last, file)` of a recorded word. The columns are omitted if they are
/// unknown; the file is omitted if it is the program's own.
pub(crate) fn recorded_place(place: TextPlace) -> String {
    let columns = if place.first > 0 || place.last > 0 || place.file > 0 {
        format!(", {}, {}", place.first, place.last)
    } else {
        String::new()
    };
    let file = if place.file > 0 { format!(", {}", place.file) } else { String::new() };
    format!("({}{columns}{file})", place.line)
}

/// The text of one statement under construction.
pub(super) struct StatementText<'s> {
    pub(super) out: String,
    /// The sources of the tree, for the spelling of literals and the line breaks of lists.
    pub(super) sources: Option<&'s Sources>,
}

impl<'s> StatementText<'s> {
    pub(super) fn new(sources: Option<&'s Sources>) -> StatementText<'s> {
        StatementText { out: String::new(), sources }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes a mnemonic, and spaces up to its operands.
    fn mnemonic(&mut self, text: &str, operands: bool) {
        self.push(text);
        if operands {
            let padding = OPERANDS.saturating_sub(text.len()).max(1);
            self.out.extend(std::iter::repeat_n(' ', padding));
        }
    }

    /// Writes items separated by commas.
    pub(super) fn separated<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.push(", ");
            }
            write(self, item);
        }
    }

    // Instructions.

    pub(super) fn instruction(&mut self, instruction: &InstructionNode) {
        let update = instruction.update.name();
        let none = matches!(&instruction.operands, Operands::Cells(cells) if cells.is_empty());
        let named =
            instruction.function != Function::Copy && instruction.update.shape() == OperandShape::Accumulate;
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
            Operands::Call(call) => self.call(call),
        }
    }

    /// Writes `par …` or `unpar …`.
    pub(super) fn tasks(&mut self, tasks: &Tasks) {
        self.mnemonic(if tasks.undo { "unpar" } else { "par" }, true);
        match &tasks.kind {
            TaskKind::Calls(calls) => self.separated(calls, StatementText::call),
            TaskKind::Rounds(rounds) => {
                self.push("for ");
                self.counting(rounds, rounds.reversed != tasks.undo);
                self.push(" call ");
                tasks.calls().for_each(|call| self.call(call));
            }
        }
    }

    /// Writes `callvia c(…)` or `uncallvia c(…)`.
    pub(super) fn call_via(&mut self, call: &CallVia) {
        self.mnemonic(if call.undo { "uncallvia" } else { "callvia" }, true);
        self.expression(&call.cell);
        self.arguments(&call.arguments);
    }

    fn call(&mut self, call: &CallNode) {
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

    /// Writes `local` or `delocal` with its variable.
    pub(super) fn local(&mut self, keyword: &str, local: &Local) {
        self.push(keyword);
        self.push(" ");
        self.push(&local.name.text);
        self.shape(&local.shape);
        self.class(local.class, local.record.as_deref());
        if local.sources.is_empty() {
            return;
        }
        self.push(" = ");
        match (local.function, local.sources.as_slice()) {
            (Function::Copy, sources) => self.expressions(sources),
            (function, sources) => {
                self.push(function.name());
                self.arguments(sources);
            }
        }
    }

    // The first and last lines of structured statements and definitions.

    /// Writes a keyword and its condition.
    pub(super) fn guarded(&mut self, keyword: &str, condition: &Condition) {
        self.push(keyword);
        self.push(" ");
        self.condition(condition);
    }

    pub(super) fn for_head(&mut self, tree: &For) {
        self.push("for ");
        self.counting(tree, tree.reversed);
    }

    /// Writes `i in 0..n` with the step and the direction.
    fn counting(&mut self, tree: &For, reversed: bool) {
        self.push(&tree.counter.text);
        self.push(" in ");
        self.range(&tree.from, &tree.to);
        if let Some(step) = &tree.step {
            self.push(" step ");
            self.tight(step);
        }
        if reversed {
            self.push(" reversed");
        }
    }

    pub(super) fn procedure_head(&mut self, tree: &ProcedureNode) {
        self.push(".proc ");
        self.push(&tree.name.text);
        self.push("(");
        self.separated(&tree.parameters, StatementText::parameter);
        self.push(")");
        if let Some(rule) = &tree.rule {
            self.push(" rule ");
            self.push(&rule.text);
        }
        if let Some(tangent) = &tree.tangent {
            self.push(" tangent ");
            self.push(&tangent.text);
        }
    }

    fn parameter(&mut self, parameter: &ParameterNode) {
        self.push(match parameter.passing {
            Passing::In => "in ",
            Passing::InOut => "inout ",
        });
        self.push(&parameter.name.text);
        self.push(parameter.rank.brackets());
        self.class(parameter.class, parameter.record.as_deref());
    }

    pub(super) fn macro_head(&mut self, name: &str, parameters: &[Name]) {
        self.push(".macro ");
        self.push(name);
        self.push("(");
        self.separated(parameters, |text, parameter| text.push(&parameter.text));
        self.push(")");
    }

    fn class(&mut self, class: Option<Class>, record: Option<&Name>) {
        let names = record.map(|record| record.text.as_str()).into_iter().chain(class.map(Class::name));
        for (n, name) in names.enumerate() {
            self.push(if n == 0 { ": " } else { " " });
            self.push(name);
        }
    }

    // Directives.

    pub(super) fn directive(&mut self, directive: &Directive) {
        match directive {
            Directive::Globals { role, declarations } => self.globals(*role, declarations),
            Directive::Ancillas(declarations) => {
                self.push(".ancilla ");
                self.separated(declarations, StatementText::declaration);
            }
            Directive::Strategy(strategy) => {
                self.push(".strategy ");
                match strategy {
                    KeptStrategy::Reverse => self.push("reverse"),
                    KeptStrategy::Tape => self.push("tape"),
                    KeptStrategy::Checkpoint(number) => {
                        let _ = write!(self.out, "checkpoint={number}");
                    }
                }
            }
            Directive::Const { name, value } => {
                self.push(".const ");
                self.push(&name.text);
                self.push(" = ");
                self.expression(value);
            }
            Directive::Record { name, fields } => {
                self.push(".record ");
                self.push(&name.text);
                self.push(": ");
                self.separated(fields, |text, field| {
                    text.push(&field.name.text);
                    text.class(field.class, None);
                });
            }
            Directive::Real { system } => self.real_system(*system),
            Directive::Word { word } => {
                let _ = write!(self.out, ".word {}", word.bits());
            }
            Directive::Inverse => self.push(".inverse"),
            Directive::Tolerance { value } => {
                self.push(".tolerance ");
                self.expression(value);
            }
            Directive::Limit { what, value } => {
                self.push(match what {
                    Limit::Depth => ".limit depth ",
                    Limit::Stack => ".limit stack ",
                    Limit::Tape => ".limit tape ",
                    Limit::Grad => ".limit grad ",
                    Limit::History => ".limit history ",
                });
                self.expression(value);
            }
            Directive::Include { path, .. } => {
                let _ = write!(self.out, ".include \"{path}\"");
            }
            Directive::Lines(lines) => self.line_numbers(lines),
            Directive::NoLabels => self.push(".labels none"),
            Directive::Path(path) => {
                let _ = write!(self.out, ".path \"{path}\"");
            }
            Directive::File { start, file } => {
                let _ = write!(self.out, ".file {start} {file}");
            }
            Directive::Block(block) => self.recorded_block(block),
            Directive::Scope(scope) => {
                let RecordedScope { name, variable, start, end, place } = &**scope;
                let _ = write!(self.out, ".scope {} {} {start}..{end} ", name.text, variable.text);
                self.push(&recorded_place(*place));
            }
            Directive::Value(value) => self.local(".value", value),
        }
    }

    fn recorded_block(&mut self, block: &RecordedBlock) {
        self.push(if block.undone { ".block undone " } else { ".block " });
        self.separated(&block.seams, |text, seam| {
            let place = recorded_place(seam.place);
            let _ = write!(text.out, "{} {}..{} {place}", seam.word.text, seam.start, seam.end);
            text.about(&seam.about);
        });
    }

    fn about(&mut self, about: &About) {
        match about {
            About::Nothing => {}
            About::Condition(condition) => {
                self.push(" ");
                self.condition(condition);
            }
            About::Counting { counter, bounds, step, reversed } => {
                let _ = write!(self.out, " {} in ", counter.text);
                let [from, to] = &**bounds;
                self.range(from, to);
                if *step != 1 {
                    let _ = write!(self.out, " step {step}");
                }
                self.push(if *reversed { " reversed" } else { "" });
            }
            About::Use { name, undo } => {
                self.push(if *undo { " undo " } else { " " });
                self.push(&name.text);
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

    fn globals(&mut self, role: Role, declarations: &[DeclarationNode]) {
        /// The minimum width of a role directive, so that the declarations of consecutive `.in` and `.out`
        /// lines are aligned.
        const WIDEST: usize = 4;
        let _ = write!(self.out, "{:WIDEST$} ", role.directive());
        self.separated(declarations, StatementText::declaration);
    }

    fn shape(&mut self, shape: &[Expression]) {
        if !shape.is_empty() {
            self.push("[");
            self.separated(shape, |text, length| text.tight(length));
            self.push("]");
        }
    }

    fn declaration(&mut self, declaration: &DeclarationNode) {
        self.push(&declaration.name.text);
        match &declaration.shape {
            ShapeNode::Lengths(lengths) => self.shape(lengths),
            ShapeNode::Stack => self.push("[]"),
        }
        self.class(declaration.class, declaration.record.as_deref());
        if let Some(initial) = &declaration.initial {
            self.push(" = ");
            self.initial(initial);
        }
        if declaration.is_shared {
            self.push(" shared");
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

    /// Writes `{a, b, …}` with the line breaks of the source, and aligns the lines.
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

    /// Returns true if the second span begins on a later line than the first. Returns `None` without source
    /// text.
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
            self.push(".lines none");
        }
    }
}
