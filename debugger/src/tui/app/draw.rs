//! Drawing of a frame: slots with headings and panes, the status line, the last row, and overlays.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use reviver_escape as escape;
use reviver_isa::names::deceiving;

use super::messages::Tone;
use super::prompt::PromptPurpose;
use super::{App, SessionPlace};
use crate::tui::layout::{ScreenContent, ScreenSlot, above, bottom};
use crate::tui::panes::status::{Running, StatusWidget, draw_running};
use crate::tui::panes::text::cut;
use crate::tui::panes::{Context, Pane, PaneKind};
use crate::tui::tour::strip;

impl App {
    /// Draws the whole screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        if let Some(cursor) = self.draw_on(frame.buffer_mut()) {
            frame.set_cursor_position(cursor);
        }
    }

    /// Draws the whole screen into a buffer. Returns the position of the terminal's cursor.
    pub(super) fn draw_on(&mut self, buffer: &mut Buffer) -> Option<Position> {
        self.is_stale = false;
        let area = buffer.area;
        buffer.set_style(area, self.theme.ground);
        let cursor = match &mut self.engine {
            SessionPlace::Broken(broken) => {
                let quit = self.keys.keys("leave").next().map_or(String::new(), |key| key.to_string());
                broken.draw(&self.theme, &quit, area, buffer);
                None
            }
            SessionPlace::Busy(_) => {
                self.draw_busy(area, buffer);
                None
            }
            SessionPlace::Here(_) => self.draw_here(area, buffer),
        };
        remove_unprintable(buffer);
        if matches!(self.engine, SessionPlace::Here(_)) {
            self.picture.clone_from(buffer);
        }
        cursor
    }

    fn draw_here(&mut self, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        self.fit(area);
        let screen = self.panes.screen().clone();
        for slot in &screen.slots {
            self.draw_slot(slot, buffer);
        }
        if let Some(tour) = &self.tour {
            strip::draw(tour, &self.keys, &self.theme, screen.tour, buffer);
        }
        let hints = self.hints(screen.keys.width.into());
        Line::styled(hints, self.theme.dim).render(screen.keys, buffer);
        self.draw_status(screen.status, buffer);
        self.draw_last_row(screen.prompt, buffer);
        if let Some(overlay) = &mut self.overlay {
            let wanted = self.choices.search.as_deref();
            overlay.draw(self.messages.lines(), wanted, &self.theme, screen.panes, buffer);
        }
        self.prompt_cursor(screen.prompt)
    }

    /// Divides the screen according to its content.
    fn fit(&mut self, area: Rect) {
        let Some(session) = self.session() else { return };
        let plots = &self.choices.plots;
        let clamped = |rows: u64| u16::try_from(rows).unwrap_or(u16::MAX);
        let content = ScreenContent {
            cells: clamped(self.cell_rows.scalars),
            arrays: clamped(self.cell_rows.elements),
            has_branches: session.timeline().forks().len() > 1,
            plots: (plots.cells.len() + usize::from(plots.has_calls())) as u16,
            has_answer: self.panes.in_front(PaneKind::Answer),
            has_tour: self.tour.is_some(),
        };
        let before = self.panes.area(PaneKind::Timeline);
        self.panes.fit(area, content);
        if self.panes.area(PaneKind::Timeline) != before {
            self.follow_time();
        }
    }

    fn draw_slot(&mut self, slot: &ScreenSlot, buffer: &mut Buffer) {
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

    /// Scrolls a pane so that its cursor is visible.
    fn reveal(&mut self, kind: PaneKind) {
        let Some(context) = self.context(kind) else { return };
        let (items, columns) = (kind.pane().items(&context), kind.pane().columns(&context));
        let height = usize::from(kind.pane().scrolled(&context).height);
        let scroll = context.scroll.revealed(items, columns, height);
        self.panes.set_scroll(kind, scroll);
    }

    fn draw_status(&self, area: Rect, buffer: &mut Buffer) {
        let Some(context) = self.context(PaneKind::Timeline) else { return };
        buffer.set_style(area, self.theme.status);
        let speed = Line::styled(self.playing(area.width), self.theme.active).right_aligned();
        let used = u16::try_from(speed.width()).unwrap_or(u16::MAX);
        let left = Rect { width: area.width.saturating_sub(used), ..area };
        StatusWidget.draw(&Context { area: left, ..context }, buffer);
        speed.render(area, buffer);
    }

    /// Returns the text about playback for a status line of this width. The text is empty if there is no playback.
    fn playing(&self, width: u16) -> String {
        const LEAST_FOR_WORDS: u16 = 60;
        let (direction, speed) = (self.player.travel_name(), self.player.speed());
        match self.player.is_playing {
            true if width >= LEAST_FOR_WORDS => format!(" playing {direction}, {speed} steps/s "),
            true => format!(" {speed}/s "),
            false => String::new(),
        }
    }

    /// Draws the prompt, or the last message.
    fn draw_last_row(&self, area: Rect, buffer: &mut Buffer) {
        if let Some(prompt) = &self.prompt {
            let text = prompt.input.value();
            let scroll = prompt.input.visual_scroll(usize::from(area.width.saturating_sub(2)));
            let sign = if prompt.purpose == PromptPurpose::Command { ":" } else { "/" };
            Span::styled(sign, self.theme.prompt).render(area, buffer);
            let rest = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(1), ..area };
            Line::from(skipped(text, scroll)).render(rest, buffer);
            let used = u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX).min(rest.width);
            let hint = cut(&prompt.hint, usize::from((rest.width - used).saturating_sub(2)));
            let hint = Line::styled(format!("  {hint}"), self.theme.dim);
            hint.render(Rect { x: rest.x + used, width: rest.width - used, ..rest }, buffer);
        } else if let Some(message) = self.messages.current() {
            let style = match message.tone {
                Tone::Error => self.theme.error,
                Tone::Note => self.theme.dim,
                Tone::Reply | Tone::Command => self.theme.text,
            };
            Line::styled(cut(&message.text, usize::from(area.width)), style).render(area, buffer);
        } else {
            let [help, command, quit] = ["keys", "ask", "leave"].map(|line| self.keys.input_for(line));
            let text = format!("{help} help   {command} command   {quit} quit");
            Line::styled(text, self.theme.dim).render(area, buffer);
        }
    }

    /// Returns the position of the terminal's cursor within the prompt.
    fn prompt_cursor(&self, area: Rect) -> Option<Position> {
        let prompt = self.prompt.as_ref()?;
        let scroll = prompt.input.visual_scroll(usize::from(area.width.saturating_sub(2)));
        let column = u16::try_from(prompt.input.visual_cursor().saturating_sub(scroll)).ok()?;
        let x = area.x.saturating_add(1).saturating_add(column);
        (!area.is_empty() && x < area.right()).then_some(Position { x, y: area.y })
    }

    /// Draws the last frame before the background task began, and below it the task's progress.
    fn draw_busy(&self, area: Rect, buffer: &mut Buffer) {
        let SessionPlace::Busy(away) = &self.engine else { return };
        // If the screen size has changed since that frame, the frame is cropped, or a part of the screen stays
        // empty.
        let is_same = self.picture.area == area;
        let shown = if is_same { area } else { above(area).intersection(above(self.picture.area)) };
        for place in shown.positions() {
            if let (Some(cell), Some(drawn)) = (buffer.cell_mut(place), self.picture.cell(place)) {
                cell.clone_from(drawn);
            }
        }
        if away.is_optional && is_same {
            return;
        }
        let [_, status, last] = bottom(area);
        Clear.render(status, buffer);
        buffer.set_style(status, self.theme.status);
        let (step, history_bytes) = (self.progress.step(), self.progress.history_bytes());
        let percent = away.span.percent(step);
        let running = Running { command: &away.what, step, percent, elapsed: away.elapsed, history_bytes };
        draw_running(&running, &self.theme, status, buffer);
        Clear.render(last, buffer);
        buffer.set_style(last, self.theme.ground);
        Line::styled(self.keys_during_run(), self.theme.dim).render(last, buffer);
    }

    /// Returns a text about the keys that have an effect during a long run.
    fn keys_during_run(&self) -> String {
        let quit = self.keys.keys("leave").next();
        let is_kept = matches!(&self.engine, SessionPlace::Busy(away) if away.is_kept);
        match (self.waiting.len(), quit) {
            _ if self.waits_to_quit() && is_kept => {
                "the debugger asks for confirmation as soon as the run has stopped".into()
            }
            _ if self.waits_to_quit() => "the session ends as soon as the run has stopped".into(),
            (0, Some(quit)) if is_kept => {
                format!("Ctrl-C stops the run   {quit} stops the run and asks before quitting")
            }
            (0, Some(quit)) => format!("Ctrl-C stops the run   {quit} stops the run and ends the session"),
            (0, None) => "Ctrl-C stops the run".into(),
            (1, _) => "Ctrl-C stops the run   1 key waits for the end of the run".into(),
            (n, _) => format!("Ctrl-C stops the run   {n} keys wait for the end of the run"),
        }
    }
}

/// Returns a text without its first `columns` columns.
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

/// Removes control characters, which a terminal would execute. `Pen` has escaped most of them in the panes' texts.
/// The remaining ones, for example characters that change the writing direction, may share a cell of the buffer
/// with a letter. The letter is kept.
fn remove_unprintable(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if symbol.len() > 1 && escape::line(symbol) != symbol {
            let kept: String = symbol.chars().filter(|c| deceiving(*c).is_none()).collect();
            cell.set_symbol(if kept.is_empty() { " " } else { &kept });
        }
    }
}
