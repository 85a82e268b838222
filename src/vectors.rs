//! Vectors in the options `--seed`, `--times` and `--along`: real cells and whole arrays with their numbers, inline
//! or from a file. Computes nothing.

use std::collections::BTreeMap;
use std::path::Path;

use reviver::Error;
use reviver::selection::{Selection, check_cells, check_distinct};
use reviver_isa::instruction::Class;
use reviver_vm::differentiate::{Subject, Variable};
use reviver_vm::values::Value;

use crate::failure::{Failure, Fallible, counted};
use crate::given::{self, GivenValues};
use crate::table;

/// Selected cells with a number for each.
pub struct SelectedNumbers {
    pub selections: Vec<Selection>,
    /// Numbers of all cells in order, as bits of the number system.
    pub bits: Vec<u64>,
}

impl SelectedNumbers {
    /// Parses the arguments of an option.
    ///
    /// # Errors
    /// A real cell is unknown or named twice, the number of values is wrong, a value isn't representable, or a file
    /// can't be read.
    pub fn read(subject: &Subject, option: &str, arguments: &[String]) -> Fallible<SelectedNumbers> {
        let refused = |error: &Error| Failure::refused(option, error);
        let (mut selections, mut bits) = (Vec::new(), Vec::new());
        for assignment in arguments.iter().flat_map(|argument| given::assignments(option, argument)) {
            let (name, values) = assignment?;
            let selection = Selection::named(subject, &name).map_err(|error| refused(&error))?;
            bits.extend(numbers(subject, option, &selection, &values)?);
            selections.push(selection);
        }
        check_distinct(subject, &selections).map_err(|error| refused(&error))?;
        Ok(SelectedNumbers { selections, bits })
    }

    /// Parses a vector over results. The results must be cells, because a value on a stack at the end has no name at
    /// the start.
    ///
    /// # Errors
    /// The errors of [`SelectedNumbers::read`], or an argument names a stack.
    pub fn of_cells(subject: &Subject, option: &str, arguments: &[String]) -> Fallible<SelectedNumbers> {
        for assignment in arguments.iter().flat_map(|argument| given::assignments(option, argument)) {
            check_cells(subject, &assignment?.0).map_err(|error| Failure::refused(option, &error))?;
        }
        SelectedNumbers::read(subject, option, arguments)
    }

    /// Returns each cell with its number.
    pub fn cells(&self) -> impl Iterator<Item = (&Variable, u64)> {
        let variables = self.selections.iter().flat_map(|selection| &selection.variables);
        variables.zip(self.bits.iter().copied())
    }

    /// Returns the numbers as binary64.
    pub fn numbers(&self, subject: &Subject) -> Vec<f64> {
        self.bits.iter().map(|&bits| subject.program.approximate(Value::Real(bits))).collect()
    }
}

/// Returns `-` for each argument that is read from standard input, for [`crate::subject::subject_besides`].
pub fn standard_inputs(arguments: &[String]) -> Vec<Option<&Path>> {
    let parts = arguments.iter().flat_map(|argument| given::parts(argument));
    parts.filter(|part| part.ends_with("=@-")).map(|_| Some(Path::new("-"))).collect()
}

/// Returns the direction of an option: a component for each input. Inputs that the option doesn't name have the
/// component 0.
pub fn direction(
    subject: &Subject,
    option: &str,
    inputs: &[Variable],
    arguments: &[String],
) -> Fallible<Vec<f64>> {
    let vector = SelectedNumbers::read(subject, option, arguments)?;
    let places: BTreeMap<_, usize> = inputs.iter().map(|input| input.origin).zip(0..).collect();
    let mut components = vec![0.0; inputs.len()];
    for ((cell, _), number) in vector.cells().zip(vector.numbers(subject)) {
        let place = places.get(&cell.origin).and_then(|&place| components.get_mut(place));
        let Some(component) = place else {
            let cell = subject.name(cell);
            return Err(Failure::usage(format_args!("{option}: `{cell}` isn't an input of this derivative"))
                .help(format_args!("add `{cell}` to `--wrt`")));
        };
        *component = number;
    }
    Ok(components)
}

/// Returns the numbers of a named real or array, one for each cell.
fn numbers(
    subject: &Subject,
    option: &str,
    selection: &Selection,
    values: &GivenValues,
) -> Fallible<Vec<u64>> {
    let (name, program) = (&selection.name, &subject.program);
    let parse = |text: &str| program.parse(Class::Real, text).map(Value::bits);
    let numbers = match values {
        GivenValues::Inline(texts) => {
            let number = |text: &String| {
                parse(text).map_err(|error| Failure::usage(format_args!("{option} {name}: {error}")))
            };
            texts.iter().map(number).collect::<Fallible<Vec<_>>>()?
        }
        GivenValues::File(file) => table::cells(file, (name, selection.shape, Class::Real), &parse)?,
    };
    if numbers.len() != selection.variables.len() {
        let (cells, given) = (counted(selection.variables.len(), "cell"), numbers.len());
        return Err(Failure::usage(format_args!(
            "{option}: `{name}` has {cells}, and the number of values is {given}"
        ))
        .help(format_args!(
            "give one number for each cell: `{option} {name}=…`, or a file: `{option} {name}=@FILE`"
        )));
    }
    Ok(numbers)
}
