//! Executes every operation on a device and on the CPU. Both must have the same bits, and the same failures.

mod meaning;
mod operands;

use std::sync::atomic::AtomicBool;

use reviver_compile::function::NumberKinds;
use reviver_compile::op::OpKind;
use reviver_isa::arith::{Elementary, Order};
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};

use self::meaning::{ExpectedMeaning, meaning};
use self::operands::{Random, operand};
use super::Operations;
use super::function::RealFunction;
use crate::device::{BatchDevice, DeviceNumbers};
use crate::dispatch::DeviceShader;
use crate::lowering::{LoweredIntegers, LoweredResults, LoweredSingles, Lowering};
use crate::probe::text::with_main;
use crate::shader::LaneShader;
use crate::testing::{device, device_with, devices_for};

const ORDERS: [Order; 6] = [Order::Eq, Order::Ne, Order::Lt, Order::Le, Order::Gt, Order::Ge];

fn integers(word: Word) -> Vec<OpKind> {
    use OpKind::*;
    let tests = ORDERS.map(IntTest);
    let others = [
        IntAdd,
        IntSub,
        IntNeg,
        IntMul,
        IntDiv,
        IntRem,
        IntPow,
        IntAnd,
        IntOr,
        IntXor,
        IntNot,
        IntRol,
        IntRor,
        IntShl,
        IntShr,
        IntSar,
        IntChoose,
        RequireTrue,
        RequireApart,
    ];
    let unused = i64::BITS - word.bits();
    let literals = [0, 1, -1, 100, i64::MIN >> unused, i64::MAX >> unused].map(Int);
    tests.into_iter().chain(others).chain(literals).collect()
}

fn arithmetic() -> Vec<OpKind> {
    use OpKind::*;
    let others = [Add, Sub, Mul, Div, Neg, Magnitude, Choose, RealOf, IntOf, RequireAdmitted, RequireVacant];
    ORDERS.map(Test).into_iter().chain(others).collect()
}

fn kinds(system: RealSystem, word: Word) -> NumberKinds {
    NumberKinds { word, system, tolerance: 1e-9 }
}

/// Returns the shader of an operation; `None` if its result depends on more than the operands' values. The shader has
/// three operands as inputs. Its outputs are the value and a failure flag.
fn shader(numbers: NumberKinds, kind: OpKind) -> Option<LaneShader> {
    let mut operations = Operations::new(numbers);
    let facts = kind.facts();
    let names = &["a", "b", "c"][..facts.operands.len()];
    let zero = operations.of_word(Class::Real, "constants[0]");
    let mut lines = vec![format!("zero = {zero};")];
    lines.extend(names.iter().zip(facts.operands).enumerate().map(|(n, (name, &class))| {
        let word = operations.of_word(class, &format!("inputs[{n}u * stride + lane]"));
        format!("let {name} = {word};")
    }));
    let (mut fails, mut helper_iterations) = (None, 0);
    match facts.result {
        Some(class) => {
            let written = operations.value(kind, "made", names)?;
            lines.extend(written.lines);
            lines.push(format!("outputs[lane] = {};", operations.to_word(class, &written.text)));
            (fails, helper_iterations) = (written.fails, written.iterations);
        }
        None => {
            lines.push("outputs[lane] = 0lu;".to_owned());
            fails = operations.fails(kind, names).or(fails);
        }
    }
    let fails = fails.map_or("failed".to_owned(), |fails| format!("failed | ({fails})"));
    lines.push(format!("outputs[stride + lane] = select(0lu, 1lu, {fails});"));
    lines.push("atomicStore(&statuses[lane], 2u);\n".to_owned());
    let (prelude, real) = (operations.prelude(1), operations.type_of(Class::Real));
    let wgsl = format!(
        "var<private> zero: {real};\nvar<private> failed: bool;\n{prelude}{}",
        with_main(&lines.join("\n"))
    );
    let constants = [vec![0], operations.tables()].concat();
    Some(LaneShader {
        wgsl,
        non_resumable: None,
        constants,
        inputs: 3,
        outputs: 2,
        kept: 0,
        reports_steps: false,
        helper_iterations,
    })
}

/// Returns true if two words denote the same number. All NaNs count as the same.
fn is_same(numbers: NumberKinds, kind: OpKind, a: u64, b: u64) -> bool {
    let is_nan = |bits: u64| match (kind.facts().result, numbers.system) {
        (Some(Class::Real), RealSystem::F64) => f64::from_bits(bits).is_nan(),
        (Some(Class::Real), RealSystem::F32) => bits >> 32 == 0 && f32::from_bits(bits as u32).is_nan(),
        _ => false,
    };
    a == b || is_nan(a) && is_nan(b)
}

/// Returns true if the shader leaves an operation with these operands to the CPU: a trigonometric function of NaN or of
/// a huge angle.
fn is_left(numbers: NumberKinds, kind: OpKind, operands: [u64; 3]) -> bool {
    let angle = match kind {
        OpKind::Elementary(Elementary::Sin | Elementary::Cos | Elementary::Tan) => operands[0],
        OpKind::Turn { .. } => operands[2],
        _ => return false,
    };
    let (angle, most) = match numbers.system {
        RealSystem::F64 => (f64::from_bits(angle), 1e10),
        RealSystem::F32 => (f32::from_bits(angle as u32).into(), 1e5),
        RealSystem::Fixed(_) => return false,
    };
    // NaN is left to the CPU, too.
    angle.is_nan() || angle.abs() >= most
}

/// Returns a description of the results that differ from the CPU's; `None` if there are none.
fn differences(
    device: &BatchDevice,
    numbers: NumberKinds,
    kind: OpKind,
    shader: &LaneShader,
    lanes: usize,
) -> Option<String> {
    let mut random = Random(7);
    let classes = kind.facts().operands;
    let sets: Vec<[u64; 3]> = (0..lanes)
        .map(|_| {
            std::array::from_fn(|n| classes.get(n).map_or(0, |&class| operand(numbers, class, &mut random)))
        })
        .collect();
    let columns: [Vec<u64>; 3] = std::array::from_fn(|n| sets.iter().map(|set| set[n]).collect());
    let (mut values, mut failures) = (vec![0; lanes], vec![0; lanes]);
    let inputs = columns.each_ref().map(Vec::as_slice);
    DeviceShader::new(device, shader)
        .and_then(|shader| {
            shader.run(&inputs, &mut [&mut values, &mut failures], lanes, u64::MAX, &AtomicBool::new(false))
        })
        .unwrap();
    let mut count = 0;
    let mut first = String::new();
    for ((operands, &found), &has_failed) in sets.iter().zip(&values).zip(&failures) {
        let expected = meaning(numbers, kind, *operands);
        let is_right = match expected {
            ExpectedMeaning::Value(_) if has_failed == 1 => is_left(numbers, kind, *operands),
            ExpectedMeaning::Value(bits) => is_same(numbers, kind, bits, found),
            ExpectedMeaning::Holds => has_failed == 0,
            ExpectedMeaning::Fails => has_failed == 1,
            ExpectedMeaning::Other => false,
        };
        if !is_right {
            count += 1;
            if count <= 3 {
                first += &format!("\n    {operands:x?}: {expected:x?}, found {found:x}, {has_failed}");
            }
        }
    }
    let NumberKinds { system, word, .. } = numbers;
    let lowering = device.lowering();
    (count > 0)
        .then(|| format!("{kind:?} over {system:?}, {word:?}, {lowering:?}: {count} of {lanes}{first}"))
}

fn check(numbers: NumberKinds, kinds: impl IntoIterator<Item = OpKind>, lanes: usize) {
    let mut wrong = Vec::new();
    for kind in kinds {
        let text = shader(numbers, kind).unwrap_or_else(|| panic!("{kind:?} isn't written"));
        for device in devices_for(&text.wgsl) {
            wrong.extend(differences(&device, numbers, kind, &text, lanes));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn integers_of_every_width() {
    for word in [Word::W8, Word::W16, Word::W32, Word::W64] {
        // Devices without 64-bit floats have these types, too.
        check(kinds(RealSystem::F32, word), integers(word), 1 << 14);
    }
}

#[test]
fn pairs_are_exact_where_results_are_decorated() {
    let lowering = Lowering { integers: LoweredIntegers::Pairs, ..Lowering::PLAIN };
    let Some(device) = device_with(lowering).filter(|device| device.probe().f32_is_exact) else { return };
    let numbers = kinds(RealSystem::F32, Word::W64);
    for kind in integers(Word::W64).into_iter().chain(arithmetic()) {
        let text = shader(numbers, kind).unwrap();
        assert_eq!(differences(&device, numbers, kind, &text, 1 << 14), None);
    }
}

/// Tests each implementation of 32-bit floats except the native one. Skips an implementation whose probe finds inexact
/// results, for example on a device that doesn't fuse multiply-adds. Few software devices do.
#[test]
fn every_exact_implementation_of_singles_is_right() {
    let numbers = kinds(RealSystem::F32, Word::W64);
    let Some(own) = device() else { return };
    for lowering in own.lowering().with_other_singles() {
        let device = own.lowered(lowering).unwrap();
        if !device.probe().f32_is_exact {
            eprintln!("SKIPPED: {lowering:?}: {}", device.probe().wrong_of("f32"));
            assert_ne!(lowering.singles, LoweredSingles::Whole);
            continue;
        }
        let compared = ORDERS.map(OpKind::Test);
        for kind in
            [OpKind::Div, OpKind::Magnitude, OpKind::Elementary(Elementary::Sqrt)].into_iter().chain(compared)
        {
            let text = shader(numbers, kind).unwrap();
            assert_eq!(differences(&device, numbers, kind, &text, 1 << 20), None);
        }
    }
}

#[test]
fn doubles_on_pairs_are_refused_with_the_missing_feature() {
    let lowering =
        Lowering { integers: LoweredIntegers::Pairs, results: LoweredResults::Opaque, ..Lowering::PLAIN };
    let Some(device) = device_with(lowering) else { return };
    let text = shader(kinds(RealSystem::F64, Word::W64), OpKind::Add).unwrap();
    let refused = [DeviceShader::new(&device, &text).err(), device.is_exact_for(DeviceNumbers::F64).err()];
    let lacking = if device.info().has_f64 { "SHADER_INT64" } else { "SHADER_F64" };
    for error in refused {
        let words = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(words.contains(lacking) && words.contains("use fixed point, f32"), "{words}");
    }
    assert!(!device.probe().f64_is_exact);
}

const LITERALS: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -0.1,
    1e300,
    -5e-324,
    1e-310,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

#[test]
fn literals() {
    let doubles = LITERALS.map(|value| OpKind::Real(value.to_bits()));
    check(kinds(RealSystem::F64, Word::W64), doubles, 64);
    let singles = LITERALS.map(|value| OpKind::Real((value as f32 * 1e-10).to_bits().into()));
    check(kinds(RealSystem::F32, Word::W64), singles, 64);
    let fixed = [0, 1, -1, i64::MIN, i64::MAX].map(|raw| OpKind::Real(raw as u64));
    check(kinds(RealSystem::Fixed(32), Word::W64), fixed, 64);
}

#[test]
fn doubles() {
    check(kinds(RealSystem::F64, Word::W64), arithmetic(), 1 << 16);
    check(kinds(RealSystem::F64, Word::W16), [OpKind::RealOf, OpKind::IntOf], 1 << 14);
}

#[test]
fn singles() {
    check(kinds(RealSystem::F32, Word::W64), arithmetic(), 1 << 16);
    check(kinds(RealSystem::F32, Word::W8), [OpKind::RealOf, OpKind::IntOf], 1 << 14);
}

#[test]
fn fixed_point() {
    for fraction in [16, 32, 56] {
        check(kinds(RealSystem::Fixed(fraction), Word::W64), arithmetic(), 1 << 14);
        check(kinds(RealSystem::Fixed(fraction), Word::W16), [OpKind::RealOf, OpKind::IntOf], 1 << 14);
    }
}

fn functions() -> impl Iterator<Item = OpKind> {
    RealFunction::all().map(RealFunction::kind)
}

#[test]
fn functions_of_doubles() {
    check(kinds(RealSystem::F64, Word::W64), functions(), 1 << 16);
}

#[test]
fn functions_of_singles() {
    check(kinds(RealSystem::F32, Word::W64), functions(), 1 << 16);
    check(kinds(RealSystem::F32, Word::W32), [OpKind::Powi], 1 << 14);
}

/// Tests each function with one number of fraction bits, and in a campaign with all of them: a driver's compiler takes
/// seconds for each function.
#[test]
fn functions_of_fixed_point() {
    let fractions = [16, 40, 56];
    for (n, fraction) in fractions.into_iter().enumerate() {
        let is_tested =
            |number: usize| number % fractions.len() == n || std::env::var_os("REVIVER_CAMPAIGN").is_some();
        let functions = functions().enumerate().filter(|&(number, _)| is_tested(number));
        let functions = functions.map(|(_, function)| function);
        check(kinds(RealSystem::Fixed(fraction), Word::W64), functions, 1 << 13);
    }
}
