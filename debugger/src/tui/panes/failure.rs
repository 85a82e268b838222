//! The failure pane: the explanation of a trap. It gives the reason why the machine can't execute the next step.

use super::Context;
use super::sheet::{OneSheet, Sheet};
use crate::listing::Line;

/// The failure pane, shown at a trap: its reason, place and help.
pub struct FailureWidget;

impl OneSheet for FailureWidget {
    fn title(&self, context: &Context<'_>) -> String {
        match context.session.trap() {
            Some(trap) => format!("failure: {}", trap.instruction),
            None => "failure".to_owned(),
        }
    }

    fn sheet(&self, context: &Context<'_>) -> Sheet {
        sheet(context)
    }

    fn is_there(&self, context: &Context<'_>) -> bool {
        context.session.trap().is_some()
    }
}

fn sheet(context: &Context<'_>) -> Sheet {
    let (theme, session) = (context.theme, context.session);
    let mut sheet = Sheet::new(context);
    let Some(trap) = session.trap() else {
        sheet.field("", "Nothing has failed.", theme.dim);
        return sheet;
    };
    let listing = session.listing();
    let line = trap.spot.as_ref().map_or(listing.line(trap.at), Line::from);
    sheet.field("trap", &trap.message, theme.trap);
    sheet.field("at", &format!("`{}` ({})", trap.instruction, listing.name(line)), theme.text);
    for (n, other) in trap.others.iter().enumerate() {
        let name = listing.name(Line::from(&other.spot));
        let text = format!("`{}` ({name}): {}", other.words, other.label);
        sheet.field(if n == 0 { "and" } else { "" }, &text, theme.changed);
    }
    for (n, note) in trap.notes.iter().enumerate() {
        sheet.field(if n == 0 { "because" } else { "" }, note, theme.changed);
    }
    for (n, call) in trap.called().iter().enumerate() {
        sheet.field(if n == 0 { "calls" } else { "" }, call, theme.text);
    }
    if let Some(help) = &trap.help {
        sheet.field("help", help, theme.good);
    }
    let entry = trap.code.entry();
    sheet.field("code", &format!("{} {}: `explain` explains the code", entry.code, entry.words), theme.dim);
    sheet
}
