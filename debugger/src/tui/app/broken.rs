//! A program that can't be debugged: its diagnostics on the screen, and a way out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::effect::Effect;
use crate::listing::OpenError;
use crate::tui::keys::KeyAction;
use crate::tui::panes::text::hanging;
use crate::tui::theme::Theme;

/// The diagnostics, line by line.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    lines: Vec<String>,
    /// The first row shown, and how many rows the last frame had room for.
    top: usize,
    room: usize,
}

impl Broken {
    pub fn new(error: &OpenError) -> Broken {
        let lines = error.to_string().lines().map(|line| line.replace('\t', "    ")).collect();
        Broken { lines, top: 0, room: 0 }
    }

    pub fn act(&mut self, action: KeyAction) -> Option<Effect> {
        // Two pages have a row in common.
        let page = self.room.saturating_sub(1).max(1);
        self.top = match action {
            KeyAction::Quit => return Some(Effect::Quit),
            KeyAction::Redraw => return Some(Effect::Clear),
            KeyAction::Up => self.top.saturating_sub(1),
            KeyAction::Down => self.top.saturating_add(1),
            KeyAction::PageUp => self.top.saturating_sub(page),
            KeyAction::PageDown => self.top.saturating_add(page),
            KeyAction::Top | KeyAction::GotoStart => 0,
            KeyAction::Bottom | KeyAction::GotoEnd => usize::MAX,
            _ => self.top,
        };
        None
    }

    /// Draws the rows that there is room for, so that the last one stands at the bottom.
    pub fn draw(&mut self, theme: &Theme, quit: &str, area: Rect, buffer: &mut Buffer) {
        let rows: Vec<Line<'_>> =
            self.lines.iter().flat_map(|line| folded(line, theme, area.width)).collect();
        let mut places: Vec<Rect> = area.rows().collect();
        let last = places.pop();
        self.room = places.len().saturating_sub(1);
        self.top = self.top.min(rows.len().saturating_sub(self.room));
        let errors = self.lines.iter().filter(|line| line.starts_with("error")).count();
        let errors = if errors > 1 { format!(": {errors} errors") } else { " as it is".to_owned() };
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

/// The rows of a line, in the colours of what it says.
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
