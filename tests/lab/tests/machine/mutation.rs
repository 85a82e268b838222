//! Mutation tests of the laws. Each mutant is a fault in a row or a rule of the machine, which some law must detect
//! on some program. A surviving mutant shows a gap in the tests.
//!
//! `cargo test --workspace --features mutants --test machine mutation::` takes a minute or two. Without the feature
//! there are no mutants.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use reviver_isa::mutants::list::ALL;
use reviver_isa::mutants::{Mutant, with_active};
use reviver_isa::{Function, Update};
use reviver_lab::engine::{self, Engine};
use reviver_lab::generate::{Profile, program};
use reviver_lab::known::UNKNOWN;
use reviver_lab::laws;
use reviver_lab::subject::Subject;
use reviver_lab::{campaign, corners};

/// Number of generated programs for each mutant.
const PROGRAMS: u64 = 150;

/// Returns true if some law can detect the mutant. The laws don't cover the value of `always`, because the machine
/// recognizes `always` by its name and never evaluates it. The laws don't cover rows that the oracle doesn't support
/// yet, either. Separate tests cover `always` and these rows.
fn concerns_the_machine(mutant: Mutant) -> bool {
    match mutant {
        Mutant::Value(function, _) => function != Function::Always && !UNKNOWN.functions.contains(&function),
        Mutant::Effect(update) => !UNKNOWN.updates.contains(&update),
        Mutant::Partial(..) | Mutant::Inverse(..) | Mutant::Broken(_) => true,
    }
}

/// Returns the texts in the order in which a mutant is tested: first those that name its row, because most of them
/// detect it.
fn ordered(mutant: Mutant, texts: &[String]) -> Vec<&String> {
    let row = match mutant {
        Mutant::Value(function, _) | Mutant::Partial(function, _) => Some(function.name()),
        Mutant::Effect(update) | Mutant::Inverse(update, _) => Some(update.name()),
        Mutant::Broken(_) => None,
    };
    let names_row = |text: &&String| row.is_some_and(|row| text.contains(row));
    let (first, rest): (Vec<&String>, Vec<&String>) = texts.iter().partition(names_row);
    [first, rest].concat()
}

/// Returns a sentence about the first law that fails on a text, or `None` if all laws hold.
fn noticed(engine: Engine, texts: &[&String]) -> Option<String> {
    if Update::ALL.iter().any(|update| update.inverse().inverse() != *update) {
        return Some("an inverse is not mutual".into());
    }
    texts.iter().enumerate().find_map(|(n, text)| {
        let Ok(Ok(subject)) = catch_unwind(|| Subject::on(engine, text)) else {
            return Some(format!("program {n} is refused"));
        };
        let broken = laws::ALL.iter().find(|law| campaign::verdict(**law, &subject).is_err());
        broken.map(|law| format!("program {n} breaks \"{}\"", law.name))
    })
}

/// Returns the texts on which laws are checked. Corner cases are first, because they are short and detect most
/// mutants.
fn texts() -> Vec<String> {
    let generated = (0..PROGRAMS).map(|seed| program(seed, &Profile::of_seed(seed)));
    corners::all().into_iter().map(|(_, text)| text).chain(generated).collect()
}

/// Returns the mutants that no law detects.
fn survivors(engine: Engine, mutants: &[Mutant], texts: &[String]) -> Vec<Mutant> {
    let next = AtomicUsize::new(0);
    let survivors = Mutex::new(Vec::new());
    let work = || {
        while let Some(&mutant) = mutants.get(next.fetch_add(1, Ordering::Relaxed)) {
            if with_active(mutant, || noticed(engine, &ordered(mutant, texts))).is_none() {
                survivors.lock().unwrap().push(mutant);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    survivors.into_inner().unwrap()
}

#[test]
fn every_mutant_is_noticed() {
    let texts = texts();
    let silent: Vec<&Mutant> = ALL.iter().filter(|&&mutant| !concerns_the_machine(mutant)).collect();
    println!("of {} mutants the laws aren't asked about {silent:?}", ALL.len());
    for &engine in engine::ALL {
        let on = engine.name;
        let all: Vec<&String> = texts.iter().collect();
        assert_eq!(noticed(engine, &all), None, "the laws fail on {on} without any mutant");
        let concerning = ALL.iter().copied().filter(|&mutant| concerns_the_machine(mutant));
        let mutants: Vec<Mutant> = engine.share(concerning).collect();
        // Mutants cause many panics in the machine. Their messages are suppressed, because they would hide the list
        // of survivors.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let survivors = catch_unwind(AssertUnwindSafe(|| survivors(engine, &mutants, &texts)));
        std::panic::set_hook(hook);
        let survivors = survivors.unwrap();
        let (lived, all) = (survivors.len(), mutants.len());
        assert!(survivors.is_empty(), "{lived} of {all} mutants survive on {on}: {survivors:#?}");
    }
}
