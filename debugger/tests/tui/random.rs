//! Tests that random keys, clicks, texts, times and sizes don't cause a panic.

use reviver_files::UsedFiles;
use std::time::Duration;

use crate::screen::Screen;
use crate::support;
use ratatui::layout::Position;
use reviver_debugger::session::Session;
use reviver_debugger::tui::app::{App, Effect};
use reviver_debugger::tui::event::{Gesture, InputEvent, Mouse};
use reviver_debugger::tui::keys::{BareKey, Key, KeyMap, Preset};
use reviver_debugger::tui::theme::{Theme, ThemeName};

/// A random number generator (xorshift, Marsaglia 2003) that produces the same events on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn size(&mut self) -> (u16, u16) {
        match self.below(4) {
            0 => (self.below(12) as u16, self.below(6) as u16),
            1 => self.of(&[(80, 24), (79, 24), (80, 23), (120, 40), (170, 40)]),
            _ => (self.below(201) as u16, self.below(201) as u16),
        }
    }

    fn key(&mut self, keys: &[Key]) -> Key {
        match self.below(8) {
            0 => Key::char(self.of(&['a', 'Z', '5', ' ', 'é', '漢', '\u{301}', '🙂', '[', '{'])),
            1 => Key::plain(self.of(&[
                BareKey::Enter,
                BareKey::Esc,
                BareKey::Backspace,
                BareKey::Up,
                BareKey::Tab,
                BareKey::Delete,
            ])),
            2 if self.below(4) == 0 => Key::ctrl('c'),
            _ => self.of(keys),
        }
    }

    fn event(&mut self, keys: &[Key]) -> InputEvent {
        match self.below(16) {
            0 => InputEvent::Tick(Duration::from_millis(self.below(2_000) as u64)),
            1 => InputEvent::Paste(self.of(&["step 3", "漢字\nquit", "", "\u{7}\t"]).to_owned()),
            2 | 3 => {
                let place = Position { x: self.below(210) as u16, y: self.below(210) as u16 };
                let gestures = [
                    Gesture::Press,
                    Gesture::DoublePress,
                    Gesture::Drag,
                    Gesture::Release,
                    Gesture::ScrollUp,
                    Gesture::ScrollDown,
                ];
                InputEvent::Mouse(Mouse { place, gesture: self.of(&gestures) })
            }
            _ => InputEvent::Key(self.key(keys)),
        }
    }
}

const PROGRAMS: [&str; 6] =
    ["fib.rasm", "fib_recursive.rasm", "sort.rasm", "leapfrog.rasm", "turing.rasm", "erase.rasm"];

const COMMANDS: [&str; 34] = [
    "break 3",
    "watch a",
    "goto 50%",
    "mark here",
    "set a = 1",
    "timeline up",
    "help",
    "info cells",
    "why a",
    "list",
    "display a",
    "frobnicate",
    "goto end",
    "fence",
    "info counts",
    "zoom in",
    "zoom 3..9",
    "focus calls",
    "cursor page-down",
    "toggle break @",
    "toggle watch @ any",
    "print @ + 1",
    "goto @",
    "array next",
    "scrub",
    "last a if $new > 1",
    "next-write A[1..3]",
    "watch a + 1",
    "watch A",
    "history A[..2]",
    "diff start end",
    "diff 30% 3",
    "trace /5 a, $step at 27",
    "watch A[0..2] if $new > $old log {$new}",
];

fn visit(seed: u64, events: usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let text = support::text(random.of(&PROGRAMS));
    let map = KeyMap::new(random.of(&Preset::ALL));
    let keys: Vec<Key> = map.bound().map(|(key, _)| key).collect();
    let theme = Theme::new(random.of(&ThemeName::ALL));
    let (width, height) = random.size();
    let session = Session::at_begin(support::subject(&text)).unwrap();
    let mut screen = Screen::new(App::new(session, UsedFiles::default(), map, theme), width, height);
    // A run from an edited state may never end.
    screen.patience = Duration::from_millis(100);
    for _ in 0..events {
        match random.below(12) {
            0 => {
                let (width, height) = random.size();
                screen.resize(width, height);
            }
            1 => {
                screen.event(InputEvent::Key(Key::plain(BareKey::Esc)));
                screen.command(random.of(&COMMANDS));
            }
            _ => screen.event(random.event(&keys)),
        }
    }
}

#[test]
fn random_keys_and_sizes_do_not_panic() {
    let events = if std::env::var_os("REVIVER_CAMPAIGN").is_some() { 4_000 } else { 150 };
    for seed in 1..=60 {
        let outcome = std::panic::catch_unwind(|| visit(seed, events));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}

/// Sends random events while a background task owns the session. The events are stored, and none is lost.
#[test]
fn random_events_during_runs_do_not_panic() {
    let mut random = Random(77);
    let map = KeyMap::default();
    let keys: Vec<Key> = map.bound().map(|(key, _)| key).collect();
    let mut screen = Screen::open(support::subject(&support::text("sort.rasm")), 80, 24);
    for _ in 0..60 {
        // A prompt, an overlay and an answer may be open; each Esc closes one of them.
        for _ in 0..3 {
            screen.event(InputEvent::Key(Key::plain(BareKey::Esc)));
        }
        let background_task = screen.send(InputEvent::Key(Key::char('s')));
        for _ in 0..random.below(20) {
            let event = random.event(&keys);
            let effect = screen.app.handle(event);
            assert!(matches!(effect, None | Some(Effect::Suspend)), "{effect:?}");
            if random.below(5) == 0 {
                let (width, height) = random.size();
                screen.resize(width, height);
            }
        }
        let effects = screen.app.returned(background_task.perform());
        screen.carry_out(effects);
        screen.draw();
    }
}
