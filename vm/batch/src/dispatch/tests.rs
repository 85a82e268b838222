//! Batches of hand-written shaders: long and short lanes, many and none, and devices that disappear.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::probe::text::{lane_shader, with_main};
use crate::testing::{device, separate_device};

/// Body of a shader's `main`. A lane's input is its number of iterations. Its output is the state of a random series
/// after that number of iterations. Input [`FAILS`] makes the lane fail.
const ROUNDS: &str = "
    let goal = inputs[lane];
    let most = u64(parameters.most_steps_low) | (u64(parameters.most_steps_high) << 32u);
    var n = 0lu;
    var state = 0lu;
    if parameters.is_first == 0u {
        n = kept[lane];
        state = kept[stride + lane];
    }
    var rounds = 0u;
    var end = select(2u, 3u, goal == 0xfffffffffffffffflu);
    loop {
        if end == 3u || n >= goal { break; }
        if n >= most { end = 4u; break; }
        if rounds >= parameters.rounds { end = 1u; break; }
        rounds += 1u;
        n += 1lu;
        state = (state ^ (state >> 29u)) * 6364136223846793005lu + n;
    }
    kept[lane] = n;
    kept[stride + lane] = state;
    outputs[lane] = state;
    steps[lane] = n;
    atomicStore(&statuses[lane], end);
    if end == 1u { atomicAdd(&statuses[stride], 1u); }
";
const FAILS: u64 = u64::MAX;
/// An input with so large a number of iterations that no test waits for all of them.
const ENDLESS: u64 = 1 << 60;

fn shader_of_iterations() -> LaneShader {
    LaneShader {
        wgsl: with_main(ROUNDS),
        non_resumable: None,
        constants: vec![0],
        inputs: 1,
        outputs: 1,
        kept: 2,
        reports_steps: true,
        helper_iterations: 64,
    }
}

fn series(state: u64, n: u64) -> u64 {
    (state ^ (state >> 29)).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n)
}

fn state_after(goal: u64) -> u64 {
    (1..=goal).fold(0, series)
}

/// Executes a batch with one input column and one output column.
fn run(shader: &DeviceShader, inputs: &[u64], most_steps: u64) -> Result<(Vec<u64>, LanesRun), BatchError> {
    let mut outputs = vec![0; inputs.len()];
    let never = AtomicBool::new(false);
    let run = shader.run(&[inputs], &mut [&mut outputs], inputs.len(), most_steps, &never)?;
    Ok((outputs, run))
}

fn assert_iterations(shader: &DeviceShader, goals: &[u64]) {
    let (outputs, run) = run(shader, goals, u64::MAX).unwrap();
    assert_eq!(run.steps, goals);
    assert!(run.statuses.iter().all(|status| *status == LaneStatus::Finished));
    for (goal, outputs) in goals.iter().zip(outputs) {
        assert_eq!(outputs, state_after(*goal), "{goal} rounds");
    }
}

#[test]
fn a_long_lane_continues_with_short_ones() {
    let Some(device) = device() else { return };
    let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
    let mut goals = vec![1; 200];
    goals[77] = 1_000_000;
    goals[78] = 0;
    goals[150] = 65_536;
    assert_iterations(&shader, &goals);
    // The lanes of one workgroup leave the loop in different iterations.
    assert_iterations(&shader, &(0..64).map(|lane| 5_000 + 1_000 * (lane % 8)).collect::<Vec<_>>());
}

/// A variant of [`ROUNDS`] with nested loops. The lanes of each group of eight execute their inner loop in turn,
/// while the others have nothing to do.
const TURNS: &str = "
    let goal = inputs[lane];
    var n = 0lu;
    var state = 0lu;
    if parameters.is_first == 0u {
        n = kept[lane];
        state = kept[stride + lane];
    }
    var rounds = 0u;
    var passes = 0u;
    var end = 2u;
    loop {
        if n >= goal { break; }
        let is_its_turn = (passes & 7u) == (local & 7u);
        passes += 1u;
        let last = select(n, min(goal, n + 1000lu), is_its_turn);
        loop {
            if n >= last { break; }
            if rounds >= parameters.rounds { end = 1u; break; }
            rounds += 1u;
            n += 1lu;
            state = (state ^ (state >> 29u)) * 6364136223846793005lu + n;
        }
        if end == 1u { break; }
        if rounds >= parameters.rounds { end = 1u; break; }
        rounds += 1u;
    }
    kept[lane] = n;
    kept[stride + lane] = state;
    outputs[lane] = state;
    steps[lane] = n;
    atomicStore(&statuses[lane], end);
    if end == 1u { atomicAdd(&statuses[stride], 1u); }
";

#[test]
fn lanes_that_diverge_execute_all_iterations() {
    let Some(device) = device() else { return };
    let text = LaneShader { wgsl: with_main(TURNS), ..shader_of_iterations() };
    let shader = DeviceShader::new(&device, &text).unwrap();
    assert_iterations(&shader, &(0..100).map(|lane| 200_000 - lane).collect::<Vec<_>>());
}

#[test]
fn any_number_of_lanes_is_a_batch() {
    let Some(device) = device() else { return };
    let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
    assert_eq!(run(&shader, &[], u64::MAX), Ok((Vec::new(), LanesRun::default())));
    for lanes in [1, 63, 64, 65, 1000, 1, 900, 1_000_000, 7, 1000] {
        assert_iterations(&shader, &(0..lanes).map(|lane| lane % 19).collect::<Vec<_>>());
    }
}

#[test]
fn lanes_fail_and_run_out_of_steps_by_themselves() {
    let Some(device) = device() else { return };
    let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
    let (outputs, run) = run(&shader, &[3, FAILS, 1001, 1000, ENDLESS], 1000).unwrap();
    use LaneStatus::{Failed, Finished, OutOfSteps};
    assert_eq!(run.statuses, [Finished, Failed, OutOfSteps, Finished, OutOfSteps]);
    assert_eq!(run.steps, [3, 0, 1000, 1000, 1000]);
    assert_eq!((outputs[0], outputs[3]), (state_after(3), state_after(1000)));
}

#[test]
fn most_steps_have_64_bits() {
    let Some(device) = device() else { return };
    let body = "
        outputs[lane] = u64(parameters.most_steps_low) | (u64(parameters.most_steps_high) << 32u);
        atomicStore(&statuses[lane], 2u);
    ";
    let text = LaneShader {
        wgsl: with_main(body),
        non_resumable: None,
        constants: vec![0],
        inputs: 0,
        outputs: 1,
        kept: 0,
        reports_steps: true,
        helper_iterations: 64,
    };
    let shader = DeviceShader::new(&device, &text).unwrap();
    let mut outputs = [0; 3];
    shader.run(&[], &mut [&mut outputs], 3, 0x1234_5678_9abc_def0, &AtomicBool::new(false)).unwrap();
    assert_eq!(outputs, [0x1234_5678_9abc_def0; 3]);
}

#[test]
fn words_are_returned_unchanged() {
    let Some(device) = device() else { return };
    let copies = ["inputs[lane]", "inputs[stride + lane]", "inputs[2u * stride + lane] + constants[1]"];
    let shader = lane_shader(3, "", &copies.map(str::to_owned), vec![0, 7]);
    let shader = DeviceShader::new(&device, &shader).unwrap().limited_to(192);
    let column =
        |salt: u64| (0..1000).map(|n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt).collect::<Vec<_>>();
    let (a, b, c) = (column(1), column(2), column(3));
    let mut outputs = [vec![0; 1000], vec![0; 1000], vec![0; 1000]];
    let [x, y, z] = &mut outputs;
    shader.run(&[&a, &b, &c], &mut [x, y, z], 1000, 0, &AtomicBool::new(false)).unwrap();
    assert_eq!(outputs, [a, b, c.iter().map(|word| word.wrapping_add(7)).collect()]);
}

#[test]
fn all_floats_are_returned_unchanged() {
    let Some(device) = device() else { return };
    if !device.info().has_f64 {
        return;
    }
    let lines = "    let x = bitcast<f64>(inputs[lane]); let one = bitcast<f64>(constants[1]);";
    let words = ["bitcast<u64>(x)", "bitcast<u64>(x + one)"].map(str::to_owned);
    let shader = lane_shader(1, lines, &words, vec![0, 1.0_f64.to_bits()]);
    let shader = DeviceShader::new(&device, &shader).unwrap();
    let payload = 0x7ff8_0000_dead_beef;
    let inputs =
        [payload, f64::INFINITY.to_bits(), f64::NEG_INFINITY.to_bits(), (-0.0_f64).to_bits(), 1, 1 << 63 | 1];
    let (mut same, mut sums) = ([0; 6], [0; 6]);
    shader.run(&[&inputs], &mut [&mut same, &mut sums], 6, 0, &AtomicBool::new(false)).unwrap();
    assert_eq!(same, inputs);
    assert!(f64::from_bits(sums[0]).is_nan());
    let rest: Vec<f64> = sums[1..].iter().map(|word| f64::from_bits(*word)).collect();
    assert_eq!(rest, [f64::INFINITY, f64::NEG_INFINITY, 1.0, 1.0, 1.0]);
}

#[test]
fn lanes_are_split_by_the_limit_of_a_dispatch() {
    let Some(device) = device() else { return };
    for most in [64, 128, 192, 1024] {
        let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap().limited_to(most);
        assert_eq!(shader.most_lanes(), most);
        for lanes in [1, 64, most as u64, most as u64 + 1, 1000] {
            assert_iterations(&shader, &(0..lanes).map(|lane| lane * 7 % 1000).collect::<Vec<_>>());
        }
    }
}

#[test]
fn memory_is_kept_between_batches() {
    let Some(device) = device() else { return };
    let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
    for _ in 0..10 {
        assert_iterations(&shader, &[5; 1000]);
        assert_eq!(lock(&shader.idle).len(), 1);
    }
    assert_iterations(&shader, &[5; 5000]);
    assert_eq!(lock(&shader.idle).len(), 1);
}

#[test]
fn two_threads_share_a_shader() {
    let Some(device) = device() else { return };
    let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
    let other = DeviceShader::new(&device, &shader_of_iterations()).unwrap().limited_to(256);
    thread::scope(|scope| {
        for salt in 0..3 {
            let (shader, other) = (&shader, &other);
            scope.spawn(move || {
                for round in 0..10 {
                    let goals: Vec<u64> =
                        (0..700).map(|lane| (lane * 31 + salt * 7 + round) % 5000).collect();
                    assert_iterations(if salt == 2 { other } else { shader }, &goals);
                }
            });
        }
    });
}

#[test]
fn an_interrupt_ends_a_batch() {
    let Some(device) = device() else { return };
    let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
    let stop = AtomicBool::new(false);
    let begin = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            stop.store(true, Ordering::Relaxed);
        });
        let goals = [ENDLESS; 500];
        let result = shader.run(&[&goals], &mut [&mut [0; 500]], 500, u64::MAX, &stop);
        assert_eq!(result, Err(BatchError::Interrupted));
    });
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    // The device still executes the next batch.
    assert_iterations(&shader, &[3, 4, 5]);
}

#[test]
fn a_device_that_is_destroyed_ends_its_batches() {
    for after in [0, 1, 10, 100, 300] {
        let Some(device) = separate_device() else { return };
        let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(after));
                device.destroy();
            });
            for goal in [3, 1000, ENDLESS] {
                let result = run(&shader, &[goal; 300], u64::MAX);
                assert!(result == Err(BatchError::Lost) || (goal < ENDLESS && result.is_ok()), "{result:?}");
            }
        });
        assert!(device.is_lost());
        assert_eq!(run(&shader, &[3], u64::MAX), Err(BatchError::Lost));
        assert_eq!(DeviceShader::new(&device, &shader_of_iterations()).err(), Some(BatchError::Lost));
        device.destroy();
    }
}

#[test]
fn a_device_is_released_with_its_last_user() {
    let Some(device) = separate_device() else { return };
    let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
    drop(device);
    assert_iterations(&shader, &[3; 100]);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        let goals = [ENDLESS; 1000];
        let result = shader.run(&[&goals], &mut [&mut [0; 1000]], 1000, u64::MAX, &stop);
        assert_eq!(result, Err(BatchError::Interrupted));
    });
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let Some(device) = device() else { return };
    let shader = DeviceShader::new(&device, &shader_of_iterations()).unwrap();
    let never = AtomicBool::new(false);
    let refused = |result: Result<LanesRun, BatchError>, are, should| {
        assert!(
            matches!(result, Err(BatchError::Count { are: is, should: s, .. }) if (is, s) == (are, should))
        );
    };
    refused(shader.run(&[], &mut [&mut [0; 3]], 3, 1, &never), 0, 1);
    refused(shader.run(&[&[1; 3]], &mut [], 3, 1, &never), 0, 1);
    refused(shader.run(&[&[1; 2]], &mut [&mut [0; 3]], 3, 1, &never), 2, 3);
    refused(shader.run(&[&[1; 3]], &mut [&mut [0; 4]], 3, 1, &never), 4, 3);
}

#[test]
fn invalid_shaders_are_refused() {
    let Some(device) = device() else { return };
    let with = |wgsl: String, kept| LaneShader {
        wgsl,
        non_resumable: None,
        constants: vec![0],
        inputs: 0,
        outputs: 0,
        kept,
        reports_steps: true,
        helper_iterations: 64,
    };
    let refused = |shader: LaneShader| DeviceShader::new(&device, &shader).err();
    assert!(
        matches!(refused(with("fn main( {".to_owned(), 0)), Some(BatchError::Shader(text)) if text.contains(":1:"))
    );
    let mistyped = with_main("let x: f32 = inputs[0];");
    assert!(matches!(refused(with(mistyped, 0)), Some(BatchError::Shader(_))));
    // The device is still usable.
    let fine = DeviceShader::new(&device, &with(with_main("atomicStore(&statuses[lane], 3u);"), 0)).unwrap();
    let run = fine.run(&[], &mut [], 5, 1, &AtomicBool::new(false)).unwrap();
    assert_eq!(run.statuses, [LaneStatus::Failed; 5]);
    let too_much = refused(with(with_main(""), u32::MAX));
    assert!(matches!(too_much, Some(BatchError::Memory { .. })), "{too_much:?}");
}

#[test]
fn invalid_statuses_are_device_errors() {
    let Some(device) = device() else { return };
    for body in ["", "atomicStore(&statuses[lane], 1u);", "atomicStore(&statuses[lane], 9u);"] {
        let text = LaneShader {
            wgsl: with_main(body),
            non_resumable: None,
            constants: vec![0],
            inputs: 0,
            outputs: 0,
            kept: 0,
            reports_steps: true,
            helper_iterations: 64,
        };
        let shader = DeviceShader::new(&device, &text).unwrap();
        let result = shader.run(&[], &mut [], 5, 1, &AtomicBool::new(false));
        assert!(matches!(&result, Err(BatchError::Device(_))), "{body}: {result:?}");
    }
}
