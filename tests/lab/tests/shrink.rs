//! The shrinker finds a small program in a large one.

use reviver_lab::generate::{Profile, program};
use reviver_lab::shrink::shrink;
use reviver_lab::subject::module;

use reviver_isa::update::Update;
use reviver_isa::{Function, Module};

/// Generates a program that satisfies `has`, and returns the smallest one that shrinking finds and that still
/// satisfies it.
fn smallest(has: fn(&Module) -> bool) -> String {
    let fails = |text: &str| module(text).is_ok_and(|module| has(&module));
    let texts =
        (0..).map(|seed| program(seed, &Profile { procedures: 3, statements: 20, ..Profile::plain() }));
    let text = texts.take(50).find(|text| fails(text)).unwrap();
    let small = shrink(&text, fails);
    assert!(fails(&small), "{small}");
    small
}

#[test]
fn shrinking_keeps_one_instruction() {
    let small = smallest(|module| module.code.iter().any(|i| i.function == Function::Atan2));
    // One line is the instruction. If its target isn't a register, another line declares it.
    assert!(small.lines().count() <= 2, "{small}");
}

#[test]
fn shrinking_a_call_keeps_its_procedure() {
    let small = smallest(|module| module.code.iter().any(|i| i.update == Update::Uncall));
    assert!(small.lines().count() <= 6, "{small}");
}

#[test]
fn shrinking_a_branch_keeps_its_partner() {
    let small = smallest(|module| {
        let is_taken = |update| module.code.iter().any(|i| i.update == update && i.function == Function::Lt);
        is_taken(Update::Br) || is_taken(Update::From)
    });
    assert!(small.lines().count() <= 4, "{small}");
}
