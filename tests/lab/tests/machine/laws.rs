//! Laws of reversible programs, checked on random programs. A failure prints law, seed and a shrunk program.
//!
//! `REVIVER_CAMPAIGN=20000 cargo test --workspace --test machine laws::` checks that many programs by each law;
//! `REVIVER_CAMPAIGN=20000..30000` checks the programs of these seeds.

use reviver_assembler::optimize::Pass;
use reviver_lab::campaign::{check_corners, check_law, seeds, subject};
use reviver_lab::coverage::{Coverage, gradients, outcomes, places, rows, stacks};
use reviver_lab::laws::{self, ALL};
use reviver_lab::run::LONGEST;

/// Number of random programs for each law, except in campaigns.
const CORPUS: u64 = 800;

macro_rules! laws {
    ($($test:ident: $law:literal)+) => {
        $(
            #[test]
            fn $test() {
                let law = laws::named($law).unwrap();
                check_corners(law);
                check_law(law, seeds(CORPUS));
            }
        )+

        #[test]
        fn every_law_is_tested() {
            let tested = [$($law),+];
            assert!(ALL.iter().all(|law| tested.contains(&law.name)));
        }
    };
}

laws! {
    round_trip: "a round trip restores the state"
    any_motions: "every sequence of motions reaches the same state"
    resume_anywhere: "a run resumes from every saved state"
    traps_change_nothing: "a trap changes nothing"
    runs_from_the_end: "a run can begin at the end"
    no_history: "exact numbers need no history"
    history_changes_nothing: "a history changes nothing forward"
    shown_once: "values are shown once"
    erasures: "every erasure is counted"
    calls: "every call is counted"
    erasures_are_final: "without a history, erasures are final"
    pairing: "tangents and adjoints stay paired"
    gradient_mode_keeps_values: "gradient mode leaves values unchanged"
    adjoints_are_restored: "adjoints are restored"
    turning_point: "the turning point is early enough"
    histories_agree: "a gradient needs no history"
    strategies: "all strategies give the same gradient"
    strategies_run_backward: "all strategies run backward to the start"
    unchecked_runs: "unchecked runs have the same results"
    unchecked_gradients: "unchecked gradients are the same"
    hessians: "Hessians are symmetric"
    series: "derivatives along directions are the interpreter's"
    confined_gradients: "a gradient by some inputs equals that by all"
    certain_findings: "findings of the static analysis are correct"
    emission: "a gradient as a program is the gradient"
    own_gradients: "own gradients are the same as statements"
    tangents: "tangents as a program are those of dual numbers"
    optimization: "optimization preserves results"
    oracle_agrees: "the oracle agrees"
    inverse_undoes: "the inverse program undoes the program"
    backward_tapes_agree: "backward runs and inverse programs take the same tape"
    inverting_twice: "inverting twice is the identity"
    disassembly: "disassembling and assembling is the identity"
    formatting: "formatting changes no program"
}

/// Checks that the random programs cover the whole language, and that most of them complete. Otherwise the laws would
/// mean little.
#[test]
fn the_corpus_covers_everything() {
    let mut coverage = Coverage::default();
    let mut arrived = 0;
    for seed in 0..CORPUS {
        arrived += u64::from(coverage.watch(subject(seed).machine(true), LONGEST).arrived());
    }
    let missing = coverage.missing([rows(), outcomes(), places(), gradients(), stacks()].concat());
    assert!(missing.is_empty(), "never exercised by {CORPUS} programs: {missing:#?}");
    assert!(arrived * 2 >= CORPUS, "only {arrived} of {CORPUS} programs arrive at their end");
    let percent = coverage.percent_in_gradient_mode();
    assert!(percent >= 10, "only {percent} % of the steps on reals are made in gradient mode");
}

/// The law of gradients as programs compares enough gradients to mean something: it holds for all programs that trap, or
/// whose gradients can't be written as programs.
#[test]
fn many_gradients_are_compared_as_programs() {
    let compared: usize = (0..200).map(|seed| laws::emission::compared(&subject(seed)).unwrap()).sum();
    assert!(compared >= 40, "only {compared} gradients of 200 programs were compared");
}

/// The same for gradients that programs compute themselves.
#[test]
fn many_own_gradients_are_compared_as_statements() {
    let compared = (0..800).filter(|seed| laws::own_gradients::compared(&subject(*seed)).unwrap()).count();
    assert!(compared >= 40, "only {compared} of 800 programs were compared");
}

/// The same for derivatives along directions.
#[test]
fn many_tangents_are_compared_as_programs() {
    let compared: usize = (0..200).map(|seed| laws::tangents::compared(&subject(seed)).unwrap()).sum();
    assert!(compared >= 40, "only {compared} tangents of 200 programs were compared");
}

/// Each pass of the optimizer changes enough programs for its law to mean something.
#[test]
fn every_pass_changes_programs() {
    let passes: Vec<Pass> =
        (0..1000).filter_map(|seed| laws::optimization::compared(&subject(seed)).unwrap()).collect();
    // No random program multiplies by an inverse.
    for pass in Pass::ALL.into_iter().filter(|it| *it != Pass::Divisions) {
        let count = passes.iter().filter(|it| **it == pass).count();
        assert!(count >= 1, "`{}` changes none of 1000 programs", pass.name());
    }
}
