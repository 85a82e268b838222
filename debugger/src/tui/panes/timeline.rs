//! The timeline pane: a scrub bar over the whole branch with what happened on it, and below it
//! the plotted cells over the same steps. Its items are the bar's columns.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::text::{Pen, cut, width};
use super::{Context, Pane, Spot};
use crate::scale::{chosen_step, column_of, step_of};
use crate::session::{EventKind, Range, Sample};
use crate::timeline::{Fork, SpanEnd};
use crate::tui::theme::Theme;
use crate::view::timeline::{self, Column};

pub struct Timeline;

impl Pane for Timeline {
    fn title(&self, context: &Context<'_>) -> String {
        let bar = Areas::new(context.area).bar;
        let pane = timeline::timeline(context.session, bar.width.into());
        let line = match context.session.moment().branch {
            0 => "timeline".to_owned(),
            line => format!("timeline, branch {line}"),
        };
        // What is missing from the plots matters more than the legend.
        let samples = &context.choices.plots.samples;
        let is_sampled = !samples.columns.is_empty() && !samples.is_exact;
        let sampled = if is_sampled { "  plots are sampled" } else { "" };
        let hidden = hidden_plots(context, has_events(&pane.columns), pane.forks.len());
        line + sampled + &hidden + &legend(&pane.columns)
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
        Some(Spot::Step(chosen_step(extent, item, self.items(context))))
    }

    fn item_at(&self, context: &Context<'_>, place: Position) -> Option<usize> {
        let bar = Areas::new(context.area).bar;
        let column = place.x.saturating_sub(bar.x).min(bar.width.checked_sub(1)?);
        context.area.contains(place).then_some(column.into())
    }
}

/// How many columns the bar has in an area.
pub fn columns(area: Rect) -> usize {
    Areas::new(area).bar.width.max(1).into()
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    One(EventKind),
    Several,
}

impl Shown {
    fn sign(self) -> &'static str {
        match self {
            Shown::One(kind) => sign(kind),
            Shown::Several => "◆",
        }
    }

    fn style(self, theme: &Theme) -> Style {
        match self {
            Shown::One(kind) => style(kind, theme),
            Shown::Several => theme.mark,
        }
    }
}

/// The signs of all that there is.
fn legend(columns: &[Column]) -> String {
    let is_there = |kind: &EventKind| columns.iter().any(|column| has(column, *kind));
    let kinds = EventKind::ALL.into_iter().filter(is_there);
    let kinds: String = kinds.map(|kind| format!("  {} {}", sign(kind), kind.name())).collect();
    let several = columns.iter().any(|column| event(column) == Some(Shown::Several));
    kinds + if several { "  ◆ several" } else { "" }
}

/// Whether a column has something of a kind.
fn has(column: &Column, kind: EventKind) -> bool {
    match kind {
        EventKind::Trap => column.trap,
        EventKind::Stop => !column.points.is_empty(),
        EventKind::Mark => !column.marks.is_empty(),
        EventKind::Fence => column.fence,
        EventKind::Fork => !column.forks.is_empty(),
        EventKind::Call => !column.calls.none(),
    }
}

/// What stands above a column of the bar: a trap in any case, then what the user has put there. One has
/// mostly been stopped where one puts something, so a stop is seen where there is nothing else.
fn event(column: &Column) -> Option<Shown> {
    if column.trap {
        return Some(Shown::One(EventKind::Trap));
    }
    let mut put =
        [EventKind::Mark, EventKind::Fence, EventKind::Fork].into_iter().filter(|k| has(column, *k));
    match (put.next(), put.next()) {
        (Some(kind), None) => Some(Shown::One(kind)),
        (Some(_), Some(_)) => Some(Shown::Several),
        (None, _) => has(column, EventKind::Stop).then_some(Shown::One(EventKind::Stop)),
    }
}

fn draw_events(context: &Context<'_>, columns: &[Column], label: Rect, bar: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    Pen::new(label, buffer).write("events", theme.dim);
    for (x, column) in (bar.x..bar.right()).zip(columns) {
        let Some(event) = event(column) else { continue };
        Pen::new(Rect { x, width: 1, ..bar }, buffer).write(event.sign(), event.style(theme));
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
    let here_text = match context.is_focused.then(|| chosen_step((first, last), context.scroll.cursor, room))
    {
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
    // The current one comes first, the others have their stories only where there is room for all.
    let (current, others): (Vec<&Fork>, Vec<&Fork>) = forks.iter().partition(|fork| fork.is_current);
    let columns: usize = forks.iter().map(|fork| width(&story(fork)) + 3).sum();
    let is_roomy = columns <= usize::from(row.width) + 3;
    let mut pen = Pen::new(row, buffer);
    for fork in current {
        pen.write(&story(fork), context.theme.fork).skip(3);
    }
    for fork in others {
        let text = if is_roomy { story(fork) } else { fork.branch.to_string() };
        pen.write(&text, context.theme.dim).skip(3);
    }
    Rect { y: area.y + 1, height: area.height - 1, ..area }
}

/// Where a branch came from.
fn story(fork: &Fork) -> String {
    match fork.parent {
        None => format!("{} the program's own", fork.branch),
        Some(_) => format!("{} from step {}: {}", fork.branch, fork.step, fork.edits.join(", ")),
    }
}

/// One band of rows for each plotted cell, and one for the depth of calls, as many as fit.
fn draw_plots(context: &Context<'_>, areas: Areas, buffer: &mut Buffer) {
    let plots = &context.choices.plots;
    if areas.bar.height == 0 || plots.cells.is_empty() {
        return;
    }
    if plots.samples.columns.is_empty() {
        let names: Vec<&str> = plots.cells.iter().map(|(name, _)| name.as_str()).collect();
        let text = format!("{}: to be sampled as soon as nothing moves", names.join(", "));
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
    // The first ones get the rows that are left.
    let start = |n: u16| (areas.bar.height * n).div_ceil(count);
    for (n, band) in (0..).zip(&bands) {
        band.draw(context, areas, start(n), start(n + 1) - start(n), buffer);
    }
}

/// The plotted cells that there is no room for.
fn hidden_plots(context: &Context<'_>, has_events: bool, forks: usize) -> String {
    let used = Rows::new(context.area.height, has_events).axis + 1 + u16::from(forks > 1);
    let room = context.area.height.saturating_sub(used);
    let cells = context.choices.plots.cells.iter().skip(room.into());
    let names: Vec<&str> = cells.map(|(name, _)| name.as_str()).collect();
    if names.is_empty() { String::new() } else { format!("  no room for {}", names.join(", ")) }
}

/// What the samples hold in each column of the bar: in one that has no step of its own, what the step before
/// it holds.
fn ranges(
    context: &Context<'_>,
    width: usize,
    value: impl Fn(&Sample) -> Option<Range>,
) -> Vec<Option<Range>> {
    let extent = context.session.timeline().span().steps();
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
        columns.iter().filter_map(&value).reduce(Range::and)
    };
    (0..width).map(|column| part(column).and_then(range)).collect()
}

/// A cell over time.
struct Band<'a> {
    name: &'a str,
    style: Style,
    ranges: Vec<Option<Range>>,
}

/// Eighths of a row.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// What lies below all values.
const BELOW: &str = "░";

impl Band<'_> {
    fn draw(&self, context: &Context<'_>, areas: Areas, first: u16, height: u16, buffer: &mut Buffer) {
        let Some(whole) = self.ranges.iter().copied().flatten().reduce(Range::and) else { return };
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

    /// The name above, and the greatest and the least value.
    fn draw_label(
        &self,
        context: &Context<'_>,
        label: Rect,
        (n, height): (u16, u16),
        whole: Range,
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

/// What stands in a row for the values from one level to another one, in eighths; rows count from the
/// lowest one.
fn part(low: u32, high: u32, row: u16) -> &'static str {
    let below = u32::from(row) * 8;
    match high.saturating_sub(below).min(8) {
        8 if low > below + 8 => BELOW,
        filled => EIGHTHS.get(filled as usize).copied().unwrap_or(" "),
    }
}

/// How high a value is, in eighths of a row; at least one, so that the least value can be seen.
fn eighths(value: f64, whole: Range, height: u16) -> u32 {
    let most = f64::from(height) * 8.0;
    let part = (value - whole.low) / (whole.high - whole.low);
    let level = if part.is_finite() { 1.0 + part * (most - 1.0) } else { 1.0 };
    level.round() as u32
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
    fn the_least_value_can_be_seen_and_the_greatest_fills_the_band() {
        let level = |value, low, high| eighths(value, Range { low, high }, 2);
        assert_eq!((level(3.0, 3.0, 9.0), level(9.0, 3.0, 9.0), level(3.0, 3.0, 3.0)), (1, 16, 1));
    }

    #[test]
    fn a_band_stands_on_shade() {
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
