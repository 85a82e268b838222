//! The card pane: the effect of the next instruction, its inverse, and its effect on adjoints, with values.
//! If there is too little room, numbers are shortened.

use std::borrow::Cow;

use ratatui::style::Style;
use reviver_isa::card::CardLine;

use super::Context;
use super::sheet::{OneSheet, Sheet};
use super::text::cut_number;
use crate::columns::width;
use crate::tui::theme::Theme;
use crate::view::card::{CardView, Topic};

/// The card pane: the effect of the next instruction.
pub struct CardWidget;

impl OneSheet for CardWidget {
    fn title(&self, context: &Context<'_>) -> String {
        match context.card.filter(|card| !card.is_end) {
            Some(card) => format!("next: {}", card.instruction),
            None => "card".to_owned(),
        }
    }

    /// If the pane is focused, returns the whole card, because the user can then scroll the card. Otherwise returns
    /// as much detail as fits.
    fn sheet(&self, context: &Context<'_>) -> Sheet {
        let room = usize::from(context.area.height);
        let fits = |sheet: &Sheet| context.is_focused || sheet.rows.len() <= room;
        let mut sheets = LENGTHS.into_iter().map(|length| sheet(context, length));
        sheets.find(fits).unwrap_or_else(|| sheet(context, Length::Numbers))
    }
}

/// The amount of detail on a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Length {
    Whole,
    /// All formulas, without the instruction's documentation.
    Formulas,
    /// Only the formulas for the direction of travel.
    OneWay,
    /// Values instead of formulas, where the values are known. The line about the data that the history keeps is
    /// omitted.
    Numbers,
}

const LENGTHS: [Length; 4] = [Length::Whole, Length::Formulas, Length::OneWay, Length::Numbers];

fn sheet(context: &Context<'_>, length: Length) -> Sheet {
    let mut sheet = Sheet::new(context);
    if context.card.is_none_or(|card| card.is_end) {
        sheet.field("next", "nothing: this is the end", context.theme.dim);
    }
    if let Some(card) = context.card {
        fill(context.theme, card, length, &mut sheet);
    }
    sheet
}

fn fill(theme: &Theme, card: &CardView, length: Length, sheet: &mut Sheet) {
    if card.is_end {
        sheet.field("before", &card.instruction, theme.text);
    }
    let lines = fitting(card, sheet.text_room());
    // The first lines are those for the direction of travel.
    let first_topic = lines.first().map(|(topic, _)| *topic);
    let is_other = |topic: Topic| matches!(topic, Topic::Does | Topic::Undone) && first_topic != Some(topic);
    let mut last = None;
    for (topic, line) in &lines {
        let is_less = *topic == Topic::Kept && length >= Length::Numbers;
        if is_less || length >= Length::OneWay && is_other(*topic) {
            continue;
        }
        let mut name = if last == Some(*topic) { "" } else { topic.name() };
        if length < Length::Numbers || line.numbers.is_none() {
            sheet.field(std::mem::take(&mut name), &line.formula, style(theme, *topic));
        }
        line.numbers.iter().for_each(|numbers| sheet.field(name, numbers, theme.changed));
        last = Some(*topic);
    }
    if length == Length::Whole {
        sheet.field("about", &card.doc, theme.dim);
    }
}

fn style(theme: &Theme, topic: Topic) -> Style {
    match topic {
        Topic::Does | Topic::Where => theme.text,
        Topic::Undone => theme.backward,
        Topic::Lost => theme.warning,
        Topic::Adjoint => theme.adjoint,
        Topic::Kept => theme.dim,
    }
}

/// Widths to which numbers are shortened, in columns. The first width at which a line fits is used.
const COLUMNS: [usize; 5] = [14, 11, 9, 7, 6];

/// Width to which numbers are shortened in a line that is wrapped, in columns.
const READABLE: usize = 9;

/// Returns the lines of the card. In each line, numbers are shortened as little as is needed for the line to
/// fit into one row.
fn fitting(card: &CardView, room: usize) -> Vec<(Topic, CardLine)> {
    let mut lines = card.lines(&str::to_owned);
    for columns in COLUMNS {
        let is_wide = |line: &CardLine| line.numbers.as_ref().is_some_and(|numbers| width(numbers) > room);
        if !lines.iter().any(|(_, line)| is_wide(line)) {
            break;
        }
        let shorter = card.lines(&|number| shortened(number, columns).into_owned());
        for ((_, line), (_, shorter)) in lines.iter_mut().zip(shorter) {
            if is_wide(line) {
                *line = shorter;
            }
        }
    }
    // If a line doesn't fit into one row even with the shortest numbers, it is wrapped, and its numbers get more
    // digits.
    let readable = card.lines(&|number| shortened(number, READABLE).into_owned());
    for ((_, line), (_, readable)) in lines.iter_mut().zip(readable) {
        if line.numbers.as_ref().is_some_and(|numbers| width(numbers) > room) {
            *line = readable;
        }
    }
    lines
}

/// Shortens the fractional part of a real to fit into `columns`. Returns integers unchanged.
fn shortened(number: &str, columns: usize) -> Cow<'_, str> {
    match number.find('.') {
        Some(point) => cut_number(number, columns.max(point + 3)),
        None => Cow::Borrowed(number),
    }
}
