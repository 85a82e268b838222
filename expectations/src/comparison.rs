//! Comparison of values with expected ones, exactly or within a tolerance, and the text of the differences.
//! This module is independent of runs.

use std::cmp::Ordering;

use reviver_isa::instruction::Class;
use reviver_vm::given::Tape;
use reviver_vm::state::TapeEntry;
use reviver_vm::values::{Value, ValueError};
use reviver_vm::{Machine, Program, Travel};

use crate::assessment::Mismatch;

/// The maximum length of a list that a mismatch shows in full. Of a longer list, the mismatch shows only the first
/// differing entry.
const LISTED: usize = 16;

/// The tolerance for a real, relative to the magnitude of the real or to 1, whichever is larger.
const NEAR: f64 = 1e-9;

/// Compares values with the numbers of a text. The numbers are parsed like those of a program: `0x10` is 16,
/// and `1` and `1.0` are the same real.
pub(crate) fn equal(program: &Program, what: &str, found: &[Value], expected: &str) -> Option<Mismatch> {
    let wanted: Vec<String> =
        expected.split(',').filter(|text| !text.is_empty()).map(str::to_owned).collect();
    let pairs = found.iter().zip(&wanted);
    let same: Result<Vec<bool>, ValueError> =
        pairs.map(|(&found, wanted)| is_number(program, found, wanted)).collect();
    let same = match same {
        Ok(same) => same,
        Err(error) => return Some(Mismatch::new(format!("numbers for {what}"), error.to_string())),
    };
    let texts: Vec<String> = found.iter().map(|&value| program.text(value)).collect();
    let all = found.len() == wanted.len() && same.iter().all(|same| *same);
    (!all).then(|| differing(what, " = ", &texts, &wanted, |n| same.get(n).copied().unwrap_or(false)))
}

/// Returns true if a value equals the number in a text.
fn is_number(program: &Program, found: Value, wanted: &str) -> Result<bool, ValueError> {
    let class = match found {
        Value::Int(_) => Class::Int,
        Value::Real(_) => Class::Real,
    };
    // The comparison of texts accepts NaN and infinities, too.
    if program.text(found) == wanted {
        return Ok(true);
    }
    Ok(match (found, program.parse(class, wanted)?) {
        (Value::Real(found), Value::Real(wanted)) => program.compare(found, wanted) == Some(Ordering::Equal),
        (found, wanted) => found == wanted,
    })
}

/// Compares reals with numbers to 9 digits.
pub(crate) fn near(what: &str, found: &[f64], expected: &[f64]) -> Option<Mismatch> {
    close(what, found, expected, |found, wanted| (found - wanted).abs() <= NEAR * wanted.abs().max(1.0))
}

/// Compares reals with numbers by a given predicate.
pub(crate) fn close(
    what: &str,
    found: &[f64],
    expected: &[f64],
    is_close: impl Fn(f64, f64) -> bool,
) -> Option<Mismatch> {
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(&f, &e)| is_close(f, e));
    let texts = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>();
    let is_same = |n: usize| found.get(n).zip(expected.get(n)).is_some_and(|(&f, &e)| is_close(f, e));
    (!same).then(|| differing(what, " ~ ", &texts(found), &texts(expected), is_same))
}

/// Compares values of two programs: integers exactly, reals to 9 digits.
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
    (found != expected)
        .then(|| differing(what, " = ", &found, &expected, |n| found.get(n) == expected.get(n)))
}

/// Returns the difference of two lists: both lists, or only the first differing entry of long ones. `is_same`
/// compares the entries at an index.
fn differing(
    what: &str,
    sign: &str,
    found: &[String],
    expected: &[String],
    is_same: impl Fn(usize) -> bool,
) -> Mismatch {
    let long = found.len().max(expected.len()) > LISTED;
    if long && found.len() == expected.len() {
        let pairs = found.iter().zip(expected).enumerate();
        if let Some((n, (found, expected))) = pairs.into_iter().find(|(n, _)| !is_same(*n)) {
            let entry = |value: &str| format!("{what}[{n}]{sign}{value}");
            return Mismatch::new(entry(expected), entry(found));
        }
    }
    let reported = |list: &[String]| match list.len() {
        0 => format!("{what}{sign}nothing"),
        count if count > LISTED => format!("{count} values of {what}"),
        _ => format!("{what}{sign}{}", list.join(",")),
    };
    Mismatch::new(reported(expected), reported(found))
}

/// Returns the values of a cell, an array or a stack, or `None` if the name doesn't exist.
pub(crate) fn values(machine: &Machine, name: &str) -> Option<Vec<Value>> {
    let (global, _) = machine.program().global(name)?;
    Some(machine.program().read(machine.state(), global))
}

/// Returns the tape that a run in this direction has produced, in display order.
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
    program.in_text_order(tape, entries.iter().map(|&entry| value(entry)).collect())
}
