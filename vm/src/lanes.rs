//! The words that the bits of a real consist of: one in plain number systems, several in lifted
//! ones. Chooses the interpreter's loop that was compiled for them. Knows no arithmetic.

use std::fmt::Debug;

use crate::history::Residues;
use crate::program::Program;
use crate::reports::Reports;
use crate::room::OutOfMemory;
use crate::state::State;
use crate::trap::Trap;
use crate::travel::{Leg, Stop};
use crate::window::Window;

/// Bits of a real as a machine stores them.
pub trait Lanes: Copy + Default + PartialEq + Debug + Send + Sync + 'static {
    /// The bits whose first word is this one, the others 0.
    fn of_word(word: u64) -> Self;
    /// A word; 0 where there is none.
    fn lane(self, n: usize) -> u64;
    /// The same bits with another word in one place, if there is that place.
    fn with_lane(self, n: usize, word: u64) -> Self;

    /// The first word: the primal value.
    fn word(self) -> u64 {
        self.lane(0)
    }

    /// Looks at a state in plain numbers: the first word of every real.
    ///
    /// # Errors
    /// There is no memory for it, where it is another state.
    fn plainly<T>(state: &State<Self>, look: impl FnOnce(&State) -> T) -> Result<T, OutOfMemory>;

    /// Makes the steps of a leg, keeping residues where a history is given.
    ///
    /// # Errors
    /// A trap; the state is then the one before the instruction that trapped.
    fn execute(
        program: &Program,
        state: &mut State<Self>,
        history: Option<&mut Residues<Self>>,
        reports: &mut Reports,
        window: &mut Window,
        leg: Leg,
    ) -> Result<Stop, Trap>;
}

#[cfg(test)]
mod tests {
    use super::Lanes;

    #[test]
    fn there_are_no_lanes_beyond_the_last() {
        let series = <[u64; 3]>::of_word(2).with_lane(1, 5);
        assert_eq!([0, 1, 2, 3].map(|n| series.lane(n)), [2, 5, 0, 0]);
        assert_eq!(series.with_lane(3, 1), series);
        assert_eq!(series.word(), 2);
        assert_eq!((7_u64.lane(0), 7_u64.lane(1), 7_u64.with_lane(1, 9)), (7, 0, 7));
    }
}
