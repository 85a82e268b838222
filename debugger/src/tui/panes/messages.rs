//! The messages pane: the commands of this session and what came of them, the last ones below.

use ratatui::buffer::Buffer;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::{Context, Pane};
use crate::tui::app::messages::{Message, Tone};

pub struct Messages;

impl Pane for Messages {
    fn title(&self, _: &Context<'_>) -> String {
        "messages".to_owned()
    }

    fn draw(&self, context: &Context<'_>, buffer: &mut Buffer) {
        let visible = context.messages.iter().skip(context.scroll.top);
        for ((n, message), area) in (context.scroll.top..).zip(visible).zip(context.area.rows()) {
            Line::styled(message.text.as_str(), style(context, message)).render(area, buffer);
            if context.is_focused && n == context.scroll.cursor {
                buffer.set_style(area, context.theme.cursor);
            }
        }
    }

    fn items(&self, context: &Context<'_>) -> usize {
        context.messages.len()
    }

    fn text(&self, context: &Context<'_>, item: usize) -> Option<String> {
        context.messages.get(item).map(|message| message.text.clone())
    }
}

fn style(context: &Context<'_>, message: &Message) -> ratatui::style::Style {
    match message.tone {
        Tone::Command => context.theme.key,
        Tone::Reply => context.theme.text,
        Tone::Note => context.theme.dim,
        Tone::Error => context.theme.error,
    }
}
