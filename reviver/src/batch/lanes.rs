//! Lane inputs and results, as named columns. This module handles names and number systems, and executes nothing.

use std::borrow::Cow;

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::Travel;
use reviver_vm::allocation::{self, OutOfMemory};

#[cfg(feature = "arrow")]
use super::arrow::results::ArrowResults;
use super::device::{BlockOutcome, LaneFailure, NotedLanes};
use super::given::GivenNumbers;
use super::plan::{self, LaneCell, LanePlan};
use super::sum::SumOverLanes;
use crate::error::Error;
use crate::executable::Executable;
use crate::numbers::take_reals;

/// Inputs of a batch: for each input cell a column with a number for each lane, and values that all lanes share.
#[derive(Clone, Debug, Default)]
pub struct LaneInputs<'a> {
    lanes: usize,
    columns: Vec<(String, GivenNumbers<'a>)>,
    shared: Vec<(String, GivenNumbers<'a>)>,
}

impl<'a> LaneInputs<'a> {
    /// Creates inputs for `lanes` lanes, without any values.
    pub fn new(lanes: usize) -> LaneInputs<'a> {
        LaneInputs { lanes, ..LaneInputs::default() }
    }

    /// Returns the number of lanes.
    pub fn len(&self) -> usize {
        self.lanes
    }

    /// Returns true if there are no lanes.
    pub fn is_empty(&self) -> bool {
        self.lanes == 0
    }

    /// Gives a real cell (`x`, `A[3]`) a number in each lane. Each number is rounded to the program's number system, as
    /// [`Workspace::give_reals`] does.
    ///
    /// [`Workspace::give_reals`]: crate::Workspace::give_reals
    #[must_use]
    pub fn reals(self, cell: &str, values: impl Into<Cow<'a, [f64]>>) -> LaneInputs<'a> {
        self.column(cell, GivenNumbers::Reals(values.into()))
    }

    /// Gives an integer cell a number in each lane.
    #[must_use]
    pub fn ints(self, cell: &str, values: impl Into<Cow<'a, [i64]>>) -> LaneInputs<'a> {
        self.column(cell, GivenNumbers::Ints(values.into()))
    }

    /// Gives a cell of either class a number in each lane, as the bits that a state stores. Integers are in two's
    /// complement of 64 bits.
    #[must_use]
    pub fn bits_of(self, cell: &str, values: impl Into<Cow<'a, [u64]>>) -> LaneInputs<'a> {
        self.column(cell, GivenNumbers::Bits(values.into()))
    }

    /// Gives the cells of a name the same reals in all lanes: one number for a scalar, one per cell for an array.
    #[must_use]
    pub fn shared_reals(self, name: &str, values: impl Into<Cow<'a, [f64]>>) -> LaneInputs<'a> {
        self.share(name, GivenNumbers::Reals(values.into()))
    }

    /// Gives the cells of a name the same integers in all lanes.
    #[must_use]
    pub fn shared_ints(self, name: &str, values: impl Into<Cow<'a, [i64]>>) -> LaneInputs<'a> {
        self.share(name, GivenNumbers::Ints(values.into()))
    }

    /// Gives the cells of a name the same numbers in all lanes, as the bits that a state stores.
    #[must_use]
    pub fn shared_bits_of(self, name: &str, values: impl Into<Cow<'a, [u64]>>) -> LaneInputs<'a> {
        self.share(name, GivenNumbers::Bits(values.into()))
    }

    pub(super) fn column(mut self, cell: &str, numbers: GivenNumbers<'a>) -> LaneInputs<'a> {
        self.columns.push((cell.to_owned(), numbers));
        self
    }

    fn share(mut self, name: &str, numbers: GivenNumbers<'a>) -> LaneInputs<'a> {
        self.shared.push((name.to_owned(), numbers));
        self
    }

    /// Returns the names of the columns, in the order in which they were given.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Converts the columns to the bits of the plan's cells.
    pub(super) fn bits(&self, plan: &LanePlan) -> Result<Vec<Cow<'_, [u64]>>, Error> {
        let columns = self.columns.iter().zip(&plan.inputs).map(|((name, numbers), cell)| {
            if numbers.len() != self.lanes {
                return Err(Error::ColumnLength {
                    name: name.clone(),
                    lanes: self.lanes,
                    given: numbers.len(),
                });
            }
            bits_of(&plan.executable, name, numbers, cell.class)
        });
        columns.collect()
    }

    /// Returns the cells that all lanes share, with their bits. A cell that is declared `shared` has its `default` if
    /// it isn't given.
    pub(super) fn shared_bits(
        &self,
        executable: &Executable,
        travel: Travel,
    ) -> Result<Vec<(LaneCell, u64)>, Error> {
        let program = executable.program();
        let mut shared = Vec::new();
        for (name, numbers) in &self.shared {
            let cells = plan::named(executable, name)?;
            let Some(declared) = program.module().globals.get(cells.global) else { continue };
            if !program.takes(declared.role, travel) {
                let backward = travel == Travel::Backward;
                return Err(Error::NotTaken { name: name.clone(), role: declared.role, backward });
            }
            if cells.count() != numbers.len() {
                return Err(Error::Length { name: name.clone(), cells: cells.count(), given: numbers.len() });
            }
            let bits = bits_of(executable, name, numbers, declared.class)?;
            let places = (cells.element..).zip(cells.range()).zip(bits.iter().copied());
            shared.extend(places.map(|((element, cell), bits)| {
                (plan::of_cell(program, declared, cells.global, element, cell), bits)
            }));
        }
        if travel == Travel::Forward {
            shared.extend(by_default(executable, &shared));
        }
        Ok(shared)
    }
}

/// Returns the cells that get their default: the cells of `shared` declarations with a `default`, except those in
/// `given`. Each cell has the bits of its default.
fn by_default(executable: &Executable, given: &[(LaneCell, u64)]) -> Vec<(LaneCell, u64)> {
    let (program, begin) = (executable.program(), &executable.shared.begin);
    let globals = program.module().globals.iter().enumerate();
    let is_left = |n: usize| !given.iter().any(|(cell, _)| cell.global == n);
    let left = globals.filter(|(n, global)| global.is_shared && global.default.is_some() && is_left(*n));
    let cells = left.flat_map(|(n, global)| {
        program.cells(n).enumerate().map(move |(element, cell)| {
            let bits = match global.class {
                Class::Int => begin.ints.get(cell).map(|&value| value as u64),
                Class::Real => begin.reals.get(cell).copied(),
            };
            (plan::of_cell(program, global, n, element, cell), bits.unwrap_or_default())
        })
    });
    cells.collect()
}

fn bits_of<'n>(
    executable: &Executable,
    name: &str,
    numbers: &'n GivenNumbers<'_>,
    class: Class,
) -> Result<Cow<'n, [u64]>, Error> {
    if !numbers.is_of(class) {
        return Err(Error::Class { name: name.to_owned(), class, known: Vec::new() });
    }
    numbers.bits(executable, class).map_err(|lane| {
        let module = executable.program().module();
        let (name, value) = (name.to_owned(), numbers.text(lane));
        Error::NotANumber { name, lane, value, class, word: module.word, system: module.real }
    })
}

/// Results of the lanes of a batch. A failed lane has no results; its numbers are 0 in every column.
#[derive(Debug)]
pub struct LaneResults {
    /// Number of the first lane in the batch.
    first: u64,
    lanes: usize,
    system: RealSystem,
    columns: Vec<ResultNumbers>,
    outcome: BlockOutcome,
    sums: Vec<SumOverLanes>,
    #[cfg(feature = "arrow")]
    pub(super) arrow: ArrowResults,
}

/// Numbers of a result column: one for each lane.
#[derive(Clone, Debug, PartialEq)]
pub enum LaneNumbers {
    /// Integers of the program's words.
    Ints(Vec<i64>),
    /// Reals, each as the nearest `f64`.
    Reals(Vec<f64>),
}

#[derive(Debug)]
struct ResultNumbers {
    name: String,
    class: Class,
    /// True if callers can read the column. False if it only feeds a sum over the lanes.
    is_shown: bool,
    bits: Vec<u64>,
}

impl LaneResults {
    pub(super) fn new(plan: &LanePlan, first: u64, lanes: usize) -> Result<LaneResults, Error> {
        let shown: Vec<usize> = plan.shown().map(|(n, _)| n).collect();
        let columns = plan.results.iter().enumerate().map(|(n, column)| {
            let (name, class, is_shown) =
                (column.name.clone(), column.class, shown.binary_search(&n).is_ok());
            Ok(ResultNumbers { name, class, is_shown, bits: allocation::zeros(lanes)? })
        });
        let columns = columns.collect::<Result<Vec<_>, OutOfMemory>>()?;
        let system = plan.executable.program().module().real;
        Ok(LaneResults {
            first,
            lanes,
            system,
            columns,
            outcome: BlockOutcome::default(),
            sums: Vec::new(),
            #[cfg(feature = "arrow")]
            arrow: ArrowResults::of(plan),
        })
    }

    pub(super) fn columns_mut(&mut self) -> Vec<&mut [u64]> {
        self.columns.iter_mut().map(|column| &mut column.bits[..]).collect()
    }

    pub(super) fn ended(&mut self, outcome: BlockOutcome, sums: Vec<SumOverLanes>) {
        (self.outcome, self.sums) = (outcome, sums);
    }

    /// Returns every column of the plan as bits, also those that only feed a sum.
    #[cfg(feature = "arrow")]
    pub(super) fn all_bits(&self) -> Vec<&[u64]> {
        self.columns.iter().map(|column| &column.bits[..]).collect()
    }

    /// Returns the number of the first of these lanes in the batch. It is 0 unless the lanes of a batch are executed in
    /// several blocks.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of lanes.
    pub fn len(&self) -> usize {
        self.lanes
    }

    /// Returns true if there are no lanes.
    pub fn is_empty(&self) -> bool {
        self.lanes == 0
    }

    /// Returns the column names, in the order of the program's declarations.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|column| column.is_shown).map(|column| column.name.as_str())
    }

    /// Returns a column as the bits that a state stores; integers are in two's complement.
    ///
    /// # Errors
    /// [`Error`] if there is no such column.
    pub fn bits(&self, name: &str) -> Result<&[u64], Error> {
        self.column(name).map(|column| &column.bits[..])
    }

    /// Returns a column of reals, each as the nearest `f64`.
    ///
    /// # Errors
    /// [`Error`] if there is no such column, or it has integers.
    pub fn reals(&self, name: &str) -> Result<Vec<f64>, Error> {
        let column = self.column_of(name, Class::Real)?;
        let mut values = vec![0.0; column.bits.len()];
        take_reals(self.system, &column.bits, &mut values);
        Ok(values)
    }

    /// Returns a column of integers.
    ///
    /// # Errors
    /// [`Error`] if there is no such column, or it has reals.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>, Error> {
        let column = self.column_of(name, Class::Int)?;
        Ok(column.bits.iter().map(|&bits| bits as i64).collect())
    }

    /// Takes all columns, in the order of the program's declarations. Nothing is copied if the reals are `f64`.
    pub fn take_columns(&mut self) -> Vec<(String, LaneNumbers)> {
        let system = self.system;
        let shown = self.columns.drain(..).filter(|column| column.is_shown);
        let numbers = shown.map(|ResultNumbers { name, class, bits, .. }| {
            let numbers = match (class, system) {
                (Class::Int, _) => LaneNumbers::Ints(bytemuck::cast_vec(bits)),
                (Class::Real, RealSystem::F64) => LaneNumbers::Reals(bytemuck::cast_vec(bits)),
                (Class::Real, _) => {
                    let mut values = vec![0.0; bits.len()];
                    take_reals(system, &bits, &mut values);
                    LaneNumbers::Reals(values)
                }
            };
            (name, numbers)
        });
        numbers.collect()
    }

    /// Returns the failed lanes, in the order of their numbers. Empty unless
    /// [`BatchOptions::keeps_going`](super::BatchOptions::keeps_going).
    pub fn failures(&self) -> &[LaneFailure] {
        &self.outcome.failures
    }

    /// Returns true if the lane completed and has results. `lane` counts from the first of these lanes.
    pub fn has_arrived(&self, lane: usize) -> bool {
        let (failures, number) = (&self.outcome.failures, self.first + lane as u64);
        lane < self.lanes && failures.binary_search_by_key(&number, |failure| failure.lane).is_err()
    }

    /// Returns the lanes with unverified derivatives, if the batch allows these.
    pub fn doubtful(&self) -> &NotedLanes {
        &self.outcome.doubtful
    }

    /// Returns the lanes whose reverse sweep was recomputed with a history because of rounding.
    pub fn recomputed(&self) -> &NotedLanes {
        &self.outcome.recomputed
    }

    /// Returns the lanes that ended with leftovers in cells, tapes or stacks that should be empty. The results of these
    /// lanes are valid.
    pub fn leftovers(&self) -> &NotedLanes {
        &self.outcome.leftovers
    }

    /// Returns the sums of a gradient over all lanes: the loss, and its derivatives by shared inputs. A failed lane
    /// counts as 0.
    pub fn sums(&self) -> &[SumOverLanes] {
        &self.sums
    }

    /// Returns one of the sums as the nearest `f64`. A name such as `y` selects the sum of a loss, and `w'` or `A'[3]`
    /// the sum of a derivative.
    ///
    /// # Errors
    /// [`Error`] if there is no such sum.
    pub fn sum(&self, name: &str) -> Result<f64, Error> {
        let found = self.sums.iter().find(|sum| sum.name == name);
        let Some(found) = found else { return Err(self.unknown(name)) };
        let mut value = [0.0];
        take_reals(self.system, &[found.bits], &mut value);
        Ok(value[0])
    }

    fn column(&self, name: &str) -> Result<&ResultNumbers, Error> {
        let found = self.columns.iter().find(|column| column.is_shown && column.name == name);
        found.ok_or_else(|| self.unknown(name))
    }

    fn column_of(&self, name: &str, class: Class) -> Result<&ResultNumbers, Error> {
        let column = self.column(name)?;
        match column.class == class {
            true => Ok(column),
            false => Err(Error::Class { name: name.to_owned(), class: column.class, known: Vec::new() }),
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let sums = self.sums.iter().map(|sum| sum.name.as_str());
        let known = self.names().chain(sums).map(str::to_owned).collect();
        Error::NoResult { name: name.to_owned(), known }
    }
}
