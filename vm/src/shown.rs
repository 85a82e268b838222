//! The values that `show` shows, and how far a run has shown them: steps that are made again show nothing.

use std::fmt::Debug;

use reviver_isa::instruction::Class;
use reviver_isa::text::Speller;
use reviver_isa::update::OperandShape;
use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::state::values::Value;
use crate::travel::{Track, Travel};

/// A value that a `show` has shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownValue {
    /// The index of the instruction.
    pub at: u32,
    pub value: Value,
}

impl ShownValue {
    /// The value of a stop ([`crate::Stop::Shown`]).
    pub fn new(at: u32, class: Class, bits: u64) -> ShownValue {
        let value = match class {
            Class::Int => Value::Int(bits as i64),
            Class::Real => Value::Real(bits),
        };
        ShownValue { at, value }
    }

    /// The operand of the `show`, as the program's text names it.
    pub fn name(self, program: &Program) -> String {
        let module = program.module();
        let shows = module.code.get(self.at as usize).filter(|i| i.update.shape() == OperandShape::Show);
        let operand = shows.and_then(|instruction| instruction.operands.first());
        let procedure = module.procedures.get(program.procedure_of(self.at));
        let name = operand.zip(procedure);
        name.map_or(String::new(), |(operand, procedure)| Speller { module, procedure }.operand(operand))
    }
}

/// Receives the values that `show` shows, in the order of the run.
pub trait ShowSink: Debug + Send + Sync {
    /// Takes a value.
    ///
    /// # Errors
    /// The value can't be passed on, so the run is to end.
    fn show(&self, program: &Program, shown: ShownValue) -> Result<(), NotShown>;
}

/// A value that `show` shows couldn't be passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotShown;

/// The furthest steps at which `show` has shown a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownMark {
    /// The number of the step behind the furthest `show` of a run forward.
    pub step: i64,
    /// The same of the rules that a reverse sweep calls, by the number of steps in rules, which falls there.
    pub rule_step: i64,
}

impl ShownMark {
    /// Of a run that shows nothing.
    pub const SILENT: ShownMark = ShownMark { step: i64::MAX, rule_step: i64::MIN };

    /// The further of two marks, in each direction.
    #[must_use]
    pub fn further(self, other: ShownMark) -> ShownMark {
        ShownMark { step: self.step.max(other.step), rule_step: self.rule_step.min(other.rule_step) }
    }

    /// The mark for a state file. A silent run has shown nothing, so a run that goes on from the file begins with no mark.
    #[must_use]
    pub fn without_silence(self) -> ShownMark {
        let ShownMark { step, rule_step } = ShownMark::SILENT;
        ShownMark {
            step: if self.step == step { 0 } else { self.step },
            rule_step: if self.rule_step == rule_step { 0 } else { self.rule_step },
        }
    }

    /// The mark behind the next step of a state, if that step is a `show` and leads further. A run backward shows nothing but in rules, whose
    /// steps only gradient mode makes: to these its direction is the first one.
    pub(crate) fn behind(
        self,
        travel: Travel,
        track: Track,
        (step, rule_step): (i64, i64),
    ) -> Option<ShownMark> {
        match (travel, track) {
            (Travel::Forward, _) => (step >= self.step).then_some(ShownMark { step: step + 1, ..self }),
            (Travel::Backward, Track::Rules) => {
                (rule_step <= self.rule_step).then_some(ShownMark { rule_step: rule_step - 1, ..self })
            }
            (Travel::Backward, Track::Program) => None,
        }
    }
}
