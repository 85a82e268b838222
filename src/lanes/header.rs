//! What a number is allowed to be, and how a place in a file of lanes is told. Reads nothing.

use reviver_isa::instruction::Class;
use reviver_vm::Program;
use reviver_vm::values::ValueError;
use serde_json::json;

use crate::failure::Failure;

/// Why a field isn't a number of a cell, with its place: `line` and `column` from 1.
pub fn no_number(program: &Program, place: (&str, u64, usize), cell: &str, error: &ValueError) -> Failure {
    let failure = at(place, &format!("`{cell}`: {error}"));
    match error {
        ValueError::NotAnInteger { text, .. } if program.is_unsigned(text) => {
            failure.help("`--unsigned` reads integers without a sign")
        }
        ValueError::NotAReal { text, .. } if is_infinite(text) => {
            failure.help("cells hold finite numbers only: leave such lanes out of the file")
        }
        ValueError::NotAnInteger { text, .. } if program.parse(Class::Real, text).is_ok() => {
            failure.help(format_args!("`{cell}` is an integer: `.in {cell}: real` would declare a real"))
        }
        _ => failure,
    }
}

fn is_infinite(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok_and(|value| !value.is_finite())
}

/// Something that is wrong at a place of a file.
pub fn at((file, line, column): (&str, u64, usize), what: &str) -> Failure {
    Failure::usage(format_args!("{file}:{line}:{column}: {what}"))
        .detail("place", json!({ "file": file, "line": line, "column": column }))
}
