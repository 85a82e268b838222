//! Inputs and results of a run from the user's view: required cells, default values, and the order of tapes. The module
//! parses no text.
//!
//! Users see a tape in the order of the program's forward run: the first entry is the entry that is read or written
//! first. The inverse of a program ([`reviver_isa::Module::inverse`]) reverses both tapes, because it reads the last
//! entries first. So the same text denotes the same tape for a program that runs backward and for its inverse that runs
//! forward.

use reviver_isa::module::{Global, Role};

use crate::allocation::OutOfMemory;
use crate::program::Program;
use crate::state::State;
use crate::state::values;
use crate::travel::Travel;

/// One of the two tapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tape {
    /// The tape that a forward run reads.
    Input,
    /// The tape that a forward run writes.
    Output,
}

impl Tape {
    /// Returns the tape that is given to a run in this direction.
    pub fn given(travel: Travel) -> Tape {
        match travel {
            Travel::Forward => Tape::Input,
            Travel::Backward => Tape::Output,
        }
    }

    /// Returns the tape that a run in this direction produces.
    pub fn resulting(travel: Travel) -> Tape {
        Tape::given(travel.reversed())
    }
}

impl Program {
    /// Converts the entries of a tape from the order in the state to the user's order, or back. Both
    /// conversions are the same.
    pub fn in_text_order<T>(&self, tape: Tape, mut entries: Vec<T>) -> Vec<T> {
        if self.order_is_reversed(tape) {
            entries.reverse();
        }
        entries
    }

    /// Returns the index in the state's tape of the `n`th entry in the user's order, for a tape with `count`
    /// entries.
    pub fn index_in_text(&self, tape: Tape, count: usize, n: usize) -> usize {
        if self.order_is_reversed(tape) { count.saturating_sub(n + 1) } else { n }
    }

    /// Returns true if the user's order is the reverse of the order in the state. In the state, the last entry of the
    /// input tape is read next, and the last entry of the output tape was written last.
    fn order_is_reversed(&self, tape: Tape) -> bool {
        (tape == Tape::Input) != self.module().inverse
    }

    /// Returns true if a cell with this role is an input of a run in this direction: inputs forward, results
    /// backward.
    pub fn takes(&self, role: Role, travel: Travel) -> bool {
        match travel {
            Travel::Forward => role.is_given(),
            Travel::Backward => role.is_result(),
        }
    }

    /// Returns true if a run in this direction needs all its inputs. A backward run needs all inputs, because a default
    /// may be a result that no forward run produces. A run of an inverse program needs all inputs, too, because its
    /// inputs are results.
    pub fn needs_everything(&self, travel: Travel) -> bool {
        travel == Travel::Backward || self.module().inverse
    }

    /// Returns the globals that a run in this direction needs, but that are neither in `given` nor have a `default`,
    /// with their numbers.
    pub fn missing(&self, given: &[usize], travel: Travel) -> Vec<(usize, &Global)> {
        let needed = self.left_out(given, travel);
        needed.filter(|(_, global)| !has_default(global, travel)).collect()
    }

    /// Returns the globals that aren't in `given`, and for which a run that needs all its inputs uses the `default`.
    pub fn assumed(&self, given: &[usize], travel: Travel) -> Vec<(usize, &Global)> {
        let needed = self.left_out(given, travel);
        needed.filter(|(_, global)| has_default(global, travel)).collect()
    }

    fn left_out(&self, given: &[usize], travel: Travel) -> impl Iterator<Item = (usize, &Global)> {
        let globals = self.module().globals.iter().enumerate();
        globals.filter(move |(n, global)| {
            self.needs_everything(travel) && self.takes(global.role, travel) && !given.contains(n)
        })
    }

    /// Sets a cell to its `default`, if it has one.
    ///
    /// # Errors
    /// Fails if there is no memory for the values of a stack.
    pub fn give_default(&self, state: &mut State, global: usize) -> Result<(), OutOfMemory> {
        values::set_default(self, state, global)
    }
}

/// Returns true if the `default` applies in this direction. A `default` is the value at the program's start. An
/// `.inout` global is an input and a result, so its `default` is also used as its result.
fn has_default(global: &Global, travel: Travel) -> bool {
    global.default.is_some() && (travel == Travel::Forward || global.role == Role::InOut)
}
