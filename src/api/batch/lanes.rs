//! Numbers of lanes, column by column: what they are given, by name, and what they came to. Knows names and number systems; carries out
//! nothing.

use std::borrow::Cow;

use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::Travel;
use reviver_vm::room::{self, OutOfMemory};

#[cfg(feature = "arrow")]
use super::arrow::results::ArrowResults;
use super::device::{BlockOutcome, LaneFailure, NotedLanes};
use super::given::GivenNumbers;
use super::plan::{self, LaneCell, LanePlan};
use super::prepared::SumOverLanes;
use crate::api::error::Error;
use crate::api::executable::Executable;
use crate::api::numbers::take_reals;

/// What the lanes of a batch are given: a column for each cell, with a number for each lane, and numbers that all lanes share.
#[derive(Clone, Debug, Default)]
pub struct LaneInputs<'a> {
    lanes: usize,
    columns: Vec<(String, GivenNumbers<'a>)>,
    shared: Vec<(String, GivenNumbers<'a>)>,
}

impl<'a> LaneInputs<'a> {
    /// So many lanes, which aren't given anything yet.
    pub fn new(lanes: usize) -> LaneInputs<'a> {
        LaneInputs { lanes, ..LaneInputs::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lanes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lanes == 0
    }

    /// Gives a real cell (`x`, `A[3]`) a number in each lane: the nearest one of the program's system, as [`Workspace::give_reals`] does.
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

    /// Gives a cell of either class a number in each lane, as the bits that a state has there: of an integer its two's complement in 64
    /// bits.
    #[must_use]
    pub fn bits_of(self, cell: &str, values: impl Into<Cow<'a, [u64]>>) -> LaneInputs<'a> {
        self.column(cell, GivenNumbers::Bits(values.into()))
    }

    /// Gives all lanes the same reals: a scalar one, an array one for each cell.
    #[must_use]
    pub fn shared_reals(self, name: &str, values: impl Into<Cow<'a, [f64]>>) -> LaneInputs<'a> {
        self.share(name, GivenNumbers::Reals(values.into()))
    }

    /// Gives all lanes the same integers.
    #[must_use]
    pub fn shared_ints(self, name: &str, values: impl Into<Cow<'a, [i64]>>) -> LaneInputs<'a> {
        self.share(name, GivenNumbers::Ints(values.into()))
    }

    /// Gives all lanes the same numbers, as bits.
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

    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The columns as the cells of a plan have them.
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

    /// What all lanes share: cells with their bits. What is declared to be shared and isn't given has its `default`.
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

/// What is declared to be shared, has a `default`, and isn't given.
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
        return Err(Error::Class { name: name.to_owned(), class });
    }
    numbers.bits(executable, class).map_err(|lane| {
        let module = executable.program().module();
        let (name, value) = (name.to_owned(), numbers.text(lane));
        Error::NotANumber { name, lane, value, class, word: module.word, system: module.real }
    })
}

/// What the lanes of a batch came to. A lane that failed has no results: its numbers are 0 in every column.
#[derive(Debug)]
pub struct LaneResults {
    lanes: usize,
    system: RealSystem,
    columns: Vec<ResultNumbers>,
    outcome: BlockOutcome,
    sums: Vec<SumOverLanes>,
    #[cfg(feature = "arrow")]
    pub(super) arrow: ArrowResults,
}

#[derive(Debug)]
struct ResultNumbers {
    name: String,
    class: Class,
    /// Whether it can be asked for, and not its sum alone.
    is_shown: bool,
    bits: Vec<u64>,
}

impl LaneResults {
    pub(super) fn new(plan: &LanePlan, lanes: usize) -> Result<LaneResults, Error> {
        let shown: Vec<usize> = plan.shown().map(|(n, _)| n).collect();
        let columns = plan.results.iter().enumerate().map(|(n, column)| {
            let (name, class, is_shown) =
                (column.name.clone(), column.class, shown.binary_search(&n).is_ok());
            Ok(ResultNumbers { name, class, is_shown, bits: room::zeros(lanes)? })
        });
        let columns = columns.collect::<Result<Vec<_>, OutOfMemory>>()?;
        let system = plan.executable.program().module().real;
        Ok(LaneResults {
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

    /// Every column of the plan, as bits.
    #[cfg(feature = "arrow")]
    pub(super) fn all_bits(&self) -> Vec<&[u64]> {
        self.columns.iter().map(|column| &column.bits[..]).collect()
    }

    /// How many lanes there are.
    pub fn len(&self) -> usize {
        self.lanes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lanes == 0
    }

    /// The names of the columns, in the order of the program's declarations.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|column| column.is_shown).map(|column| column.name.as_str())
    }

    /// A column as the bits that a state has, of integers their two's complement.
    ///
    /// # Errors
    /// There is no such column.
    pub fn bits(&self, name: &str) -> Result<&[u64], Error> {
        self.column(name).map(|column| &column.bits[..])
    }

    /// A column of reals, each as the nearest `f64`.
    ///
    /// # Errors
    /// There is no such column, or it has integers.
    pub fn reals(&self, name: &str) -> Result<Vec<f64>, Error> {
        let column = self.column_of(name, Class::Real)?;
        let mut values = vec![0.0; column.bits.len()];
        take_reals(self.system, &column.bits, &mut values);
        Ok(values)
    }

    /// A column of integers.
    ///
    /// # Errors
    /// There is no such column, or it has reals.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>, Error> {
        let column = self.column_of(name, Class::Int)?;
        Ok(column.bits.iter().map(|&bits| bits as i64).collect())
    }

    /// The lanes that failed, in the order of their numbers; none unless lanes go on where another one has failed.
    pub fn failures(&self) -> &[LaneFailure] {
        &self.outcome.failures
    }

    /// Whether a lane has come to its results.
    pub fn has_arrived(&self, lane: usize) -> bool {
        let failures = &self.outcome.failures;
        lane < self.lanes && failures.binary_search_by_key(&(lane as u64), |failure| failure.lane).is_err()
    }

    /// Lanes whose derivatives may be wrong, where that is no failure.
    pub fn doubtful(&self) -> &NotedLanes {
        &self.outcome.doubtful
    }

    /// Lanes whose way back was made again with a history, because floats had lost bits.
    pub fn mended(&self) -> &NotedLanes {
        &self.outcome.mended
    }

    /// Lanes that have left something behind that should have been used up: their results are what they are all the same.
    pub fn leftovers(&self) -> &NotedLanes {
        &self.outcome.leftovers
    }

    /// Of a gradient, sums over all lanes: of the loss, and of the derivatives by what all lanes share. A lane that failed counts as 0.
    pub fn sums(&self) -> &[SumOverLanes] {
        &self.sums
    }

    /// One of the sums, as the nearest `f64`: of `y` the loss's, of `w'`, `A'[3]` a derivative's.
    ///
    /// # Errors
    /// There is no such sum.
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
            false => Err(Error::Class { name: name.to_owned(), class: column.class }),
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let sums = self.sums.iter().map(|sum| sum.name.as_str());
        let known = self.names().chain(sums).map(str::to_owned).collect();
        Error::NoResult { name: name.to_owned(), known }
    }
}
