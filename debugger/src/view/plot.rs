//! A plot of a cell over time for the line mode: a small chart of characters.

use crate::session::{SampleRange, Samples};

/// A plot of one cell. Its samples contain the values of all plotted cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The name of the cell as the user wrote it.
    pub name: String,
    /// Index of the cell's value in each sample.
    pub number: usize,
    /// Samples of all plotted cells, by column.
    pub samples: Samples,
}

/// Width of the chart, in characters.
const COLUMNS: usize = 60;
/// Height of the chart, in characters.
const ROWS: usize = 7;

impl Plot {
    /// Returns the minimum and the maximum of the cell, or `None` if the cell has no value at any step.
    pub fn range(&self) -> Option<SampleRange> {
        self.ranges().map(|(_, range)| range).reduce(SampleRange::and)
    }

    /// Returns the rows of the chart, from the maximum down to the minimum. A column is filled from the
    /// minimum to the maximum of the cell in that column.
    pub fn rows(&self) -> Vec<String> {
        let Some(whole) = self.range() else { return Vec::new() };
        let row = |value: f64| {
            let part = (value - whole.low) / (whole.high - whole.low);
            let part = if part.is_finite() { part } else { 0.0 };
            ROWS - 1 - (part * (ROWS - 1) as f64).round() as usize
        };
        let mut rows = vec![vec![' '; COLUMNS]; ROWS];
        for (n, range) in self.ranges() {
            let column = n * COLUMNS / self.samples.columns.len();
            let signs = rows.iter_mut().take(row(range.low) + 1).skip(row(range.high));
            signs.filter_map(|row| row.get_mut(column)).for_each(|sign| *sign = '*');
        }
        rows.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned()).collect()
    }

    /// Returns the index and the range of values of each column in which the cell has values.
    fn ranges(&self) -> impl Iterator<Item = (usize, SampleRange)> {
        let columns = self.samples.columns.iter().enumerate();
        columns.filter_map(|(n, sample)| Some((n, (*sample.values.get(self.number)?)?)))
    }
}
