//! The line of keys that fits what is going on: where the run is, what has the focus, what stopped it. Its keys are
//! those of the key map, its words those of the commands; here is only which of them matter when.

use super::App;
use crate::columns::width;
use crate::command::named;
use crate::command::screen::{CursorMove, ScreenAction};
use crate::command::table::ArgumentKind;
use crate::tui::keys::Key;
use crate::tui::panes::PaneKind;

/// Lines that are told together, by the words that they share: those that matter most come first.
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
    /// The keys that matter now, as many as there is room for; and what has happened, if that is why. The first of
    /// them that is about the selected cell names it.
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

    /// The first keys of some lines, and what they do; none where the lines have no key.
    fn hint(&self, lines: &[&str]) -> Option<String> {
        let keys: Vec<String> =
            lines.iter().filter_map(|line| self.key_of(line)).map(|key| key.to_string()).collect();
        let words = lines.iter().filter_map(|line| self.word(line)).reduce(shared)?;
        let keys = Some(keys.join("/")).filter(|keys| !keys.is_empty())?;
        // A key may say by itself what it does: `End`, `+/- faster`.
        Some(if keys.eq_ignore_ascii_case(words) { keys } else { format!("{keys} {words}") })
    }

    /// What a line does in few words: those of the command that matters in it.
    fn word(&self, line: &str) -> Option<&'static str> {
        match ScreenAction::of(line) {
            Some(Ok(ScreenAction::Toggle(_, set))) => self.word(&set),
            Some(Ok(ScreenAction::Ask(begun))) if !begun.is_empty() => self.word(&begun),
            // Only the hints of an answer name these.
            Some(Ok(ScreenAction::Cursor(CursorMove::Left | CursorMove::Right))) => Some("unfold"),
            Some(Ok(ScreenAction::Open)) => self.word(self.panes.focus().pane().opens()?),
            _ => named(line).ok().map(|(row, _)| row.word),
        }
    }

    /// The first key of a line in the pane with the focus.
    fn key_of(&self, line: &str) -> Option<Key> {
        let own = self.panes.focus().pane().keys().iter().find(|(_, bound)| *bound == line);
        own.map(|(bare, _)| Key::plain(*bare)).or_else(|| self.keys.keys(line).next())
    }
}

/// Whether a line is about the selected cell.
fn is_of_cell(line: &str) -> bool {
    named(line).is_ok_and(|(row, rest)| row.argument == ArgumentKind::Cell && rest == "@")
}

/// The words that two have in common at their beginning or their end; else those of the first.
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
    fn keys_beside_each_other_have_the_words_in_common() {
        assert_eq!(shared("run", "run back"), "run");
        assert_eq!(shared("next write", "last write"), "write");
        assert_eq!(shared("unfold", "unfold"), "unfold");
        assert_eq!(shared("faster", "slower"), "faster");
        assert_eq!(shared("step →", "back ←"), "step →");
    }
}
