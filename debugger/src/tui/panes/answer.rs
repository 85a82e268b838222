//! The answer pane: the last answer as a tree of rows. Opening a row travels to its time point; the rows
//! below it can be unfolded.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text::{Pen, cut_number, mark_cursor, mark_found, remark};
use super::{Context, Pane, PaneSpot};
use crate::answer::{Answer, AnswerLead, AnswerRow, Fold};
use crate::columns::width;
use crate::tui::keys::BareKey;

/// The answer pane. Its rows can be folded, and lead to time points or calls.
pub struct AnswerWidget;

impl Pane for AnswerWidget {
    fn title(&self, context: &Context<'_>) -> String {
        answer(context).map_or("answer".to_owned(), |answer| answer.asked.clone())
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let Some(answer) = answer(context) else { return remark(context, "no answer yet", buffer) };
        if let (Some(heading), Some(row)) = (&answer.heading, context.area.rows().next()) {
            Pen::new(row, buffer).skip(2).write(heading, context.theme.heading);
        }
        let visible = answer.seen().enumerate().skip(context.scroll.top);
        for ((n, (_, row)), area) in visible.zip(self.scrolled(context).rows()) {
            draw_row(context, answer, row, area, buffer);
            mark_found(context, area, buffer);
            if n == context.scroll.cursor {
                mark_cursor(context, area, area, buffer);
            }
        }
    }

    fn is_there(&self, context: &Context<'_>) -> bool {
        context.choices.answer.is_some()
    }

    fn items(&self, context: &Context<'_>) -> usize {
        answer(context).map_or(0, |answer| answer.seen().count())
    }

    /// Returns the area without the heading of a table; the heading doesn't scroll.
    fn scrolled(&self, context: &Context<'_>) -> Rect {
        let has_heading = answer(context).is_some_and(|answer| answer.heading.is_some());
        let above = u16::from(has_heading).min(context.area.height);
        Rect { y: context.area.y + above, height: context.area.height - above, ..context.area }
    }

    fn spot(&self, context: &Context<'_>, item: usize) -> Option<PaneSpot> {
        let answer = answer(context)?;
        match answer.row(item)?.1.leads.as_ref()? {
            AnswerLead::Line(line) => Some(PaneSpot::Leads(line.clone())),
            // A row leads to a step of the answer's branch. If the session is on another branch, it first switches
            // to the answer's branch.
            AnswerLead::Step(_) if answer.branch != context.session.time_point().branch => {
                Some(PaneSpot::Leads(format!("timeline {}", answer.branch)))
            }
            AnswerLead::Step(step) => Some(PaneSpot::Step(*step)),
        }
    }

    fn opens(&self) -> Option<&'static str> {
        Some("goto @")
    }

    fn keys(&self) -> &'static [(BareKey, &'static str)] {
        &[(BareKey::Right, "cursor right"), (BareKey::Left, "cursor left")]
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        let (_, row) = answer(context)?.row(item)?;
        Some(format!("{} {} {} {}", row.name, row.value, row.text, row.place))
    }
}

fn answer<'a>(context: &Context<'a>) -> Option<&'a Answer> {
    context.choices.answer.as_ref()
}

fn draw_row(context: &Context<'_>, answer: &Answer, row: &AnswerRow, area: Rect, buffer: &mut Buffer) {
    let theme = context.theme;
    let mut pen = Pen::new(area, buffer);
    pen.skip(2 * row.depth);
    match row.fold {
        Fold::Open => pen.write("▾ ", theme.key),
        Fold::Closed | Fold::Unasked(_) => pen.write("▸ ", theme.key),
        Fold::Nothing => pen.skip(2),
    };
    let now = context.session.time_point();
    let is_here = answer.branch == now.branch && row.leads == Some(AnswerLead::Step(now.step));
    pen.right(&row.place, 16, if is_here { theme.here } else { theme.dim });
    let style = if row.name.is_empty() { theme.text } else { theme.dim };
    let value = value_in(row, pen.room());
    for (text, style) in [(row.name.as_str(), theme.label), (value.as_ref(), theme.text), (&row.text, style)]
    {
        if !text.is_empty() {
            pen.write(text, style).skip(2);
        }
    }
}

/// Minimum width of a value, in columns.
const LEAST_FOR_VALUE: usize = 9;

/// Returns the value of a row. A long value is shortened to leave room for the instruction, because the instruction
/// is more important than the value's last digits.
fn value_in(row: &AnswerRow, room: usize) -> Cow<'_, str> {
    let others = width(&row.name) + width(&row.text) + 4;
    match row.value.contains(' ') {
        // Two values, as in `1 → 2`, aren't shortened.
        true => Cow::Borrowed(&row.value),
        false => cut_number(&row.value, room.saturating_sub(others).max(LEAST_FOR_VALUE)),
    }
}
