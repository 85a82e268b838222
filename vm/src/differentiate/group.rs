//! Gradients of several starts side by side: lanes of a *group*, which make the same steps, each on cells of its own. The numbers of a cell lie next
//! to each other, a lane's at the place of its number. Here is what has to be done where they turn, and whether each of them has come back to its
//! start, as [`super::bare`] says it of one. Nobody is told which one hasn't: then each goes alone. Makes no step; knows binary64 alone.

use reviver_flow::layout::MODE;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_isa::number::{F64, Reals};

use crate::watch::{Rounding, Watch};

use super::astray::{is_beyond, is_outweighed, is_small};
use super::seeds::{SeededCell, SumSize};

/// So many lanes a group has.
pub const GROUP: usize = 4;

/// A cell's numbers.
pub type InGroup<T> = [T; GROUP];

/// The cells of a group at one place of the program. A real has an adjoint besides for each loss that is differentiated at once, a *row*; those of a cell lie next to
/// each other.
#[derive(Clone, Copy, Debug)]
pub struct GroupCells<'c> {
    pub ints: &'c [InGroup<i64>],
    pub reals: &'c [InGroup<u64>],
}

/// Cells that have to be looked at where the way back has ended, by their places: all others are what they were at the start, whatever that was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedCells {
    /// Without the mode.
    pub ints: Vec<usize>,
    pub reals: Vec<usize>,
}

impl JudgedCells {
    /// Of so many integers and reals those that aren't excepted.
    pub fn of([ints, reals]: [usize; 2], is_excepted: impl Fn(Class, usize) -> bool) -> JudgedCells {
        JudgedCells {
            ints: (MODE + 1..ints).filter(|&cell| !is_excepted(Class::Int, cell)).collect(),
            reals: (0..reals).filter(|&cell| !is_excepted(Class::Real, cell)).collect(),
        }
    }
}

/// What was seen of the ways of a group, beside the jumps, which are the same ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenInGroup {
    /// The greatest magnitude that each lane has freed.
    pub largest: InGroup<f64>,
    /// Of each row Σ |value·adjoint| over freed cells.
    pub errors: Vec<InGroup<f64>>,
}

/// Where the ways there have ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupTurn {
    /// The greatest magnitude of each lane's numbers here and at the start.
    largest: InGroup<f64>,
}

/// Switches gradient mode on, and seeds the adjoints of each row. All adjoints are 0.
pub fn turn_group(ints: &mut [InGroup<i64>], adjoints: &mut [InGroup<u64>], rows: &[Vec<SeededCell>]) {
    ints.get_mut(MODE).into_iter().for_each(|mode| *mode = [1; GROUP]);
    for (row, seeds) in rows.iter().enumerate() {
        for seed in seeds {
            let adjoint = adjoints.get_mut(seed.cell * rows.len() + row);
            adjoint.into_iter().for_each(|adjoint| *adjoint = [seed.seed; GROUP]);
        }
    }
}

/// The size of a row's seeded sum in each lane; `values` are the bits of its cells.
#[inline]
pub fn sum_sizes(seeds: &[SeededCell], values: &[InGroup<u64>]) -> InGroup<SumSize> {
    std::array::from_fn(|lane| {
        seeds.iter().zip(values).fold(SumSize::default(), |size, (seed, bits)| {
            size.with(f64::from_bits(seed.seed), f64::from_bits(bits[lane]))
        })
    })
}

impl GroupTurn {
    /// Where watched cells have come to: `largest` is the greatest magnitude at the start of what all lanes begin with, and `given` are the others.
    #[inline]
    pub fn new<'c>(
        largest: f64,
        given: impl Iterator<Item = &'c InGroup<u64>>,
        reals: &[InGroup<u64>],
    ) -> GroupTurn {
        let given = given.fold([largest; GROUP], |most, bits| greater(most, magnitudes(bits)));
        GroupTurn { largest: greater(given, greatest(reals)) }
    }

    /// Whether all lanes have come back to their starts for each row, given by the sizes of the seeded sums. Both ways were watched, and have
    /// made the same number of steps. `room` is memory that this takes meanwhile.
    pub fn vouched(
        self,
        judged: &JudgedCells,
        [start, end]: [GroupCells<'_>; 2],
        adjoints: &[InGroup<u64>],
        (watch, seen): (&Watch, &SeenInGroup),
        sums: &[InGroup<SumSize>],
        room: &mut Vec<CellMiss>,
    ) -> bool {
        let bounds = RoundingBounds::of(self.largest);
        let rounding = bounds.rounding;
        let is_rounding = watch.is_same_way()
            && judged.ints.iter().all(|&cell| start.ints.get(cell) == end.ints.get(cell))
            && bounds.explain(&judged.reals, [start.reals, end.reals], room);
        let rows = || sums.iter().zip(&seen.errors).enumerate();
        is_rounding
            && rows().all(|(row, (sums, errors))| {
                let of_row = RowAdjoints { all: adjoints, row, rows: rows().len() };
                let by_cells = of_row.weighed(room);
                (0..GROUP).all(|lane| {
                    let (ulp, sum) = (bounds.ulps[lane], sums[lane]);
                    let terms = || of_row.terms(start.reals, lane);
                    let error = errors[lane] + by_cells[lane];
                    // The processor alone tells numbers with few digits from others.
                    (seen.largest[lane] <= rounding.few_ulps * ulp
                        || is_outweighed(rounding.of_freed, error, sum.terms, terms))
                        && is_small(rounding, ulp, error, sum, terms)
                })
            })
    }
}

/// The greatest magnitude of each lane's numbers.
#[inline]
fn greatest(reals: &[InGroup<u64>]) -> InGroup<f64> {
    let (mut even, mut odd) = ([0.0; GROUP], [0.0; GROUP]);
    let pairs = reals.chunks_exact(2);
    even = pairs.remainder().iter().fold(even, |most, bits| greater(most, magnitudes(bits)));
    // A processor does both at once.
    for pair in pairs {
        if let [first, second] = pair {
            even = greater(even, magnitudes(first));
            odd = greater(odd, magnitudes(second));
        }
    }
    greater(even, odd)
}

#[inline]
fn magnitudes(bits: &InGroup<u64>) -> InGroup<f64> {
    std::array::from_fn(|lane| f64::from_bits(bits[lane]).abs())
}

/// Of numbers of each lane the greater ones. Cells hold no NaN, so that each comparison has an answer.
#[inline]
fn greater(a: InGroup<f64>, b: InGroup<f64>) -> InGroup<f64> {
    std::array::from_fn(|lane| if b[lane] > a[lane] { b[lane] } else { a[lane] })
}

/// What rounding explains.
struct RoundingBounds {
    rounding: Rounding,
    /// The last place of each lane's largest number.
    ulps: InGroup<f64>,
}

impl RoundingBounds {
    fn of(largest: InGroup<f64>) -> RoundingBounds {
        let ulps = std::array::from_fn(|lane| F64.ulp(largest[lane]));
        RoundingBounds { rounding: Rounding::of(RealSystem::F64), ulps }
    }

    /// Finds those of some cells that differ. Whether none is off by more than rounding.
    fn explain(
        &self,
        judged: &[usize],
        [start, end]: [&[InGroup<u64>]; 2],
        found: &mut Vec<CellMiss>,
    ) -> bool {
        found.clear();
        for &cell in judged {
            let (Some(from), Some(to)) = (start.get(cell), end.get(cell)) else { return false };
            // Most of them are the same.
            if from.iter().zip(to).fold(0, |all, (from, to)| all | (from ^ to)) == 0 {
                continue;
            }
            let (from, to) = (from.map(f64::from_bits), to.map(f64::from_bits));
            let is_beyond = |lane: usize| is_beyond(self.rounding, self.ulps[lane], [from[lane], to[lane]]);
            // What is the same in a lane is off by nothing, which rounding explains.
            if (0..GROUP).fold(false, |any, lane| any | is_beyond(lane)) {
                return false;
            }
            found.push(CellMiss { cell, by: std::array::from_fn(|lane| to[lane] - from[lane]) });
        }
        true
    }
}

/// By how much a cell differs from that of the starts.
#[derive(Clone, Copy, Debug)]
pub struct CellMiss {
    cell: usize,
    by: InGroup<f64>,
}

/// The adjoints of a row.
#[derive(Clone, Copy)]
struct RowAdjoints<'a> {
    all: &'a [InGroup<u64>],
    row: usize,
    rows: usize,
}

impl RowAdjoints<'_> {
    /// By how much each lane's loss differs, to first order: Σ |difference·adjoint|.
    fn weighed(self, misses: &[CellMiss]) -> InGroup<f64> {
        let mut errors = [0.0; GROUP];
        for CellMiss { cell, by } in misses {
            let adjoints = self.all.get(cell * self.rows + self.row).copied().unwrap_or_default();
            for ((error, by), bits) in errors.iter_mut().zip(by).zip(adjoints) {
                *error += (by * f64::from_bits(bits)).abs();
            }
        }
        errors
    }

    /// How large a lane's loss is to first order: Σ |number·adjoint|.
    fn terms(self, start: &[InGroup<u64>], lane: usize) -> f64 {
        let adjoints = self.all.iter().skip(self.row).step_by(self.rows);
        let terms = start.iter().zip(adjoints);
        terms
            .map(|(number, adjoint)| (f64::from_bits(number[lane]) * f64::from_bits(adjoint[lane])).abs())
            .sum()
    }
}
