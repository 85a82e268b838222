//! What lies over the panes until a key closes it: the help, and replies of several lines.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Widget};

use super::messages::{Message, Tone};
use crate::tui::keys::help::{self, HelpLine};
use crate::tui::keys::{BareKey, Key, KeyAction, KeyBinding, KeyMap};
use crate::tui::panes::text::{hanging, mark, width};
use crate::tui::theme::Theme;

/// What lies over the panes.
#[derive(Clone, Debug)]
pub(super) struct Overlay {
    content: OverlayContent,
    /// The first row shown.
    top: usize,
    /// The row that was found last, if nobody has scrolled since; the last rows are never the first shown.
    found: Option<usize>,
    /// Columns and rows of the last frame.
    room: (usize, usize),
    /// Whether there were more rows than that.
    is_cut: bool,
}

#[derive(Clone, Debug)]
enum OverlayContent {
    Help(Vec<HelpLine>),
    /// Lines of the messages: the first one, and how many.
    Reply {
        first: usize,
        lines: usize,
    },
}

/// What a key comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heeded {
    /// The overlay has taken it.
    Taken,
    /// It asks for something to search.
    Search,
    /// To the next place found, or to the one before.
    Found(bool),
    Closes,
    /// It closes the overlay, and does what it does anywhere else.
    Passes,
}

impl Overlay {
    pub fn help(keys: &KeyMap) -> Overlay {
        Overlay::new(OverlayContent::Help(help::lines(keys)))
    }

    /// So many lines of the messages, from number `first` on.
    pub fn reply(first: usize, lines: usize) -> Overlay {
        Overlay::new(OverlayContent::Reply { first, lines })
    }

    fn new(content: OverlayContent) -> Overlay {
        Overlay { content, top: 0, found: None, room: (0, 0), is_cut: false }
    }

    /// Takes a key with its binding.
    pub fn key(&mut self, key: Key, binding: Option<&KeyBinding>) -> Heeded {
        // Readers leave with these, whatever they are bound to.
        if matches!(key.code, BareKey::Esc | BareKey::Enter | BareKey::Char(' ')) {
            return Heeded::Closes;
        }
        let action = match binding {
            Some(KeyBinding::KeyAction(action)) => *action,
            Some(KeyBinding::Command(_)) => return self.otherwise(),
            None => return Heeded::Taken,
        };
        // Two pages have a row in common.
        let page = self.room.1.saturating_sub(1).max(1);
        match action {
            KeyAction::Up | KeyAction::Down => self.scroll(action, 1),
            KeyAction::PageUp => self.scroll(KeyAction::Up, page),
            KeyAction::PageDown => self.scroll(KeyAction::Down, page),
            // Who sees all of it means the run.
            KeyAction::GotoStart | KeyAction::GotoEnd if !self.is_cut => return self.otherwise(),
            KeyAction::Top | KeyAction::GotoStart => self.scroll(KeyAction::Up, usize::MAX),
            KeyAction::Bottom | KeyAction::GotoEnd => self.scroll(KeyAction::Down, usize::MAX),
            KeyAction::Search => return Heeded::Search,
            KeyAction::SearchNext => return Heeded::Found(true),
            KeyAction::SearchPrevious => return Heeded::Found(false),
            KeyAction::Quit => return Heeded::Closes,
            _ => return self.otherwise(),
        }
        Heeded::Taken
    }

    /// What keys do that concern something else.
    fn otherwise(&self) -> Heeded {
        match self.content {
            OverlayContent::Help(_) => Heeded::Closes,
            OverlayContent::Reply { .. } => Heeded::Passes,
        }
    }

    /// Scrolls by so many rows.
    pub fn scroll(&mut self, action: KeyAction, rows: usize) {
        self.found = None;
        let up = action == KeyAction::Up;
        self.top = if up { self.top.saturating_sub(rows) } else { self.top.saturating_add(rows) };
    }

    /// Scrolls to the nearest row below the first one, or above it, that has the text in it, round the end.
    /// Whether there is one.
    pub fn search(&mut self, wanted: &str, further: bool, messages: &[Message], theme: &Theme) -> bool {
        let rows = self.rows(messages, theme);
        let top = self.found.unwrap_or(self.top).min(rows.len());
        let has =
            |row: &usize| rows.get(*row).is_some_and(|row| row.to_string().to_lowercase().contains(wanted));
        let found = match further {
            true => (top + 1..rows.len()).chain(0..rows.len().min(top + 1)).find(has),
            false => (0..top).rev().chain((top..rows.len()).rev()).find(has),
        };
        self.top = found.unwrap_or(self.top);
        self.found = found;
        found.is_some()
    }

    /// All of its rows, as wide as the last frame was.
    fn rows(&self, messages: &[Message], theme: &Theme) -> Vec<Line<'static>> {
        match &self.content {
            OverlayContent::Help(lines) => {
                let width = keys_width(lines);
                lines.iter().map(|line| help_line(line, width, theme)).collect()
            }
            OverlayContent::Reply { first, lines } => {
                let shown = messages.iter().skip(*first).take(*lines);
                shown.flat_map(|message| reply_lines(message, theme, self.room.0)).collect()
            }
        }
    }

    /// Draws it over an area, with what was searched highlighted.
    pub fn draw(
        &mut self,
        messages: &[Message],
        wanted: Option<&str>,
        theme: &Theme,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        self.room.0 = usize::from(area.width);
        let lines = self.rows(messages, theme);
        let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(1);
        let [_, area] = Layout::vertical([Constraint::Fill(1), Constraint::Max(height)]).areas(area);
        let room = usize::from(area.height.saturating_sub(1));
        (self.room.1, self.is_cut) = (room, lines.len() > room);
        self.top = self.top.min(lines.len().saturating_sub(room));
        let place = if self.is_cut {
            format!(" {}-{} of {} ", self.top + 1, (self.top + room).min(lines.len()), lines.len())
        } else {
            String::new()
        };
        let title = if matches!(self.content, OverlayContent::Help(_)) { " keys " } else { " reply " };
        let block = Block::new()
            .borders(Borders::TOP)
            .border_style(theme.border)
            .title(Span::styled(title, theme.heading_focused))
            .title(Line::styled(format!("{place} Esc closes "), theme.dim).right_aligned());
        Clear.render(area, buffer);
        buffer.set_style(area, theme.ground);
        let inside = block.inner(area);
        block.render(area, buffer);
        for (line, row) in lines.into_iter().skip(self.top).zip(inside.rows()) {
            line.render(row, buffer);
            wanted.into_iter().for_each(|wanted| mark(wanted, theme.found, row, buffer));
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

fn help_line(line: &HelpLine, width: usize, theme: &Theme) -> Line<'static> {
    match line {
        HelpLine::Title(title) => Line::styled(*title, theme.heading),
        HelpLine::Entry { keys, text } => {
            Line::from(vec![Span::styled(format!("  {keys:<width$}  "), theme.key), Span::raw(text.clone())])
        }
        HelpLine::Blank => Line::default(),
    }
}

fn reply_lines(message: &Message, theme: &Theme, room: usize) -> impl Iterator<Item = Line<'static>> {
    let style = if message.tone == Tone::Error { theme.error } else { theme.text };
    hanging(&message.text, room).into_iter().map(move |line| Line::styled(line, style))
}
