//! What the user gives a run: `--set` and `--tape`.

use std::path::Path;

use reviver_vm::state::TapeEntry;
use reviver_vm::{Program, State};

use crate::failure::{Failure, Outcome};
use crate::load;

/// Applies every `--set` to a state. The same cell twice is an error. Returns the globals that were given.
pub fn set(program: &Program, state: &mut State, arguments: &[String]) -> Outcome<Vec<usize>> {
    let mut given = Vec::new();
    for assignment in arguments.iter().flat_map(|argument| assignments("--set", argument)) {
        let (name, values) = assignment?;
        let Some((global, _)) = program.global(&name) else { return Err(unknown(program, &name)) };
        if given.contains(&global) {
            return Err(Failure::usage(format_args!("`{name}` is set twice")));
        }
        given.push(global);
        let texts: Vec<&str> = values.iter().map(String::as_str).collect();
        program
            .give(state, global, &texts)
            .map_err(|error| Failure::usage(format_args!("--set {name}: {error}")))?;
    }
    Ok(given)
}

/// `a=1,2,b=3` is `a` with two values and `b` with one: a value with `=` in it begins a new name.
pub fn assignments(option: &str, argument: &str) -> Vec<Outcome<(String, Vec<String>)>> {
    let mut assignments: Vec<Outcome<(String, Vec<String>)>> = Vec::new();
    for part in parts(argument) {
        match (part.split_once('='), assignments.last_mut()) {
            (Some((name, value)), _) => assignments.push(values(name.trim(), value)),
            (None, Some(Ok((_, values)))) => values.push(part.trim().to_owned()),
            (None, Some(Err(_))) => {}
            (None, None) => assignments.push(Err(Failure::usage(format_args!(
                "{option} {argument}: a cell is given as NAME=VALUE"
            )))),
        }
    }
    assignments
}

/// The parts of a list, separated by commas outside of brackets: `x`, `M[1,2]` are two.
pub fn parts(list: &str) -> Vec<&str> {
    let mut depth = 0i32;
    list.split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth <= 0
    })
    .collect()
}

fn values(name: &str, value: &str) -> Outcome<(String, Vec<String>)> {
    let values = match value.trim().strip_prefix('@') {
        Some(file) => numbers(Path::new(file))?,
        None => vec![value.trim().to_owned()],
    };
    Ok((name.to_owned(), values))
}

/// All numbers of a file, separated by commas, blanks or line ends.
fn numbers(path: &Path) -> Outcome<Vec<String>> {
    let bytes = load::data(path)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(&bytes[..]);
    let mut numbers = Vec::new();
    for record in reader.records() {
        let record =
            record.map_err(|error| Failure::usage(format_args!("{}: {error}", load::shown(path))))?;
        numbers.extend(record.iter().flat_map(str::split_whitespace).map(str::to_owned));
    }
    Ok(numbers)
}

fn unknown(program: &Program, name: &str) -> Failure {
    let names: Vec<&str> = program.module().globals.iter().map(|g| g.name.as_str()).collect();
    let failure = Failure::usage(format_args!("--set: the program has no cell `{name}`"));
    match reviver_assembler::suggest::nearest(name, names.iter().copied()) {
        Some(near) => failure.help(format_args!("did you mean `{near}`?")),
        None if names.is_empty() => failure,
        None => failure.help(format_args!("its cells are {}", names.join(", "))),
    }
}

/// `--tape`: values, a file, or `-`; in the order in which they are read.
pub fn tape(program: &Program, argument: &str) -> Outcome<Vec<TapeEntry>> {
    let inline: Vec<&str> = argument.split([',', ' ']).filter(|part| !part.is_empty()).collect();
    let texts = if inline.iter().all(|part| looks_like_number(part)) {
        inline.into_iter().map(str::to_owned).collect()
    } else {
        numbers(Path::new(argument))?
    };
    texts
        .iter()
        .map(|text| program.parse_entry(text))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::usage(format_args!("--tape: {error}")))
}

/// Whether a text is rather a number, right or wrong, than the name of a file.
pub fn looks_like_number(text: &str) -> bool {
    let unsigned = text.trim().trim_start_matches(['+', '-']);
    unsigned.starts_with(|c: char| c.is_ascii_digit())
        && unsigned.chars().all(|c| c.is_ascii_hexdigit() || "xo._+-E".contains(c))
}
