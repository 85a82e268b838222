//! The key bar. Its content depends on the position in the run, the focused pane, and the reason for the last stop.
//! The keys are from the key map, and their labels from the command tables. This file selects the keys that are
//! relevant now.

use super::App;
use crate::columns::width;
use crate::command::named;
use crate::command::screen::{CursorMove, ScreenAction};
use crate::command::table::ArgumentKind;
use crate::tui::keys::Key;
use crate::tui::panes::PaneKind;

/// Groups of command lines, the most relevant group first. The keys of a group are shown together. Their label is
/// the word that the labels of the group's lines have in common.
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
    &[&["open"], &["cursor right", "cursor left"], &["close"], &["step"], &["reverse-step"], &["keys"]];
const IN_CODE: Hints = &[
    &["step"],
    &["reverse-step"],
    &["continue", "reverse-continue"],
    &["end"],
    &["toggle break @"],
    &["until @", "reverse-until @"],
    &["keys"],
];
const IN_CELLS: Hints = &[
    &["step"],
    &["reverse-step"],
    &["why @"],
    &["next-write @", "last @"],
    &["toggle watch @"],
    &["toggle plot @"],
    &["ask set @ ="],
    &["keys"],
];
const ANYWHERE: Hints = &[
    &["step"],
    &["reverse-step"],
    &["continue", "reverse-continue"],
    &["end"],
    &["why @"],
    &["open"],
    &["keys"],
];

impl App {
    /// Returns the relevant keys that fit into `room` columns. If the session is in a special state, the text
    /// begins with the name of this state, for example "TRAPPED: ". The cell's name follows the label of the first
    /// key that acts on the selected cell.
    pub(super) fn hints(&self, room: usize) -> String {
        let (before, hints) = self.hints_now();
        let mut text = format!(" {before}");
        let mut cell = self.selected_cell();
        for lines in hints {
            let Some(mut hint) = self.hint(lines) else { continue };
            if lines.first().is_some_and(|line| is_of_cell(line)) {
                hint.extend(cell.take().map(|cell| format!(" {cell}")));
            }
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
            _ if session.trap().is_some() => ("TRAPPED: ", TRAPPED),
            _ if session.next_instruction().is_none() => ("", AT_END),
            (None, _) => ("", AT_BEGIN),
            (_, PaneKind::Code) => ("", IN_CODE),
            (_, PaneKind::Cells | PaneKind::Arrays) => ("", IN_CELLS),
            _ => ("", ANYWHERE),
        }
    }

    /// Returns the keys of a group of lines and their label, or `None` if no line of the group has a key.
    fn hint(&self, lines: &[&str]) -> Option<String> {
        let keys: Vec<String> =
            lines.iter().filter_map(|line| self.key_of(line)).map(|key| key.to_string()).collect();
        let words = lines.iter().filter_map(|line| self.word(line)).reduce(shared)?;
        let keys = Some(keys.join("/")).filter(|keys| !keys.is_empty())?;
        // Some keys, such as `End`, need no label. Several keys may share a label, as in `+/- faster`.
        Some(if keys.eq_ignore_ascii_case(words) { keys } else { format!("{keys} {words}") })
    }

    /// Returns the label of a line. If the line is a `toggle` line or opens the prompt, returns the label of the
    /// command inside the line.
    fn word(&self, line: &str) -> Option<&'static str> {
        match ScreenAction::of(line) {
            Some(Ok(ScreenAction::Toggle(_, set))) => self.word(&set),
            Some(Ok(ScreenAction::Ask(begun))) if !begun.is_empty() => self.word(&begun),
            // These lines are shown only for an answer.
            Some(Ok(ScreenAction::Cursor(CursorMove::Left | CursorMove::Right))) => Some("unfold"),
            Some(Ok(ScreenAction::Open)) => self.word(self.panes.focus().pane().opens()?),
            _ => named(line).ok().map(|(row, _)| row.word),
        }
    }

    /// Returns the first key that executes a line when the current pane has the focus.
    fn key_of(&self, line: &str) -> Option<Key> {
        let own = self.panes.focus().pane().keys().iter().find(|(_, bound)| *bound == line);
        own.map(|(bare, _)| Key::plain(*bare)).or_else(|| self.keys.keys(line).next())
    }
}

/// Returns true if the argument of a line is the selected cell (`@`).
fn is_of_cell(line: &str) -> bool {
    named(line).is_ok_and(|(row, rest)| row.argument == ArgumentKind::Cell && rest == "@")
}

/// Returns the first word of two labels if only this word is the same in both labels, or the last word if only
/// that word is the same. Otherwise returns the first label.
fn shared<'w>(a: &'w str, b: &'w str) -> &'w str {
    let parts = |text: &'w str| text.split_once(' ').map_or([text, text], |(first, last)| [first, last]);
    let [both_first, both_last] = [0, 1].map(|n| parts(a)[n] == parts(b)[n]);
    match (both_first, both_last) {
        (true, false) => parts(a)[0],
        (false, true) => parts(a)[1],
        _ => a,
    }
}

#[cfg(test)]
mod tests {
    use super::shared;

    #[test]
    fn the_hint_of_adjacent_keys_is_their_common_words() {
        assert_eq!(shared("run", "run back"), "run");
        assert_eq!(shared("next write", "last write"), "write");
        assert_eq!(shared("unfold", "unfold"), "unfold");
        assert_eq!(shared("faster", "slower"), "faster");
        assert_eq!(shared("step →", "back ←"), "step →");
    }
}
