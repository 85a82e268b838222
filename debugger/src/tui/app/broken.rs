//! The screen for a program that can't be debugged. It shows the program's diagnostics. The user can only scroll
//! and quit.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::effect::Effect;
use crate::columns::hanging;
use crate::command::screen::{CursorMove, ScreenAction};
use crate::listing::OpenError;
use crate::tui::theme::Theme;

/// The diagnostics, line by line.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    lines: Vec<String>,
    /// Index of the first visible row, counted from 0.
    top: usize,
    /// Number of visible rows in the last frame.
    room: usize,
}

impl Broken {
    pub fn new(error: &OpenError) -> Broken {
        let lines = error.to_string().lines().map(|line| line.replace('\t', "    ")).collect();
        Broken { lines, top: 0, room: 0 }
    }

    /// Executes the line that a key is bound to.
    pub fn act(&mut self, line: &str) -> Option<Effect> {
        match (line, ScreenAction::of(line)) {
            (_, Some(Ok(ScreenAction::Leave))) | ("quit", _) => return Some(Effect::Quit),
            (_, Some(Ok(ScreenAction::Redraw))) => return Some(Effect::Clear),
            (_, Some(Ok(ScreenAction::Cursor(to)))) => self.scroll(to),
            ("start", _) => self.scroll(CursorMove::Top),
            ("end", _) => self.scroll(CursorMove::Bottom),
            _ => {}
        }
        None
    }

    fn scroll(&mut self, to: CursorMove) {
        // Consecutive pages overlap by one row.
        let page = self.room.saturating_sub(1).max(1);
        self.top = match to {
            CursorMove::Up => self.top.saturating_sub(1),
            CursorMove::Down => self.top.saturating_add(1),
            CursorMove::PageUp => self.top.saturating_sub(page),
            CursorMove::PageDown => self.top.saturating_add(page),
            CursorMove::Top => 0,
            CursorMove::Bottom => usize::MAX,
            CursorMove::Left | CursorMove::Right => self.top,
        };
    }

    /// Draws the visible rows. Scrolling ends when the last row is at the bottom.
    pub fn draw(&mut self, theme: &Theme, quit: &str, area: Rect, buffer: &mut Buffer) {
        let rows: Vec<Line<'_>> =
            self.lines.iter().flat_map(|line| folded(line, theme, area.width)).collect();
        let mut places: Vec<Rect> = area.rows().collect();
        let last = places.pop();
        self.room = places.len().saturating_sub(1);
        self.top = self.top.min(rows.len().saturating_sub(self.room));
        let errors = self.lines.iter().filter(|line| line.starts_with("error")).count();
        let errors = if errors > 1 { format!(": {errors} errors") } else { ": 1 error".to_owned() };
        let heading = Line::styled(format!("the program can't be debugged{errors}"), theme.heading);
        let count = rows.len();
        let place = match count > self.room {
            true => format!("   {}-{} of {count}", self.top + 1, (self.top + self.room).min(count)),
            false => String::new(),
        };
        for (line, row) in std::iter::once(heading).chain(rows.into_iter().skip(self.top)).zip(places) {
            line.render(row, buffer);
        }
        if let Some(row) = last {
            let text = format!("{quit} quits   ↑ ↓ scroll{place}");
            Line::styled(text, theme.status).render(row, buffer);
        }
    }
}

/// Returns the rows of a diagnostic line, wrapped. Their colour depends on the severity of the diagnostic.
fn folded(line: &str, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let said = line.trim_start();
    let style = match () {
        () if said.starts_with("error") => theme.error,
        () if said.starts_with("warning") => theme.warning,
        () if said.starts_with("= help") || said.starts_with("help") => theme.key,
        () => theme.text,
    };
    hanging(line, usize::from(width)).into_iter().map(|row| Line::styled(row, style)).collect()
}
