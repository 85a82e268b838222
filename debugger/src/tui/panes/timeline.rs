//! The timeline pane: a scrub bar over the whole branch with what happened on it, and below it
//! the plotted cells over the same steps. Its items are the bar's columns.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::text::{Pen, cut, width};
use super::{Context, Pane, Spot};
use crate::session::{EventKind, Sample};
use crate::timeline::{Fork, SpanEnd};
use crate::tui::theme::Theme;
use crate::view::timeline::{self, Column, column_of, step_of};

pub struct Timeline;

impl Pane for Timeline {
    fn title(&self, context: &Context<'_>) -> String {
        let bar = Areas::new(context.area).bar;
        let pane = timeline::timeline(context.session, bar.width.into());
        let line = match context.session.moment().branch {
            0 => "timeline".to_owned(),
            line => format!("timeline, branch {line}"),
        };
        let seen = |kind: &EventKind| {
            pane.columns.iter().any(|column| match kind {
                EventKind::Call => !column.calls.none(),
                _ => event(column) == Some(*kind),
            })
        };
        let legend = EventKind::ALL.into_iter().filter(seen);
        let legend = legend.map(|kind| format!("  {} {}", sign(kind), kind.name()));
        line + &legend.collect::<String>()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let areas = Areas::new(context.area);
        let pane = timeline::timeline(context.session, areas.bar.width.into());
        let rows = Rows::new(context.area.height, has_events(&pane.columns));
        for (n, y) in (0..).zip(context.area.rows().map(|row| row.y)) {
            let (label, bar) = areas.row(y);
            match n {
                _ if Some(n) == rows.events => draw_events(context, &pane.columns, label, bar, buffer),
                _ if n == rows.bar => draw_bar(context, &pane.columns, label, bar, buffer),
                _ if n == rows.axis => draw_axis(context, label, bar, buffer),
                _ => {}
            }
        }
        let used = rows.axis + 1;
        let below = Rect {
            y: context.area.y.saturating_add(used),
            height: context.area.height.saturating_sub(used),
            ..context.area
        };
        let below = draw_forks(context, &pane.forks, below, buffer);
        draw_plots(context, Areas::new(below), buffer);
    }

    fn items(&self, context: &Context<'_>) -> usize {
        usize::from(Areas::new(context.area).bar.width)
    }

    fn columns(&self, context: &Context<'_>) -> usize {
        self.items(context).max(1)
    }

    fn spot(&self, context: &Context<'_>, item: usize) -> Option<Spot> {
        let extent = context.session.timeline().span().steps();
        Some(Spot::Step(step_of(extent, item, self.items(context))))
    }

    fn item_at(&self, context: &Context<'_>, place: Position) -> Option<usize> {
        let bar = Areas::new(context.area).bar;
        let column = place.x.saturating_sub(bar.x).min(bar.width.checked_sub(1)?);
        context.area.contains(place).then_some(column.into())
    }
}

/// The widest column of labels, and the width of the pane from which on there is one.
const LABEL: u16 = 12;
const LEAST_FOR_LABELS: u16 = 50;

/// Labels to the left, time to the right.
#[derive(Clone, Copy)]
struct Areas {
    label: Rect,
    bar: Rect,
}

impl Areas {
    fn new(area: Rect) -> Areas {
        let label = if area.width >= LEAST_FOR_LABELS { LABEL } else { 0 };
        let bar = Rect { x: area.x + label, width: area.width - label, ..area };
        Areas { label: Rect { width: label.saturating_sub(1), ..area }, bar }
    }

    fn row(self, y: u16) -> (Rect, Rect) {
        let row = |area: Rect| Rect { y, height: 1, ..area };
        (row(self.label), row(self.bar))
    }

    /// The n-th of its rows.
    fn nth(self, n: u16) -> Option<(Rect, Rect)> {
        (n < self.bar.height).then(|| self.row(self.bar.y + n))
    }
}

/// Which row shows what; the bar comes first where there is little room.
struct Rows {
    events: Option<u16>,
    bar: u16,
    axis: u16,
}

impl Rows {
    fn new(height: u16, has_events: bool) -> Rows {
        let events = (has_events && height >= 2).then_some(0);
        let bar = u16::from(events.is_some());
        Rows { events, bar, axis: bar + 1 }
    }
}

fn has_events(columns: &[Column]) -> bool {
    columns.iter().any(|column| event(column).is_some())
}

/// What stands for an event: above the bar, and for a call in it.
fn sign(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Trap => "×",
        EventKind::Stop => "●",
        EventKind::Mark => "▼",
        EventKind::Fence => "|",
        EventKind::Fork => "Y",
        EventKind::Call => "├┤",
    }
}

fn style(kind: EventKind, theme: &Theme) -> Style {
    match kind {
        EventKind::Trap => theme.trap,
        EventKind::Stop => theme.breakpoint,
        EventKind::Mark => theme.mark,
        EventKind::Fence => theme.fence,
        EventKind::Fork => theme.fork,
        EventKind::Call => theme.bar,
    }
}

/// What stands above a column of the bar.
fn event(column: &Column) -> Option<EventKind> {
    match column {
        Column { trap: true, .. } => Some(EventKind::Trap),
        Column { marks, .. } if !marks.is_empty() => Some(EventKind::Mark),
        Column { points, .. } if !points.is_empty() => Some(EventKind::Stop),
        Column { fence: true, .. } => Some(EventKind::Fence),
        Column { forks, .. } if !forks.is_empty() => Some(EventKind::Fork),
        _ => None,
    }
}

fn draw_events(context: &Context<'_>, columns: &[Column], label: Rect, bar: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    Pen::new(label, buffer).write("events", theme.dim);
    for (x, column) in (bar.x..bar.right()).zip(columns) {
        let Some(event) = event(column) else { continue };
        Pen::new(Rect { x, width: 1, ..bar }, buffer).write(sign(event), style(event, theme));
    }
    // Marks have names, and those are worth the room to the right of them, where nothing else is.
    for (n, column) in columns.iter().enumerate() {
        let Some(name) = column.marks.first() else { continue };
        let next = columns.iter().skip(n + 1).position(|column| event(column).is_some());
        let room = next.unwrap_or(columns.len() - n - 1);
        if width(name) < room {
            let x = bar.x + n as u16 + 1;
            Pen::new(Rect { x, width: room as u16, ..bar }, buffer).write(name, theme.mark);
        }
    }
}

fn draw_bar(context: &Context<'_>, columns: &[Column], label: Rect, bar: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    Pen::new(label, buffer).write("time", theme.dim);
    let here = columns.iter().position(|column| column.is_here).unwrap_or(0);
    for (n, x) in (bar.x..bar.right()).enumerate() {
        let (sign, style) = match columns.get(n) {
            Some(column) if n == here => (here_sign(column), theme.here),
            Some(column) if n < here => (past_sign(column), theme.text),
            Some(column) => (future_sign(column), theme.bar),
            None => continue,
        };
        let place = Rect { x, width: 1, ..bar };
        Pen::new(place, buffer).write(sign, style);
        if context.is_focused && n == context.scroll.cursor {
            buffer.set_style(place, theme.cursor);
        }
    }
}

/// The present, with calls or without.
fn here_sign(column: &Column) -> &'static str {
    if column.calls.none() { "┃" } else { "╂" }
}

/// The bar before the present. A call is a bracket in it: opened where it was entered, closed where it was
/// left.
fn past_sign(column: &Column) -> &'static str {
    match (column.calls.entered, column.calls.left) {
        _ if !column.is_reached => "╍",
        (0, 0) => "━",
        (_, 0) => "┣",
        (0, _) => "┫",
        _ => "╋",
    }
}

/// The bar behind the present.
fn future_sign(column: &Column) -> &'static str {
    match (column.calls.entered, column.calls.left) {
        _ if !column.is_reached => "╌",
        (0, 0) => "─",
        (_, 0) => "├",
        (0, _) => "┤",
        _ => "┼",
    }
}

/// The first, the current and the last step, each where it is.
fn draw_axis(context: &Context<'_>, label: Rect, bar: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    Pen::new(label, buffer).write("step", theme.dim);
    let span = context.session.timeline().span();
    let (first, last) = span.steps();
    let last_text = match span.end {
        SpanEnd::Known => format!("{last} end"),
        SpanEnd::Reached => format!("{last}+"),
        SpanEnd::Expected => format!("~{last}"),
    };
    let first_text = first.to_string();
    let step = context.session.step_number();
    let (room, here) = (usize::from(bar.width), column_of((first, last), step, bar.width.into()));
    let here_text = match context.is_focused.then(|| step_of((first, last), context.scroll.cursor, room)) {
        Some(cursor) if cursor != step => format!("{step} (Enter: to {cursor})"),
        _ if step == last => last_text.clone(),
        _ => step.to_string(),
    };
    let mut texts = vec![(0, first_text, theme.dim)];
    if step != last {
        texts.push((room.saturating_sub(width(&last_text)), last_text, theme.dim));
    }
    let size = width(&here_text);
    let start = here.unwrap_or(0).saturating_sub(size / 2).min(room.saturating_sub(size));
    let is_free = |(at, text, _): &(usize, String, Style)| *at + width(text) < start || start + size < *at;
    texts.retain(is_free);
    texts.push((start, here_text, theme.text));
    for (at, text, style) in texts {
        let x = bar.x.saturating_add(at as u16);
        Pen::new(Rect { x, ..bar }.intersection(bar), buffer).write(&text, style);
    }
}

/// The branches, if there are more than the program's own. Returns what is left of the area.
fn draw_forks(context: &Context<'_>, forks: &[Fork], area: Rect, buffer: &mut Buffer) -> Rect {
    let has_room = area.height > u16::from(!context.choices.plots.cells.is_empty());
    if forks.len() < 2 || !has_room {
        return area;
    }
    let areas = Areas::new(area);
    let (label, row) = areas.row(area.y);
    Pen::new(label, buffer).write("branches", context.theme.dim);
    let mut pen = Pen::new(row, buffer);
    for fork in forks {
        let style = if fork.is_current { context.theme.fork } else { context.theme.dim };
        let text = match fork.parent {
            None => format!("{} the program's own", fork.branch),
            Some(_) => format!("{} from step {}: {}", fork.branch, fork.step, fork.edits.join(", ")),
        };
        pen.write(&text, style).skip(3);
    }
    Rect { y: area.y + 1, height: area.height - 1, ..area }
}

/// One band of rows for each plotted cell, and one for the depth of calls, as many as fit.
fn draw_plots(context: &Context<'_>, areas: Areas, buffer: &mut Buffer) {
    let plots = &context.choices.plots;
    if areas.bar.height == 0 || plots.cells.is_empty() {
        return;
    }
    if plots.samples.is_empty() {
        let names: Vec<&str> = plots.cells.iter().map(|(name, _)| name.as_str()).collect();
        let text = format!("{}: to be sampled as soon as nothing moves", names.join(", "));
        let (_, row) = areas.row(areas.bar.y);
        Pen::new(row, buffer).write(&text, context.theme.dim);
        return;
    }
    let mut bands: Vec<Band<'_>> = Vec::new();
    for ((n, (name, _)), style) in plots.cells.iter().enumerate().zip(context.theme.plots) {
        let value = |sample: &Sample| sample.values.get(n).copied().flatten();
        bands.push(Band { name, style, levels: levels(context, areas.bar.width.into(), value) });
    }
    if plots.samples.iter().any(|sample| sample.depth > 0) {
        let levels = levels(context, areas.bar.width.into(), |sample| Some(sample.depth as f64));
        bands.push(Band { name: "calls", style: context.theme.dim, levels });
    }
    bands.truncate(areas.bar.height.into());
    let count = bands.len().max(1) as u16;
    let start = |n: u16| areas.bar.height * n / count;
    for (n, band) in (0..).zip(&bands) {
        band.draw(context, areas, start(n), start(n + 1) - start(n), buffer);
    }
}

/// The greatest of the samples in each column, or the last one before it.
fn levels(context: &Context<'_>, width: usize, value: impl Fn(&Sample) -> Option<f64>) -> Vec<Option<f64>> {
    let timeline = context.session.timeline();
    let (extent, reached) = (timeline.span().steps(), timeline.branch().extent());
    let mut levels = vec![None; width];
    let mut samples = context.choices.plots.samples.iter().peekable();
    let mut before = None;
    for (column, level) in levels.iter_mut().enumerate() {
        let is_within = |sample: &&Sample| column_of(extent, sample.step, width).is_some_and(|n| n <= column);
        let mut highest: Option<f64> = None;
        while let Some(sample) = samples.next_if(is_within) {
            before = value(sample);
            highest = before.map(|value| highest.map_or(value, |highest| highest.max(value))).or(highest);
        }
        *level = highest.or(before.filter(|_| step_of(extent, column, width) <= reached.1));
    }
    levels
}

/// A cell over time.
struct Band<'a> {
    name: &'a str,
    style: Style,
    levels: Vec<Option<f64>>,
}

/// Eighths of a row.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

impl Band<'_> {
    fn draw(&self, context: &Context<'_>, areas: Areas, first: u16, height: u16, buffer: &mut Buffer) {
        let known = || self.levels.iter().copied().flatten();
        let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
        let extent = context.session.timeline().span().steps();
        let step = context.session.step_number();
        let here = column_of(extent, step, areas.bar.width.into()).unwrap_or(usize::MAX);
        for n in 0..height {
            let Some((label, row)) = areas.nth(first + n) else { continue };
            self.draw_label(label, n, height, (low, high), buffer);
            let below = f64::from(height - n - 1) * 8.0;
            for (column, (x, level)) in (row.x..row.right()).zip(&self.levels).enumerate() {
                let filled = level.map_or(0.0, |level| eighths(level, low, high, height)) - below;
                let sign = EIGHTHS.get(filled.clamp(0.0, 8.0) as usize).copied().unwrap_or(" ");
                let place = Rect { x, width: 1, ..row };
                Pen::new(place, buffer).write(sign, self.style);
                if column == here {
                    buffer.set_style(place, context.theme.here);
                }
            }
        }
    }

    /// The name above, and what the highest and the lowest level stand for.
    fn draw_label(&self, label: Rect, n: u16, height: u16, (low, high): (f64, f64), buffer: &mut Buffer) {
        let mut pen = Pen::new(label, buffer);
        let room = pen.room();
        let scale = match n {
            0 if height == 1 => format!("≤{}", short(high)),
            0 => short(high),
            n if n == height - 1 => short(low),
            _ => String::new(),
        };
        pen.right(&cut(&scale, room), 0, self.style);
        if n == 0 {
            pen.write(self.name, self.style);
        }
    }
}

/// How high a level is, in eighths of a row; at least one, so that the lowest level can be seen.
fn eighths(level: f64, low: f64, high: f64, height: u16) -> f64 {
    let most = f64::from(height) * 8.0;
    let part = (level - low) / (high - low);
    if part.is_finite() { 1.0 + part * (most - 1.0) } else { 1.0 }
}

/// A number in few characters.
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
    fn the_lowest_level_can_be_seen_and_the_highest_fills_the_band() {
        assert_eq!(eighths(3.0, 3.0, 9.0, 2), 1.0);
        assert_eq!(eighths(9.0, 3.0, 9.0, 2), 16.0);
        assert_eq!(eighths(3.0, 3.0, 3.0, 2), 1.0);
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
