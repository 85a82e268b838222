//! The instruction card: what the next instruction does, with its numbers, how it is undone, and what it
//! does to adjoints.

use reviver_vm::Travel;

use super::Context;
use super::sheet::{OneSheet, Sheet};
use crate::view::card::{CardView, card};

pub struct Card;

impl OneSheet for Card {
    fn title(&self, context: &Context<'_>) -> String {
        match card(context.session, Travel::Forward) {
            Some(card) => format!("next: {}", card.instruction),
            None => "card".to_owned(),
        }
    }

    fn sheet(&self, context: &Context<'_>) -> Sheet {
        sheet(context)
    }
}

fn sheet(context: &Context<'_>) -> Sheet {
    let mut sheet = Sheet::new(context);
    match card(context.session, Travel::Forward) {
        Some(card) => fill(context, &card, &mut sheet),
        None => fill_end(context, &mut sheet),
    }
    sheet
}

/// At the end there is only a way back.
fn fill_end(context: &Context<'_>, sheet: &mut Sheet) {
    let theme = context.theme;
    sheet.field("next", "nothing: this is the end", theme.dim);
    if let Some(CardView { instruction, card, .. }) = card(context.session, Travel::Backward) {
        sheet.field("before", &instruction, theme.text);
        card.inverse.iter().for_each(|inverse| sheet.field("undone", inverse, theme.backward));
    }
}

fn fill(context: &Context<'_>, view: &CardView, sheet: &mut Sheet) {
    let (theme, card) = (context.theme, &view.card);
    sheet.field("does", &card.equation, theme.text);
    if let Some(numbers) = &card.numbers {
        sheet.field("now", numbers, theme.changed);
    }
    match &card.inverse {
        Some(inverse) => sheet.field("undone", inverse, theme.backward),
        None => sheet.field("undone", "only with a history: it throws information away", theme.warning),
    }
    for (n, rule) in card.adjoint.iter().enumerate() {
        sheet.field(if n == 0 { "adjoint" } else { "" }, rule, theme.adjoint);
    }
    let held: Vec<String> = view.cotangents.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if !held.is_empty() {
        sheet.field("holding", &held.join(", "), theme.adjoint);
    }
    for (n, part) in card.parts.iter().enumerate() {
        sheet.field(if n == 0 { "where" } else { "" }, part, theme.text);
    }
    sheet.field("about", &view.doc, theme.dim);
}
