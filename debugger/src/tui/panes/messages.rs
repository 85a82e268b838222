//! The messages pane: the commands of this session and their outcomes, latest last. Each row is an item of the
//! pane. A message that is wider than the pane has several rows.

use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::{Context, Pane};
use crate::columns::hanging;
use crate::tui::app::messages::{Message, Tone};

/// The messages pane: the dialogue between user and debugger.
pub struct MessagesWidget;

impl Pane for MessagesWidget {
    fn title(&self, _: &Context<'_>) -> String {
        "messages".to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let visible = rows(context).enumerate().skip(context.scroll.top);
        for ((n, (message, text)), area) in visible.zip(context.area.rows()) {
            Line::styled(text, style(context, message)).render(area, buffer);
            if context.is_focused && n == context.scroll.cursor {
                buffer.set_style(area, context.theme.cursor);
            }
        }
    }

    fn items(&self, context: &Context<'_>) -> usize {
        rows(context).count()
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        rows(context).nth(item).map(|(_, text)| text)
    }
}

fn rows<'a>(context: &Context<'a>) -> impl Iterator<Item = (&'a Message, String)> {
    let (messages, room) = (context.messages, usize::from(context.area.width));
    messages
        .iter()
        .flat_map(move |message| hanging(&message.text, room).into_iter().map(move |row| (message, row)))
}

fn style(context: &Context<'_>, message: &Message) -> Style {
    match message.tone {
        Tone::Command => context.theme.key,
        Tone::Reply => context.theme.text,
        Tone::Note => context.theme.dim,
        Tone::Error => context.theme.error,
    }
}
