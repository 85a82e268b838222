//! The instruction card: what the next instruction does, how it is undone, and what it does to adjoints, with
//! its numbers. Where there is no room for all of a number, its first digits stand there.

use std::borrow::Cow;

use ratatui::style::Style;
use reviver_isa::card::Line;

use super::Context;
use super::sheet::{OneSheet, Sheet};
use super::text::{cut_number, width};
use crate::tui::theme::Theme;
use crate::view::card::{CardView, Topic};

pub struct Card;

impl OneSheet for Card {
    fn title(&self, context: &Context<'_>) -> String {
        match context.card.filter(|card| !card.is_end) {
            Some(card) => format!("next: {}", card.instruction),
            None => "card".to_owned(),
        }
    }

    fn sheet(&self, context: &Context<'_>) -> Sheet {
        let mut sheet = Sheet::new(context);
        if context.card.is_none_or(|card| card.is_end) {
            sheet.field("next", "nothing: this is the end", context.theme.dim);
        }
        if let Some(card) = context.card {
            fill(context.theme, card, &mut sheet);
        }
        sheet
    }
}

fn fill(theme: &Theme, card: &CardView, sheet: &mut Sheet) {
    if card.is_end {
        sheet.field("before", &card.instruction, theme.text);
    }
    let mut last = None;
    for (topic, line) in fitting(card, sheet.text_room()) {
        let name = if last == Some(topic) { "" } else { topic.name() };
        sheet.field(name, &line.formula, style(theme, topic));
        line.numbers.iter().for_each(|numbers| sheet.field("", numbers, theme.changed));
        last = Some(topic);
    }
    sheet.field("about", &card.doc, theme.dim);
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

/// Columns that a number may take: less and less.
const COLUMNS: [usize; 5] = [14, 11, 9, 7, 6];

/// The lines of the card, the numbers of each as long as lets it stay in one row, or the shortest.
fn fitting(card: &CardView, room: usize) -> Vec<(Topic, Line)> {
    let mut lines = card.lines(&str::to_owned);
    for columns in COLUMNS {
        let is_wide = |line: &Line| line.numbers.as_ref().is_some_and(|numbers| width(numbers) > room);
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
    lines
}

/// A real with fewer digits behind its point. Integers stay whole.
fn shortened(number: &str, columns: usize) -> Cow<'_, str> {
    match number.find('.') {
        Some(point) => cut_number(number, columns.max(point + 3)),
        None => Cow::Borrowed(number),
    }
}
