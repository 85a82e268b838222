//! Names that the reversible text adds to those of the program: procedures, cells and constants.

use compact_str::CompactString;

use crate::names::FreshNames;

/// The names of the added procedures, cells and constants.
#[derive(Debug)]
pub struct AddedNames {
    /// Cells for part numbers: `at` is the part to run, `next` the one that runs after it.
    pub at: CompactString,
    pub next: CompactString,
    pub kept_at: CompactString,
    /// Constants: `last` is the number of the last state, `length` the number of rounds in a segment.
    pub last: CompactString,
    pub length: CompactString,
    pub load: CompactString,
    pub keep: CompactString,
    pub part: CompactString,
    pub round: CompactString,
    pub rounds: CompactString,
    pub segment: CompactString,
    pub level: CompactString,
    pub find: CompactString,
    /// The parameters and variables of the added procedures.
    pub source: CompactString,
    pub goal: CompactString,
    pub state: CompactString,
    pub many: CompactString,
    pub done: CompactString,
}

impl AddedNames {
    pub fn new(names: &mut FreshNames) -> AddedNames {
        let stems = ["part", "level"].map(|name| names.stem(name));
        let mut word = |name: &str| names.fresh(name);
        let [part, level] = stems;
        AddedNames {
            at: word("at"),
            next: word("next"),
            kept_at: CompactString::default(),
            last: word("LAST"),
            length: word("ROUNDS"),
            load: word("load"),
            keep: word("keep"),
            part,
            round: word("round_of"),
            rounds: word("run_rounds"),
            segment: word("segment"),
            level,
            find: word("find_rounds"),
            source: word("source"),
            goal: word("goal"),
            state: word("state"),
            many: word("many"),
            done: word("done"),
        }
    }

    /// Chooses the name of the array that holds the part number of each saved state. Called after the other arrays of
    /// saved values have been named.
    pub fn name_kept(&mut self, names: &mut FreshNames) {
        self.kept_at = names.fresh(&crate::state::kept_name(&self.at));
    }
}
