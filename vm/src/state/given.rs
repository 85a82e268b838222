//! What a run is given and what it leaves, as people tell it: which cells must be given, what stands in
//! for those that aren't, and the order of tapes. Knows no text.
//!
//! A tape is told in the order of the program's own way forward: what is read first, and what was
//! written first, comes first. The inverse of a program ([`reviver_isa::Module::inverse`]) tells both
//! tapes the other way round, because it reads last things first: so a text means the same tape to a
//! program that runs backward and to its inverse that runs forward.

use reviver_isa::module::{Global, Role};

use crate::program::Program;
use crate::room::OutOfMemory;
use crate::state::State;
use crate::state::values;
use crate::travel::Travel;

/// One of the two tapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tape {
    Input,
    Output,
}

impl Tape {
    /// The tape that a run in this direction starts with.
    pub fn given(travel: Travel) -> Tape {
        match travel {
            Travel::Forward => Tape::Input,
            Travel::Backward => Tape::Output,
        }
    }

    /// The tape that a run in this direction leaves.
    pub fn resulting(travel: Travel) -> Tape {
        Tape::given(travel.reversed())
    }
}

impl Program {
    /// The entries of a tape, from the order in which they lie in a state to the order in which they are
    /// told, or from there to the state's: it is the same exchange.
    pub fn told<T>(&self, tape: Tape, mut entries: Vec<T>) -> Vec<T> {
        if self.tells_reversed(tape) {
            entries.reverse();
        }
        entries
    }

    /// The place in a state's tape of the entry that is told as the `n`th, of so many.
    pub fn told_at(&self, tape: Tape, count: usize, n: usize) -> usize {
        if self.tells_reversed(tape) { count.saturating_sub(n + 1) } else { n }
    }

    /// The end of the input tape is read next, the end of the output tape was written last.
    fn tells_reversed(&self, tape: Tape) -> bool {
        (tape == Tape::Input) != self.module().inverse
    }

    /// Whether a run in this direction is given a cell: inputs forward, results backward.
    pub fn takes(&self, role: Role, travel: Travel) -> bool {
        match travel {
            Travel::Forward => role.is_given(),
            Travel::Backward => role.is_result(),
        }
    }

    /// Whether nothing may be left out of what a run in this direction is given. Backward a result that
    /// isn't given would be a result that the program never had; the inverse program runs on results too.
    pub fn needs_everything(&self, travel: Travel) -> bool {
        travel == Travel::Backward || self.module().inverse
    }

    /// The cells that a run in this direction can't do without: nobody has given them, and no `default`
    /// stands in for them. `given` are those that were.
    pub fn missing(&self, given: &[usize], travel: Travel) -> Vec<(usize, &Global)> {
        let needed = self.left_out(given, travel);
        needed.filter(|(_, global)| !has_default(global, travel)).collect()
    }

    /// The cells that weren't given to a run which needs everything, and for which their `default` stands.
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

    /// Puts the `default` of a cell in place, if it has one.
    ///
    /// # Errors
    /// There is no memory for the values of a stack.
    pub fn give_default(&self, state: &mut State, global: usize) -> Result<(), OutOfMemory> {
        values::set_default(self, state, global)
    }
}

/// A `default` says what a program is given at its start. It also stands for the result of an `.inout`,
/// which is declared as one thing that is there at both ends: a key, say.
fn has_default(global: &Global, travel: Travel) -> bool {
    global.default.is_some() && (travel == Travel::Forward || global.role == Role::InOut)
}
