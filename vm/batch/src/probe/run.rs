//! Executes the capability probe on a device, and compares the results with the CPU's, bit for bit.

use std::sync::atomic::AtomicBool;

use super::Probe;
use super::operands::{of_f32, of_f64, of_i64};
use super::questions::{OF_F32, OF_F64, OF_I64, Question};
use super::text::lane_shader;
use crate::device::{BatchDevice, DeviceNumbers};
use crate::dispatch::{DeviceShader, LaneStatus};
use crate::error::BatchError;
use crate::shader::LaneShader;

/// A number type that the probe tests, with its conversions to 64-bit words and its shader text.
struct QuestionKind<T> {
    name: &'static str,
    to_word: fn(T) -> u64,
    /// Returns the WGSL expression that converts a tested expression's value to an output word.
    store: fn(&str) -> String,
    /// Lines of WGSL that compute `a`, `b`, `zero` and `one` from input words and constants.
    lines: &'static str,
    one: u64,
    /// Returns true if two words denote the same number. All NaNs count as the same.
    is_same: fn(u64, u64) -> bool,
}

const F64: QuestionKind<f64> = QuestionKind {
    name: "f64",
    to_word: f64::to_bits,
    store: |value| format!("bitcast<u64>({value})"),
    lines: "    let a = bitcast<f64>(inputs[lane]);
    let b = bitcast<f64>(inputs[stride + lane]);
    let zero = bitcast<f64>(constants[0]);
    let one = bitcast<f64>(constants[1]);",
    one: 1.0_f64.to_bits(),
    is_same: |a, b| a == b || (f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan()),
};

const F32: QuestionKind<f32> = QuestionKind {
    name: "f32",
    to_word: |value| u64::from(value.to_bits()),
    store: |value| format!("u64(bitcast<u32>({value}))"),
    lines: "    let a = bitcast<f32>(u32(inputs[lane]));
    let b = bitcast<f32>(u32(inputs[stride + lane]));
    let zero = bitcast<f32>(u32(constants[0]));
    let one = bitcast<f32>(u32(constants[1]));",
    one: 1.0_f32.to_bits() as u64,
    is_same: |a, b| a == b || (f32::from_bits(a as u32).is_nan() && f32::from_bits(b as u32).is_nan()),
};

const I64: QuestionKind<i64> = QuestionKind {
    name: "i64",
    to_word: |value| value as u64,
    store: |value| format!("bitcast<u64>({value})"),
    lines: "    let a = bitcast<i64>(inputs[lane]);
    let b = bitcast<i64>(inputs[stride + lane]);
    let zero = bitcast<i64>(constants[0]);
    let one = bitcast<i64>(constants[1]);
    let n = u32(inputs[stride + lane] & 63lu);
    let has_no_quotient = b == zero || (b == -one && inputs[lane] == (1lu << 63u));
    let c = select(b, one, has_no_quotient);",
    one: 1,
    is_same: |a, b| a == b,
};

impl Probe {
    /// Probes a device with its current lowering.
    ///
    /// # Errors
    ///
    /// Returns errors of executing a batch.
    pub(crate) fn ask(device: &BatchDevice) -> Result<Self, BatchError> {
        let mut wrong = Vec::new();
        let has_f64 = device.has(DeviceNumbers::F64).is_ok();
        if has_f64 {
            wrong.extend(wrong_answers(device, &F64, OF_F64, &of_f64())?);
        }
        wrong.extend(wrong_answers(device, &F32, OF_F32, &of_f32())?);
        wrong.extend(wrong_answers(device, &I64, OF_I64, &of_i64())?);
        let is_right = |numbers| !wrong.iter().any(|(of, _)| of == numbers);
        let f64_is_exact = has_f64 && is_right("f64");
        let (f32_is_exact, i64_is_exact) = (is_right("f32"), is_right("i64"));
        let iterations = iterations_of_loops(device)?;
        Ok(Self {
            f64_is_exact,
            f32_is_exact,
            i64_is_exact,
            iterations,
            wrong,
            ..Self::untested(device.info(), device.lowering())
        })
    }
}

/// Returns the name of each tested operation that has wrong results, with an example.
fn wrong_answers<T: Copy + std::fmt::Debug>(
    device: &BatchDevice,
    kind: &QuestionKind<T>,
    questions: &[Question<T>],
    operands: &[(T, T)],
) -> Result<Vec<(String, String)>, BatchError> {
    let words: Vec<String> = questions.iter().map(|question| (kind.store)(question.wgsl)).collect();
    let shader = lane_shader(2, kind.lines, &words, vec![0, kind.one]);
    let a: Vec<u64> = operands.iter().map(|(a, _)| (kind.to_word)(*a)).collect();
    let b: Vec<u64> = operands.iter().map(|(_, b)| (kind.to_word)(*b)).collect();
    let outputs = executed(device, &shader, &[&a, &b], operands.len())?;
    let mut wrong = Vec::new();
    for (question, answers) in questions.iter().zip(&outputs) {
        let right = operands.iter().map(|(a, b)| (kind.to_word)((question.cpu)(*a, *b)));
        let mut compared = operands.iter().zip(answers.iter().zip(right));
        if let Some(((a, b), (is, should))) =
            compared.find(|(_, (is, should))| !(kind.is_same)(**is, *should))
        {
            let example = format!("for a = {a:?} and b = {b:?}, the bits are {is:#x}, expected {should:#x}");
            let what = format!("{} ({}: {example})", question.about, question.wgsl);
            wrong.push((kind.name.to_owned(), what));
        }
    }
    Ok(wrong)
}

/// Executes a shader for `lanes` lanes, and returns all output words. Doesn't check the exactness of the device.
fn executed(
    device: &BatchDevice,
    shader: &LaneShader,
    inputs: &[&[u64]],
    lanes: usize,
) -> Result<Vec<Vec<u64>>, BatchError> {
    let mut outputs = vec![vec![0; lanes]; shader.outputs as usize];
    let mut columns: Vec<&mut [u64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    let shader = DeviceShader::new(device, shader)?;
    let run = shader.run(inputs, &mut columns, lanes, u64::MAX, &AtomicBool::new(false))?;
    match run.statuses.iter().find(|status| **status != LaneStatus::Finished) {
        None => Ok(outputs),
        Some(status) => Err(BatchError::Device(format!(
            "a lane of the capability probe ended with the status {status:?}"
        ))),
    }
}

/// Returns the next state of a pseudorandom series. No driver has a closed formula for the series.
fn series(state: u64) -> u64 {
    (state ^ (state >> 29)).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)
}

/// Executes a loop of [`Probe::MOST_ITERATIONS`] iterations, and returns the number of iterations that the device
/// really executes. The number is derived from the final state of a series.
fn iterations_of_loops(device: &BatchDevice) -> Result<u32, BatchError> {
    let lines = format!(
        "    var state = inputs[lane];
    for (var n = 0u; n < {}u; n += 1u) {{
        state = (state ^ (state >> 29u)) * 6364136223846793005lu + 1lu;
    }}",
        Probe::MOST_ITERATIONS
    );
    let shader = lane_shader(1, &lines, &["state".to_owned()], vec![0]);
    let begin = 1;
    let outputs = executed(device, &shader, &[&[begin]], 1)?;
    let last = outputs.iter().flatten().next().copied().unwrap_or_default();
    let mut state = begin;
    for iterations in 0..=Probe::MOST_ITERATIONS {
        if state == last {
            return Ok(iterations);
        }
        state = series(state);
    }
    Err(BatchError::Device("a loop of the capability probe computed a wrong result".to_owned()))
}
