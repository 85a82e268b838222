//! Objective of `grad`: a loss, or a seeded sum of results. Computes nothing.

use reviver::Selection;
use reviver_isa::module::Shape;
use reviver_vm::differentiate::{DifferentiateError, SeededCell, Subject};

use crate::failure::{Failure, Fallible};
use crate::subject;
use crate::vectors::SelectedNumbers;

/// Loss, or seeded sum.
pub struct Objective {
    /// Selected cells by name.
    pub results: Vec<Selection>,
    /// Each cell with its seed.
    pub seeds: Vec<SeededCell>,
    /// True for a seeded sum (`--seed`); false for a single loss (`--of`), whose seed is 1.
    pub is_sum: bool,
}

/// Maximum number of names in a description.
const NAMED: usize = 4;

impl Objective {
    /// Returns the loss of `--of`.
    pub fn loss(subject: &Subject, name: &str) -> Fallible<Objective> {
        let loss = subject::loss(subject, name)?;
        let seeds = subject.seeds_of(&loss).map_err(Failure::usage)?;
        let selection = Selection { name: subject.name(&loss), shape: Shape::Scalar, variables: vec![loss] };
        Ok(Objective { results: vec![selection], seeds, is_sum: false })
    }

    /// Returns the seeded sum of `--seed`.
    pub fn seeded(subject: &Subject, arguments: &[String]) -> Fallible<Objective> {
        let vector = SelectedNumbers::of_cells(subject, "--seed", arguments)?;
        let seeded = |(variable, seed)| Ok(SeededCell::new(&subject.program, subject.cell(variable)?, seed));
        let seeds = vector.cells().map(seeded).collect::<Result<Vec<_>, DifferentiateError>>();
        let seeds = seeds.map_err(Failure::usage)?;
        Ok(Objective { results: vector.selections, seeds, is_sum: true })
    }

    /// Returns the name of the loss, or a description of the sum.
    pub fn name(&self) -> String {
        let names = self.results.iter().take(NAMED).map(|result| format!("`{}`", result.name));
        let names = names.collect::<Vec<_>>().join(", ");
        match (self.is_sum, self.results.len().saturating_sub(NAMED)) {
            (false, _) => names,
            (true, 0) => format!("the seeded sum of {names}"),
            (true, more) => format!("the seeded sum of {names} and {more} more"),
        }
    }
}
