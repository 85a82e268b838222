//! Laws: properties of every program. Each law is a function that returns an error with a sentence if a program
//! violates it. This module knows no generator.

mod activity;
mod certain;
mod counting;
mod driver;
mod gradient;
mod motion;
mod oracle;
mod second_order;
mod strategies;
pub(crate) mod text;
mod unchecked;

use crate::subject::Subject;

/// Law with its name.
#[derive(Clone, Copy)]
pub struct Law {
    pub name: &'static str,
    pub check: fn(&Subject) -> Result<(), String>,
}

/// All laws of programs.
pub const ALL: &[Law] = &[
    Law { name: "there and back", check: motion::there_and_back },
    Law { name: "any walk arrives at the same state", check: motion::any_walk },
    Law { name: "a run resumes from every saved state", check: motion::resume_anywhere },
    Law { name: "a trap changes nothing", check: motion::traps_change_nothing },
    Law { name: "a run can begin at the end", check: motion::begun_at_the_end },
    Law { name: "exact numbers need no history", check: motion::no_history },
    Law { name: "a history changes nothing forward", check: motion::history_is_silent },
    Law { name: "what is shown is shown once", check: counting::shown_once },
    Law { name: "every erasure is counted", check: counting::erasures },
    Law { name: "every call is counted", check: counting::calls },
    Law { name: "without a history, erasures are final", check: counting::erasures_are_final },
    Law { name: "tangents and adjoints stay paired", check: gradient::pairing },
    Law { name: "gradient mode leaves values alone", check: gradient::values_come_back },
    Law { name: "adjoints come back", check: gradient::adjoints_come_back },
    Law { name: "a gradient needs no history", check: driver::histories_agree },
    Law { name: "a gradient turns early enough", check: driver::turning_is_early_enough },
    Law { name: "all strategies find the same gradient", check: strategies::gradients_agree },
    Law { name: "all strategies lead back", check: strategies::ways_back_agree },
    Law { name: "unchecked runs come to the same", check: unchecked::runs },
    Law { name: "unchecked gradients are the same", check: unchecked::gradients },
    Law { name: "Hessians are symmetric", check: second_order::hessians },
    Law { name: "a gradient by a few numbers is that by all", check: activity::confined },
    Law { name: "what is certain comes about", check: certain::comes_about },
    Law { name: "the oracle agrees", check: oracle::agrees },
    Law { name: "the inverse program undoes the program", check: text::inverse_undoes },
    Law { name: "both ways back take the same tape", check: text::both_ways_back },
    Law { name: "inverting twice is nothing", check: text::inverse_twice },
    Law { name: "disassembling and assembling is nothing", check: text::disassembly },
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
