//! Instructions, operands and the words of blocks as source text, with the names of the source. This module
//! spells single statements; it is independent of the layout of a file.

use crate::arith::Order;
use crate::function::Function;
use crate::instruction::{
    Argument, Base, Call, Index, Instruction, Link, Operand, Place, Range, Slice, Term,
};
use crate::module::{Module, Procedure};
use crate::names::spelled_length;
use crate::operator::BinaryOperator;
use crate::predicate::Predicate;
use crate::structure::{Block, BlockKind, Counting, Side, Temporary};
use crate::update::{OperandShape, Update};

/// The spelling of an expression within another text.
#[derive(Clone, Copy)]
struct FormulaStyle {
    /// True for a spelling without spaces, as in brackets and ranges.
    tight: bool,
    /// The precedence of the context: an expression of lower precedence is parenthesized.
    least: u8,
}

/// The spelling of a separate expression.
const FORMULA: FormulaStyle = FormulaStyle { tight: false, least: 0 };

impl FormulaStyle {
    fn tight(self) -> FormulaStyle {
        FormulaStyle { tight: true, ..self }
    }
}

/// Converts the instructions of one procedure to source text. The module must be verified: otherwise
/// temporaries may be cyclic, and their expressions infinite.
#[derive(Clone, Copy)]
pub struct TextRenderer<'a> {
    /// The module in which names, callees and temporaries are looked up.
    pub module: &'a Module,
    /// The procedure of that module whose parameters and frame the operands refer to.
    pub procedure: &'a Procedure,
}

impl<'a> TextRenderer<'a> {
    /// Returns the instruction as source text. `label` returns the label of a branch half, given its index in
    /// the code.
    pub fn instruction(&self, instruction: &Instruction, label: impl Fn(u32) -> String) -> String {
        let mnemonic = mnemonic(instruction);
        let mut operands: Vec<String> = Vec::new();
        match (&instruction.link, instruction.update.shape()) {
            (Link::Partner(partner), _) => {
                operands.push(label(*partner));
                operands.push(self.condition(instruction));
            }
            (_, OperandShape::Condition) => operands.push(self.condition(instruction)),
            (Link::Calls(calls), _) => operands.extend(calls.iter().map(|call| self.call(call))),
            (Link::None, _) => operands.extend(instruction.operands.iter().map(|o| self.operand(o))),
        }
        if operands.is_empty() { mnemonic } else { format!("{mnemonic} {}", operands.join(", ")) }
    }

    /// Returns an accumulating instruction with its function as an expression, for example
    /// `add y, a * b + 3`; `None` for other instructions.
    pub fn with_expressions(&self, instruction: &Instruction) -> Option<String> {
        let target = instruction.operands.first().map(|target| self.operand(target))?;
        let applies = instruction.update.shape() == OperandShape::Accumulate;
        applies.then(|| format!("{} {target}, {}", instruction.update.name(), self.value_of(instruction)))
    }

    /// Returns the condition of a branch half or an `assert`.
    pub fn condition(&self, instruction: &Instruction) -> String {
        match &instruction.operands[..] {
            [a, b] => {
                let symbol = instruction.function.order().map_or("?", Order::symbol);
                format!("{} {symbol} {}", self.operand(a), self.operand(b))
            }
            _ => instruction.function.name().to_owned(),
        }
    }

    /// Returns a condition of a block as source text.
    pub fn predicate(&self, predicate: &Predicate) -> String {
        predicate.text(|operand| self.operand(operand))
    }

    /// Returns the source text of a block's seam: `fi n == 3`, `else`, `delocal t = 5`.
    pub fn words(&self, block: &Block, seam: usize) -> String {
        let is_last = seam + 1 >= block.seams.len();
        match &block.kind {
            BlockKind::If { .. } | BlockKind::Loop { .. } if seam == 0 => self.guard(block, Side::Entry),
            BlockKind::If { .. } | BlockKind::Loop { .. } if is_last => self.guard(block, Side::Exit),
            BlockKind::If { .. } => "else".to_owned(),
            BlockKind::Loop { .. } => "loop".to_owned(),
            BlockKind::For(counting) if seam == 0 => self.counting(counting, block.undone),
            BlockKind::For(_) => "rof".to_owned(),
            BlockKind::Local | BlockKind::Delocal => self.local(block),
            BlockKind::Assert { condition } => format!("assert {}", self.predicate(condition)),
            BlockKind::Compute => ["compute", "apply"].get(seam).copied().unwrap_or("uncompute").to_owned(),
            BlockKind::Temporaries => self.temporaries(block),
            BlockKind::Macro { name, undo: true } => format!("undo {name}"),
            BlockKind::Macro { name, undo: false } => name.clone(),
        }
    }

    /// Returns the source text for an instruction of a seam. In a block that computes temporaries it is the
    /// expression of the temporary that the instruction computes; otherwise it is the text of the whole seam.
    pub fn words_at(&self, block: &Block, seam: usize, instruction: &Instruction) -> String {
        let target = instruction.operands.first().filter(|_| block.kind == BlockKind::Temporaries);
        match target.and_then(|target| self.temporary(target)) {
            Some(temporary) => self.formula(temporary, FORMULA),
            None => self.words(block, seam),
        }
    }

    /// Returns one condition of an `if` or a loop with its keyword, for example `until n == 3`.
    pub fn guard(&self, block: &Block, side: Side) -> String {
        let is_first = (side == Side::Entry) != block.undone;
        let word = match (&block.kind, is_first) {
            (BlockKind::If { .. }, true) => "if",
            (BlockKind::If { .. }, false) => "fi",
            (_, true) => "from",
            (_, false) => "until",
        };
        block.guard(side).map_or_else(String::new, |(guard, _)| format!("{word} {}", self.predicate(guard)))
    }

    /// Returns the head of a counted loop: `for i in 0..n step 2 reversed`
    fn counting(&self, counting: &Counting, undone: bool) -> String {
        let counter = self.name(Base::Frame(counting.counter));
        let [from, to] = [&counting.from, &counting.to].map(|bound| self.spelled(bound, FORMULA.tight()));
        let step = if counting.step == 1 { String::new() } else { format!(" step {}", counting.step) };
        let reversed = if counting.reversed == undone { "" } else { " reversed" };
        format!("for {counter} in {from}..{to}{step}{reversed}")
    }

    fn local(&self, block: &Block) -> String {
        let word = if matches!(block.kind, BlockKind::Local) == block.undone { "delocal" } else { "local" };
        let Some((variable, instruction)) = block.opened(&self.module.code) else { return word.to_owned() };
        let name = self.name(Base::Frame(variable));
        match instruction {
            Some(instruction) => format!("{word} {name} = {}", self.value_of(instruction)),
            None => format!("{word} {name}"),
        }
    }

    /// Returns the value that an accumulating instruction adds: `5`, `a * b`, `sin(a)`.
    pub fn value_of(&self, instruction: &Instruction) -> String {
        self.applied(instruction.function, instruction.operands.get(1..).unwrap_or_default(), FORMULA)
    }

    /// Returns the expressions whose temporaries a block computes, separated by commas. Subexpressions of
    /// listed expressions are omitted.
    fn temporaries(&self, block: &Block) -> String {
        let Some(first) = block.seams.first() else { return String::new() };
        let code = self.module.code.get(first.start as usize..first.end as usize).unwrap_or_default();
        let computed: Vec<&Temporary> = code
            .iter()
            .filter(|instruction| instruction.update.shape() == OperandShape::Accumulate)
            .filter_map(|instruction| self.temporary(instruction.operands.first()?))
            .collect();
        let is_part = |one: &Temporary| {
            let mut found = false;
            let mut look = |base| found |= base == Base::Frame(one.variable);
            let sources = computed.iter().flat_map(|other| &other.sources);
            sources.for_each(|source| source.visit_bases(&mut look));
            found
        };
        let whole = computed.iter().filter(|one| !is_part(one));
        whole.map(|one| self.formula(one, FORMULA)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the temporary that an operand is, with its expression; `None` for other operands.
    pub fn temporary(&self, operand: &Operand) -> Option<&'a Temporary> {
        match operand {
            Operand::Place(Place { base: Base::Frame(variable), adjoint: false, index: None }) => {
                self.module.structure.temporary(self.module.number_of(self.procedure), *variable)
            }
            _ => None,
        }
    }

    fn formula(&self, temporary: &Temporary, spelling: FormulaStyle) -> String {
        self.applied(temporary.function, &temporary.sources, spelling)
    }

    /// Returns a function with its sources: `a * b` if the function has an operator, otherwise `sin(a)`.
    fn applied(&self, function: Function, sources: &[Operand], spelling: FormulaStyle) -> String {
        let tight = spelling.tight;
        let part = |operand, least| self.spelled(operand, FormulaStyle { tight, least });
        match (BinaryOperator::of(function), sources) {
            (Some(BinaryOperator::Subtract), [zero, a]) if is_zero(zero) => {
                format!("-{}", part(a, u8::MAX))
            }
            (Some(operator), [a, b]) => {
                let strength = operator.strength();
                let (a, b) = (part(a, strength), part(b, strength + 1));
                let space = if tight { "" } else { " " };
                let text = format!("{a}{space}{}{space}{b}", operator.symbol());
                if strength < spelling.least { format!("({text})") } else { text }
            }
            (_, [a]) if function == Function::Copy => self.spelled(a, spelling),
            (_, sources) => {
                let sources: Vec<String> = sources.iter().map(|source| part(source, 0)).collect();
                format!("{}({})", function.name(), sources.join(", "))
            }
        }
    }

    /// Returns an operand as text. A temporary is replaced by its expression.
    fn spelled(&self, operand: &Operand, spelling: FormulaStyle) -> String {
        match (self.temporary(operand), operand) {
            (Some(temporary), _) => self.formula(temporary, spelling),
            (None, Operand::Int(value)) => value.to_string(),
            (None, Operand::Real(value)) => format!("{value:?}"),
            (None, Operand::Mode) => "mode".to_owned(),
            (None, Operand::Place(place)) => self.place(place),
        }
    }

    /// Returns a call without its mnemonic, for example `p(x, A[i])`.
    pub fn call(&self, call: &Call) -> String {
        let callee = self.module.procedures.get(call.procedure as usize);
        format!("{}({})", callee.map_or("?", |p| &p.name), self.arguments(call))
    }

    /// Returns the arguments of a call, without the lengths that lowering added.
    fn arguments(&self, call: &Call) -> String {
        let callee = self.module.procedures.get(call.procedure as usize);
        let parameters = callee.map_or(&[][..], |callee| &callee.parameters);
        let is_written = |n: usize| parameters.get(n).is_none_or(|parameter| !parameter.is_length());
        let written = call.arguments.iter().enumerate().filter(|(n, _)| is_written(*n));
        written.map(|(_, argument)| self.argument(argument)).collect::<Vec<_>>().join(", ")
    }

    /// Returns an argument as written in the call: an operand or a slice.
    pub fn argument(&self, argument: &Argument) -> String {
        match argument {
            Argument::Scalar(operand) => self.operand(operand),
            Argument::Slice(slice) => self.slice(slice),
        }
    }

    fn slice(&self, slice: &Slice) -> String {
        let name = self.name(slice.base);
        match &slice.range {
            Range::Whole => name.to_owned(),
            Range::Span { from, to, step: 1 } => format!("{name}[{}..{}]", self.term(from), self.term(to)),
            Range::Span { from, to, step } => {
                format!("{name}[{}..{} step {step}]", self.term(from), self.term(to))
            }
            Range::Row(row) => format!("{name}[{}, ..]", self.term(row)),
            Range::Column(column) => format!("{name}[.., {}]", self.term(column)),
        }
    }

    /// Returns an operand as text, by its source name in the procedure. A temporary is replaced by its
    /// expression.
    pub fn operand(&self, operand: &Operand) -> String {
        self.spelled(operand, FORMULA)
    }

    /// Returns an operand as a single name for use in formulas. A temporary is replaced by its expression, in
    /// parentheses and without spaces.
    pub fn name_in_formulas(&self, operand: &Operand) -> String {
        let name = self.spelled(operand, FORMULA.tight());
        if self.temporary(operand).is_some() { format!("({name})") } else { name }
    }

    fn place(&self, place: &Place) -> String {
        let name = self.name(place.base);
        if let Some(length) = spelled_length(name) {
            return length;
        }
        let adjoint = if place.adjoint { "'" } else { "" };
        match place.index.as_deref() {
            None => format!("{name}{adjoint}"),
            Some(Index::One(term)) => format!("{name}{adjoint}[{}]", self.term(term)),
            Some(Index::Two(row, column)) => {
                format!("{name}{adjoint}[{}, {}]", self.term(row), self.term(column))
            }
        }
    }

    fn term(&self, term: &Term) -> String {
        let Some(cell) = term.cell else { return term.offset.to_string() };
        let cell = self.spelled(&Operand::Place(Place::scalar(cell)), FORMULA.tight());
        match term.offset {
            0 => cell,
            offset if offset > 0 => format!("{cell}+{offset}"),
            offset => format!("{cell}-{}", offset.unsigned_abs()),
        }
    }

    /// Returns the source name of a declaration.
    pub fn name(&self, base: Base) -> &'a str {
        if let Base::Frame(variable) = base
            && let Some(name) =
                self.module.structure.source_name(self.module.number_of(self.procedure), variable)
        {
            return name;
        }
        self.module.declaration(self.procedure, base).map_or("?", |declaration| declaration.name)
    }
}

fn is_zero(operand: &Operand) -> bool {
    matches!(operand, Operand::Int(0)) || matches!(operand, Operand::Real(zero) if zero.to_bits() == 0)
}

/// Returns the mnemonic of an instruction: `add`, `add.mul`, `br`.
pub fn mnemonic(instruction: &Instruction) -> String {
    compound(instruction.update, instruction.function)
}

/// Returns the mnemonic of an update applied to a function; `copy` is omitted.
pub fn compound(update: Update, function: Function) -> String {
    let plain = function == Function::Copy || update.shape() != OperandShape::Accumulate;
    if plain { update.name().to_owned() } else { format!("{}.{}", update.name(), function.name()) }
}
