//! Compares runs of lanes with the interpreter. Outputs and step counts must be the same, unless the lane fails.

use std::sync::Arc;

use reviver_compile::compiled_run::{CompiledRun, RunBuffers, RunEnd};
use reviver_compile::evaluate::Evaluator;
use reviver_compile::op::Space;
use reviver_compile::start::RunStart;
use reviver_isa::number::literal_bits;
use reviver_lab::rng::Rng;
use reviver_vm::state::State;
use reviver_vm::values::Value;
use reviver_vm::{CheckLevel, Machine, Program, Stop, Travel};

use super::device::{Budget, PLENTY, Ran, TrialPipeline};
use super::programs::{LONGEST, cells, program, random, shipped, start, whole};
use crate::dispatch::LaneStatus;
use crate::lanes::ShaderCell;
use crate::testing::device;

/// The result that the interpreter computes for a lane.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectedOutcome {
    Finished {
        words: Vec<u64>,
        steps: u64,
    },
    /// The program traps or leaves garbage.
    Fails,
    /// The step limit is exceeded.
    OutOfSteps,
}

/// Returns a copy of a state, with a lane's inputs in their cells.
pub fn with_inputs(start: &State, cells: &[ShaderCell], words: &[u64]) -> State {
    let mut state = start.try_clone().unwrap();
    for (cell, &word) in cells.iter().zip(words) {
        match cell.space {
            Space::Ints => state.ints[cell.address] = word as i64,
            Space::Reals => state.reals[cell.address] = word,
            _ => unreachable!(),
        }
    }
    state
}

/// Returns input words for `count` lanes. The first lane has the inputs of the initial state, the others similar
/// ones.
pub fn lanes(program: &Program, start: &State, cells: &[ShaderCell], count: usize) -> Vec<Vec<u64>> {
    let mut rng = Rng::new(11);
    let (unused, system) = (64 - program.module().word.bits(), program.module().real);
    let word = |rng: &mut Rng, lane: usize, cell: &ShaderCell| match cell.space {
        Space::Ints => {
            let by = if lane == 0 { 0 } else { rng.within(-1..=3) };
            let value = start.ints[cell.address].wrapping_add(by);
            ((value << unused) >> unused) as u64
        }
        _ if lane == 0 => start.reals[cell.address],
        _ => {
            let near = program.approximate(Value::Real(start.reals[cell.address]));
            literal_bits(system, near + rng.within(-1000..=1000) as f64 / 4096.0)
        }
    };
    (0..count).map(|lane| cells.iter().map(|cell| word(&mut rng, lane, cell)).collect()).collect()
}

/// Executes the interpreter from a state, with at most `most` steps.
fn interpreted(
    program: &Arc<Program>,
    state: State,
    outputs: &[ShaderCell],
    (travel, most): (Travel, u64),
) -> ExpectedOutcome {
    let mut machine = Machine::resume(program.clone(), state, None);
    let bound = if travel == Travel::Forward { program.end() } else { program.begin() };
    loop {
        let left = most - machine.state().step.unsigned_abs();
        match machine.run(travel, left) {
            Ok(Stop::Bound) => break,
            Ok(Stop::Budget) if machine.state().position == bound && machine.state().calls.is_empty() => {
                break;
            }
            Ok(Stop::Budget) => return ExpectedOutcome::OutOfSteps,
            Ok(Stop::Shown { .. } | Stop::Interrupted) => {}
            Err(_) => return ExpectedOutcome::Fails,
        }
    }
    let state = machine.state();
    if !program.garbage(state, travel).is_empty() {
        return ExpectedOutcome::Fails;
    }
    ExpectedOutcome::Finished {
        words: outputs.iter().map(|cell| word(state, cell)).collect(),
        steps: state.step.unsigned_abs(),
    }
}

/// Executes a compiled run, whose code restores cells instead of uncomputing them.
fn elided(
    program: &Arc<Program>,
    compiled_run: Option<&CompiledRun>,
    state: State,
    outputs: &[ShaderCell],
) -> Option<Vec<u64>> {
    let mut machine = Machine::resume(program.clone(), state.try_clone().ok()?, None);
    let start = RunStart::new(program, state)?;
    let end = compiled_run?.run_from(&start, &mut machine, &mut RunBuffers::default(), MOST).ok()?;
    assert_eq!(end, RunEnd::Finished);
    Some(outputs.iter().map(|cell| word(machine.state(), cell)).collect())
}

fn word(state: &State, cell: &ShaderCell) -> u64 {
    match cell.space {
        Space::Ints => state.ints[cell.address] as u64,
        _ => state.reals[cell.address],
    }
}

/// Returns the number of lanes that have finished, and asserts that each of them has the expected results. At the
/// unchecked level, a lane that should fail may have any outcome.
pub fn arrived(what: &str, ran: &Ran, expected: &[ExpectedOutcome], level: CheckLevel) -> usize {
    let mut arrived = 0;
    for (lane, expected) in expected.iter().enumerate() {
        match (ran.statuses[lane], expected) {
            (LaneStatus::Finished, ExpectedOutcome::Finished { words, steps }) => {
                assert_eq!((&ran.found[lane], ran.steps[lane]), (words, *steps), "{what}, lane {lane}");
                arrived += 1;
            }
            (LaneStatus::OutOfSteps, ExpectedOutcome::OutOfSteps) | (LaneStatus::Failed, _) => {}
            (_, ExpectedOutcome::Fails) if !level.is_checked() => {}
            (found, expected) => panic!("{what}, lane {lane}: {found:?}, and {expected:?} was expected"),
        }
    }
    arrived
}

/// A step limit that most lanes don't reach.
const MOST: u64 = 300_000;

/// Compares lanes of a run, with several budgets. Returns the number of lanes that finished, and the number of lanes
/// that should have finished.
pub fn compared(
    what: &str,
    program: &Arc<Program>,
    (travel, level): (Travel, CheckLevel),
    count: usize,
) -> [usize; 2] {
    let Ok(shader) = whole(program, travel, level) else { return [0, 0] };
    if shader.wgsl.len() > LONGEST && std::env::var_os("REVIVER_CAMPAIGN").is_none() {
        println!("{what}: {} bytes are checked only in a campaign", shader.wgsl.len());
        return [0, 0];
    }
    let start = start(program, travel);
    let takes = cells(program, |role| program.takes(role, travel));
    let outputs = cells(program, |role| match travel {
        Travel::Forward => role.is_result(),
        Travel::Backward => role.is_given(),
    });
    let lanes = lanes(program, start.state(), &takes, count);
    let state = |words: &Vec<u64>| with_inputs(start.state(), &takes, words);
    let mut expected: Vec<ExpectedOutcome> =
        lanes.iter().map(|words| interpreted(program, state(words), &outputs, (travel, MOST))).collect();
    if !level.is_checked() && !program.module().real.is_exact() {
        // Unchecked code restores saved values instead of uncomputing, so its rounding errors differ from the
        // interpreter's. The expected result is that of unchecked CPU code.
        let compiled_run = CompiledRun::new(program, &Evaluator, travel, level);
        for (words, expected) in lanes.iter().zip(&mut expected) {
            if let ExpectedOutcome::Finished { words: found, .. } = expected {
                *found = elided(program, compiled_run.as_ref(), state(words), &outputs).unwrap_or_default();
            }
        }
    }
    let Some(pipeline) = TrialPipeline::new(&shader) else { return [0, 0] };
    let ran = pipeline.run(&lanes, Budget { most_steps: MOST, ..PLENTY });
    let found = arrived(what, &ran, &expected, level);
    // A lane that is suspended several times has the same results.
    let steps = |outcome: &ExpectedOutcome| match outcome {
        ExpectedOutcome::Finished { steps, .. } => *steps,
        ExpectedOutcome::Fails | ExpectedOutcome::OutOfSteps => MOST,
    };
    if expected.iter().map(steps).max().unwrap_or(0) < 300 {
        for iterations in [1, 3] {
            let again = pipeline.run(&lanes, Budget { iterations, most_steps: MOST });
            assert_eq!(again.statuses, ran.statuses, "{what}, {iterations} rounds");
            // The number of steps of a failed lane is undefined.
            let has_steps = |lane: &usize| ran.statuses[*lane] != LaneStatus::Failed;
            for lane in (0..lanes.len()).filter(has_steps) {
                assert_eq!(again.steps[lane], ran.steps[lane], "{what}, {iterations} rounds, lane {lane}");
            }
            assert_eq!(arrived(what, &again, &expected, level), found);
        }
    }
    let due = expected.iter().filter(|outcome| matches!(outcome, ExpectedOutcome::Finished { .. })).count();
    [found, due]
}

/// Compares lanes of shipped programs in one direction. `remainder` selects the programs whose index has this remainder
/// modulo 2; `None` selects all programs. Each direction has its own test, so that the tests run in parallel.
/// Compilation takes most of the time, so only a campaign runs every program in every direction.
fn compare_shipped_programs(travel: Travel, level: CheckLevel, remainder: Option<usize>) {
    let mut all = [0, 0];
    let remainder = remainder.filter(|_| std::env::var_os("REVIVER_CAMPAIGN").is_none());
    let chosen = shipped().into_iter().enumerate().filter(|(n, _)| remainder.is_none_or(|r| n % 2 == r));
    for (_, (name, program)) in chosen {
        let own = compared(&format!("{name} {travel:?} {level:?}"), &program, (travel, level), 9);
        println!("{name}: {} of {} lanes", own[0], own[1]);
        all = [0, 1].map(|n| all[n] + own[n]);
    }
    println!("{all:?}");
    assert!(device().is_none() || all[0] > if remainder.is_some() { 30 } else { 50 });
}

#[test]
fn lanes_of_shipped_programs_agree_with_the_interpreter() {
    compare_shipped_programs(Travel::Forward, CheckLevel::Checked, None);
}

#[test]
fn unchecked_lanes_of_shipped_programs_agree_with_the_interpreter() {
    compare_shipped_programs(Travel::Forward, CheckLevel::Unchecked, Some(0));
}

#[test]
fn backward_lanes_of_shipped_programs_agree_with_the_interpreter() {
    compare_shipped_programs(Travel::Backward, CheckLevel::Checked, Some(1));
}

#[test]
fn lanes_of_random_programs_agree_with_the_interpreter() {
    let mut all = [0, 0];
    for seed in 0..reviver_lab::campaign::programs(200) {
        let Some(program) = random(seed) else { continue };
        let level = if seed % 4 == 3 { CheckLevel::Unchecked } else { CheckLevel::Checked };
        let travel = if seed % 3 == 2 { Travel::Backward } else { Travel::Forward };
        let found = compared(&format!("seed {seed}"), &program, (travel, level), 64);
        all = [0, 1].map(|n| all[n] + found[n]);
    }
    println!("{all:?}");
    assert!(device().is_none() || all[0] > 10);
}

/// A loop over 0..n. The input n is the lane's number of iterations.
const ROUNDS: &str = ".inout n\n.out sum\nfor i in 0..n\n    add sum, i\n    xor sum, 5\nrof\n";

#[test]
fn a_lane_of_a_million_iterations_runs_with_lanes_of_one() {
    let program = program(ROUNDS);
    let shader = whole(&program, Travel::Forward, CheckLevel::Checked).unwrap();
    let Some(pipeline) = TrialPipeline::new(&shader) else { return };
    let lanes: Vec<Vec<u64>> =
        (0..200).map(|lane| vec![if lane == 77 { 1_000_000 } else { lane % 3 }]).collect();
    let ran = pipeline.run(&lanes, PLENTY);
    let sum = |n: u64| (0..n).fold(0_u64, |sum, i| sum.wrapping_add(i) ^ 5);
    for (lane, words) in lanes.iter().enumerate() {
        assert_eq!(ran.statuses[lane], LaneStatus::Finished);
        assert!(ran.found[lane].contains(&sum(words[0])), "lane {lane}: {:?}", ran.found[lane]);
    }
}

#[test]
fn the_limit_of_steps_is_exact() {
    let program = program(ROUNDS);
    let shader = whole(&program, Travel::Forward, CheckLevel::Checked).unwrap();
    let Some(pipeline) = TrialPipeline::new(&shader) else { return };
    let lanes = vec![vec![0], vec![1], vec![10], vec![100]];
    let steps = pipeline.run(&lanes, PLENTY).steps;
    for (lane, &most_steps) in steps.iter().enumerate() {
        for iterations in [1, 7, 8000] {
            let ran = pipeline.run(&lanes, Budget { iterations, most_steps });
            assert_eq!(ran.statuses[lane], LaneStatus::Finished);
            let ran = pipeline.run(&lanes, Budget { iterations, most_steps: most_steps - 1 });
            assert_eq!(ran.statuses[lane], LaneStatus::OutOfSteps);
        }
    }
}

#[test]
fn lanes_diverge() {
    let program = program(
        ".inout n, k\n.out a, b\nfor i in 0..n\n if i > k\n  for j in 0..i\n   add a, j\n  rof\n else\n  \
         add b, 3\n  if b > 20\n   add b, i\n  fi b > 20\n fi i > k\nrof\n",
    );
    let found = compared("ways", &program, (Travel::Forward, CheckLevel::Checked), 100);
    assert_eq!(found[0], found[1]);
}
