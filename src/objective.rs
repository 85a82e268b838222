//! The objective of `grad`: a loss, or a sum of results, each times a seed. Computes nothing.

use reviver_isa::module::Shape;
use reviver_vm::differentiate::{DifferentiateError, SeededCell, Subject};

use crate::failure::{Failure, Fallible};
use crate::subject::{self, Selection};
use crate::vectors::SpelledVector;

/// A loss, or a seeded sum.
pub struct Objective {
    /// The cells by their names.
    pub results: Vec<Selection>,
    /// Each cell with its seed.
    pub seeds: Vec<SeededCell>,
    /// False of a loss alone, whose seed is 1.
    pub is_sum: bool,
}

/// The most names that are listed one by one.
const NAMED: usize = 4;

impl Objective {
    /// The loss that `--loss` names.
    pub fn loss(subject: &Subject, name: &str) -> Fallible<Objective> {
        let loss = subject::loss(subject, name)?;
        let seeds = subject.seeds_of(&loss).map_err(Failure::usage)?;
        let selection = Selection { name: subject.name(&loss), shape: Shape::Scalar, variables: vec![loss] };
        Ok(Objective { results: vec![selection], seeds, is_sum: false })
    }

    /// The sum that `--seed` spells.
    pub fn seeded(subject: &Subject, arguments: &[String]) -> Fallible<Objective> {
        let vector = SpelledVector::of_cells(subject, "--seed", arguments)?;
        let seeded = |(variable, seed)| Ok(SeededCell::new(&subject.program, subject.cell(variable)?, seed));
        let seeds = vector.cells().map(seeded).collect::<Result<Vec<_>, DifferentiateError>>();
        let seeds = seeds.map_err(Failure::usage)?;
        Ok(Objective { results: vector.selections, seeds, is_sum: true })
    }

    /// The name of the loss, or what the seeds are of.
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
