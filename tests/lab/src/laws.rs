//! Laws: properties that every program has. A law is a function that checks a program, and returns a sentence if the
//! program violates it. Laws don't depend on the program generator.

mod activity;
mod certain;
mod counting;
pub mod emission;
mod gradient;
mod gradient_history;
mod motion;
pub mod optimization;
mod oracle;
pub mod own_gradients;
mod second_order;
mod series;
mod strategies;
pub mod tangents;
pub(crate) mod text;
mod unchecked;

use crate::subject::Subject;

/// A law, with its name.
#[derive(Clone, Copy)]
pub struct Law {
    pub name: &'static str,
    pub check: fn(&Subject) -> Result<(), String>,
}

/// All laws of programs.
pub const ALL: &[Law] = &[
    Law { name: "a round trip restores the state", check: motion::round_trip },
    Law { name: "every sequence of motions reaches the same state", check: motion::any_motions },
    Law { name: "a run resumes from every saved state", check: motion::resume_anywhere },
    Law { name: "a trap changes nothing", check: motion::traps_change_nothing },
    Law { name: "a run can begin at the end", check: motion::runs_from_the_end },
    Law { name: "exact numbers need no history", check: motion::no_history },
    Law { name: "a history changes nothing forward", check: motion::history_changes_nothing },
    Law { name: "values are shown once", check: counting::shown_once },
    Law { name: "every erasure is counted", check: counting::erasures },
    Law { name: "every call is counted", check: counting::calls },
    Law { name: "without a history, erasures are final", check: counting::erasures_are_final },
    Law { name: "tangents and adjoints stay paired", check: gradient::pairing },
    Law { name: "gradient mode leaves values unchanged", check: gradient::gradient_mode_keeps_values },
    Law { name: "adjoints are restored", check: gradient::adjoints_are_restored },
    Law { name: "a gradient needs no history", check: gradient_history::histories_agree },
    Law { name: "the turning point is early enough", check: gradient_history::turning_point },
    Law { name: "all strategies give the same gradient", check: strategies::gradients_agree },
    Law { name: "all strategies run backward to the start", check: strategies::backward_runs_agree },
    Law { name: "unchecked runs have the same results", check: unchecked::runs },
    Law { name: "unchecked gradients are the same", check: unchecked::gradients },
    Law { name: "Hessians are symmetric", check: second_order::hessians },
    Law { name: "derivatives along directions are the interpreter's", check: series::along_directions },
    Law { name: "a gradient by some inputs equals that by all", check: activity::confined },
    Law { name: "findings of the static analysis are correct", check: certain::findings_are_correct },
    Law { name: "a gradient as a program is the gradient", check: emission::emitted_gradients },
    Law { name: "own gradients are the same as statements", check: own_gradients::own_gradients },
    Law { name: "tangents as a program are those of dual numbers", check: tangents::emitted_tangents },
    Law { name: "optimization preserves results", check: optimization::results_stay },
    Law { name: "the oracle agrees", check: oracle::agrees },
    Law { name: "the inverse program undoes the program", check: text::inverse_undoes },
    Law { name: "backward runs and inverse programs take the same tape", check: text::backward_tapes_agree },
    Law { name: "inverting twice is the identity", check: text::inverting_twice },
    Law { name: "disassembling and assembling is the identity", check: text::disassembly },
    Law { name: "formatting changes no program", check: text::formatting },
];

/// Returns the law with a name.
pub fn named(name: &str) -> Option<Law> {
    ALL.iter().copied().find(|law| law.name == name)
}

/// Returns an error unless both values are equal.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, expected {expected:?}")) }
}
