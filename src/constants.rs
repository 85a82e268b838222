//! Option `--const`: values that replace constants of a text. The values are checked before and after assembly.

use std::path::Path;

use reviver_assembler::constants::{GivenConstant, RefusedConstant};
use reviver_assembler::suggest::nearest;

use crate::cli::Constants;
use crate::failure::{Failure, Fallible};
use crate::read::shown;

/// Parses the values of `--const`. A name that occurs twice is a failure.
pub fn given(options: &Constants) -> Fallible<Vec<GivenConstant>> {
    let mut given: Vec<GivenConstant> = Vec::new();
    for part in options.constants.iter().flat_map(|argument| argument.split(',')) {
        let Some((name, text)) = part.split_once('=') else { return Err(nameless(part, given.last())) };
        let (name, text) = (name.trim(), text.trim());
        let Some(constant) = GivenConstant::parse(name, text) else {
            return Err(Failure::usage(format_args!("--const {name}: `{text}` isn't a number"))
                .help("write an integer or a real: `1000`, `0xff`, `0.5`"));
        };
        if given.iter().any(|other| other.name == name) {
            return Err(Failure::usage(format_args!(
                "--const: `{name}` is given twice; leave one of the values out"
            )));
        }
        given.push(constant);
    }
    Ok(given)
}

/// Failure for a part of `--const` without a name, such as a second value (`N=1,2`). `before` is the constant in front
/// of the part.
fn nameless(part: &str, before: Option<&GivenConstant>) -> Failure {
    match before {
        Some(GivenConstant { name, .. }) => Failure::usage(format_args!(
            "--const {name}: a constant has one value, and `{part}` is a second one"
        ))
        .help("use `--set` for the values of an array"),
        None => Failure::usage(format_args!("--const {part}: write a constant as NAME=VALUE")),
    }
}

/// Refuses `--const` for an image, in which constants have already been replaced by numbers.
pub fn check_none(given: &[GivenConstant], image: &Path) -> Fallible {
    let Some(first) = given.first() else { return Ok(()) };
    let file = shown(image);
    Err(Failure::usage(format_args!(
        "--const {first}: {file} is an image, in which numbers have replaced the constants"
    ))
    .help(format_args!("assemble the text with this constant: `reviver asm TEXT --const {first} -o {file}`")))
}

/// Failure for a constant that the assembler refuses, for example because the text doesn't declare it.
pub fn refused(refused: &RefusedConstant) -> Failure {
    match refused {
        RefusedConstant::Real { name } => {
            Failure::usage(format_args!("--const {name}: `{name}` is an integer, and a real was given"))
                .help("give an integer, or make the constant a real in its `.const`")
        }
        RefusedConstant::Unknown { name, is_cell: true, .. } => {
            Failure::usage(format_args!("--const {name}: `{name}` is a cell, not a constant"))
                .help(format_args!("set the cell with `--set {name}=…`"))
        }
        RefusedConstant::Unknown { name, known, .. } => {
            let failure = Failure::usage(format_args!("--const: the text has no constant `{name}`"));
            match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => failure.help(format_args!("did you mean `{near}`?")),
                None if known.is_empty() => {
                    failure.help("declare the constant in the text: `.const NAME = 1`")
                }
                None => failure.help(format_args!("the constants of the text are {}", known.join(", "))),
            }
        }
    }
}
