//! The names of what the reversible text has besides the program's own: procedures, cells and constants.

use compact_str::CompactString;

use crate::names::FreshNames;

/// A name for each.
#[derive(Debug)]
pub struct AddedNames {
    /// The number of the part that comes next, and the one that a part leaves.
    pub at: CompactString,
    pub next: CompactString,
    pub kept_at: CompactString,
    /// Constants: the number of the last state, and of rounds in a segment.
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
    /// Parameters and variables of the above.
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

    /// The array for the numbers of parts is named with those of the state.
    pub fn name_kept(&mut self, names: &mut FreshNames) {
        self.kept_at = names.fresh(&crate::state::kept_name(&self.at));
    }
}
