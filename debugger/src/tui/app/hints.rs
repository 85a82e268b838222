//! The line of keys that fits what is going on: where the run is, what has the focus, what stopped it. Its keys and
//! its words are those of the key map and of the commands; here is only which of them matter when.

use super::App;
use crate::command::named;
use crate::command::table::ArgumentKind;
use crate::outcome::Reason;
use crate::tui::keys::Key;
use crate::tui::panes::PaneKind;
use crate::tui::panes::text::width;

/// Lines that are told together, the first of them by its name: those that matter most come first.
type Hints = &'static [&'static [&'static str]];

const PLAYING: Hints = &[&["play-pause"], &["faster", "slower"], &["reverse-play"], &["keys"]];
const TRAPPED: Hints = &[&["why @"], &["last @"], &["reverse-step"], &["undo"], &["keys"]];
const AT_BEGIN: Hints =
    &[&["step"], &["continue"], &["end"], &["toggle break @"], &["ask"], &["keys"], &["leave"]];
const AT_END: Hints = &[
    &["reverse-step"],
    &["reverse-continue"],
    &["start"],
    &["why @"],
    &["history @"],
    &["keys"],
    &["leave"],
];
const IN_ANSWER: Hints =
    &[&["open"], &["cursor right", "cursor left"], &["close"], &["step", "reverse-step"], &["keys"]];
const IN_CODE: Hints = &[
    &["step", "reverse-step"],
    &["continue", "reverse-continue"],
    &["end"],
    &["toggle break @"],
    &["until @", "reverse-until @"],
    &["keys"],
];
const IN_CELLS: Hints = &[
    &["step", "reverse-step"],
    &["why @"],
    &["next-write @", "last @"],
    &["toggle watch @"],
    &["toggle plot @"],
    &["ask set @ ="],
    &["keys"],
];
const ANYWHERE: Hints = &[
    &["step", "reverse-step"],
    &["continue", "reverse-continue"],
    &["end"],
    &["why @"],
    &["open"],
    &["keys"],
];

impl App {
    /// The keys that matter now, as many as there is room for; and what has happened, if that is why.
    pub(super) fn hints(&self, room: usize) -> String {
        let (before, hints) = self.hints_now();
        let mut text = format!(" {before}");
        for hint in hints.iter().filter_map(|lines| self.hint(lines)) {
            if width(&text) + width(&hint) < room {
                text = format!("{text}{hint}  ");
            }
        }
        text
    }

    fn hints_now(&self) -> (&'static str, Hints) {
        let Some(session) = self.session() else { return ("", &[]) };
        match (session.reason(), self.panes.focus()) {
            _ if self.player.is_playing => ("playing: ", PLAYING),
            (_, PaneKind::Answer) => ("", IN_ANSWER),
            (Some(Reason::Trap(_)), _) => ("TRAPPED: ", TRAPPED),
            _ if session.next_instruction().is_none() => ("", AT_END),
            (None, _) => ("", AT_BEGIN),
            (_, PaneKind::Code) => ("", IN_CODE),
            (_, PaneKind::Cells | PaneKind::Arrays) => ("", IN_CELLS),
            _ => ("", ANYWHERE),
        }
    }

    /// The first keys of some lines, and what the first of the lines is called; none where that has no key.
    fn hint(&self, lines: &[&str]) -> Option<String> {
        let keys: Vec<String> =
            lines.iter().filter_map(|line| self.key_of(line)).map(|key| key.to_string()).collect();
        let line = lines.first()?;
        let (row, rest) = named(line).ok()?;
        let mut words = vec![if rest.is_empty() || rest == "@" {
            row.name
        } else {
            line.trim_end_matches(['@', ' ', '='])
        }];
        let selected = self.selected_cell();
        if row.argument == ArgumentKind::Cell && rest == "@" {
            words.extend(selected.as_deref());
        }
        (!keys.is_empty()).then(|| format!("{} {}", keys.join("/"), words.join(" ")))
    }

    /// The first key of a line in the pane with the focus.
    fn key_of(&self, line: &str) -> Option<Key> {
        let own = self.panes.focus().pane().keys().iter().find(|(_, bound)| *bound == line);
        own.map(|(bare, _)| Key::plain(*bare)).or_else(|| self.keys.keys(line).next())
    }
}
