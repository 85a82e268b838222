//! A frame: the slots with their headings and panes, the status line, the last row, and what lies over
//! them.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::messages::Tone;
use super::prompt::Purpose;
use super::{App, Away, Engine};
use crate::outcome::Reason;
use crate::tui::keys::Action;
use crate::tui::layout::Slot;
use crate::tui::panes::{Context, Pane, PaneKind, status::Status, text::cut};

impl App {
    /// Draws the whole screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        self.is_stale = false;
        let area = frame.area();
        frame.buffer_mut().set_style(area, self.theme.ground);
        match &self.engine {
            Engine::Broken(broken) => {
                let quit = self.keys.keys(Action::Quit).next().map_or(String::new(), |key| key.to_string());
                broken.draw(&self.theme, &quit, area, frame.buffer_mut());
            }
            Engine::Away(_) => self.draw_away(area, frame.buffer_mut()),
            Engine::Here(_) => self.draw_here(area, frame),
        }
    }

    fn draw_here(&mut self, area: Rect, frame: &mut Frame<'_>) {
        self.panes.fit(area);
        let screen = self.panes.screen().clone();
        let buffer = frame.buffer_mut();
        for slot in &screen.slots {
            self.draw_slot(slot, buffer);
        }
        self.draw_status(screen.status, buffer);
        self.draw_last_row(screen.prompt, buffer);
        if let Some(overlay) = &mut self.overlay {
            let above = Rect { height: area.height.saturating_sub(2), ..area };
            overlay.draw(self.messages.lines(), &self.theme, above, buffer);
        }
        self.picture.clone_from(buffer);
        if let Some(cursor) = self.prompt_cursor(screen.prompt) {
            frame.set_cursor_position(cursor);
        }
    }

    fn draw_slot(&mut self, slot: &Slot, buffer: &mut Buffer) {
        let Some(kind) = self.panes.front(slot) else { return };
        self.reveal(kind);
        if slot.has_border {
            let border = Rect { width: slot.area.width.min(1), ..slot.area };
            border.rows().for_each(|row| Span::styled("│", self.theme.border).render(row, buffer));
        }
        self.draw_heading(slot, kind, buffer);
        if let Some(context) = self.context(kind) {
            kind.pane().draw(&context, buffer);
        }
    }

    /// Scrolls a pane so that its cursor is seen.
    fn reveal(&mut self, kind: PaneKind) {
        let Some(context) = self.context(kind) else { return };
        let (items, columns) = (kind.pane().items(&context), kind.pane().columns(&context));
        let scroll = context.scroll.revealed(items, columns, usize::from(context.area.height));
        self.panes.set_scroll(kind, scroll);
    }

    /// The title of the pane in front, and the names of those behind it.
    fn draw_heading(&mut self, slot: &Slot, front: PaneKind, buffer: &mut Buffer) {
        let area = slot.heading();
        let Some(context) = self.context(front) else { return };
        let is_focused = context.is_focused;
        let has_failed = matches!(context.session.reason(), Some(Reason::Trap(_)));
        let title = |kind: &PaneKind| match *kind == front {
            true => format!(" {} ", front.pane().title(&context)),
            false => format!(" {} ", kind.name()),
        };
        let kinds: Vec<PaneKind> = slot
            .panes
            .iter()
            .copied()
            .filter(|k| *k == front || *k != PaneKind::Failure || has_failed)
            .collect();
        let titles: Vec<String> = kinds.iter().map(title).collect();
        let widths: Vec<usize> = titles.iter().map(|title| Span::raw(title).width()).collect();
        let hidden = hidden_tabs(&kinds, &widths, front, usize::from(area.width));
        let (theme, mut row) = (&self.theme, area);
        let mut tabs = Vec::new();
        for ((kind, title), width) in kinds.into_iter().zip(titles).zip(widths).skip(hidden) {
            let style = match kind == front {
                true if is_focused => theme.heading_focused,
                true => theme.heading,
                false => theme.tab,
            };
            let width = u16::try_from(width).unwrap_or(u16::MAX).min(row.width);
            Span::styled(title, style).render(row, buffer);
            tabs.push((Rect { width, ..row }, kind));
            row = Rect { x: row.x + width, width: row.width - width, ..row };
        }
        Span::styled("─".repeat(usize::from(row.width)), theme.border).render(row, buffer);
        self.panes.tabs.extend(tabs);
    }

    fn draw_status(&self, area: Rect, buffer: &mut Buffer) {
        let Some(context) = self.context(PaneKind::Timeline) else { return };
        buffer.set_style(area, self.theme.status);
        Status.draw(&Context { area, ..context }, buffer);
        let playing = match self.player.is_playing {
            true => format!(" playing {}, {} steps/s ", self.player.travel_name(), self.player.speed()),
            false => String::new(),
        };
        let line = Line::styled(playing, self.theme.here).right_aligned();
        line.render(area, buffer);
    }

    /// The line that is being typed, or the last message.
    fn draw_last_row(&self, area: Rect, buffer: &mut Buffer) {
        if let Some(prompt) = &self.prompt {
            let text = prompt.input.value();
            let scroll = prompt.input.visual_scroll(usize::from(area.width.saturating_sub(2)));
            let sign = if prompt.purpose == Purpose::Command { ":" } else { "/" };
            Span::styled(sign, self.theme.prompt).render(area, buffer);
            let rest = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(1), ..area };
            Line::from(skipped(text, scroll)).render(rest, buffer);
            let hint = Line::styled(format!("  {}", prompt.hint), self.theme.dim);
            let used = u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX).min(rest.width);
            hint.render(Rect { x: rest.x + used, width: rest.width - used, ..rest }, buffer);
        } else if let Some(message) = self.messages.current() {
            let style = match message.tone {
                Tone::Error => self.theme.error,
                Tone::Note => self.theme.dim,
                Tone::Reply | Tone::Command => self.theme.text,
            };
            Line::styled(cut(&message.text, usize::from(area.width)), style).render(area, buffer);
        } else {
            let key = |action| self.keys.keys(action).next().map_or("-".to_owned(), |key| key.to_string());
            let (help, command, quit) = (key(Action::Help), key(Action::Command), key(Action::Quit));
            let text = format!("{help} help   {command} command   {quit} quit");
            Line::styled(text, self.theme.dim).render(area, buffer);
        }
    }

    /// Where the terminal's cursor belongs: into the line that is being typed.
    fn prompt_cursor(&self, area: Rect) -> Option<Position> {
        let prompt = self.prompt.as_ref()?;
        let scroll = prompt.input.visual_scroll(usize::from(area.width.saturating_sub(2)));
        let column = u16::try_from(prompt.input.visual_cursor().saturating_sub(scroll)).ok()?;
        let x = area.x.saturating_add(1).saturating_add(column);
        (!area.is_empty() && x < area.right()).then_some(Position { x, y: area.y })
    }

    /// The last picture, with what goes on in its status line.
    fn draw_away(&self, area: Rect, buffer: &mut Buffer) {
        let Engine::Away(away) = &self.engine else { return };
        if self.picture.area == area {
            buffer.clone_from(&self.picture);
        }
        let status = crate::tui::layout::divide(area, false).status;
        if !away.is_optional {
            buffer.set_style(status, self.theme.status);
            Line::styled(" ".repeat(usize::from(status.width)), self.theme.status).render(status, buffer);
            Line::styled(away.text(), self.theme.status).render(status, buffer);
        }
    }
}

impl Away {
    fn text(&self) -> String {
        format!(" running `{}`: {:.1} s   Ctrl-C stops it", self.what, self.elapsed.as_secs_f64())
    }
}

/// How many tabs must be left out so that the one in front is seen.
fn hidden_tabs(kinds: &[PaneKind], widths: &[usize], front: PaneKind, room: usize) -> usize {
    let at = kinds.iter().position(|kind| *kind == front).unwrap_or_default();
    let fits = |hidden: &usize| widths.iter().take(at + 1).skip(*hidden).sum::<usize>() <= room;
    (0..at).find(fits).unwrap_or(at)
}

/// A text without its first columns.
fn skipped(text: &str, columns: usize) -> String {
    let mut left = columns;
    let hides = |c: &char| {
        let width = Span::raw(c.to_string()).width();
        let hides = left > 0;
        left = left.saturating_sub(width);
        hides
    };
    text.chars().skip_while(hides).collect()
}
