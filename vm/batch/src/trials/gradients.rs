//! Compares gradients of lanes with those of the CPU. Both must have the same bits, unless the lane fails. A lane must
//! fail if the CPU recomputes the gradient with a history, or warns about the result.

use std::sync::Arc;

use reviver_compile::op::Space;
use reviver_isa::number::literal_bits;
use reviver_vm::differentiate::{DifferentiateError, SeededCell, Subject, early_turn, seeded_gradient};
use reviver_vm::{CheckLevel, Program, Travel};

use super::device::{Budget, PLENTY, Ran, TrialPipeline};
use super::programs::{LONGEST, cells, gradient, gradients, losses, program, random, seeded, shipped, start};
use super::runs::{ExpectedOutcome, arrived, lanes, with_inputs};
use crate::dispatch::LaneStatus;
use crate::lanes::{LaneRunKind, LanesRequest, RequestedNumber, ShaderCell, lane_shader};
use crate::no_shader::NoShader;
use crate::shader::LaneShader;
use crate::testing::device;

/// A step limit that most lanes don't reach.
const MOST: u64 = 300_000;

/// Returns the result that the CPU computes for a lane.
fn expected(
    program: &Arc<Program>,
    seeds: &[SeededCell],
    inputs: &[ShaderCell],
    words: &[u64],
) -> ExpectedOutcome {
    let state = with_inputs(start(program, Travel::Forward).state(), inputs, words);
    let Ok(subject) = Subject::new(program.clone(), state, false, MOST) else {
        return ExpectedOutcome::Fails;
    };
    let found = match seeded_gradient(&subject, seeds) {
        Ok(found) => found,
        Err(DifferentiateError::StepLimit { .. }) => return ExpectedOutcome::OutOfSteps,
        Err(_) => return ExpectedOutcome::Fails,
    };
    if found.verification_report.recomputed.is_some() || !found.verification_report.reports.is_empty() {
        return ExpectedOutcome::Fails;
    }
    let reals = inputs.iter().filter(|cell| cell.space == Space::Reals);
    let adjoints = reals.map(|cell| found.adjoints.cells.get(cell.address).copied().unwrap_or(0));
    ExpectedOutcome::Finished { words: adjoints.chain(found.values).collect(), steps: found.steps }
}

/// Compares gradients of a loss in lanes with the CPU's gradients. Returns the number of lanes that finished, and the
/// number of lanes that should have finished.
pub fn compared(what: &str, program: &Arc<Program>, loss: usize, count: usize) -> [usize; 2] {
    compared_sum(what, program, &[SeededCell::loss(program, loss)], count)
}

/// Compares gradients of a seeded sum in lanes with the CPU's gradients. Returns the number of lanes that finished, and
/// the number of lanes that should have finished.
fn compared_sum(what: &str, program: &Arc<Program>, seeds: &[SeededCell], count: usize) -> [usize; 2] {
    let Ok(shader) = seeded(program, &[seeds.to_vec()], CheckLevel::Checked) else { return [0, 0] };
    if shader.wgsl.len() > LONGEST && std::env::var_os("REVIVER_CAMPAIGN").is_none() {
        println!("{what}: {} bytes are checked only in a campaign", shader.wgsl.len());
        return [0, 0];
    }
    let start = start(program, Travel::Forward);
    let inputs = cells(program, |role| program.takes(role, Travel::Forward));
    let lanes = lanes(program, start.state(), &inputs, count);
    let expected: Vec<ExpectedOutcome> =
        lanes.iter().map(|words| expected(program, seeds, &inputs, words)).collect();
    let Some(pipeline) = TrialPipeline::new(&shader) else { return [0, 0] };
    let ran = pipeline.run(&lanes, Budget { most_steps: MOST, ..PLENTY });
    let found = arrived(what, &ran, &expected, CheckLevel::Checked);
    let is_short = |outcome: &ExpectedOutcome| matches!(outcome, ExpectedOutcome::Finished { steps, .. } if *steps < 300);
    if expected.iter().all(is_short) {
        for iterations in [1, 3] {
            let again = pipeline.run(&lanes, Budget { iterations, ..PLENTY });
            assert_eq!(again.statuses, ran.statuses, "{what}, {iterations} rounds");
            assert_eq!(arrived(what, &again, &expected, CheckLevel::Checked), found);
        }
    }
    let due = expected.iter().filter(|outcome| matches!(outcome, ExpectedOutcome::Finished { .. })).count();
    [found, due]
}

#[test]
fn gradients_of_shipped_programs_equal_those_of_the_cpu() {
    let mut all = [0, 0];
    for (name, program) in shipped() {
        for loss in losses(&program).into_iter().take(1) {
            let found = compared(&name, &program, loss, 9);
            println!("{name}: {} of {} lanes", found[0], found[1]);
            all = [0, 1].map(|n| all[n] + found[n]);
        }
    }
    println!("{all:?}");
    assert!(device().is_none() || all[0] > 20);
}

#[test]
fn gradients_of_random_programs_equal_those_of_the_cpu() {
    let mut all = [0, 0];
    for seed in 0..reviver_lab::campaign::programs(60) {
        let Some(program) = random(seed) else { continue };
        for loss in losses(&program).into_iter().take(1) {
            let found = compared(&format!("seed {seed}"), &program, loss, 5);
            all = [0, 1].map(|n| all[n] + found[n]);
        }
    }
    println!("{all:?}");
}

#[test]
fn a_sum_in_a_loop_has_its_gradient() {
    let program = program(
        ".inout n default 5\n.inout x: real default 1.5\n.out y: real\nfor i in 0..n\n    add y, mul(x, x)\nrof\n",
    );
    let loss = losses(&program)[1];
    let found = compared("sum", &program, loss, 20);
    assert_eq!(found[0], found[1]);
    assert!(device().is_none() || found[0] > 10, "{found:?}");
}

/// Maximum length, in bytes, of a tested shader with several rows. This maximum is smaller than [`LONGEST`], because
/// the test also compiles a shader for each row.
const OF_ROWS: usize = LONGEST / 2;

/// Returns up to three losses of a program that are final at the same position.
fn together(program: &Program) -> Vec<usize> {
    let turn = |loss: usize| early_turn(program, &[loss]).and_then(|stops| stops.only());
    let losses = losses(program);
    let Some(first) = losses.first().map(|&loss| turn(loss)) else { return losses };
    losses.into_iter().filter(|&loss| turn(loss) == first).take(3).collect()
}

/// Checks that a lane with several losses finishes if and only if the lane finishes with each loss alone, and that
/// the output words are the same. Returns the number of finished lanes; 0 if the text is longer than `longest`.
fn rows_are_gradients(
    what: &str,
    program: &Arc<Program>,
    (level, longest): (CheckLevel, usize),
    count: usize,
) -> usize {
    let losses = together(program);
    let alone: Result<Vec<LaneShader>, NoShader> =
        losses.iter().map(|&loss| gradient(program, loss, level)).collect();
    let (Ok(alone), true) = (alone, losses.len() > 1) else { return 0 };
    let Ok(rows) = gradients(program, &losses, level) else {
        println!("{what}: branches depend on adjoints, so the losses can't share a sweep");
        return 0;
    };
    if rows.wgsl.len() > longest && std::env::var_os("REVIVER_CAMPAIGN").is_none() {
        println!("{what}: {} bytes are checked only in a campaign", rows.wgsl.len());
        return 0;
    }
    let inputs = cells(program, |role| program.takes(role, Travel::Forward));
    let lanes = lanes(program, start(program, Travel::Forward).state(), &inputs, count);
    let ran = |shader: &LaneShader, iterations| {
        let pipeline = TrialPipeline::new(shader)?;
        Some(pipeline.run(&lanes, Budget { iterations, most_steps: MOST }))
    };
    let alone: Option<Vec<Ran>> = alone.iter().map(|shader| ran(shader, PLENTY.iterations)).collect();
    let Some(alone) = alone else { return 0 };
    let mut arrived = 0;
    for iterations in [PLENTY.iterations, 2] {
        let Some(together) = ran(&rows, iterations) else { return 0 };
        for lane in 0..lanes.len() {
            let all = alone.iter().all(|ran| ran.statuses[lane] == LaneStatus::Finished);
            assert_eq!(together.statuses[lane] == LaneStatus::Finished, all, "{what}, lane {lane}");
            if all {
                let words: Vec<u64> = alone.iter().flat_map(|ran| ran.found[lane].clone()).collect();
                assert_eq!(together.found[lane], words, "{what}, lane {lane}, {iterations} rounds");
                arrived += 1;
            }
        }
    }
    arrived
}

#[test]
fn jacobian_rows_of_shipped_programs_are_gradients() {
    let arrived = shipped().into_iter().enumerate().map(|(n, (name, program))| {
        let level = if n % 2 == 0 { CheckLevel::Checked } else { CheckLevel::Unchecked };
        rows_are_gradients(&name, &program, (level, OF_ROWS), 7)
    });
    let arrived: usize = arrived.sum();
    println!("{arrived}");
    assert!(device().is_none() || arrived > 20, "{arrived}");
}

#[test]
fn jacobian_rows_of_random_programs_are_gradients() {
    let mut arrived = 0;
    for seed in 0..reviver_lab::campaign::programs(60) {
        let Some(program) = random(seed) else { continue };
        let level = if seed % 4 == 3 { CheckLevel::Unchecked } else { CheckLevel::Checked };
        arrived += rows_are_gradients(&format!("seed {seed}"), &program, (level, OF_ROWS), 5);
    }
    println!("{arrived}");
    assert!(device().is_none() || arrived > 10, "{arrived}");
}

#[test]
fn jacobian_rows_of_arrays_and_recursions_are_gradients() {
    // Programs with adjoints at computed addresses. In one of these programs, such an adjoint is in the frame of a
    // recursive call.
    let texts = [
        ".inout n default 3, k default 1\n.inout x[4]: real default {1.5, -2, 0.25, 3}\n.out y[2]: real\n\
         for i in 0..n\n    add.mul y[0], x[i], x[k]\n    add y[1], sin(x[i])\n    add x[k], x[3]\nrof\n",
        ".limit depth 8\n.inout n default 3\n.inout x: real default 1.5\n.out y: real, z: real\n\
         call  sum(y, z, x, n)\n\
         .proc sum(inout y: real, inout z: real, in x: real, inout n)\n.ancilla part: real\n\
         if n > 0\n    add part, x * x\n    add y, part\n    add.mul z, part, x\n    sub n, 1\n\
         call sum(y, z, x, n)\n    add n, 1\n    sub part, x * x\nfi n > 0\n.end\n",
    ];
    for text in texts {
        let arrived = rows_are_gradients(text, &program(text), (CheckLevel::Checked, LONGEST), 20);
        assert!(device().is_none() || arrived > 10, "{arrived}: {text}");
    }
}

/// Seeds of up to three cells.
const SEEDS: [f64; 3] = [2.5, -0.75, 1e-3];

/// Returns up to three losses of a program with seeds.
fn seeds(program: &Program) -> Vec<SeededCell> {
    let bits = |seed| literal_bits(program.module().real, seed);
    together(program)
        .into_iter()
        .zip(SEEDS)
        .map(|(cell, seed)| SeededCell::new(program, cell, bits(seed)))
        .collect()
}

#[test]
fn seeded_sums_of_programs_have_the_bits_of_the_cpu() {
    let mut all = [0, 0];
    let mut compare = |what: &str, program: &Arc<Program>| {
        let seeds = seeds(program);
        if seeds.len() > 1 {
            let found = compared_sum(what, program, &seeds, 5);
            all = [0, 1].map(|n| all[n] + found[n]);
        }
    };
    for (name, program) in shipped() {
        compare(&name, &program);
    }
    for seed in 0..reviver_lab::campaign::programs(30) {
        random(seed).into_iter().for_each(|program| compare(&format!("seed {seed}"), &program));
    }
    println!("{all:?}");
    assert!(device().is_none() || all[0] > 20, "{all:?}");
}

#[test]
fn seeded_sums_count_their_largest_seed() {
    // Programs with cells in memory, with a cell that isn't changed, and with a sum whose terms cancel. The size of
    // such a sum is the sum of the magnitudes of its terms.
    let body = ".inout n default 3, k default 1\n.inout x[4]: real default {1.5, -2, 0.25, 3}\n.out y[3]: real\n\
                for i in 0..n\n    add.mul y[0], x[i], x[k]\n    add y[1], x[i] * x[k]\n    add x[k], x[3]\nrof\n\
                for i in 0..n\n    sub x[k], x[3]\nrof\n";
    for system in ["f64", "f32", "fixed 20"] {
        let program = program(&format!(".real {system}\n{body}"));
        let bits = |seed| literal_bits(program.module().real, seed);
        let cells = losses(&program);
        for seeds in [[1.0, -1.0, 0.0], [1000.0, 0.5, 2.0]] {
            let seeds: Vec<SeededCell> = cells
                .iter()
                .rev()
                .take(3)
                .zip(seeds)
                .map(|(&cell, seed)| SeededCell::new(&program, cell, bits(seed)))
                .collect();
            let found = compared_sum(system, &program, &seeds, 12);
            assert!(device().is_none() || found[0] > 3 && found[0] == found[1], "{system}: {found:?}");
        }
    }
}

#[test]
fn losses_that_were_not_requested_are_refused() {
    let program = program(".inout x: real default 2\n.out y: real\nadd y, x * x\n");
    let loss = vec![SeededCell::loss(&program, losses(&program)[1])];
    let refused = |losses: Vec<Vec<SeededCell>>, number: RequestedNumber| {
        let request = LanesRequest {
            run_kind: LaneRunKind::Gradient { losses },
            level: CheckLevel::Checked,
            inputs: Vec::new(),
            outputs: vec![number],
            reports_steps: false,
        };
        lane_shader(&program, &start(&program, Travel::Forward), &request).map(|_| ()).unwrap_err()
    };
    let value = |row, seeded| RequestedNumber::Value { row, seeded, order: 0 };
    assert_eq!(refused(vec![loss.clone()], value(1, 0)), NoShader::NoRow { row: 1 });
    assert_eq!(refused(vec![loss.clone()], value(0, 1)), NoShader::NoRow { row: 0 });
    let adjoint = RequestedNumber::Adjoint { row: 1, real: loss[0].cell, order: 0 };
    assert_eq!(refused(vec![loss], adjoint), NoShader::NoRow { row: 1 });
    assert_eq!(refused(vec![Vec::new()], value(0, 0)), NoShader::NoLoss);
}

#[test]
fn runs_on_series_are_refused_for_rules_and_orders() {
    let request = |text: &str, order| {
        let program = program(text);
        let [x, y] = [losses(&program)[0], losses(&program)[1]];
        let request = LanesRequest {
            run_kind: LaneRunKind::ValuesAlong {
                reals: vec![y],
                direction: vec![x],
                order: 1,
                rejects_ties: false,
            },
            level: CheckLevel::Checked,
            inputs: vec![ShaderCell { space: Space::Reals, address: x }],
            outputs: vec![RequestedNumber::Value { row: 0, seeded: 0, order }],
            reports_steps: false,
        };
        lane_shader(&program, &start(&program, Travel::Forward), &request).map(|_| ())
    };
    let plain = ".inout x: real default 3\n.out y: real\nadd y, x * x\n";
    assert_eq!(request(plain, 1), Ok(()));
    assert_eq!(request(plain, 2), Err(NoShader::NoOrder { order: 2 }));
    let logarithm = ".inout x: real default 3\n.out y: real\nadd y, lgamma(x)\n";
    assert_eq!(request(logarithm, 1), Err(NoShader::Series));
    // A rule that adds no adjoint stops the derivative. A run forward would compute it nevertheless.
    let stopped = ".inout x: real default 3\n.out y: real\ncall stop(y, x)\n\
                   .proc stop(inout y: real, in x: real) rule none\nadd y, x * x\n.end\n\
                   .proc none(inout y: real, in x: real)\n.end\n";
    assert_eq!(request(stopped, 1), Err(NoShader::Rule));
}
