//! The cells that gradients are found in without a machine: those of the program, which become those of a start again and again, and behind them
//! those of calls that code puts in place. They take as much memory as the machine's, and those that a Jacobian remembers as much again. Knows no code.

use reviver_vm::State;
use reviver_vm::differentiate::SeededCell;
use reviver_vm::differentiate::bare::{BareCells, BareTurn};
use reviver_vm::room::{self, OutOfMemory};
use reviver_vm::watch::Watch;

use crate::form::{Demands, FIRST_RECORD};
use crate::run::CellMemory;

/// Cells, and what is watched of them, in memory that serves again and again.
#[derive(Debug, Default)]
pub struct BareRoom {
    ints: Vec<i64>,
    reals: Vec<u64>,
    adjoints: Vec<u64>,
    /// The bits of the seeded cells where the last gradient turned.
    values: Vec<u64>,
    references: Vec<i64>,
    /// How many integers and reals are the program's; those behind are of calls in place.
    own: [usize; 2],
    /// What is seen of the ways, where somebody watches.
    watch: Option<Watch>,
    /// What all of that was where gradients turn, for the ways back of further losses.
    turned: TurnedRoom,
}

/// The program's integers and reals, and what was seen.
#[derive(Debug, Default)]
struct TurnedRoom {
    ints: Vec<i64>,
    reals: Vec<u64>,
    watch: Option<Watch>,
}

impl BareRoom {
    /// Makes the cells those of a start, and room for what some ways demand.
    ///
    /// # Errors
    /// There is no memory for that.
    pub(crate) fn begin(
        &mut self,
        start: &State,
        ways: [Demands; 2],
        is_watched: bool,
    ) -> Result<(), OutOfMemory> {
        let most = |of: fn(&Demands) -> u32| ways.iter().map(of).max().unwrap_or(0) as usize;
        self.own = [start.ints.len(), start.reals.len()];
        let reals = start.reals.len() + most(|way| way.frame_reals);
        room::resize(&mut self.ints, start.ints.len() + most(|way| way.frame_ints))?;
        room::resize(&mut self.reals, reals)?;
        room::resize(&mut self.adjoints, reals)?;
        room::resize(&mut self.references, most(|way| FIRST_RECORD + way.references))?;
        self.watch = is_watched.then(Watch::default);
        room::copy(&mut self.ints, &start.ints);
        room::copy(&mut self.reals, &start.reals);
        self.vacate();
        Ok(())
    }

    /// Whether it has all cells that code names which demands this.
    pub(crate) fn has_room_for(&self, demands: Demands) -> bool {
        let [ints, reals] = self.own;
        let reals = reals + demands.frame_reals as usize;
        self.ints.len() >= ints + demands.frame_ints as usize
            && self.reals.len() >= reals
            && self.adjoints.len() >= reals
            && self.references.len() >= (FIRST_RECORD + demands.references) as usize
    }

    /// Makes the cells of calls what they are before any is open.
    fn vacate(&mut self) {
        let [ints, reals] = self.own;
        room::zero(self.ints.get_mut(ints..).unwrap_or_default());
        room::zero(self.reals.get_mut(reals..).unwrap_or_default());
    }

    /// Makes all adjoints 0, and the cells of calls what they are before any is open.
    pub(crate) fn turn(&mut self) {
        self.vacate();
        room::zero(&mut self.adjoints);
    }

    /// Remembers the program's cells, and what was seen.
    ///
    /// # Errors
    /// There is no memory for that.
    pub(crate) fn remember(&mut self) -> Result<(), OutOfMemory> {
        let BareRoom { ints, reals, own, watch, turned, .. } = self;
        room::resize(&mut turned.ints, own[0])?;
        room::resize(&mut turned.reals, own[1])?;
        room::copy(&mut turned.ints, ints.get(..own[0]).unwrap_or_default());
        room::copy(&mut turned.reals, reals.get(..own[1]).unwrap_or_default());
        turned.watch.clone_from(watch);
        Ok(())
    }

    /// Makes everything what was remembered, and turns.
    pub(crate) fn return_to_turn(&mut self) {
        room::copy(&mut self.ints, &self.turned.ints);
        room::copy(&mut self.reals, &self.turned.reals);
        self.watch.clone_from(&self.turned.watch);
        self.turn();
    }

    /// All cells, for code, and what watches them.
    pub(crate) fn memory(&mut self) -> (CellMemory<'_>, Option<&mut Watch>) {
        let BareRoom { ints, reals, adjoints, references, watch, .. } = self;
        (CellMemory { ints, reals, adjoints, references, ..CellMemory::default() }, watch.as_mut())
    }

    /// The cells of the program.
    pub(crate) fn cells(&mut self) -> BareCells<'_> {
        self.cells_and_watch().0
    }

    /// Switches gradient mode on, seeds the adjoints, and keeps the values of the seeded cells.
    ///
    /// # Errors
    /// There is no memory for the values.
    pub(crate) fn seed(&mut self, seeds: &[SeededCell]) -> Result<(), OutOfMemory> {
        let mut values = std::mem::take(&mut self.values);
        room::resize(&mut values, seeds.len())?;
        BareTurn::round(&mut self.cells(), seeds, &mut values);
        self.values = values;
        Ok(())
    }

    /// The same, and what was seen.
    pub(crate) fn cells_and_watch(&mut self) -> (BareCells<'_>, Option<&Watch>) {
        let [ints, reals] = self.own;
        let cells = BareCells {
            ints: self.ints.get_mut(..ints).unwrap_or_default(),
            reals: self.reals.get_mut(..reals).unwrap_or_default(),
            adjoints: self.adjoints.get_mut(..reals).unwrap_or_default(),
        };
        (cells, self.watch.as_ref())
    }

    /// The bits of the seeded cells where the last gradient turned.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// What was seen of the last ways, where somebody watched.
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// The adjoint of each of the program's reals.
    pub fn adjoints(&self) -> &[u64] {
        self.adjoints.get(..self.own[1]).unwrap_or_default()
    }
}
