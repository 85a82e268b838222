//! Accesses of statements to memory: the declarations, stacks and tapes that a statement reads or changes. A call also
//! accesses the globals, stacks and tapes of its callee. Nothing is executed.

use std::collections::BTreeSet;

use reviver_isa::effects::{Effects, accessed_store};
use reviver_isa::instruction::{
    Argument, Base, Call, Class, Index, Instruction, Link, Operand, Place, Range, Slice, Term,
};
use reviver_isa::module::{Module, Passing, Procedure};
use reviver_isa::text::TextRenderer;
use reviver_isa::update::{OperandShape, Store};

/// A part of memory that is one line of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A declaration: a cell or a whole array, or its adjoints.
    Declared { base: Base, adjoint: bool },
    /// A stack or a tape. A tape has values of both classes, and is recorded with the class of integers.
    Store(Store, Class),
    /// The bit that selects gradient mode.
    Mode,
}

/// An array element with constant indices: one index for a vector, two for a matrix.
pub type ConstantElement = (i64, Option<i64>);

/// An access of a statement to a part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub part: Part,
    /// The accessed element; `None` for a scalar, for several elements, and for an index known only in a run.
    pub element: Option<ConstantElement>,
    pub changes: bool,
}

/// Lookup of the accesses of a procedure's statements.
pub struct Accesses<'p> {
    pub module: &'p Module,
    pub procedure: &'p Procedure,
    pub effects: &'p Effects,
}

impl Accesses<'_> {
    /// Returns the accesses of an instruction, in the order of its operands.
    pub fn of(&self, instruction: &Instruction) -> Vec<Access> {
        let mut found = Vec::new();
        let targets = instruction.update.shape().targets();
        for (n, operand) in instruction.operands.iter().enumerate() {
            self.operand(operand, n < targets, &mut found);
        }
        let store = accessed_store(self.module, self.procedure, instruction);
        found.extend(store.map(|store| changed(stored(store))));
        if instruction.update.shape() == OperandShape::Switch {
            found.push(changed(Part::Mode));
        }
        if let Link::Calls(calls) = &instruction.link {
            calls.iter().for_each(|call| self.call(call, &mut found));
        }
        found
    }

    /// Returns the accesses that read the given operands, such as those of a condition.
    pub fn read<'o>(&self, operands: impl IntoIterator<Item = &'o Operand>) -> Vec<Access> {
        let mut found = Vec::new();
        operands.into_iter().for_each(|operand| self.operand(operand, false, &mut found));
        found
    }

    fn operand(&self, operand: &Operand, changes: bool, found: &mut Vec<Access>) {
        let renderer = TextRenderer { module: self.module, procedure: self.procedure };
        let (mut open, mut seen) = (vec![operand], BTreeSet::new());
        while let Some(operand) = open.pop() {
            match (renderer.temporary(operand), operand) {
                // A temporary is replaced by the sources of its expression.
                (Some(temporary), _) => {
                    if seen.insert(temporary.variable) {
                        open.extend(temporary.sources.iter().rev());
                    }
                }
                (None, Operand::Place(place)) => self.place(place, changes, found),
                (None, Operand::Mode) => found.push(Access { part: Part::Mode, element: None, changes }),
                (None, Operand::Int(_) | Operand::Real(_)) => {}
            }
        }
    }

    fn place(&self, place: &Place, changes: bool, found: &mut Vec<Access>) {
        let part = Part::Declared { base: place.base, adjoint: place.adjoint };
        let element = place.index.as_deref().and_then(constant);
        self.declared(Access { part, element, changes }, found);
        place.index.iter().flat_map(|index| index.terms()).for_each(|term| self.term(term, found));
    }

    /// Adds an access to a declaration. Parameters that pass lengths are constants, so they are omitted.
    fn declared(&self, access: Access, found: &mut Vec<Access>) {
        let is_length = match access.part {
            Part::Declared { base: Base::Parameter(n), .. } => {
                self.procedure.parameters.get(n as usize).is_some_and(|parameter| parameter.is_length())
            }
            _ => false,
        };
        if !is_length {
            found.push(access);
        }
    }

    fn term(&self, term: &Term, found: &mut Vec<Access>) {
        if let Some(cell) = term.cell {
            self.operand(&Operand::Place(Place::scalar(cell)), false, found);
        }
    }

    fn call(&self, call: &Call, found: &mut Vec<Access>) {
        let callee = self.module.procedures.get(call.procedure as usize);
        let parameters = callee.map_or(&[][..], |callee| &callee.parameters);
        for (argument, parameter) in call.arguments.iter().zip(parameters) {
            let changes = parameter.passing == Passing::InOut;
            match argument {
                _ if parameter.is_length() => {}
                Argument::Scalar(operand) => self.operand(operand, changes, found),
                Argument::Slice(slice) => self.slice(slice, changes, found),
            }
        }
        let global = |n| Part::Declared { base: Base::Global(n), adjoint: false };
        found.extend(self.effects.of_call(call.procedure).map(|n| changed(global(n))));
        let named = self.effects.named_by(call.procedure);
        found.extend(named.map(|n| Access { part: global(n), element: None, changes: false }));
        found.extend(self.effects.stores_of(call.procedure).iter().map(|store| changed(stored(*store))));
    }

    fn slice(&self, slice: &Slice, changes: bool, found: &mut Vec<Access>) {
        let part = Part::Declared { base: slice.base, adjoint: false };
        self.declared(Access { part, element: None, changes }, found);
        match &slice.range {
            Range::Whole => {}
            Range::Span { from, to, .. } => [from, to].into_iter().for_each(|term| self.term(term, found)),
            Range::Row(term) | Range::Column(term) => self.term(term, found),
        }
    }
}

fn changed(part: Part) -> Access {
    Access { part, element: None, changes: true }
}

fn stored((store, class): (Store, Class)) -> Part {
    Part::Store(store, if store == Store::Stack { class } else { Class::Int })
}

/// Returns the element of an index that contains no cells.
fn constant(index: &Index) -> Option<ConstantElement> {
    let offset = |term: &Term| term.cell.is_none().then_some(term.offset);
    match index {
        Index::One(term) => Some((offset(term)?, None)),
        Index::Two(row, column) => Some((offset(row)?, Some(offset(column)?))),
    }
}
