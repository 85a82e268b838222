//! The built-in key maps, as tables. A small letter travels forward and its capital backward. A function key
//! travels forward, and backward with Shift.

use super::key::{BareKey, Key};

/// A built-in key map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Letters as in the commands of gdb, arrow keys and function keys. This is the default.
    #[default]
    Gdb,
    /// Like [`Preset::Gdb`], with vi's letters for movements and for the cursor.
    Vi,
    /// Like [`Preset::Gdb`], with the function keys of Visual Studio Code.
    Vscode,
    /// Like [`Preset::Gdb`], with further movements on arrow keys with modifiers.
    Arrows,
}

/// Keys and the command lines that they are bound to.
type PresetKeys = &'static [(Key, &'static str)];

impl Preset {
    /// All presets, in the order of the key list.
    pub const ALL: [Preset; 4] = [Preset::Gdb, Preset::Vi, Preset::Vscode, Preset::Arrows];

    /// Returns the name that key files and the command line use.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Gdb => "gdb",
            Preset::Vi => "vi",
            Preset::Vscode => "vscode",
            Preset::Arrows => "arrows",
        }
    }

    /// Parses the name of a preset; `None` for any other text.
    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Returns the bindings of the preset; no key occurs twice.
    pub fn bindings(self) -> impl Iterator<Item = (Key, &'static str)> {
        let tables: &[PresetKeys] = match self {
            Preset::Gdb => &[SHARED, SUSPEND, LETTERS, GDB_LETTERS, ARROWS, GDB_F_KEYS],
            Preset::Vi => &[SHARED, SUSPEND, LETTERS, VI, ARROWS, GDB_F_KEYS],
            Preset::Vscode => &[SHARED, LETTERS, GDB_LETTERS, ARROWS, VSCODE],
            Preset::Arrows => &[SHARED, SUSPEND, LETTERS, GDB_LETTERS, ARROWS, MORE_ARROWS, GDB_F_KEYS],
        };
        tables.iter().flat_map(|table| table.iter().copied())
    }
}

const fn held(code: BareKey, ctrl: bool, alt: bool, shift: bool) -> Key {
    Key { code, ctrl, alt, shift }
}

const fn on(code: BareKey) -> Key {
    held(code, false, false, false)
}

const fn ch(c: char) -> Key {
    on(BareKey::Char(c))
}

const fn ctrl(c: char) -> Key {
    held(BareKey::Char(c), true, false, false)
}

const fn f(n: u8) -> Key {
    on(BareKey::F(n))
}

const fn shift_f(n: u8) -> Key {
    held(BareKey::F(n), false, false, true)
}

/// Bindings that all presets contain.
const SHARED: PresetKeys = &[
    (ch(':'), "ask"),
    (ch('/'), "search"),
    (ch('?'), "keys"),
    (ch('r'), "tour next"),
    (ch('R'), "tour back"),
    (ch('Q'), "tour leave"),
    (ch('m'), "mouse"),
    (ctrl('l'), "redraw"),
    (ch('q'), "leave"),
    (ch(' '), "play-pause"),
    (ch('p'), "play"),
    (ch('P'), "reverse-play"),
    (ch('+'), "faster"),
    (ch('-'), "slower"),
    (ch('}'), "scrub"),
    (ch('{'), "reverse-scrub"),
    (ch(';'), "next-event"),
    (ch(','), "last-event"),
    (on(BareKey::Home), "start"),
    (on(BareKey::End), "end"),
    (ch('g'), "ask goto"),
    (ch('^'), "timeline up"),
    (ch('G'), "gradient"),
    (ch('\''), "ask mark"),
    (ch('|'), "toggle fence"),
    (ch('.'), "here"),
    (ch('('), "up"),
    (ch(')'), "down"),
    (on(BareKey::Tab), "focus next"),
    (held(BareKey::Tab, false, false, true), "focus previous"),
    (ch('1'), "focus code"),
    (ch('2'), "focus inverse"),
    (ch('3'), "focus cells"),
    (ch('4'), "focus arrays"),
    (ch('5'), "focus calls"),
    (ch('6'), "focus tapes"),
    (ch('7'), "focus messages"),
    (ch('8'), "focus card"),
    (ch('9'), "focus timeline"),
    (ch('z'), "zoom"),
    (ch('i'), "zoom in"),
    (ch('I'), "zoom out"),
    (on(BareKey::Up), "cursor up"),
    (on(BareKey::Down), "cursor down"),
    (ch('<'), "cursor left"),
    (ch('>'), "cursor right"),
    (on(BareKey::PageUp), "cursor page-up"),
    (on(BareKey::PageDown), "cursor page-down"),
    (held(BareKey::Home, true, false, false), "cursor top"),
    (held(BareKey::End, true, false, false), "cursor bottom"),
    (ch(']'), "array next"),
    (ch('['), "array previous"),
    (on(BareKey::Enter), "open"),
    (on(BareKey::Esc), "close"),
];

/// Bindings of letters, for the presets that don't use these letters otherwise.
const LETTERS: PresetKeys = &[
    (ch('s'), "step"),
    (ch('S'), "reverse-step"),
    (ch('f'), "finish"),
    (ch('F'), "reverse-finish"),
    (ch('c'), "continue"),
    (ch('C'), "reverse-continue"),
    (ch('t'), "until @"),
    (ch('T'), "reverse-until @"),
    (ch('w'), "next-write @"),
    (ch('W'), "last @"),
    (ch('u'), "undo"),
    (ch('U'), "redo"),
    (ch('b'), "toggle break @"),
    (ch('y'), "why @"),
    (ch('v'), "toggle watch @"),
    (ch('d'), "toggle plot @"),
    (ch('a'), "adjoint"),
    (ch('e'), "ask set @ ="),
];

const GDB_LETTERS: PresetKeys = &[
    (ch('n'), "next"),
    (ch('N'), "reverse-next"),
    (ch('h'), "history @"),
    (ctrl('n'), "search-next"),
    (ctrl('p'), "search-previous"),
];

const SUSPEND: PresetKeys = &[(ctrl('z'), "suspend")];

const ARROWS: PresetKeys = &[(on(BareKey::Right), "step"), (on(BareKey::Left), "reverse-step")];

const GDB_F_KEYS: PresetKeys = &[
    (f(1), "keys"),
    (f(4), "until @"),
    (shift_f(4), "reverse-until @"),
    (f(5), "continue"),
    (shift_f(5), "reverse-continue"),
    (f(6), "next"),
    (shift_f(6), "reverse-next"),
    (f(7), "step"),
    (shift_f(7), "reverse-step"),
    (f(8), "finish"),
    (shift_f(8), "reverse-finish"),
    (f(9), "toggle break @"),
];

/// Bindings of the vi preset. `n` and `N` search again, `o` and `O` step over calls, and h, j, k, l act like
/// arrow keys.
const VI: PresetKeys = &[
    (ch('l'), "step"),
    (ch('h'), "reverse-step"),
    (ch('j'), "cursor down"),
    (ch('k'), "cursor up"),
    (ch('o'), "next"),
    (ch('O'), "reverse-next"),
    (ch('n'), "search-next"),
    (ch('N'), "search-previous"),
    (ch('x'), "history @"),
    (ch('0'), "start"),
    (ch('$'), "end"),
    (ctrl('r'), "redo"),
    (ctrl('d'), "cursor page-down"),
    (ctrl('u'), "cursor page-up"),
    (ctrl('f'), "cursor page-down"),
    (ctrl('b'), "cursor page-up"),
];

const VSCODE: PresetKeys = &[
    (f(1), "ask"),
    (f(3), "search-next"),
    (shift_f(3), "search-previous"),
    (f(4), "until @"),
    (shift_f(4), "reverse-until @"),
    (f(5), "continue"),
    (shift_f(5), "reverse-continue"),
    (f(9), "toggle break @"),
    (f(10), "next"),
    (shift_f(10), "reverse-next"),
    (f(11), "step"),
    (shift_f(11), "reverse-step"),
    (f(12), "finish"),
    (shift_f(12), "reverse-finish"),
    (ctrl('f'), "search"),
    (ctrl('g'), "ask goto"),
    (ctrl('z'), "undo"),
    (held(BareKey::Char('z'), false, true, false), "suspend"),
    (ctrl('y'), "redo"),
];

/// Arrow keys: with Shift they step over calls, with Alt they run out of a call, and with Ctrl they run to
/// the next stop.
const MORE_ARROWS: PresetKeys = &[
    (held(BareKey::Right, false, false, true), "next"),
    (held(BareKey::Left, false, false, true), "reverse-next"),
    (held(BareKey::Right, false, true, false), "finish"),
    (held(BareKey::Left, false, true, false), "reverse-finish"),
    (held(BareKey::Right, true, false, false), "continue"),
    (held(BareKey::Left, true, false, false), "reverse-continue"),
    (held(BareKey::Down, true, false, false), "until @"),
    (held(BareKey::Up, true, false, false), "reverse-until @"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::command::named;
    use crate::command::screen::ScreenAction;
    use crate::command::table::SCREEN_COMMANDS;

    #[test]
    fn no_key_is_bound_twice_and_terminals_distinguish_all_keys() {
        for preset in Preset::ALL {
            let mut keys = BTreeSet::new();
            for (key, line) in preset.bindings() {
                assert!(keys.insert(key), "{}: {key} has two meanings, one is {line}", preset.name());
                assert_eq!(key.reserved(), None, "{}: {key}", preset.name());
                assert_eq!(key.to_string().parse(), Ok(key), "{}: {key} can't be written", preset.name());
            }
        }
    }

    #[test]
    fn every_line_is_one_of_a_command() {
        for (key, line) in Preset::ALL.into_iter().flat_map(Preset::bindings) {
            assert!(named(line).is_ok_and(|(row, _)| line.starts_with(row.name)), "{key}: {line}");
            let is_wrong = matches!(ScreenAction::of(line), Some(Err(_)));
            assert!(!is_wrong, "{key}: {line}");
        }
    }

    #[test]
    fn every_command_of_the_screen_has_a_key() {
        for preset in Preset::ALL {
            for row in SCREEN_COMMANDS {
                let is_bound = preset.bindings().any(|(_, line)| named(line).unwrap().0 == row);
                assert!(is_bound, "{}: {}", preset.name(), row.name);
            }
        }
    }

    /// Checks that a small letter or a function key goes forward, and its capital or Shift variant goes
    /// backward.
    #[test]
    fn capitals_go_backward() {
        let backward = |line: &str| line.starts_with("reverse-") || line.starts_with("last ");
        for preset in Preset::ALL {
            for (key, line) in preset.bindings().filter(|(_, line)| backward(line)) {
                let (code, forward) = match key.code {
                    BareKey::Char(c) if c.is_uppercase() => (BareKey::Char(c.to_ascii_lowercase()), line),
                    BareKey::F(n) => (BareKey::F(n), line),
                    _ => continue,
                };
                let key = Key { shift: false, ..Key::plain(code) };
                let partner = preset.bindings().find(|(bound, _)| *bound == key).map(|(_, line)| line);
                let expected = forward.strip_prefix("reverse-").unwrap_or("next-write @");
                assert_eq!(partner, Some(expected), "{}: {key}", preset.name());
            }
        }
    }
}
