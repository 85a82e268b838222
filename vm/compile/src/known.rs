//! Known contents of single cells at the entry of an SSA function. [`crate::left`] infers them from the function that runs
//! before. This module knows no SSA function.

use std::sync::Arc;

use reviver_isa::instruction::Class;
use reviver_vm::State;

/// A cell, by class and address.
pub(crate) type CellPlace = (Class, u32);

/// Cells with known bits. Clones share the storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KnownCells(Option<Arc<[(CellPlace, u64)]>>);

impl KnownCells {
    /// Returns the bits of a cell, if they are known.
    pub fn bits(&self, class: Class, cell: u32) -> Option<u64> {
        let cells = self.0.as_deref()?;
        let found = cells.binary_search_by_key(&(class, cell), |(place, _)| *place).ok()?;
        cells.get(found).map(|(_, bits)| *bits)
    }

    /// Returns true if a state's cells hold the known bits.
    pub fn hold_in(&self, state: &State) -> bool {
        let holds = |&((class, cell), bits): &(CellPlace, u64)| match class {
            Class::Int => state.ints.get(cell as usize).is_some_and(|&held| held as u64 == bits),
            Class::Real => state.reals.get(cell as usize) == Some(&bits),
        };
        self.0.iter().flat_map(|cells| cells.iter()).all(holds)
    }
}

impl FromIterator<(CellPlace, u64)> for KnownCells {
    /// Collects cells, which must be sorted by place and distinct.
    fn from_iter<I: IntoIterator<Item = (CellPlace, u64)>>(cells: I) -> KnownCells {
        let mut cells = cells.into_iter().peekable();
        KnownCells(cells.peek().is_some().then(|| cells.collect()))
    }
}
