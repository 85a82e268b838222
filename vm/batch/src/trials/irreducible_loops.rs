//! Tests of loops with several entries. A switch must dispatch to the entries, results must have the same bits as on
//! the CPU, and the shader must count iterations.

use reviver_vm::{CheckLevel, Travel};

use super::device::{Budget, PLENTY, TrialPipeline};
use super::programs::{losses, program, shipped, whole, written};
use super::{gradients, runs};
use crate::dispatch::LaneStatus;
use crate::testing::device;

/// A loop that is entered in its middle if `odd` is 1.
const ENTERED_TWICE: &str = ".inout n, odd\n.out sum, j, k\n\
                             entry: br mid, odd == 1\n\
                             top: from again, k > 0\n add sum, 7\n add j, 1\n\
                             mid: from entry, j == 0\n add k, 1\n add sum, k\n\
                             again: br top, k < n\n";

/// The same computation as [`ENTERED_TWICE`] with structured control flow.
const STRUCTURED: &str = ".inout n, odd\n.out sum, j, k\n\
                          if odd != 1\n add sum, 7\n add j, 1\nfi j != 0\n add k, 1\n add sum, k\n\
                          for i in 1..n\n add sum, 7\n add j, 1\n add k, 1\n add sum, k\nrof\n";

/// A loop that ends in its middle if k equals m, and at its end if k isn't below n. In the backward direction, the loop
/// has two entries.
const LEFT_TWICE: &str = ".inout n default 3, m default 2\n.inout x: real default 1.5\n.out y: real, j, k\n\
                          again: from top, k > 0\n add k, 1\n add y, x * x\n\
                          mid: br out, k == m\n add j, 1\n add y, x\n\
                          top: br again, k < n\n\
                          out: from mid, k == m\n";

/// A variant of [`ENTERED_TWICE`] with reals, inside of another loop.
const OF_REALS: &str = ".inout n default 3\n.inout odd\n.inout x: real default 1.5\n.out y: real, j[4], k[4]\n\
                        for i in 0..4\n\
                        entry: br mid, odd == 1\n\
                        top: from again, k[i] > 0\n add y, x * x\n add j[i], 1\n\
                        mid: from entry, j[i] == 0\n add k[i], 1\n add y, x\n\
                        again: br top, k[i] < n\n\
                        rof\n";

const BOTH: [(Travel, CheckLevel); 3] = [
    (Travel::Forward, CheckLevel::Checked),
    (Travel::Forward, CheckLevel::Unchecked),
    (Travel::Backward, CheckLevel::Checked),
];

#[test]
fn a_loop_with_several_entries_agrees_with_the_interpreter() {
    let programs =
        [("entered", ENTERED_TWICE, 1, 0), ("left", LEFT_TWICE, 0, 1), ("in a loop", OF_REALS, 1, 0)];
    for (name, text, forward, backward) in programs {
        let program = program(text);
        for config in BOTH {
            let irreducible_loops = if config.0 == Travel::Forward { forward } else { backward };
            assert_eq!(
                written(&program, config.0, config.1).unwrap().irreducible_loops,
                irreducible_loops,
                "{name} {config:?}"
            );
            let found = runs::compared(&format!("{name} {config:?}"), &program, config, 40);
            let is_there = device().is_none() || config.0 == Travel::Backward || found[0] > 5;
            assert!(is_there, "{name} {config:?}: {found:?}");
        }
    }
}

#[test]
fn a_backward_run_that_enters_a_loop_in_two_places_restores_the_start() {
    let program = program(LEFT_TWICE);
    let directions = [Travel::Forward, Travel::Backward].map(|travel| {
        let shader = whole(&program, travel, CheckLevel::Checked).unwrap();
        TrialPipeline::new(&shader)
    });
    let [Some(forward), Some(backward)] = directions else { return };
    // Inputs and outputs are in the order of the declarations: n, m, x, y, j, k.
    let x = 1.5_f64.to_bits();
    let lanes: Vec<Vec<u64>> = (0..64).map(|lane| vec![lane / 8, lane % 8, x]).collect();
    let results = forward.run(&lanes, PLENTY);
    assert!(results.statuses.iter().all(|status| *status == LaneStatus::Finished));
    for iterations in [1, 8000] {
        let found = backward.run(&results.found, Budget { iterations, ..PLENTY });
        assert!(found.statuses.iter().all(|status| *status == LaneStatus::Finished));
        assert_eq!(found.found, lanes);
    }
}

#[test]
fn a_loop_with_several_entries_has_the_gradient_of_the_cpu() {
    for (name, text) in [("in a loop", OF_REALS), ("left", LEFT_TWICE)] {
        let program = program(text);
        let loss = losses(&program).into_iter().last().unwrap();
        let found = gradients::compared(name, &program, loss, 24);
        assert!(device().is_none() || found[0] > 5, "{name}: {found:?}");
    }
}

#[test]
fn a_loop_with_several_entries_agrees_with_a_structured_program() {
    let shaders = [ENTERED_TWICE, STRUCTURED]
        .map(|text| whole(&program(text), Travel::Forward, CheckLevel::Checked).unwrap());
    let [Some(irreducible_loops), Some(plain)] = shaders.each_ref().map(TrialPipeline::new) else { return };
    let lanes: Vec<Vec<u64>> = (0..64).map(|lane| vec![1 + lane / 2, lane % 2]).collect();
    let wanted = plain.run(&lanes, PLENTY);
    for iterations in [1, 5, 8000] {
        let found = irreducible_loops.run(&lanes, Budget { iterations, ..PLENTY });
        assert!(found.statuses.iter().all(|status| *status == LaneStatus::Finished));
        assert_eq!(found.found, wanted.found);
    }
}

#[test]
fn shipped_programs_are_reducible() {
    for (name, program) in shipped() {
        for travel in [Travel::Forward, Travel::Backward] {
            if let Ok(lanes) = written(&program, travel, CheckLevel::Checked) {
                assert_eq!(lanes.irreducible_loops, 0, "{name} {travel:?}");
            }
        }
    }
}
