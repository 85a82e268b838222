//! A gradient on cells that no machine has, because whoever makes its steps needs none: what has to be done where it turns, and whether what
//! has come back is the start. Both are what a machine is asked ([`super::TurnedPass`]), but here nobody says what is wrong: then a machine
//! begins anew. Makes no step.

use reviver_flow::layout::MODE;

use crate::program::Program;
use crate::state::State;
use crate::watch::Watch;

use super::astray::{largest, vouched};
use super::seeds::{SeededCell, SumSize};

/// The cells of a program that stands in main, where no call is open.
#[derive(Debug)]
pub struct BareCells<'c> {
    pub ints: &'c mut [i64],
    pub reals: &'c mut [u64],
    /// One for each real.
    pub adjoints: &'c mut [u64],
}

/// Where a way there has ended, for the ways back of several losses. The default is for ways that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct BareTurn {
    /// The greatest magnitude of a number here and at the start.
    largest: f64,
}

impl BareTurn {
    /// Where watched cells have come to from a start.
    #[inline]
    pub fn new(program: &Program, start: &State, reals: &[u64]) -> BareTurn {
        BareTurn { largest: largest(program, &start.reals).max(largest(program, reals)) }
    }

    /// Switches gradient mode on, and seeds the adjoints, all of which are 0. `values` receives the bits of the seeded cells.
    #[inline]
    pub fn round(cells: &mut BareCells, seeds: &[SeededCell], values: &mut [u64]) {
        cells.ints.get_mut(MODE).into_iter().for_each(|mode| *mode = 1);
        for (seed, value) in seeds.iter().zip(values) {
            cells.adjoints.get_mut(seed.cell).into_iter().for_each(|adjoint| *adjoint = seed.seed);
            *value = cells.reals.get(seed.cell).copied().unwrap_or_default();
        }
    }

    /// Whether the way back, which in floats made as many steps as the way there, was that: then by how much the seeded sum of another start may differ
    /// ([`super::Trust::loss_error`]). In floats somebody has watched both ways.
    #[inline]
    pub fn vouched(
        self,
        program: &Program,
        start: &State,
        cells: &BareCells,
        watch: Option<&Watch>,
        sum: SumSize,
    ) -> Option<f64> {
        vouched(program, start, (cells.ints, cells.reals, cells.adjoints), watch, (self.largest, sum))
    }
}
