//! Selections: the reals that a name selects, as variables of a derivative. A name selects a cell (`x`, `A[3]`,
//! `M[1,2]`), a whole array, or the values on a stack at the start of the run.

use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Role, Shape};
use reviver_memory::ask;
use reviver_vm::differentiate::{DifferentiateError, Origin, Subject, Variable};

use super::cells::{NamedCells, compact, read_indices};
use super::error::{Error, IndexErrorText};

/// Reals selected by a name: a whole global, or one of its reals.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The name, without spaces.
    pub name: String,
    /// The shape of the selected reals: that of the global, a vector for a stack, or a scalar for one real.
    pub shape: Shape,
    /// The selected reals in row-major order.
    pub variables: Vec<Variable>,
}

impl Selection {
    /// Returns the reals of a name.
    ///
    /// # Errors
    /// An unknown name, a name of integers, wrong indices, or refused memory.
    pub fn named(subject: &Subject, name: &str) -> Result<Selection, Error> {
        let (program, compact) = (&subject.program, compact(name));
        let base = compact.split('[').next().unwrap_or_default();
        let Some((n, global)) = program.global(base) else {
            return Err(Error::unknown(program, base, Some(Class::Real)));
        };
        if global.shape != Shape::Stack && compact != base {
            let cells = NamedCells::find(program, &subject.start, 0, &compact, Class::Real)?;
            let origin = Origin::Cell(cells.range().start);
            return Ok(Selection::of_one(subject, Variable { global: n, element: cells.element, origin }));
        }
        let whole = Selection::whole(subject, n, global)?;
        if compact == base {
            return Ok(whole);
        }
        let count = whole.variables.len();
        let indices = compact.get(base.len()..).and_then(read_indices).unwrap_or_default();
        let value = match indices[..] {
            [index] => usize::try_from(index).ok().and_then(|index| whole.variables.get(index).cloned()),
            _ => None,
        };
        let why = || IndexErrorText::OnStack { stack: base.to_owned(), count };
        let value =
            value.ok_or_else(|| Error::Index { name: compact.clone(), why: why(), declared: None })?;
        Ok(Selection::of_one(subject, value))
    }

    fn of_one(subject: &Subject, variable: Variable) -> Selection {
        Selection { name: subject.name(&variable), shape: Shape::Scalar, variables: vec![variable] }
    }

    /// Returns the only real of a name.
    ///
    /// # Errors
    /// The errors of [`Selection::named`], or a name of several reals or none.
    pub fn one(subject: &Subject, name: &str) -> Result<Variable, Error> {
        let Selection { name, mut variables, .. } = Selection::named(subject, name)?;
        match (variables.pop(), variables.len()) {
            (Some(variable), 0) => Ok(variable),
            (Some(last), more) => {
                let first = variables.first().unwrap_or(&last);
                Err(Error::Several { name, first: subject.name(first), cells: more + 1 })
            }
            (None, _) => Err(Error::EmptyStack { name }),
        }
    }

    /// Returns the only cell of a name, which can be the loss of a derivative.
    ///
    /// # Errors
    /// The errors of [`Selection::one`], or the name of a stack.
    pub fn loss(subject: &Subject, name: &str) -> Result<Variable, Error> {
        check_cells(subject, name)?;
        Selection::one(subject, name)
    }

    /// Returns the reals of some names; each real may be selected only once.
    ///
    /// # Errors
    /// The errors of [`Selection::named`], or a real that is selected twice.
    pub fn list<'n>(
        subject: &Subject,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Vec<Selection>, Error> {
        let selections = names.into_iter().map(|name| Selection::named(subject, name));
        let selections = selections.collect::<Result<Vec<_>, _>>()?;
        check_distinct(subject, &selections)?;
        Ok(selections)
    }

    /// Returns all real inputs of the program.
    ///
    /// # Errors
    /// Refused memory.
    pub fn inputs(subject: &Subject) -> Result<Vec<Selection>, Error> {
        Selection::all(subject, |global| global.role.is_given())
    }

    /// Returns all real results of the program that are cells.
    ///
    /// # Errors
    /// Refused memory.
    pub fn outputs(subject: &Subject) -> Result<Vec<Selection>, Error> {
        let is_result = |role| matches!(role, Role::Out | Role::InOut);
        Selection::all(subject, |global| is_result(global.role) && global.shape != Shape::Stack)
    }

    /// Returns the variables of some selections, in order.
    ///
    /// # Errors
    /// Refused memory.
    pub fn variables(selections: &[Selection]) -> Result<Vec<Variable>, Error> {
        let mut variables = ask::list(selections.iter().map(|selection| selection.variables.len()).sum())?;
        variables.extend(selections.iter().flat_map(|selection| selection.variables.iter().cloned()));
        Ok(variables)
    }

    fn all(subject: &Subject, wanted: impl Fn(&Global) -> bool) -> Result<Vec<Selection>, Error> {
        let globals = subject.program.module().globals.iter().enumerate();
        let wanted = globals.filter(|(_, global)| global.class == Class::Real && wanted(global));
        wanted.map(|(n, global)| Selection::whole(subject, n, global)).collect()
    }

    fn whole(subject: &Subject, n: usize, global: &Global) -> Result<Selection, Error> {
        let name = || global.name.clone();
        let variables = subject.variables(n).map_err(|error| match error {
            DifferentiateError::NotReal { .. } => Error::class(&subject.program, global),
            error => Error::of_derivative("", error),
        })?;
        let shape = match global.shape {
            Shape::Stack => Shape::Vector(u32::try_from(variables.len()).unwrap_or(u32::MAX)),
            shape => shape,
        };
        Ok(Selection { name: name(), shape, variables })
    }
}

/// Refuses a stack. A derivative identifies reals by their names at the start of the run, and a value on a stack can
/// have another name at the end of the run.
///
/// # Errors
/// The name of a stack.
pub fn check_cells(subject: &Subject, name: &str) -> Result<(), Error> {
    let compact = compact(name);
    let base = compact.split('[').next().unwrap_or_default();
    match subject.program.global(base) {
        Some((_, global)) if global.shape == Shape::Stack => Err(Error::Stack { name: base.to_owned() }),
        _ => Ok(()),
    }
}

/// Refuses a real that is in more than one selection.
///
/// # Errors
/// The first such real.
pub fn check_distinct(subject: &Subject, selections: &[Selection]) -> Result<(), Error> {
    // The reals of a selection are adjacent.
    let mut sorted: Vec<&[Variable]> = selections.iter().map(|selection| &selection.variables[..]).collect();
    sorted.sort_by_key(|variables| variables.first().map(|variable| variable.origin));
    let mut end = None;
    for variables in sorted {
        let (Some(first), Some(last)) = (variables.first(), variables.last()) else { continue };
        if end.is_some_and(|end| first.origin <= end) {
            return Err(Error::NamedTwice { name: subject.name(first) });
        }
        end = end.max(Some(last.origin));
    }
    Ok(())
}
