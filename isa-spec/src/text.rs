//! Instructions, operands and the words of blocks as source text, in the names that their author gave.
//! Knows the spelling of one statement; knows no layout of a file.

use crate::arith::Order;
use crate::function::Function;
use crate::instruction::{
    Argument, Base, Call, Index, Instruction, Link, Operand, Place, Range, Slice, Term,
};
use crate::module::{Module, Procedure};
use crate::predicate::Predicate;
use crate::structure::{Block, BlockKind, Bound, Counting, Side};
use crate::update::{OperandShape, Update};

/// Spells the instructions of one procedure.
#[derive(Clone, Copy)]
pub struct Speller<'a> {
    pub module: &'a Module,
    pub procedure: &'a Procedure,
}

impl<'a> Speller<'a> {
    /// The instruction as it would stand in source text; `label` names a branch half by its index.
    pub fn instruction(&self, instruction: &Instruction, label: impl Fn(u32) -> String) -> String {
        let mnemonic = mnemonic(instruction);
        let mut operands: Vec<String> = Vec::new();
        match (&instruction.link, instruction.update.shape()) {
            (Link::Partner(partner), _) => {
                operands.push(label(*partner));
                operands.push(self.condition(instruction));
            }
            (_, OperandShape::Condition) => operands.push(self.condition(instruction)),
            (Link::Calls(calls), OperandShape::CallVia) => {
                let cell = instruction.operands.first().map_or(String::new(), |cell| self.operand(cell));
                let arguments = calls.first().map_or(String::new(), |call| self.arguments(call));
                operands.push(format!("{cell}({arguments})"));
            }
            (Link::Calls(calls), _) => operands.extend(calls.iter().map(|call| self.call(call))),
            (Link::None, _) => operands.extend(instruction.operands.iter().map(|o| self.operand(o))),
        }
        if operands.is_empty() { mnemonic } else { format!("{mnemonic} {}", operands.join(", ")) }
    }

    /// The condition of a branch half or an `assert`.
    pub fn condition(&self, instruction: &Instruction) -> String {
        match &instruction.operands[..] {
            [a, b] => {
                let symbol = instruction.function.order().map_or("?", Order::symbol);
                format!("{} {symbol} {}", self.operand(a), self.operand(b))
            }
            _ => instruction.function.name().to_owned(),
        }
    }

    /// A condition of a block.
    pub fn predicate(&self, predicate: &Predicate) -> String {
        predicate.text(|operand| self.operand(operand))
    }

    /// What the author wrote where a seam of a block is: `fi n == 3`, `else`, `delocal t = 5`.
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
            BlockKind::Macro { name, undo: true } => format!("undo {name}"),
            BlockKind::Macro { name, undo: false } => name.clone(),
        }
    }

    /// The condition of an `if` or a loop with its word.
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

    /// `i in 0..n step 2 reversed`, after `for`.
    fn counting(&self, counting: &Counting, undone: bool) -> String {
        let counter = self.name(Base::Frame(counting.counter));
        let [from, to] = [&counting.from, &counting.to].map(|bound| self.bound(bound));
        let step = if counting.step == 1 { String::new() } else { format!(" step {}", counting.step) };
        let reversed = if counting.reversed == undone { "" } else { " reversed" };
        format!("for {counter} in {from}..{to}{step}{reversed}")
    }

    /// A bound as the `for` has it: a constant, a cell, or a sum.
    pub fn bound(&self, bound: &Bound) -> String {
        match bound {
            Bound::Value(operand) => self.operand(operand),
            Bound::Sum { cell, offset, .. } => self.term(&Term { cell: Some(*cell), offset: *offset }),
        }
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

    /// What an accumulating instruction adds: `5`, `mul(a, b)`.
    pub fn value_of(&self, instruction: &Instruction) -> String {
        let sources: Vec<String> = instruction.operands.iter().skip(1).map(|o| self.operand(o)).collect();
        let sources = sources.join(", ");
        match instruction.function {
            Function::Copy => sources,
            function => format!("{}({sources})", function.name()),
        }
    }

    fn call(&self, call: &Call) -> String {
        let callee = self.module.procedures.get(call.procedure as usize);
        format!("{}({})", callee.map_or("?", |p| &p.name), self.arguments(call))
    }

    fn arguments(&self, call: &Call) -> String {
        let arguments: Vec<String> = call.arguments.iter().map(|argument| self.argument(argument)).collect();
        arguments.join(", ")
    }

    /// An argument as the call has it: an operand, or the part of an array that a slice is.
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

    /// An operand by the names that the procedure has for it.
    pub fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Int(value) => value.to_string(),
            Operand::Real(value) => format!("{value:?}"),
            Operand::Mode => "mode".to_owned(),
            Operand::Place(place) => self.place(place),
        }
    }

    fn place(&self, place: &Place) -> String {
        let name = self.name(place.base);
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
        match (term.cell, term.offset) {
            (None, offset) => offset.to_string(),
            (Some(cell), 0) => self.name(cell).to_owned(),
            (Some(cell), offset) if offset > 0 => format!("{}+{offset}", self.name(cell)),
            (Some(cell), offset) => format!("{}-{}", self.name(cell), offset.unsigned_abs()),
        }
    }

    /// The name that people know a declaration by.
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

/// `add`, `add.mul`, `br`.
pub fn mnemonic(instruction: &Instruction) -> String {
    compound(instruction.update, instruction.function)
}

/// The mnemonic of an update applied to a function; `copy` goes without saying.
pub fn compound(update: Update, function: Function) -> String {
    let plain = function == Function::Copy || update.shape() != OperandShape::Accumulate;
    if plain { update.name().to_owned() } else { format!("{}.{}", update.name(), function.name()) }
}
