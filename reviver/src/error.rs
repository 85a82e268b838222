//! Errors of the library. Each message says where the error is, why it occurred, and how to fix it.

use reviver_assembler::constants::RefusedConstant;
use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::image;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Role, Word};
use reviver_isa::verify::Violation;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::differentiate::DifferentiateError;
use reviver_vm::explain::Explanation;
use reviver_vm::garbage::Garbage;
use reviver_vm::lookup::IndexError;
use thiserror::Error;

#[cfg(feature = "arrow")]
use super::batch::arrow::refused::ArrowRefused;
use super::batch::no_device::NoDevice;
use super::engine::NoEngine;
use super::places::place;

/// Reason why a program can't be built, or why a call has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum Error {
    /// A file that can't be read.
    #[error("{name}: {why}")]
    Unreadable { name: String, why: String },
    /// A text that isn't a valid program. `rendered` has all diagnostics with their source lines.
    #[error("{rendered}")]
    Text { diagnostics: Vec<Diagnostic>, rendered: String },
    /// An image that can't be decoded.
    #[error("{name}: {error}")]
    Image { name: String, error: Box<image::LoadError> },
    /// A value for a constant that the text doesn't declare, or a value that can't be converted to the constant's type.
    #[error("{}", constant(.0))]
    Constant(RefusedConstant),
    /// Rules of the machine that the program breaks. The program of a text breaks such rules only if it runs in another
    /// number system than its own.
    #[error("{name}: {}", broken(violations))]
    Refused { name: String, violations: Vec<Violation> },
    /// The requested engine isn't available.
    #[error("{0}; the engine `interp` runs every program, and `auto` uses native code if available")]
    Engine(#[from] NoEngine),

    #[error("the program has no cell `{name}`{}", meant(near.as_deref(), known))]
    Unknown { name: String, near: Option<String>, known: Vec<String> },
    #[error("`{name}` is {}, but {} were requested", one(*class), several(*class))]
    Class { name: String, class: Class },
    #[error("there is no cell `{name}`: {why}")]
    Index { name: String, why: IndexErrorText },
    /// A stack that is named where cells are expected. Only the program itself accesses values on stacks.
    #[error("`{name}` is a stack, which has no cells: copy the value to a cell in the program")]
    Stack { name: String },
    #[error("`{name}` has {cells} cells, but one was requested: name one of them, such as `{name}[0]`")]
    Several { name: String, cells: usize },
    /// A handle of one executable that is used with another one.
    #[error("this handle belongs to a different `Executable`: look the name up in this one")]
    Foreign,

    #[error("`{name}` has {cells} cell{}, and the slice has {given}", if *cells == 1 { "" } else { "s" })]
    Length { name: String, cells: usize, given: usize },
    #[error("`{name}` can't be given: it is `{}`; {}", role.directive(), takes(*role, *backward))]
    NotTaken { name: String, role: Role, backward: bool },
    /// An integer that doesn't fit into the program's words. `index` is the index in the slice.
    #[error("`{name}`: {value}, at index {index} of the slice, is not an integer of {bits} bits")]
    NotAnInteger { name: String, index: usize, value: i64, bits: u32 },
    /// A number that the number system can't represent. `index` is the index in the slice.
    #[error("`{name}`: {value}, at index {index} of the slice, is not a number that fits into {system}")]
    NotAReal { name: String, index: usize, value: f64, system: RealSystem },
    /// Results or inputs that a run requires but the caller hasn't given. An array counts as given only if a single
    /// call gives all of its cells.
    #[error("{} needs every result; give these, each array in one call: {}", if *backward { "running backward" } else { "an inverse program" }, quoted(names))]
    Missing { names: Vec<String>, backward: bool },

    /// A trap of the program. `place` is the file, the line and, if known, the column.
    #[error("{place}: {}{}{}", if *backward { "while running backward: " } else { "" }, explanation.message, cure(explanation.help.as_deref()))]
    Trap { place: String, backward: bool, explanation: Box<Explanation> },
    #[error("stopped after {steps} step{}, before the {}: raise the limit, or choose smaller inputs", if *steps == 1 { "" } else { "s" }, if *backward { "beginning" } else { "end" })]
    StepLimit { backward: bool, steps: u64 },
    /// The interrupt flag of the call was set.
    #[error("the interrupt flag stopped the call")]
    Interrupted,
    /// The backward run ended with cell values with which no run starts. So no run has the given results, or rounding
    /// made the backward run diverge.
    #[error(
        "these are not results of the program{}: the backward run left {}",
        if *is_rounded { ", or rounding has made the backward run diverge (fixed point loses nothing)" } else { "" },
        left(garbage)
    )]
    NoSuchResults { garbage: Vec<Garbage>, is_rounded: bool },
    /// Values were lost, so the derivatives may be wrong. Each entry describes a lost value, with its place.
    #[error("the derivatives may be wrong: {}", losses.join("; "))]
    Doubtful { losses: Vec<String> },
    #[error("{0}")]
    Underivable(Box<DifferentiateError>),
    #[error(
        "a run can't begin with this state: it belongs to another program, isn't at the beginning of the run, or has adjoints"
    )]
    NoBeginning,
    /// Cells, tapes or stacks with leftovers at the end of a run that must be reversed.
    #[error("the run left cells that must have their initial value: {}", left(garbage))]
    Leftovers { garbage: Vec<Garbage> },
    #[error("the start was not restored, because floats have lost bits (fixed point loses none)")]
    NotRestored,

    /// A failed lane that ends its batch.
    #[error("lane {lane}: {error}")]
    Lane { lane: u64, error: Box<Error> },
    #[error(
        "these inputs have no column: {}; add a column for each, or set them for all lanes",
        quoted(names)
    )]
    MissingColumns { names: Vec<String> },
    /// A seeded sum without any cells.
    #[error("there are no seeds: name at least one real cell with its seed")]
    NoSeeds,
    #[error("there is no Taylor series of order {order}: choose an order from 1 to {most}")]
    Order { order: usize, most: usize },
    #[error("`{name}` is given twice: leave one of the two out")]
    TwiceGiven { name: String },
    #[error(
        "`{name}` is declared to be `shared`, so all lanes have the same number: set it once for all lanes, not in a column"
    )]
    SharedColumn { name: String },
    #[error("the column `{name}` has {given} numbers, and there are {lanes} lanes")]
    ColumnLength { name: String, lanes: usize, given: usize },
    /// A number in a lane column that the cells of the program can't represent. `lane` is the index in the column.
    #[error("`{name}`: {value}, in lane {lane}, is not {}", fitting(*class, *word, *system))]
    NotANumber { name: String, lane: usize, value: String, class: Class, word: Word, system: RealSystem },
    #[error("the lanes have no result `{name}`; their results are {}", quoted(known))]
    NoResult { name: String, known: Vec<String> },
    #[error("the sum of `{name}` over all lanes is too large for {system}")]
    SumTooLarge { name: String, system: RealSystem },
    #[error(
        "a block of {lanes} lanes needs {inputs} input columns and {results} result columns of {lanes} numbers each"
    )]
    Columns { inputs: usize, results: usize, lanes: usize },
    /// A device that can't execute the lanes.
    #[error("{0}; `cpu` executes every program")]
    Device(#[from] NoDevice),
    /// Arrow columns that don't fit the lanes.
    #[cfg(feature = "arrow")]
    #[error(transparent)]
    Arrow(#[from] ArrowRefused),
    #[error("a thread that executed lanes ended unexpectedly")]
    LostThread,

    #[error("there is nothing to read: {0}")]
    NothingToRead(&'static str),
    #[error("{0} for the cells of the program: declare smaller arrays")]
    NoMemory(#[from] OutOfMemory),
}

/// Reason why indices are wrong: their number, their range, or their syntax.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum IndexErrorText {
    #[error("{0}")]
    Wrong(#[from] IndexError),
    #[error("write an element as `A[3]` or `M[1,2]`, with indices from 0")]
    Unreadable,
}

impl Error {
    /// Returns true if the error concerns one lane only, so that other lanes of the batch can continue.
    pub(super) fn is_of_one_lane(&self) -> bool {
        matches!(
            self,
            Error::Trap { .. }
                | Error::StepLimit { .. }
                | Error::NoSuchResults { .. }
                | Error::Doubtful { .. }
                | Error::Underivable(_)
                | Error::Leftovers { .. }
                | Error::NotRestored
        )
    }

    /// Converts an error of differentiation. `file` is the name of the program's file.
    pub(super) fn of_derivative(file: &str, error: DifferentiateError) -> Error {
        match error {
            DifferentiateError::Trap { backward, explanation } => Error::trap(file, backward, explanation),
            DifferentiateError::StepLimit { backward, steps } => Error::StepLimit { backward, steps },
            DifferentiateError::Interrupted { .. } => Error::Interrupted,
            DifferentiateError::NoMemory(error) => Error::NoMemory(error),
            error => Error::Underivable(Box::new(error)),
        }
    }

    /// Creates the error of a trap, with its place.
    pub(super) fn trap(file: &str, backward: bool, explanation: Box<Explanation>) -> Error {
        let spot = explanation.spot.as_ref();
        let included = spot.and_then(|spot| spot.file.as_deref());
        let mut place = place(file, included, spot.map(|spot| spot.line));
        if let Some((first, _)) = spot.and_then(|spot| spot.columns) {
            place.push_str(&format!(":{first}"));
        }
        Error::Trap { place, backward, explanation }
    }
}

fn constant(refused: &RefusedConstant) -> String {
    match refused {
        RefusedConstant::Real { name } => {
            format!(
                "`{name}` is an integer constant, and a real was given: give an integer, or declare a real `.const`"
            )
        }
        RefusedConstant::Unknown { name, is_cell: true, .. } => {
            format!("`{name}` is a cell, not a constant: set it in each call")
        }
        RefusedConstant::Unknown { name, known, .. } if known.is_empty() => {
            format!("the text has no constant `{name}`: declare it by `.const`")
        }
        RefusedConstant::Unknown { name, known, .. } => {
            format!("the text has no constant `{name}`; its constants are {}", quoted(known))
        }
    }
}

fn broken(violations: &[Violation]) -> String {
    let first = violations.first().map_or("", |violation| violation.message.as_str());
    match violations.len() {
        0 | 1 => first.to_owned(),
        n => format!("{first} (and {} more)", n - 1),
    }
}

fn meant(near: Option<&str>, known: &[String]) -> String {
    match near {
        Some(near) => format!(": did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => format!("; its cells are {}", quoted(known)),
    }
}

fn quoted(names: &[String]) -> String {
    const NAMED: usize = 8;
    let quoted: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMED) {
        0 => quoted.join(", "),
        more => format!("{} and {more} more", quoted.join(", ")),
    }
}

fn fitting(class: Class, word: Word, system: RealSystem) -> String {
    match class {
        Class::Int => format!("an integer of {} bits", word.bits()),
        Class::Real => format!("a number that fits into {system}"),
    }
}

fn one(class: Class) -> &'static str {
    if class == Class::Int { "an integer" } else { "a real" }
}

fn several(class: Class) -> &'static str {
    if class == Class::Int { "reals" } else { "integers" }
}

fn takes(role: Role, backward: bool) -> &'static str {
    match (role, backward) {
        (Role::Private, _) => "a private cell begins and ends with its initial value",
        (_, true) => "give a backward run the results, from which it computes the inputs",
        (_, false) => "give a run the `.in` and `.inout` cells",
    }
}

fn cure(help: Option<&str>) -> String {
    help.map_or_else(String::new, |help| format!(" ({help})"))
}

fn left(garbage: &[Garbage]) -> String {
    let lines: Vec<String> = garbage.iter().flat_map(Garbage::lines).collect();
    lines.join("; ")
}
