//! The key maps that come with the debugger, as tables. The rule: a small letter goes forward, its capital
//! backward; a function key goes forward, with Shift backward.

use super::action::KeyAction::{self, *};
use super::key::{BareKey, Key};

/// A key map to begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    #[default]
    Gdb,
    Vi,
    Vscode,
    Arrows,
}

type PresetKeys = &'static [(Key, KeyAction)];

impl Preset {
    pub const ALL: [Preset; 4] = [Preset::Gdb, Preset::Vi, Preset::Vscode, Preset::Arrows];

    pub fn name(self) -> &'static str {
        match self {
            Preset::Gdb => "gdb",
            Preset::Vi => "vi",
            Preset::Vscode => "vscode",
            Preset::Arrows => "arrows",
        }
    }

    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Its bindings. No key is there twice.
    pub fn bindings(self) -> impl Iterator<Item = (Key, KeyAction)> {
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

/// What every preset has.
const SHARED: PresetKeys = &[
    (ch(':'), Command),
    (ch('/'), Search),
    (ch('?'), Help),
    (ch('m'), Mouse),
    (ctrl('l'), Redraw),
    (ch('q'), Quit),
    (ch(' '), PlayPause),
    (ch('p'), Play),
    (ch('P'), ReversePlay),
    (ch('+'), Faster),
    (ch('-'), Slower),
    (ch('}'), Scrub),
    (ch('{'), ReverseScrub),
    (ch(';'), NextEvent),
    (ch(','), LastEvent),
    (on(BareKey::Home), GotoStart),
    (on(BareKey::End), GotoEnd),
    (ch('g'), Goto),
    (ch('^'), TimelineUp),
    (ch('\''), Mark),
    (ch('|'), Fence),
    (ch('.'), Here),
    (ch('('), FrameUp),
    (ch(')'), FrameDown),
    (on(BareKey::Tab), FocusNext),
    (held(BareKey::Tab, false, false, true), FocusPrevious),
    (ch('1'), FocusCode),
    (ch('2'), FocusInverse),
    (ch('3'), FocusCells),
    (ch('4'), FocusArrays),
    (ch('5'), FocusCalls),
    (ch('6'), FocusTapes),
    (ch('7'), FocusMessages),
    (ch('8'), FocusCard),
    (ch('9'), FocusTimeline),
    (ch('z'), Zoom),
    (on(BareKey::Up), Up),
    (on(BareKey::Down), Down),
    (ch('<'), ItemLeft),
    (ch('>'), ItemRight),
    (on(BareKey::PageUp), PageUp),
    (on(BareKey::PageDown), PageDown),
    (held(BareKey::Home, true, false, false), Top),
    (held(BareKey::End, true, false, false), Bottom),
    (ch(']'), NextArray),
    (ch('['), PreviousArray),
    (on(BareKey::Enter), Open),
];

/// Letters that no preset needs for something else.
const LETTERS: PresetKeys = &[
    (ch('s'), Step),
    (ch('S'), ReverseStep),
    (ch('f'), Finish),
    (ch('F'), ReverseFinish),
    (ch('c'), Continue),
    (ch('C'), ReverseContinue),
    (ch('t'), RunToCursor),
    (ch('T'), ReverseRunToCursor),
    (ch('w'), NextWrite),
    (ch('W'), LastWrite),
    (ch('u'), Undo),
    (ch('U'), Redo),
    (ch('b'), Breakpoint),
    (ch('y'), Why),
    (ch('v'), Watch),
    (ch('d'), Plot),
    (ch('a'), Adjoint),
    (ch('e'), Edit),
];

const GDB_LETTERS: PresetKeys = &[
    (ch('n'), Next),
    (ch('N'), ReverseNext),
    (ch('h'), History),
    (ctrl('n'), SearchNext),
    (ctrl('p'), SearchPrevious),
];

const SUSPEND: PresetKeys = &[(ctrl('z'), Suspend)];

const ARROWS: PresetKeys = &[(on(BareKey::Right), Step), (on(BareKey::Left), ReverseStep)];

const GDB_F_KEYS: PresetKeys = &[
    (f(1), Help),
    (f(4), RunToCursor),
    (shift_f(4), ReverseRunToCursor),
    (f(5), Continue),
    (shift_f(5), ReverseContinue),
    (f(6), Next),
    (shift_f(6), ReverseNext),
    (f(7), Step),
    (shift_f(7), ReverseStep),
    (f(8), Finish),
    (shift_f(8), ReverseFinish),
    (f(9), Breakpoint),
];

/// `n` and `N` search again, `o` and `O` step over; h, j, k, l are arrows.
const VI: PresetKeys = &[
    (ch('l'), Step),
    (ch('h'), ReverseStep),
    (ch('j'), Down),
    (ch('k'), Up),
    (ch('o'), Next),
    (ch('O'), ReverseNext),
    (ch('n'), SearchNext),
    (ch('N'), SearchPrevious),
    (ch('x'), History),
    (ch('0'), GotoStart),
    (ch('$'), GotoEnd),
    (ctrl('r'), Redo),
    (ctrl('d'), PageDown),
    (ctrl('u'), PageUp),
    (ctrl('f'), PageDown),
    (ctrl('b'), PageUp),
];

const VSCODE: PresetKeys = &[
    (f(1), Command),
    (f(3), SearchNext),
    (shift_f(3), SearchPrevious),
    (f(4), RunToCursor),
    (shift_f(4), ReverseRunToCursor),
    (f(5), Continue),
    (shift_f(5), ReverseContinue),
    (f(9), Breakpoint),
    (f(10), Next),
    (shift_f(10), ReverseNext),
    (f(11), Step),
    (shift_f(11), ReverseStep),
    (f(12), Finish),
    (shift_f(12), ReverseFinish),
    (ctrl('f'), Search),
    (ctrl('g'), Goto),
    (ctrl('z'), Undo),
    (held(BareKey::Char('z'), false, true, false), Suspend),
    (ctrl('y'), Redo),
];

/// With Shift over calls, with Alt out of a call, with Ctrl to the next stop.
const MORE_ARROWS: PresetKeys = &[
    (held(BareKey::Right, false, false, true), Next),
    (held(BareKey::Left, false, false, true), ReverseNext),
    (held(BareKey::Right, false, true, false), Finish),
    (held(BareKey::Left, false, true, false), ReverseFinish),
    (held(BareKey::Right, true, false, false), Continue),
    (held(BareKey::Left, true, false, false), ReverseContinue),
    (held(BareKey::Down, true, false, false), RunToCursor),
    (held(BareKey::Up, true, false, false), ReverseRunToCursor),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_key_is_bound_twice_and_none_that_terminals_cannot_tell_apart() {
        for preset in Preset::ALL {
            let mut keys = BTreeSet::new();
            for (key, action) in preset.bindings() {
                assert!(keys.insert(key), "{}: {key} has two meanings, one is {action}", preset.name());
                assert_eq!(key.reserved(), None, "{}: {key}", preset.name());
                assert_eq!(key.to_string().parse(), Ok(key), "{}: {key} can't be written", preset.name());
            }
        }
    }

    #[test]
    fn every_action_has_a_key() {
        for preset in Preset::ALL {
            for action in KeyAction::ALL {
                let is_bound = preset.bindings().any(|(_, bound)| bound == *action);
                assert!(is_bound, "{}: {action}", preset.name());
            }
        }
    }

    /// A small letter goes forward, its capital backward; a function key likewise with Shift.
    #[test]
    fn capitals_go_backward() {
        let backward = |action: KeyAction| action.name().starts_with("reverse-") || action == LastWrite;
        for preset in Preset::ALL {
            for (key, action) in preset.bindings().filter(|(_, action)| backward(*action)) {
                let (code, forward) = match key.code {
                    BareKey::Char(c) if c.is_uppercase() => (BareKey::Char(c.to_ascii_lowercase()), action),
                    BareKey::F(n) => (BareKey::F(n), action),
                    _ => continue,
                };
                let key = Key { shift: false, ..Key::plain(code) };
                let partner = preset.bindings().find(|(bound, _)| *bound == key).map(|(_, action)| action);
                let name = forward.name().strip_prefix("reverse-").unwrap_or("next-write");
                assert_eq!(partner.map(KeyAction::name), Some(name), "{}: {key}", preset.name());
            }
        }
    }
}
