//! The overlay over the panes: the help, or a reply of several lines. A key closes it.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Widget};

use super::messages::{Message, Tone};
use crate::columns::{hanging, width, wrapped};
use crate::command::screen::{CursorMove, ScreenAction};
use crate::tui::keys::help::{self, HelpLine};
use crate::tui::keys::{BareKey, Key, KeyMap};
use crate::tui::panes::text::mark;
use crate::tui::theme::Theme;

/// An overlay over the panes.
#[derive(Clone, Debug)]
pub(super) struct Overlay {
    content: OverlayContent,
    /// The first visible row.
    top: usize,
    /// The row of the last match; `None` if the user has scrolled since the search. The row of the match may be
    /// below the top row, because rows near the end can't be scrolled to the top.
    found: Option<usize>,
    /// Width of the overlay in columns, and number of its visible rows, in the last frame.
    room: (usize, usize),
    /// True if some rows of the overlay were hidden in the last frame.
    is_cut: bool,
}

#[derive(Clone, Debug)]
enum OverlayContent {
    Help(Vec<HelpLine>),
    /// Lines of the messages: the index of the first one, and their number.
    Reply {
        first: usize,
        lines: usize,
    },
}

/// The effect of a key on the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverlayAction {
    /// The overlay has handled the key.
    Taken,
    /// The application must ask for a search text.
    Search,
    /// The application must scroll to the next match (true) or to the previous one.
    Found(bool),
    Closes,
    /// The application must close the overlay, and then handle the key as usual.
    Passes,
}

impl Overlay {
    pub fn help(keys: &KeyMap) -> Overlay {
        Overlay::new(OverlayContent::Help(help::lines(keys)))
    }

    /// Creates an overlay that shows `lines` lines of the messages, from index `first` on.
    pub fn reply(first: usize, lines: usize) -> Overlay {
        Overlay::new(OverlayContent::Reply { first, lines })
    }

    fn new(content: OverlayContent) -> Overlay {
        Overlay { content, top: 0, found: None, room: (0, 0), is_cut: false }
    }

    /// Handles a key; `line` is the line that the key is bound to.
    pub fn key(&mut self, key: Key, line: Option<&str>) -> OverlayAction {
        // These keys close the overlay regardless of their bindings.
        if matches!(key.code, BareKey::Esc | BareKey::Enter | BareKey::Char(' ')) {
            return OverlayAction::Closes;
        }
        let Some(line) = line else { return OverlayAction::Taken };
        // `start` and `end` scroll the overlay. If all rows of the overlay are visible, the two commands travel in
        // the run instead.
        match line {
            "start" if self.is_cut => return self.move_cursor(CursorMove::Top),
            "end" if self.is_cut => return self.move_cursor(CursorMove::Bottom),
            _ => {}
        }
        match ScreenAction::of(line) {
            Some(Ok(ScreenAction::Cursor(to))) => self.move_cursor(to),
            Some(Ok(ScreenAction::AskSearch)) => OverlayAction::Search,
            Some(Ok(ScreenAction::SearchAgain { further })) => OverlayAction::Found(further),
            Some(Ok(ScreenAction::Leave)) => OverlayAction::Closes,
            _ => self.otherwise(),
        }
    }

    fn move_cursor(&mut self, to: CursorMove) -> OverlayAction {
        // Consecutive pages overlap by one row.
        let page = self.room.1.saturating_sub(1).max(1);
        match to {
            CursorMove::Up => self.scroll(true, 1),
            CursorMove::Down => self.scroll(false, 1),
            CursorMove::PageUp => self.scroll(true, page),
            CursorMove::PageDown => self.scroll(false, page),
            CursorMove::Top => self.scroll(true, usize::MAX),
            CursorMove::Bottom => self.scroll(false, usize::MAX),
            CursorMove::Left | CursorMove::Right => return self.otherwise(),
        }
        OverlayAction::Taken
    }

    /// Returns the effect of a key that the overlay doesn't use. Such a key closes the overlay.
    fn otherwise(&self) -> OverlayAction {
        match self.content {
            OverlayContent::Help(_) => OverlayAction::Closes,
            OverlayContent::Reply { .. } => OverlayAction::Passes,
        }
    }

    /// Scrolls by a number of rows.
    pub fn scroll(&mut self, up: bool, rows: usize) {
        self.found = None;
        self.top = if up { self.top.saturating_sub(rows) } else { self.top.saturating_add(rows) };
    }

    /// Scrolls to the next or previous row that contains the text. After the last row, the search continues
    /// with the first. Returns false if no row contains the text.
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

    /// Returns all rows, wrapped at the width of the last frame.
    fn rows(&self, messages: &[Message], theme: &Theme) -> Vec<Line<'static>> {
        match &self.content {
            OverlayContent::Help(lines) => {
                let columns = HelpColumns::new(lines, self.room.0);
                lines.iter().flat_map(|line| columns.rows(line, theme)).collect()
            }
            OverlayContent::Reply { first, lines } => {
                let shown = messages.iter().skip(*first).take(*lines);
                shown.flat_map(|message| reply_lines(message, theme, self.room.0)).collect()
            }
        }
    }

    /// Draws the overlay over an area, with search matches highlighted.
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

/// The column widths of the help: keys, lines, and descriptions.
struct HelpColumns {
    keys: usize,
    line: usize,
    text: usize,
}

/// Minimum width of the descriptions, in columns.
const LEAST_FOR_TEXT: usize = 20;

impl HelpColumns {
    fn new(lines: &[HelpLine], room: usize) -> HelpColumns {
        let widest = |column: fn(&HelpLine) -> usize| lines.iter().map(column).max().unwrap_or(0);
        let keys = widest(|line| if let HelpLine::Entry { keys, .. } = line { width(keys) } else { 0 });
        let line = widest(|line| if let HelpLine::Entry { line, .. } = line { width(line) } else { 0 });
        HelpColumns { keys, line, text: room.saturating_sub(keys + line + 6).max(LEAST_FOR_TEXT) }
    }

    /// Returns the rows of a help line, with its text wrapped.
    fn rows(&self, line: &HelpLine, theme: &Theme) -> Vec<Line<'static>> {
        match line {
            HelpLine::Title(title) => vec![Line::styled(*title, theme.heading)],
            HelpLine::Blank => vec![Line::default()],
            HelpLine::Entry { keys, line, text } => {
                let mut left = (keys.as_str(), line.as_str());
                let rows = wrapped(text, self.text).into_iter().map(|text| {
                    let (keys, line) = std::mem::take(&mut left);
                    Line::from(vec![
                        Span::styled(format!("  {keys:<0$}  ", self.keys), theme.key),
                        Span::styled(format!("{line:<0$}  ", self.line), theme.dim),
                        Span::raw(text),
                    ])
                });
                rows.collect()
            }
        }
    }
}

fn reply_lines(message: &Message, theme: &Theme, room: usize) -> impl Iterator<Item = Line<'static>> {
    let style = if message.tone == Tone::Error { theme.error } else { theme.text };
    hanging(&message.text, room).into_iter().map(move |line| Line::styled(line, style))
}
