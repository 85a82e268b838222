//! Conversion of plain states to states over dual or Taylor numbers: every number becomes a constant, and further
//! coefficients are set afterwards.

use crate::allocation::OutOfMemory;
use crate::interp::engine::Interpreted;
use crate::state::State;

/// Converts a state to dual or Taylor numbers, with all derivatives 0.
///
/// # Errors
/// A memory request was refused.
pub fn series_state<B: Interpreted>(state: &State) -> Result<State<B>, OutOfMemory> {
    state.try_map(B::of_word)
}
