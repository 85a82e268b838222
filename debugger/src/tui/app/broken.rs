//! A program that can't be debugged: its diagnostics on the screen, and a way out.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::Effect;
use crate::listing::OpenError;
use crate::tui::keys::Action;
use crate::tui::theme::Theme;

/// The diagnostics, line by line.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    lines: Vec<String>,
    top: usize,
}

const PAGE: usize = 10;

impl Broken {
    pub fn new(error: &OpenError) -> Broken {
        let lines = error.to_string().lines().map(|line| line.replace('\t', "    ")).collect();
        Broken { lines, top: 0 }
    }

    pub fn act(&mut self, action: Action) -> Option<Effect> {
        let last = self.lines.len().saturating_sub(1);
        self.top = match action {
            Action::Quit => return Some(Effect::Quit),
            Action::Redraw => return Some(Effect::Clear),
            Action::Up => self.top.saturating_sub(1),
            Action::Down => self.top + 1,
            Action::PageUp => self.top.saturating_sub(PAGE),
            Action::PageDown => self.top + PAGE,
            Action::Top | Action::GotoStart => 0,
            Action::Bottom | Action::GotoEnd => last,
            _ => self.top,
        }
        .min(last);
        None
    }

    pub fn draw(&self, theme: &Theme, quit: &str, area: Rect, buffer: &mut Buffer) {
        let heading = Line::styled("the program can't be debugged as it is", theme.heading);
        let shown = self.lines.iter().skip(self.top).map(|line| {
            let style = if line.starts_with("error") { theme.error } else { theme.text };
            Line::styled(line.as_str(), style)
        });
        let mut rows: Vec<Rect> = area.rows().collect();
        let last = rows.pop();
        for (line, row) in std::iter::once(heading).chain(shown).zip(rows) {
            line.render(row, buffer);
        }
        if let Some(row) = last {
            Line::styled(format!("{quit} quits; ↑ ↓ scroll"), theme.status).render(row, buffer);
        }
    }
}
