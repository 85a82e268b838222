//! What lies over the panes until a key closes it: the help, and replies of several lines.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Widget};

use super::messages::{Message, Tone};
use crate::tui::keys::help::{self, HelpLine};
use crate::tui::keys::{Action, Binding, KeyMap};
use crate::tui::panes::text::{hanging, width};
use crate::tui::theme::Theme;

/// What lies over the panes.
#[derive(Clone, Debug)]
pub(super) enum Overlay {
    Help {
        lines: Vec<HelpLine>,
        top: usize,
    },
    /// Lines of the messages: the first one, and how many.
    Reply {
        first: usize,
        lines: usize,
        top: usize,
    },
}

/// Rows that a page key moves.
const PAGE: usize = 10;

impl Overlay {
    pub fn help(keys: &KeyMap) -> Overlay {
        Overlay::Help { lines: help::lines(keys), top: 0 }
    }

    /// Takes a key's binding; whether it closes the overlay.
    pub fn act(&mut self, binding: Option<&Binding>) -> bool {
        let Some(Binding::Action(action)) = binding else { return binding.is_some() };
        match action {
            Action::Up | Action::Down => self.scroll(*action, 1),
            Action::PageUp => self.scroll(Action::Up, PAGE),
            Action::PageDown => self.scroll(Action::Down, PAGE),
            Action::Top => self.scroll(Action::Up, usize::MAX),
            Action::Bottom => self.scroll(Action::Down, usize::MAX),
            _ => return true,
        }
        false
    }

    /// Scrolls by so many rows.
    pub fn scroll(&mut self, action: Action, rows: usize) {
        let (Overlay::Help { top, .. } | Overlay::Reply { top, .. }) = self;
        *top = if action == Action::Up { top.saturating_sub(rows) } else { top.saturating_add(rows) };
    }

    /// Draws it over an area.
    pub fn draw(&mut self, messages: &[Message], theme: &Theme, area: Rect, buffer: &mut Buffer) {
        let (title, lines, top): (_, Vec<Line<'_>>, _) = match self {
            Overlay::Help { lines, top } => {
                let width = keys_width(lines);
                ("keys", lines.iter().map(|line| help_line(line, width, theme)).collect(), top)
            }
            Overlay::Reply { first, lines, top } => {
                let shown = messages.iter().skip(*first).take(*lines);
                let room = usize::from(area.width);
                ("reply", shown.flat_map(|message| reply_lines(message, theme, room)).collect(), top)
            }
        };
        let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(1);
        let [_, area] = Layout::vertical([Constraint::Fill(1), Constraint::Max(height)]).areas(area);
        let room = usize::from(area.height.saturating_sub(1));
        *top = (*top).min(lines.len().saturating_sub(room));
        let place = if lines.len() > room {
            format!(" {}-{} of {} ", *top + 1, (*top + room).min(lines.len()), lines.len())
        } else {
            String::new()
        };
        let block = Block::new()
            .borders(Borders::TOP)
            .border_style(theme.border)
            .title(Span::styled(format!(" {title} "), theme.heading_focused))
            .title(Line::styled(format!("{place} Esc closes "), theme.dim).right_aligned());
        Clear.render(area, buffer);
        buffer.set_style(area, theme.ground);
        let inside = block.inner(area);
        block.render(area, buffer);
        for (line, row) in lines.into_iter().skip(*top).zip(inside.rows()) {
            line.render(row, buffer);
        }
    }
}

/// The width of the column of keys.
fn keys_width(lines: &[HelpLine]) -> usize {
    let width = |line: &HelpLine| match line {
        HelpLine::Entry { keys, .. } => width(keys),
        HelpLine::Title(_) | HelpLine::Blank => 0,
    };
    lines.iter().map(width).max().unwrap_or(0)
}

fn help_line<'a>(line: &'a HelpLine, width: usize, theme: &Theme) -> Line<'a> {
    match line {
        HelpLine::Title(title) => Line::styled(*title, theme.heading),
        HelpLine::Entry { keys, text } => {
            Line::from(vec![Span::styled(format!("  {keys:<width$}  "), theme.key), Span::raw(text.as_str())])
        }
        HelpLine::Blank => Line::default(),
    }
}

fn reply_lines(message: &Message, theme: &Theme, room: usize) -> impl Iterator<Item = Line<'static>> {
    let style = if message.tone == Tone::Error { theme.error } else { theme.text };
    hanging(&message.text, room).into_iter().map(move |line| Line::styled(line, style))
}
