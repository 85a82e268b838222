//! Tests of calls that aren't inlined. The memory of a lane has records and frames for open calls. A lane must fail if
//! it makes more nested calls than its memory can hold.

use std::sync::Arc;

use reviver_vm::{CheckLevel, Program, Travel};

use super::device::{Budget, PLENTY, TrialPipeline};
use super::programs::{gradient, losses, program, shipped, whole};
use super::{gradients, runs};
use crate::dispatch::LaneStatus;
use crate::no_shader::NoShader;
use crate::testing::device;

/// Computes the sum of 1 to n with n + 1 nested calls.
const SUM: &str = ".inout n\n.out sum\ncall down(n, sum)\n\n.proc down(in n, inout sum)\nif n > 0\n add sum, n\n \
                   call down(n - 1, sum)\nfi n > 0\n.end\n";

/// Computes a polynomial of x. Each call has a real in its frame, and makes one call and one uncall.
const POLYNOMIAL: &str = ".inout n default 3\n.inout x: real default 0.75\n.out y: real\ncall nested(n, x, y)\n\n\
                          .proc nested(in n, in x: real, inout y: real)\n.ancilla t: real\nif n > 0\n \
                          call nested(n - 1, x, t)\n add y, x * t\n add y, x\n uncall nested(n - 1, x, t)\n\
                          fi n > 0\n.end\n";

/// A sum of powers of x: each call has its own real, with its adjoint next to it.
const POWERS: &str = ".inout n default 3\n.inout x: real default 0.75\n.out y: real\ncall powers(n, x, y)\n\n\
                      .proc powers(in n, in x: real, inout y: real)\n.ancilla t: real\nif n > 0\n add t, x * x\n \
                      add y, t\n call powers(n - 1, t, y)\n sub t, x * x\nfi n > 0\n.end\n";

/// Two procedures that call each other. Main calls one of them, depending on the parity of n.
const MUTUAL: &str = ".inout n\n.out odd, even\nif n % 2 == 0\n call of_even(n, even)\nelse\n call of_odd(n, odd)\n\
                      fi n % 2 == 0\n\n\
                      .proc of_even(in n, inout steps)\nadd steps, 1\nif n > 0\n call of_odd(n - 1, steps)\nfi n > 0\n.end\n\n\
                      .proc of_odd(in n, inout steps)\nadd steps, 3\nif n > 0\n call of_even(n - 1, steps)\nfi n > 0\n.end\n";

fn one(name: &str) -> Arc<Program> {
    let found = shipped().into_iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("{name} isn't shipped")).1
}

#[test]
fn recursions_agree_with_the_interpreter() {
    if std::env::var_os("REVIVER_SHADER").is_some() {
        return;
    }
    let programs = [
        ("fib_recursive", one("fib_recursive")),
        ("hanoi", one("hanoi")),
        ("sum", program(SUM)),
        ("polynomial", program(POLYNOMIAL)),
        ("powers", program(POWERS)),
        ("mutual", program(MUTUAL)),
    ];
    for (name, program) in programs {
        let mut all = [0, 0];
        for (travel, level) in [
            (Travel::Forward, CheckLevel::Checked),
            (Travel::Forward, CheckLevel::Unchecked),
            (Travel::Backward, CheckLevel::Checked),
        ] {
            let shader = whole(&program, travel, level);
            assert!(shader.is_ok(), "{name} {travel:?}: {:?}", shader.err());
            let what = format!("{name} {travel:?} {level:?}");
            let found = runs::compared(&what, &program, (travel, level), 24);
            all = [0, 1].map(|n| all[n] + found[n]);
        }
        println!("{name}: {} of {} lanes", all[0], all[1]);
        assert!(device().is_none() || all[0] > 0, "{name}");
    }
}

#[test]
fn a_recursion_has_a_gradient() {
    let program = program(POWERS);
    let loss = losses(&program).into_iter().last().unwrap();
    assert!(gradient(&program, loss, CheckLevel::Checked).is_ok());
    let found = gradients::compared("powers", &program, loss, 24);
    assert!(device().is_none() || found[0] > 5, "{found:?}");
}

#[test]
fn a_lane_with_too_many_open_calls_fails() {
    for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
        let shader = whole(&program(SUM), Travel::Forward, level).unwrap();
        if let Some(pipeline) = TrialPipeline::new(&shader) {
            opens_so_many_calls(&pipeline);
        }
    }
}

/// Checks that a lane of [`SUM`] fails if it makes more than a thousand nested calls.
fn opens_so_many_calls(pipeline: &TrialPipeline) {
    let depths = [0, 1, 2, 60, 200, 5_000, 99_000, 3];
    let lanes: Vec<Vec<u64>> = depths.iter().map(|&depth| vec![depth]).collect();
    for iterations in [7, 8000] {
        let ran = pipeline.run(&lanes, Budget { iterations, ..PLENTY });
        for (lane, depth) in depths.iter().enumerate() {
            if *depth > 1000 {
                assert_eq!(ran.statuses[lane], LaneStatus::Failed, "{depth} calls, {iterations} rounds");
                continue;
            }
            assert_eq!(ran.statuses[lane], LaneStatus::Finished, "{depth} calls, {iterations} rounds");
            assert!(ran.found[lane].contains(&(depth * (depth + 1) / 2)), "{:?}", ran.found[lane]);
        }
    }
}

#[test]
fn the_limit_of_open_calls_applies_on_devices() {
    let limited = program(&format!(".limit depth 4\n{SUM}"));
    let shader = whole(&limited, Travel::Forward, CheckLevel::Checked).unwrap();
    if let Some(pipeline) = TrialPipeline::new(&shader) {
        // The lane with input n makes n + 1 nested calls.
        let ran = pipeline.run(&(0..6).map(|n| vec![n]).collect::<Vec<_>>(), PLENTY);
        let (arrived, failed) = (LaneStatus::Finished, LaneStatus::Failed);
        assert_eq!(ran.statuses, [arrived, arrived, arrived, arrived, failed, failed]);
    }
    let in_place = program(
        ".limit depth 1\n.out x\ncall a(x)\n\n.proc a(inout x)\n call b(x)\n.end\n\n.proc b(inout x)\n add x, 1\n.end\n",
    );
    let refused = whole(&in_place, Travel::Forward, CheckLevel::Checked);
    assert_eq!(refused.map(|_| ()), Err(NoShader::Limits));
}

#[test]
fn frames_larger_than_a_lanes_memory_are_refused_with_their_size() {
    let large = program(
        ".inout n\n.out B[200000]\ncall down(n)\n\n.proc down(in n)\n.ancilla A[8000]\nif n > 0\n add A[n], 1\n \
         add B[n], A[n]\n call down(n - 1)\n sub A[n], 1\nfi n > 0\n.end\n",
    );
    let refused = whole(&large, Travel::Forward, CheckLevel::Checked);
    assert!(matches!(refused, Err(NoShader::TooLarge { .. })), "{:?}", refused.map(|_| ()));
}
