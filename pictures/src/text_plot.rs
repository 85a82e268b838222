//! Curves as text, for terminals: one chart for each curve, one below the other. The input is a
//! [`crate::plot::Plot`].

use std::fmt::Write as _;

use crate::numbers::short;
use crate::plot::{Between, Curve, Plot};

/// The maximum width of a chart, in characters.
const MOST_COLUMNS: usize = 72;
/// The minimum number of terminal columns for charts. In fewer columns, the shape of a curve can't be recognized.
pub const LEAST_COLUMNS: usize = 40;
const ROWS: usize = 9;

impl Plot {
    /// Returns a chart of each curve as text, for a terminal with `columns` columns. If the terminal has fewer than
    /// [`LEAST_COLUMNS`] columns, returns only the minimum and the maximum of each curve.
    pub fn text(&self, columns: usize) -> String {
        let width = if columns < LEAST_COLUMNS { 0 } else { (columns - 1).min(MOST_COLUMNS) };
        let mut text = format!("{}\n", self.words.title);
        for panel in &self.panels {
            for curve in &panel.curves {
                let Some([low, high, _]) = curve.bounds() else {
                    let _ = writeln!(text, "{}: no values", curve.name);
                    continue;
                };
                let _ = writeln!(text, "{} ({}): {} to {}", curve.name, panel.name, short(low), short(high));
                if width == 0 {
                    continue;
                }
                let extent = self.extent.unwrap_or_else(|| along(curve));
                chart(curve, extent, (low, high), width).iter().for_each(|row| {
                    let _ = writeln!(text, "|{row}");
                });
                let _ = writeln!(text, "+{}", "-".repeat(width));
                let (first, last) = (short(extent.0), short(extent.1));
                let room = (width + 1).saturating_sub(first.len() + last.len());
                let _ = writeln!(text, "{first}{}{last}", centred(&self.along, room));
            }
        }
        text
    }
}

fn along(curve: &Curve) -> (f64, f64) {
    let values = curve.points.iter().map(|point| point.0).filter(|value| value.is_finite());
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

/// Returns the text centred in `room` columns, with at least one blank on either side. If the text doesn't
/// fit, returns only blanks.
fn centred(text: &str, room: usize) -> String {
    let text = if text.chars().count() + 2 > room { "" } else { text };
    let left = room.saturating_sub(text.chars().count()) / 2;
    format!("{:<room$}", format!("{}{text}", " ".repeat(left)))
}

/// Returns the rows of the chart, from the maximum down to the minimum. Each column covers an equal part of the
/// horizontal axis, and has a mark for each value of the curve in this part.
fn chart(curve: &Curve, x: (f64, f64), y: (f64, f64), width: usize) -> Vec<String> {
    let mut rows = vec![vec![' '; width]; ROWS];
    let (column, row) = (|value| place(value, x, width), |value| ROWS - 1 - place(value, y, ROWS));
    let mut before: Option<(usize, usize)> = None;
    for &point in &curve.points {
        if !(point.0.is_finite() && point.1.is_finite()) {
            before = None;
            continue;
        }
        let here = (column(point.0), row(point.1));
        if let Some((from, height)) = before.filter(|_| curve.between == Between::Step) {
            (from..here.0).for_each(|column| mark(&mut rows, (column, height)));
            let (low, high) = (height.min(here.1), height.max(here.1));
            (low..=high).for_each(|row| mark(&mut rows, (here.0, row)));
        }
        mark(&mut rows, here);
        before = Some(here);
    }
    rows.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned()).collect()
}

fn mark(rows: &mut [Vec<char>], (column, row): (usize, usize)) {
    rows.get_mut(row).and_then(|row| row.get_mut(column)).into_iter().for_each(|sign| *sign = '*');
}

/// Divides a range into `count` equal parts, and returns the index of the part that contains the value.
fn place(value: f64, (low, high): (f64, f64), count: usize) -> usize {
    let part = (value - low) / (high - low);
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
    (part * (count - 1) as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use crate::document::Words;
    use crate::plot::Panel;

    use super::*;

    fn ramp() -> Plot {
        let points = (0..=8).map(|n| (f64::from(n), f64::from(n))).collect();
        let curve = Curve { name: "x".into(), points, between: Between::Step, colour: 0 };
        let panels = vec![Panel { name: "values".into(), curves: vec![curve] }];
        let words = Words { title: "ramp".into(), ..Words::default() };
        Plot { words, along: "steps".into(), panels, ..Plot::default() }
    }

    #[test]
    fn a_ramp_rises() {
        let text = ramp().text(80);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["ramp", "x (values): 0 to 8"]);
        assert_eq!(lines[2].find('*'), Some(MOST_COLUMNS), "{text}");
        assert_eq!(lines[10].find('*'), Some(1), "{text}");
        assert!(lines[12].starts_with("0 ") && lines[12].ends_with(" 8"), "{text}");
    }

    #[test]
    fn curves_fill_the_available_columns() {
        for columns in LEAST_COLUMNS..80 {
            let text = ramp().text(columns);
            let lines: Vec<&str> = text.lines().collect();
            let widest = lines.iter().map(|line| line.len()).max();
            assert_eq!(widest, Some(columns.min(MOST_COLUMNS + 1)), "{text}");
            assert_eq!(lines[2].find('*'), Some(lines[11].len() - 1), "{text}");
            assert!(lines[12].contains(" steps "), "{text}");
        }
        assert_eq!(ramp().text(LEAST_COLUMNS - 1), "ramp\nx (values): 0 to 8\n");
        let unnamed = Plot { along: "something that has no room there at all".into(), ..ramp() };
        assert!(unnamed.text(40).lines().all(|line| line.len() <= 40));
    }
}
