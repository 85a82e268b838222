//! A cell over time, as the line mode draws it: a small chart of characters.

use crate::session::Sample;

/// A plot of one cell, with samples of all that are plotted.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub name: String,
    /// Which of the values of a sample is the cell's.
    pub number: usize,
    /// The steps that it is plotted over: the first and the last.
    pub extent: (i64, i64),
    pub samples: Vec<Sample>,
    /// Whether nobody stopped the sampling.
    pub is_whole: bool,
}

/// Characters of the chart beside each other, and below each other.
const COLUMNS: usize = 60;
const ROWS: usize = 7;

impl Plot {
    /// The least and the greatest value; none where the cell has none at any step.
    pub fn range(&self) -> Option<(f64, f64)> {
        let range = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
        let first = self.values().next()?.1;
        Some(self.values().map(|(_, value)| value).fold((first, first), range))
    }

    /// The chart, from the greatest value down to the least.
    pub fn rows(&self) -> Vec<String> {
        let (low, high) = self.range().unwrap_or_default();
        let mut rows = vec![vec![' '; COLUMNS]; ROWS];
        for (n, value) in self.values() {
            let part = (value - low) / (high - low);
            let part = if part.is_finite() { part } else { 0.0 };
            let row = ROWS - 1 - (part * (ROWS - 1) as f64).round() as usize;
            let column = n * COLUMNS / self.samples.len();
            rows.get_mut(row).and_then(|row| row.get_mut(column)).into_iter().for_each(|sign| *sign = '*');
        }
        rows.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned()).collect()
    }

    /// The values that there are, each with the number of its sample.
    fn values(&self) -> impl Iterator<Item = (usize, f64)> {
        let value = |sample: &Sample| sample.values.get(self.number).copied().flatten();
        self.samples.iter().enumerate().filter_map(move |(n, sample)| Some((n, value(sample)?)))
    }
}
