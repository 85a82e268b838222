//! Values of operands in a state. The temporary cell of an expression is 0 except while its statement is executed. So
//! the value isn't read from the temporary: the expression is evaluated again. The state is never changed.

use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Class, Index, Operand, Place, Term};
use reviver_isa::number::{PlainValue, evaluate, literal_bits};
use reviver_isa::structure::Temporary;
use reviver_isa::verify::classes::conversion;

use crate::program::Program;
use crate::state::lookup::cell_of;
use crate::state::values::Value;
use crate::state::{MODE, State};

/// An evaluator for the operands of an instruction in a state.
#[derive(Clone, Copy)]
pub struct Valued<'a> {
    /// The program that the operands belong to.
    pub program: &'a Program,
    /// The state that the values are read from.
    pub state: &'a State,
    /// The index of the instruction to which the operands belong, in the innermost open procedure.
    pub at: u32,
}

impl Valued<'_> {
    /// Returns the value of an operand; `None` if it has no value, for example because an index is out of bounds.
    pub fn value(&self, operand: &Operand) -> Option<Value> {
        if let Some(temporary) = self.temporary(operand) {
            return self.computed(temporary);
        }
        match operand {
            Operand::Int(value) => Some(Value::Int(*value)),
            Operand::Real(value) => Some(Value::Real(literal_bits(self.program.module().real, *value))),
            Operand::Mode => self.state.ints.get(MODE).map(|&mode| Value::Int(mode)),
            Operand::Place(_) => match self.cell(operand)? {
                (Class::Int, cell) => self.state.ints.get(cell as usize).map(|&value| Value::Int(value)),
                (Class::Real, cell) => self.state.real_at(cell).map(Value::Real),
            },
        }
    }

    /// Returns the class and the address of an operand's cell. Indices that are expressions are evaluated.
    pub fn cell(&self, operand: &Operand) -> Option<(Class, u32)> {
        cell_of(self.program, self.state, self.at, &self.with_indices(operand)?)
    }

    /// Returns the operands in the text on which an operand depends: for a temporary, the operands of its expression;
    /// otherwise the operand itself.
    pub fn parts(&self, operand: &Operand) -> Vec<Operand> {
        match self.temporary(operand) {
            Some(temporary) => temporary.sources.iter().flat_map(|source| self.parts(source)).collect(),
            None => vec![operand.clone()],
        }
    }

    /// Returns the expression whose value the operand holds; `None` if the operand isn't a temporary.
    pub(super) fn temporary(&self, operand: &Operand) -> Option<&Temporary> {
        match operand {
            Operand::Place(Place { base: Base::Frame(variable), adjoint: false, index: None }) => {
                let procedure = self.program.procedure_of(self.at) as u32;
                self.program.module().structure.temporary(procedure, *variable)
            }
            _ => None,
        }
    }

    /// Returns the operand with each index expression replaced by its value.
    fn with_indices(&self, operand: &Operand) -> Option<Operand> {
        let Operand::Place(Place { base, adjoint, index: Some(index) }) = operand else {
            return Some(operand.clone());
        };
        let index = match **index {
            Index::One(a) => Index::One(self.with_number(a)?),
            Index::Two(a, b) => Index::Two(self.with_number(a)?, self.with_number(b)?),
        };
        Some(Operand::Place(Place { base: *base, adjoint: *adjoint, index: Some(Box::new(index)) }))
    }

    fn with_number(&self, term: Term) -> Option<Term> {
        let cell = term.cell.map(|cell| Operand::Place(Place::scalar(cell)));
        let Some(temporary) = cell.as_ref().and_then(|cell| self.temporary(cell)) else { return Some(term) };
        match self.computed(temporary)? {
            Value::Int(value) => Some(Term { cell: None, offset: value.checked_add(term.offset)? }),
            Value::Real(_) => None,
        }
    }

    fn computed(&self, temporary: &Temporary) -> Option<Value> {
        let module = self.program.module();
        let owner = module.procedures.get(temporary.procedure as usize)?;
        let class = owner.frame.get(temporary.variable as usize)?.class;
        let sources: Vec<Value> =
            temporary.sources.iter().map(|source| self.value(source)).collect::<Option<_>>()?;
        applied(self.program, temporary.function, class, &sources)
    }
}

/// Applies a function in the program's number system; returns `None` if there is no value.
fn applied(program: &Program, function: Function, result: Class, sources: &[Value]) -> Option<Value> {
    let module = program.module();
    let sources: Vec<PlainValue> = sources
        .iter()
        .map(|source| match source {
            Value::Int(value) => PlainValue::Int(*value),
            Value::Real(bits) => PlainValue::Real(*bits),
        })
        .collect();
    let classes: Vec<Class> = sources.iter().map(|source| source.class()).collect();
    let signature = conversion(function, result, &classes).ok()?;
    evaluate((module.word, module.real), (function, signature), &sources).ok().map(|value| match value {
        PlainValue::Int(value) => Value::Int(value),
        PlainValue::Real(bits) => Value::Real(bits),
    })
}
