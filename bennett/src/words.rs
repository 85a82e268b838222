//! Names that the reversible text adds to those of the program: procedures, cells and constants.

use compact_str::CompactString;

use reviver_assembler::keep::names::UnusedNames;

/// The names of the added procedures, cells and constants.
#[derive(Debug)]
pub struct AddedNames {
    /// The cell with the number of the part to run.
    pub at: CompactString,
    /// The cell with the number of the part that runs after part `at`.
    pub next: CompactString,
    pub kept_at: CompactString,
    /// The constant with the number of the last state.
    pub last: CompactString,
    /// The constant with the number of rounds in a segment.
    pub length: CompactString,
    pub load: CompactString,
    pub keep: CompactString,
    pub part: CompactString,
    pub round: CompactString,
    pub rounds: CompactString,
    pub segment: CompactString,
    pub level: CompactString,
    pub find: CompactString,
    /// The parameter with the number of the state from which a segment starts.
    pub source: CompactString,
    /// The parameter with the number of the state that a segment computes.
    pub goal: CompactString,
    /// The parameter with the number of the state to copy.
    pub state: CompactString,
    /// The parameter with the number of rounds in a segment.
    pub many: CompactString,
    /// The variable with the number of executed rounds.
    pub done: CompactString,
}

impl AddedNames {
    pub fn new(names: &mut UnusedNames) -> AddedNames {
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
    pub fn name_kept(&mut self, names: &mut UnusedNames) {
        self.kept_at = names.fresh(&crate::state::kept_name(&self.at));
    }
}
