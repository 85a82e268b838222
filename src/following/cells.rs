//! Resolution of cell names in command-line options: `x`, `A`, `A[3]`, `M[1,2]`, and variables of main.

use reviver_assembler::suggest::nearest;
use reviver_inspect::memory::{Memory, Storage, Target};
use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::Shape;
use reviver_vm::State;
use reviver_vm::values::element_name;

use crate::failure::{Failure, Fallible};
use crate::given::parts;

/// A cell that exists during the whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedCell {
    pub name: String,
    pub class: Class,
    pub target: Target,
}

/// Returns the cells of all names, in order; an array expands to all of its cells.
pub fn named(
    memory: &Memory,
    state: &State,
    option: &str,
    names: &[String],
    most: usize,
) -> Fallible<Vec<ObservedCell>> {
    let mut cells: Vec<ObservedCell> = Vec::new();
    for name in names.iter().flat_map(|argument| parts(argument)) {
        let compact: String = name.chars().filter(|c| !c.is_whitespace()).collect();
        let found = of_name(memory, state, option, &compact)?;
        if cells.iter().any(|cell| found.iter().any(|new| new.target == cell.target)) {
            return Err(Failure::usage(format_args!("{option}: `{compact}` is named twice")));
        }
        cells.extend(found.into_iter().take(most + 1));
        if cells.len() > most {
            let failure = Failure::usage(format_args!("{option}: there are more than {most} cells"));
            return Err(failure.help("name cells of an array by their indices, such as `A[0],A[5]`"));
        }
    }
    Ok(cells)
}

/// Returns the single cell that a name refers to; a whole array is an error.
pub fn one(memory: &Memory, state: &State, option: &str, name: &str) -> Fallible<ObservedCell> {
    let mut found = named(memory, state, option, &[name.to_owned()], usize::MAX - 1)?;
    match (found.pop(), found.first()) {
        (Some(cell), None) => Ok(cell),
        (_, first) => {
            let failure = Failure::usage(format_args!("{option}: `{name}` isn't a single cell"));
            Err(match first {
                Some(first) => failure.help(format_args!("name one of them, such as `{}`", first.name)),
                None => failure,
            })
        }
    }
}

fn of_name(memory: &Memory, state: &State, option: &str, name: &str) -> Fallible<Vec<ObservedCell>> {
    let (base, indices) = match name.split_once('[') {
        Some((base, rest)) => {
            let indices = rest.strip_suffix(']').filter(|indices| !indices.is_empty());
            let indices = indices.ok_or_else(|| misnamed(option, name, base))?;
            (base, Some(indices))
        }
        None => (name, None),
    };
    let Some(declaration) = declared(memory, base) else { return Err(unknown(memory, option, base)) };
    let Some(storage) = memory.storage(state, 0, declaration) else {
        return Err(unknown(memory, option, base));
    };
    let cell =
        |name: String, cell| ObservedCell { name, class: storage.class(), target: Target::Static(cell) };
    let Some(indices) = indices else { return all_of(&storage, option, base) };
    let numbers: Result<Vec<i64>, _> = indices.split(',').map(str::parse).collect();
    let numbers = numbers.map_err(|_| {
        Failure::usage(format_args!("{option}: `{indices}` are no indices"))
            .help("write an index as a number, or as two numbers: `[3]`, `[1,2]`")
    })?;
    match storage.element(&numbers) {
        Ok(element) => Ok(vec![cell(name.to_owned(), element)]),
        Err(error) => Err(Failure::usage(format_args!("{option}: `{name}`: {error}"))),
    }
}

/// Creates the error for an invalid index: a bracket isn't closed, or the index is empty.
fn misnamed(option: &str, name: &str, base: &str) -> Failure {
    Failure::usage(format_args!(
        "{option}: `{name}` isn't the name of a cell: a name with an index ends with `[INDEX]`"
    ))
    .help(format_args!("write `{base}[0]` for a cell of an array, and `{base}[0,1]` for a cell of a matrix"))
}

/// Returns all cells of a declaration.
fn all_of(storage: &Storage, option: &str, base: &str) -> Fallible<Vec<ObservedCell>> {
    if storage.shape() == Shape::Stack {
        let failure =
            Failure::usage(format_args!("{option}: `{base}` is a stack, whose values have no cells"));
        return Err(failure.help("name the cells that are pushed and popped"));
    }
    let cells = (0..storage.cells()).filter_map(|n| {
        let name = element_name(base, storage.shape(), usize::try_from(n).ok()?);
        Some(ObservedCell { name, class: storage.class(), target: Target::Static(storage.cell(n)?) })
    });
    Ok(cells.collect())
}

/// Resolves a name to a variable of main, or else to a global.
fn declared(memory: &Memory, name: &str) -> Option<Base> {
    let program = memory.program();
    let variable = program.written_names(0).find(|(_, written)| *written == name);
    let global = || program.module().globals.iter().position(|global| global.name == name);
    variable.map(|(n, _)| Base::Frame(n)).or_else(|| global().map(|n| Base::Global(n as u32)))
}

/// Creates the failure for a plot without `--cells`, with the names of the program's cells as advice.
pub fn unchosen(memory: &Memory) -> Failure {
    let failure = Failure::usage("`--cells` is missing: name the cells to draw");
    match &names(memory)[..] {
        [] => failure.help("the program has no cell that exists during the whole run"),
        names @ [first, ..] => failure.help(format_args!(
            "the program's cells are {}; for example, `--cells {first}`",
            names.join(", ")
        )),
    }
}

/// Returns the names of all cells that exist during the whole run.
fn names(memory: &Memory) -> Vec<&str> {
    let program = memory.program();
    let globals = program.module().globals.iter().map(|global| global.name.as_str());
    globals.chain(program.written_names(0).map(|(_, name)| name)).collect()
}

fn unknown(memory: &Memory, option: &str, name: &str) -> Failure {
    let names = names(memory);
    let failure = Failure::usage(format_args!(
        "{option}: the program has no cell `{name}` that exists during the whole run"
    ));
    match nearest(name, names.iter().copied()) {
        Some(near) => failure.help(format_args!("did you mean `{near}`?")),
        None if names.is_empty() => failure,
        None => failure.help(format_args!("the program's cells are {}", names.join(", "))),
    }
}
