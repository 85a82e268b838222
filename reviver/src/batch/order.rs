//! Order in which a thread takes the lanes of a chunk: as given, or sorted by inputs. Sorting puts lanes that take the
//! same branches next to each other. This module doesn't depend on SIMD groups.

use std::cmp::Ordering;

use reviver_isa::instruction::Class;

use super::plan::LanePlan;

/// Maximum number of columns that are tried as the primary sort key.
const MOST_COLUMNS: usize = 4;

/// Permutation of a chunk's rows, and the sort key for later chunks.
#[derive(Debug)]
pub(super) struct LaneOrder {
    /// Index and class of each input column, integer columns first. Integer columns come first because they mostly have
    /// few distinct values. Lanes with the same integer are sorted by the other columns.
    columns: Vec<(usize, Class)>,
    /// Index in `columns` of the primary sort key. `None` if lanes stay in the order of their inputs.
    by: Option<usize>,
    /// True if every sort key was tried without success; later chunks then stay in their given order.
    is_settled: bool,
    /// Row at each place of the order; empty if lanes stay in their given order.
    rows: Vec<usize>,
}

impl LaneOrder {
    pub fn new(plan: &LanePlan) -> LaneOrder {
        let mut columns: Vec<(usize, Class)> =
            plan.inputs.iter().enumerate().map(|(n, cell)| (n, cell.class)).collect();
        columns.sort_by_key(|(_, class)| *class != Class::Int);
        LaneOrder { columns, by: None, is_settled: false, rows: Vec::new() }
    }

    /// Begins a chunk of `lanes` rows. If the last chunk used a sort key, the rows are sorted by this key.
    pub fn begin(&mut self, lanes: usize, inputs: &[&[u64]]) {
        self.rows.clear();
        if let Some(by) = self.by {
            self.rows.extend(0..lanes);
            self.sort(by, 0, inputs);
        }
    }

    /// Returns the row at a place.
    pub fn row(&self, place: usize) -> usize {
        if self.rows.is_empty() { place } else { self.rows.get(place).copied().unwrap_or(place) }
    }

    /// Returns true if the rows are in their given order.
    pub fn is_plain(&self) -> bool {
        self.rows.is_empty()
    }

    /// Sorts the rows from a place on by the next sort key. Returns false if every key was tried; later chunks then
    /// stay unsorted.
    pub fn change(&mut self, place: usize, lanes: usize, inputs: &[&[u64]]) -> bool {
        let next = self.by.map_or(0, |by| by + 1);
        if self.is_settled || next >= self.columns.len().min(MOST_COLUMNS) {
            (self.by, self.is_settled) = (None, true);
            return false;
        }
        if self.rows.is_empty() {
            self.rows.extend(0..lanes);
        }
        self.by = Some(next);
        self.sort(next, place, inputs);
        true
    }

    /// Sorts the rows from a place on by column `by`; the other columns break ties.
    fn sort(&mut self, by: usize, place: usize, inputs: &[&[u64]]) {
        let first = self.columns.get(by).into_iter();
        let others = self.columns.iter().enumerate().filter(|(n, _)| *n != by).map(|(_, column)| column);
        let columns: Vec<(&[u64], Class)> = first
            .chain(others)
            .filter_map(|&(column, class)| inputs.get(column).map(|numbers| (*numbers, class)))
            .collect();
        let compared = |a: &usize, b: &usize| {
            let of_column = |(numbers, class): &(&[u64], Class)| {
                let [a, b] = [a, b].map(|row| numbers.get(*row).map_or(0, |bits| rank(*bits, *class)));
                a.cmp(&b)
            };
            let unequal = columns.iter().map(of_column).find(|order| order.is_ne());
            // The index is the last sort key, so rows with equal inputs keep their order.
            unequal.unwrap_or(Ordering::Equal).then(a.cmp(b))
        };
        if let Some(rows) = self.rows.get_mut(place..) {
            rows.sort_unstable_by(compared);
        }
    }
}

/// Maps bits to an integer that sorts like the number. Floats sort by the `totalOrder` of IEEE 754; other reals in
/// some total order.
fn rank(bits: u64, class: Class) -> i64 {
    let bits = bits.cast_signed();
    match class {
        Class::Int => bits,
        Class::Real => bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(columns: &[(usize, Class)]) -> LaneOrder {
        LaneOrder { columns: columns.to_vec(), by: None, is_settled: false, rows: Vec::new() }
    }

    fn rows(order: &LaneOrder, lanes: usize) -> Vec<usize> {
        (0..lanes).map(|place| order.row(place)).collect()
    }

    #[test]
    fn floats_are_ranked_by_size() {
        let sizes = [f64::NEG_INFINITY, -2.5, -1e-300, -0.0, 0.0, 1e-300, 1.0, 3.5, f64::INFINITY];
        assert!(sizes.is_sorted_by_key(|size| rank(size.to_bits(), Class::Real)));
        assert!([-7_i64, -1, 0, 3].is_sorted_by_key(|value| rank(value.cast_unsigned(), Class::Int)));
    }

    #[test]
    fn columns_are_compared_in_their_order() {
        let reals = [3.0, -1.0, 2.0, -1.0, 0.5].map(f64::to_bits);
        let ints = [2, 1, 1, 2, 1];
        let inputs: [&[u64]; 2] = [&reals, &ints];
        let mut order = order(&[(1, Class::Int), (0, Class::Real)]);
        order.begin(5, &inputs);
        assert!(order.is_plain());
        assert_eq!(rows(&order, 5), [0, 1, 2, 3, 4]);
        // Rows before the place keep their order.
        assert!(order.change(1, 5, &inputs));
        assert_eq!(rows(&order, 5), [0, 1, 4, 2, 3]);
        order.begin(5, &inputs);
        assert_eq!(rows(&order, 5), [1, 4, 2, 3, 0]);
        assert!(order.change(0, 5, &inputs));
        assert_eq!(rows(&order, 5), [1, 3, 4, 2, 0]);
        assert!(!order.change(0, 5, &inputs));
        order.begin(5, &inputs);
        assert!(order.is_plain());
        assert!(!order.change(0, 5, &inputs));
    }
}
