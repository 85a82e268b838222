//! Gradients of lanes, beside those of the processor: the same bits, or the lane says that it isn't sure. Where the processor mends or doubts, it
//! must.

use std::sync::Arc;

use reviver_compile::op::Space;
use reviver_vm::differentiate::{self, DifferentiateError, Origin, Subject, Variable};
use reviver_vm::{CheckLevel, Program, Travel};

use super::device::{Budget, PLENTY, TrialPipeline};
use super::programs::{LONGEST, cells, gradient, losses, program, random, shipped, start};
use super::runs::{ExpectedOutcome, arrived, given, lanes};
use crate::lanes::ShaderCell;
use crate::testing::device;

/// More steps than most lanes make.
const MOST: u64 = 300_000;

/// The variable of a real.
fn variable(program: &Program, address: usize) -> Variable {
    let globals = program.module().globals.iter().enumerate();
    let mut reals = globals.filter(|(_, global)| global.class == reviver_isa::instruction::Class::Real);
    let (global, _) = reals.find(|(n, _)| program.cells(*n).contains(&address)).unwrap();
    let element = address - program.cells(global).start;
    Variable { global, element, origin: Origin::Cell(address) }
}

/// What the processor says of a lane.
fn expected(program: &Arc<Program>, loss: usize, inputs: &[ShaderCell], words: &[u64]) -> ExpectedOutcome {
    let state = given(start(program, Travel::Forward).state(), inputs, words);
    let Ok(subject) = Subject::new(program.clone(), state, false, MOST) else {
        return ExpectedOutcome::Fails;
    };
    let found = match differentiate::gradient(&subject, &variable(program, loss)) {
        Ok(found) => found,
        Err(DifferentiateError::StepLimit { .. }) => return ExpectedOutcome::Over,
        Err(_) => return ExpectedOutcome::Fails,
    };
    if found.trust.mended.is_some() || !found.trust.reports.is_empty() {
        return ExpectedOutcome::Fails;
    }
    let reals = inputs.iter().filter(|cell| cell.space == Space::Reals);
    let adjoints = reals.map(|cell| found.adjoints.cells.get(cell.address).copied().unwrap_or(0));
    ExpectedOutcome::Arrived { words: adjoints.chain([found.value]).collect(), steps: found.steps }
}

/// How many lanes arrived, and how many should have.
pub fn compared(what: &str, program: &Arc<Program>, loss: usize, count: usize) -> [usize; 2] {
    let Ok(shader) = gradient(program, loss, CheckLevel::Checked) else { return [0, 0] };
    if shader.wgsl.len() > LONGEST && std::env::var_os("REVIVER_CAMPAIGN").is_none() {
        println!("{what}: {} bytes are for a campaign", shader.wgsl.len());
        return [0, 0];
    }
    let start = start(program, Travel::Forward);
    let inputs = cells(program, |role| program.takes(role, Travel::Forward));
    let lanes = lanes(program, start.state(), &inputs, count);
    let expected: Vec<ExpectedOutcome> =
        lanes.iter().map(|words| expected(program, loss, &inputs, words)).collect();
    let Some(pipeline) = TrialPipeline::new(&shader) else { return [0, 0] };
    let ran = pipeline.run(&lanes, Budget { most_steps: MOST, ..PLENTY });
    let found = arrived(what, &ran, &expected, CheckLevel::Checked);
    let is_short =
        |outcome: &ExpectedOutcome| matches!(outcome, ExpectedOutcome::Arrived { steps, .. } if *steps < 300);
    if expected.iter().all(is_short) {
        for rounds in [1, 3] {
            let again = pipeline.run(&lanes, Budget { rounds, ..PLENTY });
            assert_eq!(again.statuses, ran.statuses, "{what}, {rounds} rounds");
            assert_eq!(arrived(what, &again, &expected, CheckLevel::Checked), found);
        }
    }
    let due = expected.iter().filter(|outcome| matches!(outcome, ExpectedOutcome::Arrived { .. })).count();
    [found, due]
}

#[test]
fn gradients_of_shipped_programs_are_those_of_the_processor() {
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
fn gradients_of_random_programs_are_those_of_the_processor() {
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
