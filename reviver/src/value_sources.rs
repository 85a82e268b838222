//! The reals that the reverse sweep of a gradient uses, with their sources, by source line.

use reviver_compile::call::value_sources::{SweepValue, value_sources};
use reviver_isa::text::TextRenderer;
use reviver_vm::Program;

use super::loss::LossCell;
use super::places::place_of;

pub use reviver_compile::call::value_sources::ValueSource;

/// A real that the reverse sweep of a gradient uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedValue {
    /// The place of the statement, as `file:line`.
    pub place: String,
    /// The source line of the statement, if the program records it.
    pub line: Option<u32>,
    /// The value as text: the expression that a statement adds, or the cell that it changes.
    pub value: String,
    /// How the reverse sweep gets the value.
    pub source: ValueSource,
}

impl LossCell {
    /// Lists the reals that native code uses in the reverse sweep of this loss, in the order of the source lines. Returns
    /// `None` if no call function computes the gradient.
    ///
    /// A call function is one compiled function for both sweeps. It keeps a value only if the reverse sweep would
    /// compute the same bits, so no choice changes the gradient.
    pub fn used_values(&self) -> Option<Vec<UsedValue>> {
        let of = &self.shared.of;
        let seeded: Vec<usize> = self.seeds.iter().map(|seed| seed.cell).collect();
        let found = value_sources(&of.program, (self.shared.turn, of.level), &seeded)?;
        let structure = &of.program.module().structure;
        let mut found: Vec<SweepValue> = found.into_iter().collect();
        found.sort_by_key(|value| (structure.place(value.at).map(|place| (place.file, place.line)), *value));
        let mut used: Vec<UsedValue> =
            found.into_iter().filter_map(|value| spelled(&of.program, &of.name, value)).collect();
        used.dedup();
        Some(used)
    }
}

fn spelled(program: &Program, file: &str, found: SweepValue) -> Option<UsedValue> {
    let SweepValue { at, source, is_target } = found;
    let module = program.module();
    let instruction = module.code.get(at as usize)?;
    let procedure = module.procedures.get(program.procedure_of(at))?;
    let renderer = TextRenderer { module, procedure };
    let value = match is_target {
        true => renderer.operand(instruction.operands.first()?),
        false => renderer.value_of(instruction),
    };
    let place = place_of(file, &module.structure, at);
    Some(UsedValue { place, line: module.structure.line(at), value, source })
}
