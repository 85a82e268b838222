//! Reassembly of terminal sequences that arrive in chunks. On a slow line, the ESC at the start of a key's sequence
//! may arrive alone and be read as the key Esc. The rest would then be read as letters, such as `C`, which runs
//! backward. If the terminal answers a query late, its answer may arrive among the keys, too.
//!
//! The terminal's reader decodes sequences that arrive as a whole, before this module gets them. This module holds
//! other input while it may be the beginning of a sequence: for [`LONE`] after an ESC, and for [`REST`] after more
//! characters.

use std::time::{Duration, Instant};

use ratatui::layout::Position;

use super::event::{Gesture, InputEvent, Mouse};
use super::keys::{BareKey, Key};
use super::theme::Ground;

/// Time after which an ESC is the key Esc, if nothing follows it.
pub const LONE: Duration = Duration::from_millis(50);

/// Maximum time until the next chunk of a sequence.
pub const REST: Duration = Duration::from_millis(500);

/// Maximum time until the next chunk of a sequence whose ESC was already released as the key Esc. The time is
/// short, because the user may have pressed Esc and now types `[`.
const LATE: Duration = Duration::from_millis(100);

/// Maximum pause within pasted text. A longer pause ends the paste. This is needed if the ESC of the end marker was
/// decoded separately, so that the marker isn't recognized.
const PASTED: Duration = Duration::from_millis(200);

/// Maximum number of characters in a sequence or an answer.
const LONGEST: usize = 64;

const ESC: char = '\x1b';
const BEL: char = '\x07';

/// Input events that are held until it is known whether they form a sequence.
#[derive(Debug, Default)]
pub struct Split {
    /// The held events, in the order of arrival.
    held: Vec<InputEvent>,
    /// The characters that the held events encode.
    spelled: String,
    /// Arrival time of the last held event.
    since: Option<Instant>,
    /// The time at which an ESC was released as the key Esc. The rest of a sequence may still follow it.
    let_go: Option<Instant>,
    /// True if `spelled` begins with an ESC that was already released. Then `held` doesn't contain this ESC.
    is_late: bool,
}

/// Classification of characters that begin with an ESC.
#[derive(Debug, PartialEq)]
enum Sequence {
    /// The beginning of a sequence: more characters may follow within this time.
    Begun(Duration),
    /// A complete sequence, and its event. The event is `None` if the sequence is ignored.
    Whole(Option<InputEvent>),
    /// The text is no sequence.
    None,
}

impl Split {
    /// Processes an event. Returns the events whose meaning is now certain.
    pub fn take(&mut self, event: InputEvent, now: Instant) -> Vec<InputEvent> {
        let mut certain = self.expire(now);
        let Some(text) = spelling(&event) else {
            // A change of the screen size is independent of typed input.
            if event != InputEvent::Resize {
                certain.extend(self.release_all(now));
            }
            certain.push(event);
            return certain;
        };
        if text == "\x1b" && self.spelled == "\x1b" {
            certain.extend(self.release_all(now));
        }
        if self.held.is_empty() {
            // A terminal sends Alt with a key as an ESC and the key. Such a pair is held only if it is the
            // beginning of an answer (ESC `]`).
            let is_begun = text == "\x1b" || text == "\x1b]";
            self.is_late = !is_begun && self.let_go.take().is_some_and(|when| now - when < REST);
            if !is_begun && !self.is_late {
                certain.push(event);
                return certain;
            }
            self.spelled = if self.is_late { ESC.to_string() } else { String::new() };
        }
        self.held.push(event);
        self.spelled.push_str(&text);
        self.since = Some(now);
        match self.sequence() {
            Sequence::Begun(_) => {}
            Sequence::Whole(event) => {
                self.forget();
                certain.extend(event);
            }
            Sequence::None => certain.extend(self.release_all(now)),
        }
        certain
    }

    /// Returns the events whose meaning is now certain, because no further piece has arrived in time.
    pub fn expire(&mut self, now: Instant) -> Vec<InputEvent> {
        match self.patience(now) {
            Some(Duration::ZERO) => self.release_all(now),
            _ => Vec::new(),
        }
    }

    /// Returns how long to wait for the next chunk, or `None` if nothing is held.
    pub fn patience(&self, now: Instant) -> Option<Duration> {
        let since = self.since?;
        let Sequence::Begun(patience) = self.sequence() else { return None };
        Some(patience.saturating_sub(now.saturating_duration_since(since)))
    }

    /// Releases the held events unchanged. If they can only be a part of a sequence, drops them instead.
    fn release_all(&mut self, now: Instant) -> Vec<InputEvent> {
        let (spelled, is_late) = (std::mem::take(&mut self.spelled), self.is_late);
        let held = std::mem::take(&mut self.held);
        self.forget();
        if let Some(text) = spelled.strip_prefix(PASTE) {
            return vec![InputEvent::Paste(text.to_owned())];
        }
        if spelled == ESC.to_string() {
            self.let_go = Some(now);
            return held;
        }
        // A user can't type these characters within such a short time.
        let is_broken =
            !is_late && (spelled.starts_with("\x1b[") || spelled.starts_with("\x1bO")) && held.len() > 1;
        let is_answer = spelled.starts_with("\x1b]1") && spelled.len() >= "\x1b]10;".len();
        if is_broken || is_answer { Vec::new() } else { held }
    }

    fn forget(&mut self) {
        self.held.clear();
        self.spelled.clear();
        (self.since, self.is_late) = (None, false);
    }

    fn sequence(&self) -> Sequence {
        match sequence(&self.spelled) {
            Sequence::Begun(_) if self.is_late && self.spelled.chars().count() == 2 => Sequence::Begun(LATE),
            // The ESC was the key Esc, and the user then pressed another key.
            Sequence::Whole(_) if self.is_late && self.held.len() == 1 => Sequence::None,
            found => found,
        }
    }
}

/// Marker that a terminal sends before pasted text.
const PASTE: &str = "\x1b[200~";
/// Marker that a terminal sends after pasted text.
const PASTE_END: &str = "\x1b[201~";

/// Returns the characters that a terminal sends for an event. Returns `None` if the event can't be part of a
/// sequence.
fn spelling(event: &InputEvent) -> Option<String> {
    let InputEvent::Key(key) = event else { return None };
    let c = match key.code {
        BareKey::Esc => ESC,
        BareKey::Char('g') if key.ctrl => BEL,
        BareKey::Char(c) if !key.ctrl => c,
        BareKey::Enter => '\n',
        BareKey::Tab if !key.shift => '\t',
        _ => return None,
    };
    let before = if key.alt { "\x1b" } else { "" };
    Some(format!("{before}{c}"))
}

/// Returns the key for which a terminal sends a character.
fn spelled_key(c: char) -> Key {
    match c {
        BEL => Key::ctrl('g'),
        '\n' => Key::plain(BareKey::Enter),
        '\t' => Key::plain(BareKey::Tab),
        c => Key::char(c),
    }
}

/// Classifies characters that begin with an ESC.
fn sequence(text: &str) -> Sequence {
    let Some(rest) = text.strip_prefix(ESC) else { return Sequence::None };
    if let Some(pasted) = text.strip_prefix(PASTE) {
        return match pasted.strip_suffix(PASTE_END) {
            Some(pasted) => Sequence::Whole(Some(InputEvent::Paste(pasted.to_owned()))),
            None => Sequence::Begun(PASTED),
        };
    }
    if rest.chars().count() > LONGEST {
        return Sequence::None;
    }
    match rest.chars().next() {
        None => Sequence::Begun(LONE),
        Some('[') => control(&rest[1..]),
        Some('O') => match rest[1..].chars().next() {
            None => Sequence::Begun(REST),
            Some(letter) => Sequence::Whole(named(letter).map(plain)),
        },
        Some(']') => answer(&rest[1..]),
        Some(ESC) => Sequence::None,
        Some(c) => Sequence::Whole(Some(InputEvent::Key(Key { alt: true, ..spelled_key(c) }))),
    }
}

/// Classifies the characters after `ESC [`: parameters, and a letter that determines the meaning.
fn control(text: &str) -> Sequence {
    // The Linux console has special sequences for function keys, and the oldest mouse protocol sends three
    // characters after its letter.
    let own = text.strip_prefix('[').or_else(|| text.strip_prefix('M'));
    if let Some(own) = own {
        let length = if text.starts_with('[') { 1 } else { 3 };
        return if own.chars().count() < length {
            Sequence::Begun(REST)
        } else {
            Sequence::Whole(own.chars().next().filter(|_| length == 1).and_then(console_key).map(plain))
        };
    }
    let is_final = |c: char| ('\x40'..='\x7e').contains(&c);
    match text.char_indices().find(|(_, c)| is_final(*c) || !c.is_ascii()) {
        None => Sequence::Begun(REST),
        Some((at, letter)) => match meaning(&text[..at], letter) {
            ControlMeaning::Paste => Sequence::Begun(PASTED),
            ControlMeaning::Event(event) => Sequence::Whole(event),
        },
    }
}

enum ControlMeaning {
    Paste,
    Event(Option<InputEvent>),
}

fn meaning(parameters: &str, letter: char) -> ControlMeaning {
    if let Some(mouse) = parameters.strip_prefix('<') {
        return ControlMeaning::Event(gesture(mouse, letter).map(InputEvent::Mouse));
    }
    let mut numbers = parameters.split(';').map(|number| number.parse::<u8>().ok());
    let (first, modifiers) = (numbers.next().flatten(), numbers.next().flatten().unwrap_or(1));
    let code = match (letter, first) {
        ('~', Some(200)) => return ControlMeaning::Paste,
        ('~', Some(number)) => numbered(number),
        ('Z', _) => {
            return ControlMeaning::Event(Some(InputEvent::Key(Key::new(BareKey::Tab, false, false, true))));
        }
        // The answer to a query of the cursor position. The debugger never sends this query.
        ('R', _) => None,
        _ => named(letter),
    };
    let held = modifiers.saturating_sub(1);
    let key = |code| Key::new(code, held & 4 != 0, held & 2 != 0, held & 1 != 0);
    ControlMeaning::Event(code.map(|code| InputEvent::Key(key(code))))
}

fn plain(code: BareKey) -> InputEvent {
    InputEvent::Key(Key::plain(code))
}

/// Returns the key that the final letter of a sequence denotes.
fn named(letter: char) -> Option<BareKey> {
    Some(match letter {
        'A' => BareKey::Up,
        'B' => BareKey::Down,
        'C' => BareKey::Right,
        'D' => BareKey::Left,
        'F' => BareKey::End,
        'H' => BareKey::Home,
        'P' => BareKey::F(1),
        'Q' => BareKey::F(2),
        'R' => BareKey::F(3),
        'S' => BareKey::F(4),
        _ => return None,
    })
}

fn console_key(letter: char) -> Option<BareKey> {
    let number = (letter as u32).checked_sub('A' as u32).filter(|number| *number < 5)?;
    Some(BareKey::F(number as u8 + 1))
}

/// Returns the key that the number before a `~` denotes.
fn numbered(number: u8) -> Option<BareKey> {
    Some(match number {
        1 | 7 => BareKey::Home,
        2 => BareKey::Insert,
        3 => BareKey::Delete,
        4 | 8 => BareKey::End,
        5 => BareKey::PageUp,
        6 => BareKey::PageDown,
        11..=15 => BareKey::F(number - 10),
        17..=21 => BareKey::F(number - 11),
        23..=26 => BareKey::F(number - 12),
        28..=29 => BareKey::F(number - 15),
        31..=34 => BareKey::F(number - 17),
        _ => return None,
    })
}

/// Decodes a mouse report. `text` is `button;column;row`, where column and row are counted from 1.
fn gesture(text: &str, letter: char) -> Option<Mouse> {
    let mut numbers = text.split(';').map(|number| number.parse::<u16>().ok());
    let button = numbers.next()??;
    let mut place = || numbers.next()??.checked_sub(1);
    let place = Position { x: place()?, y: place()? };
    let gesture = match (button & 0b1110_0011, letter) {
        (0, 'm') => Gesture::Release,
        (0, 'M') => Gesture::Press,
        (32, 'M') => Gesture::Drag,
        (64, _) => Gesture::ScrollUp,
        (65, _) => Gesture::ScrollDown,
        _ => return None,
    };
    Some(Mouse { place, gesture })
}

/// Classifies the characters after `ESC ]`: the terminal's answer to a query of its text or background colour. The
/// answer ends with BEL or with `ESC \`. An unknown answer is dropped, because the user hasn't typed it.
fn answer(text: &str) -> Sequence {
    let begins =
        |head: &str| if text.len() < head.len() { head.starts_with(text) } else { text.starts_with(head) };
    if !begins("10;") && !begins("11;") {
        return Sequence::None;
    }
    match text.strip_suffix(BEL).or_else(|| text.strip_suffix("\x1b\\")) {
        None => Sequence::Begun(REST),
        Some(text) => Sequence::Whole(text.strip_prefix("11;").and_then(ground).map(InputEvent::Ground)),
    }
}

/// Decodes a background colour in the form `rgb:RRRR/GGGG/BBBB` as dark or light.
fn ground(text: &str) -> Option<Ground> {
    let mut parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?.split('/');
    let mut channel = || {
        let digits = parts.next()?;
        let most = 16_u32.checked_pow(digits.len() as u32)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(digits, 16).ok()?) / f64::from(most))
    };
    // Luminance (ITU-R BT.709); without gamma correction it is accurate enough.
    let bright = 0.2126 * channel()? + 0.7152 * channel()? + 0.0722 * channel()?;
    Some(if bright > 0.5 { Ground::Light } else { Ground::Dark })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Duration = Duration::from_millis(1);

    /// Returns the events for chunks, each with the time since the previous chunk. Nothing follows the last chunk.
    fn pieces(events: impl IntoIterator<Item = (Duration, InputEvent)>) -> Vec<InputEvent> {
        let (mut split, mut now) = (Split::default(), Instant::now());
        let mut found = Vec::new();
        for (after, event) in events {
            now += after;
            found.extend(split.take(event, now));
        }
        found.extend(split.expire(now + REST));
        assert_eq!(split.patience(now), None, "nothing is held for ever");
        found
    }

    /// Returns the events that a terminal's reader produces if each character arrives separately.
    fn letters(text: &str) -> impl Iterator<Item = InputEvent> + '_ {
        text.chars()
            .map(|c| InputEvent::Key(if c == ESC { Key::plain(BareKey::Esc) } else { spelled_key(c) }))
    }

    fn each(after: Duration, text: &str) -> Vec<InputEvent> {
        pieces(letters(text).map(|event| (after, event)))
    }

    fn key(text: &str) -> InputEvent {
        InputEvent::Key(text.parse().unwrap())
    }

    #[test]
    fn a_split_escape_sequence_is_one_key() {
        let cases = [
            ("\x1b[C", "Right"),
            ("\x1bOD", "Left"),
            ("\x1b[1;5C", "Ctrl-Right"),
            ("\x1b[1;2A", "Shift-Up"),
            ("\x1b[5~", "PageUp"),
            ("\x1b[15;2~", "Shift-F5"),
            ("\x1bOP", "F1"),
            ("\x1b[[B", "F2"),
            ("\x1b[Z", "Shift-Tab"),
            ("\x1bx", "Alt-x"),
            ("\x1b\n", "Alt-Enter"),
        ];
        for (text, name) in cases {
            assert_eq!(each(AT_ONCE, text), [key(name)], "{name}");
            assert_eq!(each(LONE - AT_ONCE, text), [key(name)], "{name}, slowly");
        }
        let mouse = Mouse { place: Position { x: 9, y: 4 }, gesture: Gesture::Press };
        assert_eq!(each(AT_ONCE, "\x1b[<0;10;5M"), [InputEvent::Mouse(mouse)]);
        assert_eq!(each(AT_ONCE, "\x1b[M !!C"), [key("C")], "three characters belong to an old mouse");
    }

    #[test]
    fn a_late_escape_sequence_is_not_read_as_letters() {
        for text in ["[C", "OC"] {
            let late = [key("Esc")].into_iter().chain(letters(text));
            let times = [Duration::ZERO, LONE * 2, AT_ONCE];
            assert_eq!(pieces(times.into_iter().zip(late)), [key("Esc"), key("Right")], "{text}");
        }
    }

    #[test]
    fn keys_after_an_escape_are_accepted() {
        assert_eq!(each(AT_ONCE, "\x1b"), [key("Esc")]);
        assert_eq!(each(AT_ONCE, "\x1b\x1b"), [key("Esc"), key("Esc")]);
        assert_eq!(each(LONE, "\x1bC"), [key("Esc"), key("C")]);
        assert_eq!(each(LATE, "\x1b[C"), [key("Esc"), key("["), key("C")]);
        assert_eq!(each(LATE, "\x1bOC"), [key("Esc"), key("O"), key("C")]);
        assert_eq!(each(AT_ONCE, "C[O]"), [key("C"), key("["), key("O"), key("]")]);
        let alt = [key("Alt-]"), key("1"), key("s")];
        assert_eq!(pieces(alt.clone().map(|key| (AT_ONCE, key))), alt);
        let other = [key("Esc"), key("Left")];
        assert_eq!(pieces(other.clone().map(|key| (AT_ONCE, key))), other);
        let resized = [key("Esc"), InputEvent::Resize, key("["), key("C")];
        assert_eq!(pieces(resized.map(|key| (AT_ONCE, key))), [InputEvent::Resize, key("Right")]);
    }

    #[test]
    fn an_incomplete_escape_sequence_is_ignored() {
        for text in ["\x1b[", "\x1b[1;", "\x1bO", "\x1b]11;rgb:ff", "\x1b[12;4R", "\x1b[I", "\x1bOz"] {
            assert_eq!(each(AT_ONCE, text), [], "{text:?}");
        }
    }

    #[test]
    fn terminal_responses_are_not_keys() {
        let light = [InputEvent::Ground(Ground::Light)];
        for end in ["\x07", "\x1b\\"] {
            assert_eq!(each(AT_ONCE, &format!("\x1b]11;rgb:ffff/ffff/eeee{end}")), light);
            assert_eq!(each(LONE - AT_ONCE, &format!("\x1b]11;rgb:f/f/f{end}")), light);
            assert_eq!(each(AT_ONCE, &format!("\x1b]10;rgb:ffff/ffff/ffff{end}")), []);
            assert_eq!(each(AT_ONCE, &format!("\x1b]11;of no colour{end}")), []);
            assert_eq!(each(AT_ONCE, &format!("\x1b]11;rgb:-1/0/0{end}")), []);
        }
        // If the answer arrives as a whole, the terminal's reader decodes it as Alt-] and letters.
        let whole = [key("Alt-]")].into_iter().chain(letters("11;rgb:0000/0000/4000")).chain([key("Alt-\\")]);
        let found = pieces(whole.map(|event| (Duration::ZERO, event)));
        assert_eq!(found, [InputEvent::Ground(Ground::Dark)]);
        assert_eq!(ground("rgb:8000/0000"), None);
    }

    #[test]
    fn text_pasted_in_chunks_is_text() {
        let text = [InputEvent::Paste("C\nq".to_owned())];
        assert_eq!(each(AT_ONCE, "\x1b[200~C\nq\x1b[201~"), text);
        assert_eq!(each(AT_ONCE, "\x1b[200~C\nq"), text, "its end is one that no key has");
    }
}
