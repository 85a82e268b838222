//! States in lifted numbers: a plain state becomes one of constants, with other coefficients put in.

use crate::interp::engine::Interpreted;
use crate::room::OutOfMemory;
use crate::state::State;

/// The state in lifted numbers, all constants.
///
/// # Errors
/// There is no memory for it.
pub fn lift<B: Interpreted>(state: &State) -> Result<State<B>, OutOfMemory> {
    state.try_map(B::of_word)
}
