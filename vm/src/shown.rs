//! Values that `show` prints, and their recipients.

use std::fmt::Debug;

use reviver_isa::instruction::Class;
use reviver_isa::text::TextRenderer;
use reviver_isa::update::OperandShape;

use crate::program::Program;
use crate::state::values::Value;

/// A value that a `show` has printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownValue {
    /// The index of the `show` instruction.
    pub at: u32,
    /// The value of the operand when the `show` was executed.
    pub value: Value,
}

impl ShownValue {
    /// Creates a shown value from the data of a stop ([`crate::Stop::Shown`]).
    pub fn new(at: u32, class: Class, bits: u64) -> ShownValue {
        let value = match class {
            Class::Int => Value::Int(bits as i64),
            Class::Real => Value::Real(bits),
        };
        ShownValue { at, value }
    }

    /// Returns the operand of the `show`, as named in the program's text.
    pub fn name(self, program: &Program) -> String {
        let module = program.module();
        let shows = module.code.get(self.at as usize).filter(|i| i.update.shape() == OperandShape::Show);
        let operand = shows.and_then(|instruction| instruction.operands.first());
        let procedure = module.procedures.get(program.procedure_of(self.at));
        let name = operand.zip(procedure);
        name.map_or(String::new(), |(operand, procedure)| TextRenderer { module, procedure }.operand(operand))
    }
}

/// A recipient of the values that `show` prints, in the order of the run.
pub trait ShowSink: Debug + Send + Sync {
    /// Receives a value.
    ///
    /// # Errors
    /// Fails if the value can't be passed on, so that the run must end.
    fn show(&self, program: &Program, shown: ShownValue) -> Result<(), NotShown>;
}

/// Error: the recipient of the values that `show` prints failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotShown;
