//! A cell over time, as the line mode draws it: a small chart of characters.

use crate::session::{SampleRange, Samples};

/// A plot of one cell, with samples of all that are plotted.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub name: String,
    /// Which of the values of a sample is the cell's.
    pub number: usize,
    pub samples: Samples,
}

/// Characters of the chart beside each other, and below each other.
const COLUMNS: usize = 60;
const ROWS: usize = 7;

impl Plot {
    /// The least and the greatest value; none where the cell has none at any step.
    pub fn range(&self) -> Option<SampleRange> {
        self.ranges().map(|(_, range)| range).reduce(SampleRange::and)
    }

    /// The chart, from the greatest value down to the least: in each column all that the cell held.
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

    /// What the cell held, with the numbers of the columns.
    fn ranges(&self) -> impl Iterator<Item = (usize, SampleRange)> {
        let columns = self.samples.columns.iter().enumerate();
        columns.filter_map(|(n, sample)| Some((n, (*sample.values.get(self.number)?)?)))
    }
}
