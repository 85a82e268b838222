//! Checks that the tests of this directory detect every mutant of a row.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reviver_isa::mutants::list::ALL;
use reviver_isa::mutants::{Mutant, Rule, with_active};
use reviver_isa::{Function, Update};

use crate::{bytes, derivatives, edges, integers, reals, systems, updates};

/// Returns the tests that must detect a mutant. Returns `None` if the machine's tests must detect it, or if
/// its row isn't in a release yet, so that tests may be missing.
fn relevant_tests(mutant: Mutant) -> Option<Box<dyn Fn()>> {
    Some(match mutant {
        Mutant::Value(function, _) if !bytes::is_frozen(function) => return None,
        Mutant::Value(function, _) => Box::new(move || {
            if integers::functions().any(|f| f == function) {
                integers::check_function(function);
            }
            reals::check_function(function);
            edges::check_function(function);
        }),
        Mutant::Partial(function, _) => Box::new(move || derivatives::check_function(function)),
        Mutant::Inverse(..) => Box::new(bytes::check_inverses),
        Mutant::Effect(update) => Box::new(move || updates::check_update(update)),
        Mutant::Broken(Rule::WordsWrap) => Box::new(systems::check_wrapping),
        Mutant::Broken(_) => return None,
    })
}

#[test]
fn every_mutant_of_a_row_is_noticed() {
    let silent = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let unnoticed: Vec<Mutant> = ALL
        .iter()
        .copied()
        .filter(|&mutant| {
            relevant_tests(mutant)
                .is_some_and(|tests| with_active(mutant, || catch_unwind(AssertUnwindSafe(tests)).is_ok()))
        })
        .collect();
    std::panic::set_hook(silent);
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}

#[test]
fn every_row_has_a_mutant() {
    for &function in Function::ALL {
        assert!(ALL.iter().any(|mutant| matches!(mutant, Mutant::Value(f, _) if *f == function)));
    }
    for &update in Update::ALL {
        let inverse = ALL.iter().find_map(|mutant| match mutant {
            Mutant::Inverse(mutated, wrong) if *mutated == update => Some(*wrong),
            _ => None,
        });
        assert!(inverse.is_some_and(|wrong| wrong != update.inverse()), "{update:?}");
    }
}

#[test]
fn a_mutant_is_active_only_within() {
    let add = || Update::Add.inverse();
    let mutant = Mutant::Inverse(Update::Add, Update::Add);
    assert_eq!(with_active(mutant, add), Update::Add);
    assert_eq!(add(), Update::Sub);
    let silent = catch_unwind(|| with_active(mutant, || panic!("on purpose")));
    assert!(silent.is_err());
    assert_eq!(add(), Update::Sub);
    let elsewhere = with_active(mutant, || std::thread::spawn(add).join());
    assert_eq!(elsewhere.ok(), Some(Update::Sub));
}
