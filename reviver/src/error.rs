//! Errors of the library. Each error has a place, a cause and a cure.

use std::fmt::{self, Display, Formatter};

use reviver_assembler::constants::RefusedConstant;
use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::image;
use reviver_assembler::suggest::nearest;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, RealSystem, Role, Shape, Word};
use reviver_isa::verify::Violation;
use reviver_vm::Program;
use reviver_vm::allocation::OutOfMemory;
use reviver_vm::differentiate::DifferentiateError;
use reviver_vm::explain::Explanation;
use reviver_vm::garbage::Garbage;
use reviver_vm::lookup::IndexError;

#[cfg(feature = "arrow")]
use super::batch::arrow::refused::ArrowRefused;
use super::batch::no_device::NoDevice;
use super::engine::NoEngine;
use super::places::place;

/// Reason why a program can't be built, or why a call has no result. The text of an error has its [place](Error::place),
/// its [cause](Error::cause) and its [cure](Error::cure).
#[derive(Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "`cause` explains each variant and its fields")]
pub enum Error {
    /// A file that can't be read.
    Unreadable { name: String, why: String },
    /// A text that isn't a valid program. `rendered` has all diagnostics with their source lines.
    Text { diagnostics: Vec<Diagnostic>, rendered: String },
    /// An image that can't be decoded.
    Image { name: String, error: Box<image::LoadError> },
    /// A value for a constant that the text doesn't declare, or a value that can't be converted to the constant's type.
    Constant(RefusedConstant),
    /// Rules of the machine that the program breaks. The program of a text breaks such rules only if it runs in another
    /// number system than its own.
    Refused { name: String, violations: Vec<Violation> },
    /// The requested engine isn't available.
    Engine(NoEngine),

    /// A name without a declaration. `known` has the names that the caller may use.
    Unknown { name: String, near: Option<String>, known: Vec<String> },
    /// Cells of another class than was requested. `known` has the names of cells of the requested class.
    Class { name: String, class: Class, known: Vec<String> },
    /// Indices that no cell has.
    Index { name: String, why: IndexErrorText, declared: Option<String> },
    /// A stack that is named where cells are expected. Only the program itself accesses values on stacks.
    Stack { name: String },
    /// A name of several cells where one is expected.
    Several { name: String, first: String, cells: usize },
    /// A stack without values that is named where one value is expected.
    EmptyStack { name: String },
    /// A real that a list of names selects twice.
    NamedTwice { name: String },
    /// A handle of one executable that is used with another one.
    Foreign,

    /// A slice with another length than its cells.
    Length { name: String, cells: usize, given: usize },
    /// A cell that a run in this direction doesn't take.
    NotTaken { name: String, role: Role, backward: bool },
    /// An integer that doesn't fit into the program's words. `index` is the index in the slice.
    NotAnInteger { name: String, index: usize, value: i64, bits: u32 },
    /// A number that the number system can't represent. `index` is the index in the slice.
    NotAReal { name: String, index: usize, value: f64, system: RealSystem },
    /// Results or inputs that a run requires but the caller hasn't given. An array counts as given only if a single
    /// call gives all of its cells.
    Missing { names: Vec<String>, backward: bool },

    /// A trap of the program. `place` is the file, the line and, if known, the column.
    Trap { place: String, backward: bool, explanation: Box<Explanation> },
    /// A run that reached its step limit.
    StepLimit { backward: bool, steps: u64 },
    /// The interrupt flag of the call was set.
    Interrupted,
    /// The backward run ended with cell values with which no run starts. So no run has the given results, or rounding
    /// made the backward run diverge.
    NoSuchResults { garbage: Vec<Garbage>, is_rounded: bool },
    /// Values were lost, so the derivatives may be wrong. Each entry describes a lost value, with its place.
    Doubtful { losses: Vec<String> },
    /// A derivative that can't be computed.
    Underivable(Box<DifferentiateError>),
    /// A state from which no run can start.
    NoBeginning,
    /// Cells, tapes or stacks with leftovers at the end of a run that must be reversed.
    Leftovers { garbage: Vec<Garbage> },
    /// A round trip that didn't restore the start.
    NotRestored,

    /// A failed lane that ends its batch.
    Lane { lane: u64, error: Box<Error> },
    /// Inputs of lanes without a column.
    MissingColumns { names: Vec<String> },
    /// A seeded sum without any cells.
    NoSeeds,
    /// An order for which no Taylor series is computed.
    Order { order: usize, most: usize },
    /// A cell with two columns, or with a column and a shared number.
    TwiceGiven { name: String },
    /// A column for a cell that is declared to be shared.
    SharedColumn { name: String },
    /// A column with another length than there are lanes.
    ColumnLength { name: String, lanes: usize, given: usize },
    /// A number in a lane column that the cells of the program can't represent. `lane` is the index in the column.
    NotANumber { name: String, lane: usize, value: String, class: Class, word: Word, system: RealSystem },
    /// A result that the lanes don't have.
    NoResult { name: String, known: Vec<String> },
    /// A sum over all lanes that the number system can't represent.
    SumTooLarge { name: String, system: RealSystem },
    /// A block with the wrong columns.
    Columns { inputs: usize, results: usize, lanes: usize },
    /// A device that can't execute the lanes.
    Device(NoDevice),
    /// Arrow columns that don't fit the lanes.
    #[cfg(feature = "arrow")]
    Arrow(ArrowRefused),
    /// A thread of a batch that ended unexpectedly.
    LostThread,

    /// Results that are read before a call has computed them.
    NothingToRead(&'static str),
    /// A memory request that was refused.
    NoMemory(OutOfMemory),
}

impl Error {
    /// Returns the place of the error: a file, and if known the line and the column in it.
    pub fn place(&self) -> Option<&str> {
        match self {
            Error::Unreadable { name: place, .. }
            | Error::Image { name: place, .. }
            | Error::Refused { name: place, .. }
            | Error::Trap { place, .. } => Some(place),
            _ => None,
        }
    }

    /// Returns the cause of the error in one sentence: what was expected, and what was found.
    pub fn cause(&self) -> String {
        match self {
            Error::Unreadable { why, .. } => why.clone(),
            Error::Text { rendered, .. } => rendered.clone(),
            Error::Image { error, .. } => error.to_string(),
            Error::Constant(RefusedConstant::Real { name }) => {
                format!("`{name}` is an integer constant, and a real was given")
            }
            Error::Constant(RefusedConstant::Unknown { name, is_cell: true, .. }) => {
                format!("`{name}` is a cell, not a constant")
            }
            Error::Constant(RefusedConstant::Unknown { name, .. }) => {
                format!("the text has no constant `{name}`")
            }
            Error::Refused { violations, .. } => broken(violations),
            Error::Engine(error) => error.to_string(),
            Error::Unknown { name, .. } => format!("the program has no cell `{name}`"),
            Error::Class { name, class, .. } => {
                format!("`{name}` is {}, but {} were requested", one(*class), several(*class))
            }
            Error::Index { name, why, .. } => format!("there is no cell `{name}`: {why}"),
            Error::Stack { name } => format!("`{name}` is a stack, which has no cells"),
            Error::Several { name, cells, .. } => format!("`{name}` has {cells} cells, but one was requested"),
            Error::EmptyStack { name } => format!("`{name}` has no values at the start"),
            Error::NamedTwice { name } => format!("`{name}` is named twice"),
            Error::Foreign => "this handle belongs to a different `Executable`".to_owned(),
            Error::Length { name, cells, given } => {
                format!("`{name}` has {}, and the slice has {given}", counted(*cells, "cell"))
            }
            Error::NotTaken { name, role, .. } => {
                format!("`{name}` can't be given: it is `{}`", role.directive())
            }
            Error::NotAnInteger { name, index, value, bits } => {
                format!("`{name}`: {value}, at index {index} of the slice, is not an integer of {bits} bits")
            }
            Error::NotAReal { name, index, value, system } => format!(
                "`{name}`: {value}, at index {index} of the slice, is not a number that fits into {system}"
            ),
            Error::Missing { backward, .. } => {
                let what = if *backward { "running backward" } else { "an inverse program" };
                format!("{what} needs every result")
            }
            Error::Trap { backward, explanation, .. } => {
                format!("{}{}", if *backward { "while running backward: " } else { "" }, explanation.message)
            }
            Error::StepLimit { backward, steps } => {
                let end = if *backward { "beginning" } else { "end" };
                let steps = usize::try_from(*steps).unwrap_or(usize::MAX);
                format!("stopped after {}, before the {end}", counted(steps, "step"))
            }
            Error::Interrupted => "the interrupt flag stopped the call".to_owned(),
            Error::NoSuchResults { garbage, is_rounded } => {
                let rounding =
                    ", or rounding has made the backward run diverge (fixed point loses nothing)";
                let rounding = if *is_rounded { rounding } else { "" };
                let left = left(garbage);
                format!("these are not results of the program{rounding}: the backward run left {left}")
            }
            Error::Doubtful { losses } => format!("the derivatives may be wrong: {}", losses.join("; ")),
            Error::Underivable(error) => error.to_string(),
            Error::NoBeginning => "a run can't begin with this state: it belongs to another program, isn't at the beginning of the run, or has adjoints".to_owned(),
            Error::Leftovers { garbage } => {
                format!("the run left cells that must have their initial value: {}", left(garbage))
            }
            Error::NotRestored => {
                "the start was not restored, because floats have lost bits (fixed point loses none)".to_owned()
            }
            Error::Lane { lane, error } => format!("lane {lane}: {}", error.summary()),
            Error::MissingColumns { names } => format!("these inputs have no column: {}", quoted(names)),
            Error::NoSeeds => "there are no seeds".to_owned(),
            Error::Order { order, .. } => format!("there is no Taylor series of order {order}"),
            Error::TwiceGiven { name } => format!("`{name}` is given twice"),
            Error::SharedColumn { name } => {
                format!("`{name}` is declared to be `shared`, so all lanes have the same number")
            }
            Error::ColumnLength { name, lanes, given } => {
                format!("the column `{name}` has {given} numbers, and there are {lanes} lanes")
            }
            Error::NotANumber { name, lane, value, class, word, system } => {
                format!("`{name}`: {value}, in lane {lane}, is not {}", fitting(*class, *word, *system))
            }
            Error::NoResult { name, .. } => format!("the lanes have no result `{name}`"),
            Error::SumTooLarge { name, system } => {
                format!("the sum of `{name}` over all lanes is too large for {system}")
            }
            Error::Columns { inputs, results, lanes } => format!(
                "a block of {lanes} lanes needs {inputs} input columns and {results} result columns of {lanes} numbers each"
            ),
            Error::Device(error) => error.to_string(),
            #[cfg(feature = "arrow")]
            Error::Arrow(error) => error.to_string(),
            Error::LostThread => "a thread that executed lanes ended unexpectedly".to_owned(),
            Error::NothingToRead(why) => format!("there is nothing to read: {why}"),
            Error::NoMemory(error) => format!("{error} for the cells of the program"),
        }
    }

    /// Returns the place, if there is one, and the cause.
    pub fn summary(&self) -> String {
        match self.place() {
            Some(place) => format!("{place}: {}", self.cause()),
            None => self.cause(),
        }
    }

    /// Returns advice on how to avoid the error, if there is any.
    pub fn cure(&self) -> Option<String> {
        let fixed = |cure: &str| Some(cure.to_owned());
        match self {
            Error::Constant(RefusedConstant::Real { .. }) => {
                fixed("give an integer, or declare a real `.const`")
            }
            Error::Constant(RefusedConstant::Unknown { is_cell: true, .. }) => fixed("set it in each call"),
            Error::Constant(RefusedConstant::Unknown { known, .. }) if known.is_empty() => {
                fixed("declare it by `.const`")
            }
            Error::Constant(RefusedConstant::Unknown { known, .. }) => {
                Some(format!("its constants are {}", quoted(known)))
            }
            Error::Engine(NoEngine::Machine(_)) => fixed(
                "use the engine `interp`, which runs every program, or `auto`, which uses native code if available",
            ),
            Error::Unknown { near: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            Error::Unknown { known, .. } if known.is_empty() => None,
            Error::Unknown { known, .. } => Some(format!("choose one of {}", quoted(known))),
            Error::Class { known, .. } if known.is_empty() => None,
            Error::Class { class, known, .. } => {
                Some(format!("the program's {} are {}", several(*class), quoted(known)))
            }
            Error::Index { declared, .. } => {
                let declared = declared.as_ref()?;
                Some(format!("it is declared as `{declared}`, and indices start at 0"))
            }
            Error::Stack { .. } => fixed("copy the value to a cell in the program, and name this cell"),
            Error::Several { first, .. } => Some(format!("name one of them, such as `{first}`")),
            Error::EmptyStack { .. } => fixed("name a cell, or give the values of the stack"),
            Error::NamedTwice { .. } | Error::TwiceGiven { .. } => fixed("leave one of the two out"),
            Error::Foreign => fixed("look the name up in this one"),
            Error::NotTaken { role, backward, .. } => fixed(takes(*role, *backward)),
            Error::Missing { names, .. } => {
                Some(format!("give these, each array in one call: {}", quoted(names)))
            }
            Error::Trap { explanation, .. } => explanation.help.clone(),
            Error::StepLimit { .. } => fixed("raise the limit, or choose smaller inputs"),
            Error::Lane { error, .. } => error.cure(),
            Error::MissingColumns { .. } => fixed("add a column for each, or set them for all lanes"),
            Error::NoSeeds => fixed("name at least one real cell with its seed"),
            Error::Order { most, .. } => Some(format!("choose an order from 1 to {most}")),
            Error::SharedColumn { .. } => fixed("set it once for all lanes, not in a column"),
            Error::NoResult { known, .. } => Some(format!("their results are {}", quoted(known))),
            Error::NoMemory(_) => fixed("declare smaller arrays: each integer or real takes 8 bytes"),
            _ => None,
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        f.write_str(&self.summary())?;
        self.cure().map_or(Ok(()), |cure| write!(f, "; {cure}"))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The text of an inner error is part of the cause.
            Error::Image { error, .. } => error.source(),
            Error::Engine(error) => error.source(),
            Error::Underivable(error) => error.source(),
            Error::Lane { error, .. } => error.source(),
            Error::Device(error) => error.source(),
            #[cfg(feature = "arrow")]
            Error::Arrow(error) => error.source(),
            Error::NoMemory(error) => Some(error),
            _ => None,
        }
    }
}

impl From<NoEngine> for Error {
    fn from(error: NoEngine) -> Error {
        Error::Engine(error)
    }
}

impl From<NoDevice> for Error {
    fn from(error: NoDevice) -> Error {
        Error::Device(error)
    }
}

#[cfg(feature = "arrow")]
impl From<ArrowRefused> for Error {
    fn from(error: ArrowRefused) -> Error {
        Error::Arrow(error)
    }
}

impl From<OutOfMemory> for Error {
    fn from(error: OutOfMemory) -> Error {
        Error::NoMemory(error)
    }
}

/// Reason why indices are wrong: their number, their range, or their syntax.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each message explains its variant and fields")]
pub enum IndexErrorText {
    #[error("{0}")]
    Wrong(#[from] IndexError),
    #[error("write an element as `A[3]` or `M[1,2]`, with indices from 0")]
    Unreadable,
    /// An index outside of the values that were given on a stack.
    #[error("{}; indices start at 0, at the bottom", on_stack(*count, stack))]
    OnStack { stack: String, count: usize },
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

    /// Returns the error for a name that no declaration of a program has. If only cells of a class are possible, the
    /// error lists only these.
    pub fn unknown(program: &Program, name: &str, class: Option<Class>) -> Error {
        let globals = program.module().globals.iter();
        let possible = globals.filter(|global| class.is_none_or(|class| class == global.class));
        let known: Vec<String> = possible.map(|global| global.name.clone()).collect();
        let near = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        Error::Unknown { name: name.to_owned(), near, known }
    }

    /// Returns the error for a global of another class than was requested.
    pub(super) fn class(program: &Program, declared: &Global) -> Error {
        let is_other = |global: &&Global| global.class != declared.class && global.shape != Shape::Stack;
        let others = program.module().globals.iter().filter(is_other);
        let known = others.map(|global| global.name.clone()).collect();
        Error::Class { name: declared.name.clone(), class: declared.class, known }
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

fn broken(violations: &[Violation]) -> String {
    let first = violations.first().map_or("", |violation| violation.message.as_str());
    match violations.len() {
        0 | 1 => first.to_owned(),
        n => format!("{first} (and {} more)", n - 1),
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

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn left(garbage: &[Garbage]) -> String {
    let lines: Vec<String> = garbage.iter().flat_map(Garbage::lines).collect();
    lines.join("; ")
}

fn on_stack(count: usize, stack: &str) -> String {
    let are = if count == 1 { "value is" } else { "values are" };
    format!("{count} {are} given on the stack `{stack}`")
}
