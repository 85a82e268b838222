//! Inputs of a run from the options `--set` and `--tape`.

use std::path::{Path, PathBuf};

use reviver::Error;
use reviver_isa::module::{Global, Shape};
use reviver_vm::state::TapeEntry;
use reviver_vm::values::{Value, ValueError};
use reviver_vm::{Program, State};

use crate::failure::{Failure, Fallible};
use crate::kinds::looks_like_number;
use crate::table;

/// Applies every `--set` to a state. Returns the indices of the globals whose values were given.
pub fn set(program: &Program, state: &mut State, arguments: &[String]) -> Fallible<Vec<usize>> {
    assigned(program, state, "--set", arguments)
}

/// Applies an option's assignments to a state. Returns the indices of the globals whose values were given. Assigning
/// a cell twice is an error.
pub fn assigned(
    program: &Program,
    state: &mut State,
    option: &str,
    arguments: &[String],
) -> Fallible<Vec<usize>> {
    let assignments = arguments.iter().flat_map(|argument| assignments(option, argument));
    give_all(program, state, option, assignments)
}

/// Applies assignments with values that were read earlier, each with the name of its cell or array.
pub fn given_values(
    program: &Program,
    state: &mut State,
    option: &str,
    values: &[(String, Vec<String>)],
) -> Fallible<Vec<usize>> {
    let assignments =
        values.iter().map(|(name, values)| Ok((name.clone(), GivenValues::Inline(values.clone()))));
    give_all(program, state, option, assignments)
}

fn give_all(
    program: &Program,
    state: &mut State,
    option: &str,
    assignments: impl Iterator<Item = Fallible<(String, GivenValues)>>,
) -> Fallible<Vec<usize>> {
    let mut given = Vec::new();
    for assignment in assignments {
        let (name, values) = assignment?;
        let Some((global, declared)) = program.global(&name) else {
            return Err(Failure::refused(option, &Error::unknown(program, &name, None)));
        };
        if given.contains(&global) {
            return Err(Failure::usage(format_args!("`{name}` is set twice")));
        }
        given.push(global);
        give(program, state, (option, global, declared), &values)?;
    }
    Ok(given)
}

fn give(
    program: &Program,
    state: &mut State,
    (option, global, declared): (&str, usize, &Global),
    values: &GivenValues,
) -> Fallible {
    let name = &declared.name;
    let parse = |text: &str| program.parse(declared.class, text);
    let given = match values {
        // The assignment `trail=` gives an empty stack.
        GivenValues::Inline(texts) if declared.shape == Shape::Stack && texts[..] == [""] => Ok(Vec::new()),
        GivenValues::Inline(texts) => texts.iter().map(|text| parse(text)).collect::<Result<Vec<Value>, _>>(),
        GivenValues::File(file) => Ok(table::cells(file, (name, declared.shape, declared.class), &parse)?),
    };
    given
        .and_then(|values| program.give_values(state, global, &values))
        .map_err(|error| refused(program, &error, Failure::usage(format_args!("{option} {name}: {error}"))))
}

/// Adds advice to the failure for a value that doesn't fit, for example that unsigned integers need `--unsigned`.
fn refused(program: &Program, error: &ValueError, failure: Failure) -> Failure {
    match error {
        ValueError::NotAnInteger { text, .. } if program.is_unsigned(text) => {
            failure.help("add `--unsigned` to read integers without a sign")
        }
        ValueError::Stack { .. } => failure.help("raise the limit with `.limit stack` in the program"),
        _ => failure,
    }
}

/// Right-hand side of an assignment: values in the argument, or a file that has them.
pub enum GivenValues {
    Inline(Vec<String>),
    File(PathBuf),
}

/// Parses assignments: `a=1,2,b=3` gives `a` two values and `b` one. A part with `=` begins a new assignment.
pub fn assignments(option: &str, argument: &str) -> Vec<Fallible<(String, GivenValues)>> {
    let mut assignments: Vec<Fallible<(String, GivenValues)>> = Vec::new();
    for part in parts(argument) {
        match (part.split_once('='), assignments.last_mut()) {
            (Some((name, value)), _) => assignments.push(Ok((name.trim().to_owned(), values(value)))),
            (None, Some(Ok((_, GivenValues::Inline(values))))) => values.push(part.trim().to_owned()),
            (None, Some(Ok((name, GivenValues::File(_))))) => {
                let failure = Failure::usage(format_args!(
                    "{option} {name}: the file gives all values of `{name}`, and no value can follow it"
                ));
                assignments.push(Err(failure));
            }
            (None, Some(Err(_))) => {}
            (None, None) => assignments.push(Err(Failure::usage(format_args!(
                "{option} {argument}: write the value of a cell as NAME=VALUE"
            )))),
        }
    }
    assignments
}

/// Splits a list at commas outside of brackets: `x`, `M[1,2]` are two parts.
pub fn parts(list: &str) -> Vec<&str> {
    let mut depth = 0i32;
    list.split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth <= 0
    })
    .collect()
}

fn values(value: &str) -> GivenValues {
    match value.trim().strip_prefix('@') {
        Some(file) => GivenValues::File(PathBuf::from(file)),
        None => GivenValues::Inline(vec![value.trim().to_owned()]),
    }
}

/// Parses `--tape`: values in display order, a file (with or without a leading `@`), or `-`.
pub fn tape(program: &Program, argument: &str) -> Fallible<Vec<TapeEntry>> {
    let parse = |text: &str| program.parse_entry(text);
    let inline: Vec<&str> = argument.split([',', ' ']).filter(|part| !part.is_empty()).collect();
    if !inline.iter().all(|part| looks_like_number(part)) {
        return table::list(Path::new(argument.strip_prefix('@').unwrap_or(argument)), &parse);
    }
    let entries: Result<Vec<TapeEntry>, _> = inline.into_iter().map(parse).collect();
    entries.map_err(|error| refused(program, &error, Failure::usage(format_args!("--tape: {error}"))))
}
