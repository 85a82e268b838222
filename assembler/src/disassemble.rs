//! Disassembly: a module as flat `.rasm` text that assembles to the same module.
//!
//! Comments mark the blocks. Debug information is written as directives: blocks and names at the beginning of
//! their procedures, lines at the end of the text.
//!
//! The disassembler accepts any module. The text of a verified module assembles again to the same image, byte for byte.
//! The names in an unverified module need not be valid names, so the text of such a module should not be shown to
//! users.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use reviver_isa::function::Function;
use reviver_isa::instruction::{Argument, Base, Call, Class, Index, Instruction, Link, Operand, Place};
use reviver_isa::instruction::{Range, Slice, Term};
use reviver_isa::module::{
    Global, Limits, Module, Parameter, Passing, Procedure, RealSystem, Shape, Values, Word,
};
use reviver_isa::predicate::Predicate;
use reviver_isa::structure::{Block, BlockKind, Counting, NameScope, Seam, Structure, Temporary};
use reviver_isa::update::{OperandShape, Update};

use crate::format::text::recorded_place;

/// The column of the mnemonics.
const INDENT: usize = 8;
/// The column of comments after instructions.
const BESIDE: usize = 44;

/// Returns the text of a module.
pub fn disassemble(module: &Module) -> String {
    disassembly(module).text
}

/// A module as text, with the lines of its instructions.
#[derive(Clone, Debug)]
pub struct Disassembly {
    /// The flat `.rasm` text, which assembles to the same module.
    pub text: String,
    /// The line of each instruction, counted from 1.
    pub lines: Vec<u32>,
}

/// Returns the text of a module, with the line of each instruction in that text. Assembling the text yields
/// the same lines.
pub fn disassembly(module: &Module) -> Disassembly {
    let mut text = ModuleText::of(module, None);
    text.program();
    text.structure();
    Disassembly { text: text.out, lines: text.lines }
}

/// Returns the instructions of a module as text, without debug information. `beside` returns the comment of
/// an instruction.
pub(crate) fn flat_text(module: &Module, beside: InstructionComment<'_>) -> String {
    let mut text = ModuleText::of(module, Some(beside));
    text.program();
    text.out
}

/// Returns some instructions of a module as text, each on one line and with its label, as in the disassembly:
/// `top: br done, n == 0`. The first instruction of a procedure `scan` is written as `.proc scan`, and the last one as
/// `.end of scan`.
pub fn instructions(module: &Module, which: impl IntoIterator<Item = u32>) -> Vec<String> {
    let mut text = ModuleText::of(module, None);
    let line = |at: u32| {
        let behind = module.procedures.partition_point(|procedure| procedure.entry <= at);
        let procedure = behind.checked_sub(1).and_then(|n| module.procedures.get(n));
        let (Some(procedure), Some(instruction)) = (procedure, module.code.get(at as usize)) else {
            return String::new();
        };
        match instruction.update {
            Update::Enter => return format!(".proc {}", procedure.name),
            Update::Exit => return format!(".end of {}", procedure.name),
            _ => {}
        }
        text.out.clear();
        text.instruction(procedure, at, instruction);
        text.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    which.into_iter().map(line).collect()
}

/// A function that returns the comment of an instruction, given its index.
type InstructionComment<'a> = &'a dyn Fn(u32) -> Option<String>;

/// Returns the labels of all branch halves: the recorded ones, and generated ones for the others.
fn labels(module: &Module) -> HashMap<u32, String> {
    let mut labels: HashMap<u32, String> = module.structure.labels.iter().cloned().collect();
    let taken: HashSet<String> = labels.values().cloned().collect();
    for (at, instruction) in (0..).zip(&module.code) {
        if matches!(instruction.link, Link::Partner(_)) {
            labels.entry(at).or_insert_with(|| {
                let mut name = format!("L{at}");
                while taken.contains(&name) {
                    name.push('_');
                }
                name
            });
        }
    }
    labels
}

/// An iterator over the beginnings and ends of blocks, in order of the code.
struct Blocks<'m> {
    next: std::iter::Peekable<std::slice::Iter<'m, Block>>,
    open: Vec<&'m Block>,
}

impl<'m> Blocks<'m> {
    fn of(structure: &'m Structure) -> Blocks<'m> {
        Blocks { next: structure.blocks.iter().peekable(), open: Vec::new() }
    }

    /// Returns the next comment that belongs before the instruction `at`, or `None` after the last one. Small
    /// statements, for example `local`, have no comments.
    fn comment(&mut self, at: u32) -> Option<String> {
        if let Some(block) = self.open.pop_if(|block| block.end() <= at) {
            return Some(format!("end of {}", seam_words(block).first().copied().unwrap_or_default()));
        }
        let is_small = |kind: &BlockKind| {
            matches!(
                kind,
                BlockKind::Local | BlockKind::Delocal | BlockKind::Assert { .. } | BlockKind::Temporaries
            )
        };
        while self.next.next_if(|block| is_small(&block.kind) && block.start() <= at).is_some() {}
        let begun = self.next.next_if(|block| block.start() <= at)?;
        self.open.push(begun);
        seam_words(begun).first().map(|word| (*word).to_owned())
    }
}

/// Returns the words that `.block` writes for the seams of a block, one for each seam.
fn seam_words(block: &Block) -> &'static [&'static str] {
    match (&block.kind, block.seams.len()) {
        (BlockKind::If { .. }, 3..) => &["if", "else", "fi"],
        (BlockKind::If { .. }, _) => &["if", "fi"],
        (BlockKind::Loop { .. }, _) => &["from", "until", "end"],
        (BlockKind::For(_), _) => &["for", "rof"],
        (BlockKind::Local, _) => &["local"],
        (BlockKind::Delocal, _) => &["delocal"],
        (BlockKind::Assert { .. }, _) => &["assert"],
        (BlockKind::Compute, _) => &["compute", "apply", "uncompute", "end"],
        (BlockKind::Macro { .. }, _) => &["macro", "end"],
        (BlockKind::Temporaries, _) => &["value", "end"],
    }
}

/// The text of a module under construction.
struct ModuleText<'m> {
    module: &'m Module,
    labels: HashMap<u32, String>,
    out: String,
    /// The number of bytes of `out` whose line ends have been counted, and the line number after these bytes. The next
    /// count continues after these bytes instead of starting at the beginning of the text.
    counted: (usize, u32),
    /// The line of each instruction.
    lines: Vec<u32>,
    /// Returns the comment of an instruction. If this function is present, no debug information is written.
    beside: Option<InstructionComment<'m>>,
}

impl<'m> ModuleText<'m> {
    fn of(module: &'m Module, beside: Option<InstructionComment<'m>>) -> ModuleText<'m> {
        let (out, lines) = (String::new(), vec![1; module.code.len()]);
        ModuleText { module, labels: labels(module), out, counted: (0, 1), lines, beside }
    }

    fn program(&mut self) {
        self.settings();
        self.globals();
        let mut blocks = match self.beside {
            None => Blocks::of(&self.module.structure),
            Some(_) => Blocks { next: [].iter().peekable(), open: Vec::new() },
        };
        for (number, procedure) in self.module.procedures.iter().enumerate() {
            self.procedure(number, procedure, &mut blocks);
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = self.out.write_fmt(line);
        self.out.push('\n');
    }

    /// Records the current line as the line of an instruction.
    fn record_line(&mut self, at: u32) {
        let (counted, line) = self.counted;
        let news = self.out.as_bytes().get(counted..).unwrap_or_default();
        let line = line + news.iter().filter(|&&byte| byte == b'\n').count() as u32;
        self.counted = (self.out.len(), line);
        self.lines.get_mut(at as usize).into_iter().for_each(|own| *own = line);
    }

    /// Writes the settings that differ from the defaults.
    fn settings(&mut self) {
        let (module, default) = (self.module, Limits::default());
        if module.word != Word::W64 {
            self.line(format_args!(".word {}", module.word.bits()));
        }
        if module.real != RealSystem::F64 {
            self.line(format_args!(".real {}", module.real));
        }
        if let Some(tolerance) = module.tolerance {
            self.line(format_args!(".tolerance {tolerance:?}"));
        }
        if module.inverse {
            self.line(format_args!(".inverse"));
        }
        if module.limits.depth != default.depth {
            self.line(format_args!(".limit depth {}", module.limits.depth));
        }
        if module.limits.stack != default.stack {
            self.line(format_args!(".limit stack {}", module.limits.stack));
        }
        if module.limits.tape != default.tape {
            self.line(format_args!(".limit tape {}", module.limits.tape));
        }
    }

    fn globals(&mut self) {
        for global in &self.module.globals {
            let Global { name, class, role, shape, initial, default, is_shared } = global;
            let _ = write!(self.out, "{:INDENT$} {name}", role.directive());
            self.shape(*shape);
            self.class(*class);
            if !initial.is_empty() {
                self.out.push_str(" = ");
                self.values(initial, *shape);
            }
            if *is_shared {
                self.out.push_str(" shared");
            }
            if let Some(default) = default {
                self.out.push_str(" default ");
                self.values(default, *shape);
            }
            self.out.push('\n');
        }
    }

    fn shape(&mut self, shape: Shape) {
        let _ = match shape {
            Shape::Scalar => Ok(()),
            Shape::Vector(n) => write!(self.out, "[{n}]"),
            Shape::Matrix(rows, columns) => write!(self.out, "[{rows}, {columns}]"),
            Shape::Stack => write!(self.out, "[]"),
        };
    }

    /// Writes a class; `int` is the default.
    fn class(&mut self, class: Class) {
        if class == Class::Real {
            self.out.push_str(": real");
        }
    }

    /// Writes a single value if all cells have the same value, otherwise one value per cell.
    fn values(&mut self, values: &Values, shape: Shape) {
        let cells = shape.cells();
        let list: Vec<String> = match values {
            Values::Ints(list) => repeated(list, cells, |v| *v as u64).iter().map(i64::to_string).collect(),
            Values::Reals(list) => {
                repeated(list, cells, |v| v.to_bits()).iter().map(|v| format!("{v:?}")).collect()
            }
        };
        let zero = if values.class() == Class::Int { "0" } else { "0.0" };
        match list.as_slice() {
            [] => self.out.push_str(zero),
            [every] if cells == 1 || values.len() > 1 => self.out.push_str(every),
            each => {
                // Long lists are wrapped, because the length of a line is limited.
                let rows: Vec<String> = each.chunks(VALUES_A_LINE).map(|row| row.join(", ")).collect();
                let _ = write!(self.out, "{{{}}}", rows.join(",\n"));
            }
        }
    }

    fn procedure(&mut self, number: usize, procedure: &Procedure, blocks: &mut Blocks) {
        if number > 0 {
            self.out.push('\n');
            self.record_line(procedure.entry);
            self.head(procedure);
        }
        for variable in &procedure.frame {
            let _ = write!(self.out, "{:INDENT$} {}", ".ancilla", variable.name);
            self.shape(variable.shape);
            self.class(variable.class);
            self.out.push('\n');
        }
        if self.beside.is_none() {
            self.recorded(number, procedure, blocks);
        }
        for at in procedure.entry.saturating_add(1)..procedure.exit {
            while let Some(comment) = blocks.comment(at) {
                self.line(format_args!("{:INDENT$}; {comment}", ""));
            }
            let Some(instruction) = self.module.code.get(at as usize) else { break };
            self.record_line(at);
            self.instruction(procedure, at, instruction);
        }
        while let Some(comment) = blocks.comment(procedure.exit) {
            self.line(format_args!("{:INDENT$}; {comment}", ""));
        }
        if number > 0 {
            self.record_line(procedure.exit);
            self.line(format_args!(".end"));
        }
    }

    /// Writes the names and the blocks of a procedure, for tools.
    fn recorded(&mut self, number: usize, procedure: &Procedure, blocks: &Blocks) {
        for scope in self.module.structure.scopes_of(number as u32) {
            let NameScope { variable, name, start, end, place, .. } = scope;
            let variable = self.base(procedure, Base::Frame(*variable));
            self.line(format_args!(".scope {name} {variable} {start}..{end} {}", recorded_place(*place)));
        }
        for Temporary { variable, function, sources, .. } in
            self.module.structure.temporaries_of(number as u32)
        {
            let variable = self.base(procedure, Base::Frame(*variable));
            let sources: Vec<String> = sources.iter().map(|source| self.operand(procedure, source)).collect();
            let value = match function {
                Function::Copy => sources.join(", "),
                function => format!("{}({})", function.name(), sources.join(", ")),
            };
            self.line(format_args!(".value {variable} = {value}"));
        }
        for block in blocks.next.clone().take_while(|block| block.start() < procedure.exit) {
            let undone = if block.undone { "undone " } else { "" };
            let seams: Vec<String> = block
                .seams
                .iter()
                .zip(seam_words(block))
                .enumerate()
                .map(|(n, (seam, word))| {
                    let Seam { start, end, place } = seam;
                    let about = self.about(procedure, block, n);
                    format!("{word} {start}..{end} {}{about}", recorded_place(*place))
                })
                .collect();
            self.line(format_args!(".block {undone}{}", seams.join(", ")));
        }
    }

    /// Returns the details that `.block` writes for a seam: a condition, the counter and the bounds of a `for`, or the
    /// name of a macro.
    fn about(&self, procedure: &Procedure, block: &Block, seam: usize) -> String {
        let test = |predicate: &Predicate| format!(" {}", predicate.text(|o| self.operand(procedure, o)));
        match (&block.kind, seam) {
            (BlockKind::If { entry, .. } | BlockKind::Loop { entry, .. }, 0) => test(entry),
            (BlockKind::If { exit, .. }, n) if n + 1 == block.seams.len() => test(exit),
            (BlockKind::Loop { exit, .. }, 1) => test(exit),
            (BlockKind::Assert { condition }, _) => test(condition),
            (BlockKind::For(counting), 0) => self.counting(procedure, counting),
            (BlockKind::Macro { name, undo }, 0) => format!(" {}{name}", if *undo { "undo " } else { "" }),
            _ => String::new(),
        }
    }

    fn counting(&self, procedure: &Procedure, counting: &Counting) -> String {
        let counter = self.base(procedure, Base::Frame(counting.counter));
        let [from, to] = [&counting.from, &counting.to].map(|bound| self.operand(procedure, bound));
        let step = if counting.step == 1 { String::new() } else { format!(" step {}", counting.step) };
        let reversed = if counting.reversed { " reversed" } else { "" };
        format!(" {counter} in {from}..{to}{step}{reversed}")
    }

    fn head(&mut self, procedure: &Procedure) {
        let parameters: Vec<String> = procedure.parameters.iter().map(parameter).collect();
        let _ = write!(self.out, ".proc {}({})", procedure.name, parameters.join(", "));
        if let Some(rule) = procedure.rule {
            let _ = write!(self.out, " rule {}", self.procedure_name(rule));
        }
        self.out.push('\n');
    }

    fn procedure_name(&self, number: u32) -> String {
        let procedure = self.module.procedures.get(number as usize);
        procedure.map_or_else(|| format!("?procedure{number}"), |p| p.name.clone())
    }

    fn instruction(&mut self, procedure: &Procedure, at: u32, instruction: &Instruction) {
        match self.labels.get(&at) {
            Some(label) => {
                let _ = write!(self.out, "{:<INDENT$}", format!("{label}:"));
                if label.len() + 1 >= INDENT {
                    self.out.push(' ');
                }
            }
            None => {
                let _ = write!(self.out, "{:INDENT$}", "");
            }
        }
        let Instruction { update, function, operands, link } = instruction;
        let operands: Vec<String> = operands.iter().map(|o| self.operand(procedure, o)).collect();
        let mut rest = match (update.shape(), link) {
            (OperandShape::Branch, Link::Partner(partner)) => {
                let partner = self.labels.get(partner).cloned().unwrap_or_else(|| format!("?{partner}"));
                format!("{partner}, {}", condition(*function, &operands))
            }
            (OperandShape::Condition, _) => condition(*function, &operands),
            (_, Link::Calls(calls)) => self.calls(procedure, calls),
            _ => operands.join(", "),
        };
        let mut mnemonic = update.name().to_owned();
        if update.shape() == OperandShape::Accumulate && *function != Function::Copy {
            let _ = write!(mnemonic, ".{}", function.name());
        }
        if !rest.is_empty() {
            rest.insert(0, ' ');
            let pad = 5usize.saturating_sub(mnemonic.len());
            rest.insert_str(0, &" ".repeat(pad));
        }
        let _ = write!(self.out, "{mnemonic}{rest}");
        self.comment(at);
        self.out.push('\n');
    }

    /// Writes the comment of an instruction, aligned to a column.
    fn comment(&mut self, at: u32) {
        let Some(comment) = self.beside.and_then(|beside| beside(at)) else { return };
        let start = self.out.rfind('\n').map_or(0, |end| end + 1);
        let width = self.out.get(start..).map_or(0, |line| line.chars().count());
        let _ = write!(self.out, "{:1$}; {comment}", "", BESIDE.saturating_sub(width).max(1));
    }

    fn calls(&self, procedure: &Procedure, calls: &[Call]) -> String {
        let texts: Vec<String> = calls
            .iter()
            .map(|call| {
                let callee = self.procedure_name(call.procedure);
                let arguments = call.arguments.iter().map(|a| self.argument(procedure, a));
                format!("{callee}({})", arguments.collect::<Vec<_>>().join(", "))
            })
            .collect();
        texts.join(", ")
    }

    fn argument(&self, procedure: &Procedure, argument: &Argument) -> String {
        match argument {
            Argument::Scalar(operand) => self.operand(procedure, operand),
            Argument::Slice(Slice { base, range }) => {
                let name = self.base(procedure, *base);
                let term = |term: &Term| self.term(procedure, term);
                match range {
                    Range::Whole => name,
                    Range::Span { from, to, step: 1 } => format!("{name}[{}..{}]", term(from), term(to)),
                    Range::Span { from, to, step } => {
                        format!("{name}[{}..{} step {step}]", term(from), term(to))
                    }
                    Range::Row(row) => format!("{name}[{}, ..]", term(row)),
                    Range::Column(column) => format!("{name}[.., {}]", term(column)),
                }
            }
        }
    }

    fn operand(&self, procedure: &Procedure, operand: &Operand) -> String {
        match operand {
            Operand::Int(value) => value.to_string(),
            Operand::Real(value) => format!("{value:?}"),
            Operand::Mode => "mode".into(),
            Operand::Place(place) => self.place(procedure, place),
        }
    }

    fn place(&self, procedure: &Procedure, place: &Place) -> String {
        let mut text = self.base(procedure, place.base);
        if place.adjoint {
            text.push('\'');
        }
        match place.index.as_deref() {
            None => {}
            Some(Index::One(a)) => {
                let _ = write!(text, "[{}]", self.term(procedure, a));
            }
            Some(Index::Two(a, b)) => {
                let _ = write!(text, "[{}, {}]", self.term(procedure, a), self.term(procedure, b));
            }
        }
        text
    }

    fn term(&self, procedure: &Procedure, term: &Term) -> String {
        match (term.cell, term.offset) {
            (None, offset) => offset.to_string(),
            (Some(cell), 0) => self.base(procedure, cell),
            (Some(cell), offset) => format!("{}{offset:+}", self.base(procedure, cell)),
        }
    }

    fn base(&self, procedure: &Procedure, base: Base) -> String {
        let declaration = self.module.declaration(procedure, base);
        declaration.map_or_else(|| format!("?{base:?}"), |d| d.name.to_owned())
    }

    /// Writes the recorded line numbers and files as directives.
    fn structure(&mut self) {
        let Structure { labels, lines, files, paths, .. } = &self.module.structure;
        self.out.push('\n');
        if lines.is_empty() {
            self.line(format_args!(".lines none"));
        }
        if labels.is_empty() && !self.labels.is_empty() {
            self.line(format_args!(".labels none"));
        }
        for numbers in lines.chunks(NUMBERS_A_LINE) {
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            self.line(format_args!(".lines {}", numbers.join(", ")));
        }
        for path in paths {
            self.line(format_args!(".path \"{path}\""));
        }
        for (start, file) in files {
            self.line(format_args!(".file {start} {file}"));
        }
    }
}

/// The maximum number of initial values on one line of a declaration.
const VALUES_A_LINE: usize = 1000;
/// The maximum number of entries of a `.lines` directive. Longer lists use several directives.
const NUMBERS_A_LINE: usize = 20;

/// Returns the first value if all cells have the same value (bit for bit), otherwise all values.
fn repeated<T>(list: &[T], cells: u64, bits: impl Fn(&T) -> u64) -> &[T] {
    match list {
        [first, rest @ ..]
            if list.len() as u64 == cells && rest.iter().all(|value| bits(value) == bits(first)) =>
        {
            std::slice::from_ref(first)
        }
        _ => list,
    }
}

fn parameter(parameter: &Parameter) -> String {
    let passing = match parameter.passing {
        Passing::In => "in",
        Passing::InOut => "inout",
    };
    let class = if parameter.class == Class::Real { ": real" } else { "" };
    format!("{passing} {}{}{class}", parameter.name, parameter.rank.brackets())
}

fn condition(function: Function, operands: &[String]) -> String {
    match (function.order(), operands) {
        (Some(order), [a, b]) => format!("{a} {} {b}", order.symbol()),
        _ => function.name().into(),
    }
}
