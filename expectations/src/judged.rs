//! Values beside what was expected of them: equal, or near; and how both are told. Knows no run.

use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::Value;
use reviver_vm::{Machine, Program, Travel};

use crate::assessment::Mismatch;

/// Of longer lists the first difference is told, not all of them.
const LISTED: usize = 16;

/// How far a real may be off, of the larger of 1 and its magnitude.
const NEAR: f64 = 1e-9;

/// Texts that must be equal. `1` and `1.0` are the same number; integers are compared digit by digit.
pub(crate) fn equal(what: &str, found: &[String], expected: &str) -> Option<Mismatch> {
    let wanted: Vec<&str> = expected.split(',').filter(|text| !text.is_empty()).collect();
    let is_same = |found: &str, wanted: &str| {
        let numbers = || found.parse::<f64>().ok().zip(wanted.parse::<f64>().ok());
        found == wanted || found.contains('.') && numbers().is_some_and(|(found, wanted)| found == wanted)
    };
    let wanted_texts: Vec<String> = wanted.iter().map(|text| (*text).to_owned()).collect();
    let same = found.len() == wanted.len() && found.iter().zip(&wanted).all(|(f, w)| is_same(f, w));
    (!same).then(|| differing(what, " = ", found, &wanted_texts, |f, w| is_same(f, w)))
}

/// Reals that must be near numbers, to 9 digits.
pub(crate) fn near(what: &str, found: &[f64], expected: &[f64]) -> Option<Mismatch> {
    close(what, found, expected, |found, wanted| (found - wanted).abs() <= NEAR * wanted.abs().max(1.0))
}

/// Reals that must be near numbers, by a measure.
pub(crate) fn close(
    what: &str,
    found: &[f64],
    expected: &[f64],
    is_close: impl Fn(f64, f64) -> bool,
) -> Option<Mismatch> {
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(&f, &e)| is_close(f, e));
    let texts = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>();
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    (!same).then(|| {
        differing(what, " ~ ", &texts(found), &texts(expected), |f, w| is_close(number(f), number(w)))
    })
}

/// Values of two programs that must be the same: integers exactly, reals to 9 digits.
pub(crate) fn same(
    what: &str,
    found: (&Program, &[Value]),
    expected: (&Program, &[Value]),
) -> Option<Mismatch> {
    let texts = |(program, values): (&Program, &[Value])| -> Vec<String> {
        values.iter().map(|&value| program.text(value)).collect()
    };
    let is_real = |value: &Value| matches!(value, Value::Real(_));
    if found.1.iter().chain(expected.1).any(is_real) {
        let reals = |(program, values): (&Program, &[Value])| -> Vec<f64> {
            values.iter().map(|&value| program.approximate(value)).collect()
        };
        return near(what, &reals(found), &reals(expected));
    }
    let (found, expected) = (texts(found), texts(expected));
    (found != expected).then(|| differing(what, " = ", &found, &expected, |f, w| f == w))
}

/// Both lists, or of long ones the first entry that differs.
fn differing(
    what: &str,
    sign: &str,
    found: &[String],
    expected: &[String],
    is_same: impl Fn(&str, &str) -> bool,
) -> Mismatch {
    let long = found.len().max(expected.len()) > LISTED;
    if long && found.len() == expected.len() {
        let pairs = found.iter().zip(expected).enumerate();
        if let Some((n, (found, expected))) = pairs.into_iter().find(|(_, (f, w))| !is_same(f, w)) {
            let entry = |value: &str| format!("{what}[{n}]{sign}{value}");
            return Mismatch::new(entry(expected), entry(found));
        }
    }
    let told = |list: &[String]| match list.len() {
        0 => format!("{what}{sign}nothing"),
        count if count > LISTED => format!("{count} values of {what}"),
        _ => format!("{what}{sign}{}", list.join(",")),
    };
    Mismatch::new(told(expected), told(found))
}

/// The values of a cell, an array or a stack; none where there is no such name.
pub(crate) fn values(machine: &Machine, name: &str) -> Option<Vec<Value>> {
    let (global, _) = machine.program().global(name)?;
    Some(machine.program().read(machine.state(), global))
}

/// The tape that a run in a direction has left, as it is told.
pub(crate) fn tape(machine: &Machine, travel: Travel) -> Vec<Value> {
    let (program, state) = (machine.program(), machine.state());
    let tape = Tape::resulting(travel);
    let entries = match tape {
        Tape::Input => &state.input,
        Tape::Output => &state.output,
    };
    let value = |entry: TapeEntry| match entry {
        TapeEntry::Int(value) => Value::Int(value),
        TapeEntry::Real(bits) => Value::Real(bits),
    };
    program.told(tape, entries.iter().map(|&entry| value(entry)).collect())
}
