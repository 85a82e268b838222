//! Numbers for statements, operands and conditions: two have the same number if and only if they are the same. So a
//! statement is compared with the inverse of another one in constant time, also if both are large. Counters of loops
//! are numbered by their nesting, because their names don't matter.

use std::collections::HashMap;

use reviver_isa::function::Function;
use reviver_isa::instruction::{Argument, Base, Index, Instruction, Link, Operand, Place, Range, Term};
use reviver_isa::predicate::{Predicate, PredicatePart};
use reviver_isa::text::TextRenderer;
use reviver_isa::update::{Action, Update};

/// The number of a statement, an operand or a condition.
pub type Identity = u64;

/// The kind of a numbered thing, which determines the meaning of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tag {
    Int,
    Real,
    Mode,
    Place,
    Value,
    Slice,
    Predicate,
    Update,
    Local,
    Delocal,
    Assert,
    If,
    Loop,
    For,
    Sequence,
    /// A statement that is the same as no other one.
    Unique,
}

/// The numbers of one procedure's statements and operands.
pub struct Identities<'p> {
    renderer: TextRenderer<'p>,
    numbers: HashMap<(Tag, Vec<u64>), Identity>,
    /// The counters of the open loops, from the outermost to the innermost loop.
    pub counters: Vec<u32>,
}

impl<'p> Identities<'p> {
    pub fn new(renderer: TextRenderer<'p>) -> Identities<'p> {
        Identities { renderer, numbers: HashMap::new(), counters: Vec::new() }
    }

    /// Returns the number of a thing, given its kind and the numbers of its parts.
    pub fn number(&mut self, tag: Tag, words: Vec<u64>) -> Identity {
        let next = self.numbers.len() as u64;
        *self.numbers.entry((tag, words)).or_insert(next)
    }

    /// Returns a number that nothing else has.
    pub fn unique(&mut self) -> Identity {
        self.number(Tag::Unique, vec![self.numbers.len() as u64])
    }

    /// Returns the number of an instruction in which this update replaces the instruction's update. The instruction is no half of a branch
    /// pair.
    pub fn instruction(&mut self, update: Update, instruction: &Instruction) -> Identity {
        let mut words = vec![u64::from(update.byte()), u64::from(instruction.function.byte())];
        let mut operands: Vec<u64> =
            instruction.operands.iter().map(|operand| self.operand(operand)).collect();
        if update.action() == Action::Exchange {
            // The order of the operands has no effect.
            operands.sort_unstable();
        }
        words.extend(operands);
        if let Link::Calls(calls) = &instruction.link {
            for call in calls.iter() {
                words.push(u64::from(call.procedure));
                words.extend(call.arguments.iter().map(|argument| self.argument(argument)));
            }
        }
        self.number(Tag::Update, words)
    }

    /// Returns the numbers of a `local` and of the `delocal` with the same variable and value.
    pub fn local(&mut self, variable: u32, value: Option<&Instruction>) -> [Identity; 2] {
        let mut words = vec![u64::from(variable)];
        if let Some(instruction) = value {
            words.push(u64::from(instruction.function.byte()));
            words.extend(instruction.operands.iter().skip(1).map(|operand| self.operand(operand)));
        }
        [Tag::Local, Tag::Delocal].map(|tag| self.number(tag, words.clone()))
    }

    /// Returns the number of a condition.
    pub fn predicate(&mut self, predicate: &Predicate) -> Identity {
        let mut words = Vec::new();
        for part in &predicate.parts {
            match part {
                PredicatePart::Compare(function, a, b) => {
                    words.extend([0, u64::from(function.byte()), self.operand(a), self.operand(b)]);
                }
                PredicatePart::Not => words.push(1),
                PredicatePart::And => words.push(2),
                PredicatePart::Or => words.push(3),
                PredicatePart::Forgotten => words.push(4),
            }
        }
        self.number(Tag::Predicate, words)
    }

    /// Returns the number of an operand. A temporary has the number of its expression.
    pub fn operand(&mut self, operand: &Operand) -> Identity {
        if let Some(temporary) = self.renderer.temporary(operand) {
            return self.value(temporary.function, &temporary.sources);
        }
        match operand {
            Operand::Int(value) => self.number(Tag::Int, vec![value.cast_unsigned()]),
            Operand::Real(value) => self.number(Tag::Real, vec![value.to_bits()]),
            Operand::Mode => self.number(Tag::Mode, Vec::new()),
            Operand::Place(place) => self.place(place),
        }
    }

    /// Returns the number of a function's value. The verifier limits the number of functions in an expression.
    fn value(&mut self, function: Function, sources: &[Operand]) -> Identity {
        let mut words = vec![u64::from(function.byte())];
        words.extend(sources.iter().map(|source| self.operand(source)));
        self.number(Tag::Value, words)
    }

    fn place(&mut self, place: &Place) -> Identity {
        let mut words = self.base(place.base).to_vec();
        words.push(u64::from(place.adjoint));
        match place.index.as_deref() {
            None => {}
            Some(Index::One(term)) => words.extend(self.term(term)),
            Some(Index::Two(row, column)) => {
                words.extend(self.term(row));
                words.extend(self.term(column));
            }
        }
        self.number(Tag::Place, words)
    }

    fn base(&self, base: Base) -> [u64; 2] {
        match base {
            Base::Global(n) => [0, u64::from(n)],
            Base::Parameter(n) => [1, u64::from(n)],
            Base::Frame(n) => match self.counters.iter().position(|counter| *counter == n) {
                Some(depth) => [2, depth as u64],
                None => [3, u64::from(n)],
            },
        }
    }

    fn term(&mut self, term: &Term) -> [u64; 3] {
        let offset = term.offset.cast_unsigned();
        match term.cell {
            Some(cell) => [1, self.operand(&Operand::Place(Place::scalar(cell))), offset],
            None => [0, 0, offset],
        }
    }

    fn argument(&mut self, argument: &Argument) -> Identity {
        let slice = match argument {
            Argument::Scalar(operand) => return self.operand(operand),
            Argument::Slice(slice) => slice,
        };
        let mut words = self.base(slice.base).to_vec();
        match &slice.range {
            Range::Whole => words.push(0),
            Range::Span { from, to, step } => {
                words.extend([1, u64::from(*step)]);
                words.extend(self.term(from));
                words.extend(self.term(to));
            }
            Range::Row(term) => {
                words.push(2);
                words.extend(self.term(term));
            }
            Range::Column(term) => {
                words.push(3);
                words.extend(self.term(term));
            }
        }
        self.number(Tag::Slice, words)
    }
}
