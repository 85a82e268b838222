//! Laws of reversible programs, over a corpus of random ones. A failure prints law, seed and a shrunk program.
//!
//! `REVIVER_CAMPAIGN=20000 cargo test --workspace --test machine laws::` checks that many programs by each law;
//! `REVIVER_CAMPAIGN=20000..30000` checks the programs of these seeds.

use reviver_lab::campaign::{judge, judge_corners, seeds, subject};
use reviver_lab::coverage::{Coverage, gradients, outcomes, places, rows, stacks};
use reviver_lab::laws::{self, ALL};
use reviver_lab::run::LONGEST;

/// Number of programs for each law outside of campaigns.
const CORPUS: u64 = 800;

macro_rules! laws {
    ($($test:ident: $law:literal)+) => {
        $(
            #[test]
            fn $test() {
                let law = laws::named($law).unwrap();
                judge_corners(law);
                judge(law, seeds(CORPUS));
            }
        )+

        #[test]
        fn every_law_is_tested() {
            let judged = [$($law),+];
            assert!(ALL.iter().all(|law| judged.contains(&law.name)));
        }
    };
}

laws! {
    there_and_back: "there and back"
    any_walk: "any walk arrives at the same state"
    resume_anywhere: "a run resumes from every saved state"
    traps_change_nothing: "a trap changes nothing"
    begun_at_the_end: "a run can begin at the end"
    no_history: "exact numbers need no history"
    history_is_silent: "a history changes nothing forward"
    shown_once: "what is shown is shown once"
    erasures: "every erasure is counted"
    calls: "every call is counted"
    erasures_are_final: "without a history, erasures are final"
    pairing: "tangents and adjoints stay paired"
    values_come_back: "gradient mode leaves values alone"
    adjoints_come_back: "adjoints come back"
    turning: "a gradient turns early enough"
    histories_agree: "a gradient needs no history"
    strategies: "all strategies find the same gradient"
    strategies_lead_back: "all strategies lead back"
    unchecked_runs: "unchecked runs come to the same"
    unchecked_gradients: "unchecked gradients are the same"
    hessians: "Hessians are symmetric"
    confined_gradients: "a gradient by a few numbers is that by all"
    certain: "what is certain comes about"
    oracle_agrees: "the oracle agrees"
    inverse_undoes: "the inverse program undoes the program"
    both_ways_back: "both ways back take the same tape"
    inverse_twice: "inverting twice is nothing"
    disassembly: "disassembling and assembling is nothing"
    formatting: "formatting changes no program"
}

/// The corpus is meaningful only if it covers everything, and most programs complete.
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
