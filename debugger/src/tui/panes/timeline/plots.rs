//! The plots below the timeline bar: one band of rows for each cell. In each column, a band is filled from
//! the minimum to the maximum of the cell's values.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Areas;
use crate::scale::{column_of, step_of};
use crate::session::{Sample, SampleRange};
use crate::tui::panes::Context;
use crate::tui::panes::text::{Pen, cut};

/// Draws a band of rows for each plotted cell and one for the call depth, as many bands as fit.
pub(super) fn draw(context: &Context<'_>, areas: Areas, buffer: &mut Buffer) {
    let plots = &context.choices.plots;
    if areas.bar.height == 0 || plots.cells.is_empty() {
        return;
    }
    if plots.samples.columns.is_empty() {
        let names: Vec<&str> = plots.cells.iter().map(|(name, _)| name.as_str()).collect();
        let text = format!("{}: to be sampled when the run pauses", names.join(", "));
        let (_, row) = areas.row(areas.bar.y);
        Pen::new(row, buffer).write(&text, context.theme.dim);
        return;
    }
    let mut bands: Vec<Band<'_>> = Vec::new();
    for ((n, (name, _)), style) in plots.cells.iter().enumerate().zip(context.theme.plots) {
        let value = |sample: &Sample| sample.values.get(n).copied().flatten();
        bands.push(Band { name, style, ranges: ranges(context, areas.bar.width.into(), value) });
    }
    if plots.has_calls() {
        let ranges = ranges(context, areas.bar.width.into(), |sample| sample.depth);
        bands.push(Band { name: "calls", style: context.theme.dim, ranges });
    }
    bands.truncate(areas.bar.height.into());
    let count = bands.len().max(1) as u16;
    // If the rows can't be divided equally, the first bands have one row more.
    let start = |n: u16| (areas.bar.height * n).div_ceil(count);
    for (n, band) in (0..).zip(&bands) {
        band.draw(context, areas, start(n), start(n + 1) - start(n), buffer);
    }
}

/// Returns a notice about the plots. It says that the plots are sampled, so that values may be missing, and it
/// names the cells for which `rows` rows have no room. The notice is empty if the plots are complete.
pub(super) fn missing(context: &Context<'_>, rows: u16) -> String {
    let plots = &context.choices.plots;
    let is_sampled = !plots.samples.columns.is_empty() && !plots.samples.is_exact;
    let sampled = if is_sampled { "  plots are sampled" } else { "" };
    let hidden: Vec<&str> = plots.cells.iter().skip(rows.into()).map(|(name, _)| name.as_str()).collect();
    match hidden.is_empty() {
        true => sampled.to_owned(),
        false => format!("{sampled}  no room for {}", hidden.join(", ")),
    }
}

/// Returns the range of values in each column of the bar. If there are more columns than steps, a column
/// without a step has the values of the step before it.
fn ranges(
    context: &Context<'_>,
    width: usize,
    value: impl Fn(&Sample) -> Option<SampleRange>,
) -> Vec<Option<SampleRange>> {
    let extent = context.choices.shown(context.session);
    let samples = &context.choices.plots.samples;
    let count = samples.columns.len();
    let part = |column: usize| {
        if samples.steps == extent && count == width {
            return Some((column, column));
        }
        let first = step_of(extent, column, width);
        let first = if column_of(extent, first, width) == Some(column) { first } else { first - 1 };
        let next = if column + 1 < width { step_of(extent, column + 1, width) } else { extent.1 + 1 };
        let last = (next - 1).clamp(first, samples.steps.1.max(first));
        Some((column_of(samples.steps, first, count)?, column_of(samples.steps, last, count)?))
    };
    let range = |(first, last)| {
        let columns = samples.columns.get(first..=last)?;
        columns.iter().filter_map(&value).reduce(SampleRange::and)
    };
    (0..width).map(|column| part(column).and_then(range)).collect()
}

/// A plot of one cell or of the call depth.
struct Band<'a> {
    name: &'a str,
    style: Style,
    ranges: Vec<Option<SampleRange>>,
}

/// Characters for eighths of a row.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Character that fills a column below the minimum of its values.
const BELOW: &str = "░";

impl Band<'_> {
    fn draw(&self, context: &Context<'_>, areas: Areas, first: u16, height: u16, buffer: &mut Buffer) {
        let Some(whole) = self.ranges.iter().copied().flatten().reduce(SampleRange::and) else { return };
        let extent = context.session.timeline().span().steps();
        let step = context.session.step_number();
        let here = column_of(extent, step, areas.bar.width.into()).unwrap_or(usize::MAX);
        for n in 0..height {
            let Some((label, row)) = areas.nth(first + n) else { continue };
            self.draw_label(context, label, (n, height), whole, buffer);
            let level = |value: f64| eighths(value, whole, height);
            for (column, (x, range)) in (row.x..row.right()).zip(&self.ranges).enumerate() {
                let sign =
                    range.map_or(" ", |range| part(level(range.low), level(range.high), height - n - 1));
                let place = Rect { x, width: 1, ..row };
                Pen::new(place, buffer).write(sign, self.style);
                if column == here {
                    buffer.set_style(place, context.theme.here);
                }
            }
        }
    }

    /// Draws the name of the band at its top, with the maximum and the minimum of all values.
    fn draw_label(
        &self,
        context: &Context<'_>,
        label: Rect,
        (n, height): (u16, u16),
        whole: SampleRange,
        buffer: &mut Buffer,
    ) {
        let mut pen = Pen::new(label, buffer);
        let room = pen.room();
        let is_exact = context.choices.plots.samples.is_exact;
        let scale = match n {
            0 if height == 1 && is_exact => format!("≤{}", short(whole.high)),
            0 if height == 1 => format!("~{}", short(whole.high)),
            0 => short(whole.high),
            n if n == height - 1 => short(whole.low),
            1 if !is_exact => "sampled".to_owned(),
            _ => String::new(),
        };
        pen.right(&cut(&scale, room), 0, self.style);
        if n == 0 {
            pen.write(self.name, self.style);
        }
    }
}

/// Returns the character for one row of a column that is filled from level `low` to level `high`. Levels are
/// in eighths of a row. Rows are counted from the bottom.
fn part(low: u32, high: u32, row: u16) -> &'static str {
    let below = u32::from(row) * 8;
    match high.saturating_sub(below).min(8) {
        8 if low > below + 8 => BELOW,
        filled => EIGHTHS.get(filled as usize).copied().unwrap_or(" "),
    }
}

/// Returns the level of a value in eighths of a row. It is at least 1, so that the minimum is visible, too.
fn eighths(value: f64, whole: SampleRange, height: u16) -> u32 {
    let most = f64::from(height) * 8.0;
    let part = (value - whole.low) / (whole.high - whole.low);
    let level = if part.is_finite() { 1.0 + part * (most - 1.0) } else { 1.0 };
    level.round() as u32
}

/// Renders a number in few characters.
fn short(value: f64) -> String {
    let (exact, rounded) = (value.to_string(), format!("{value:.4}"));
    match value.abs() {
        _ if exact.len() <= 7 => exact,
        0.01..1000.0 => rounded,
        _ => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_value_is_visible_and_the_greatest_fills_the_band() {
        let level = |value, low, high| eighths(value, SampleRange { low, high }, 2);
        assert_eq!((level(3.0, 3.0, 9.0), level(9.0, 3.0, 9.0), level(3.0, 3.0, 3.0)), (1, 16, 1));
    }

    #[test]
    fn a_band_is_drawn_on_shade() {
        let column = |low, high| [2, 1, 0].map(|row| part(low, high, row)).concat();
        assert_eq!(column(1, 24), "███");
        assert_eq!(column(20, 20), "▄░░");
        assert_eq!(column(16, 17), "▁█░");
        assert_eq!(column(1, 1), "  ▁");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(55.0), "55");
        assert_eq!(short(-0.45), "-0.45");
        assert_eq!(short(0.996_399_919), "0.9964");
        assert_eq!(short(0.000_012_345_6), "1.2e-5");
        assert_eq!(short(12_586_269_025.0), "1.3e10");
    }
}
