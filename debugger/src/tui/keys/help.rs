//! The help and the key list, written from the key map.

use super::{HelpGroup, KeyAction, KeyMap, Preset};

/// A line of the help, before anybody knows how wide its columns are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpLine {
    Title(&'static str),
    /// Keys, and what they do.
    Entry {
        keys: String,
        text: String,
    },
    Blank,
}

/// Keys that edit a command line: they can't be bound.
const TYPING: &[(&str, &str)] = &[
    ("Enter", "carry it out"),
    ("Esc", "leave it"),
    ("Up Down", "lines typed before"),
    ("Tab", "complete a word"),
    ("Left Right Home End", "move"),
    ("Backspace Delete", "delete a character"),
    ("Ctrl-W Ctrl-U", "delete a word, or everything before"),
];

/// What Ctrl-C does, whatever is bound.
const INTERRUPT: (&str, &str) = ("Ctrl-C", "stop a long run; never ends the session");

/// The help of a key map: every action with its keys.
pub fn lines(map: &KeyMap) -> Vec<HelpLine> {
    let entry = |keys: &str, text: &str| HelpLine::Entry { keys: keys.to_owned(), text: text.to_owned() };
    let mut lines = Vec::new();
    for group in HelpGroup::ALL {
        lines.push(HelpLine::Title(group.title()));
        let actions = KeyAction::ALL.iter().filter(|action| action.group() == group);
        lines.extend(actions.map(|&action| entry(&keys_of(map, action), action.help())));
        lines.push(HelpLine::Blank);
    }
    let mut commands = map.commands().peekable();
    if commands.peek().is_some() {
        lines.push(HelpLine::Title("Commands of your own"));
        lines.extend(commands.map(|(key, command)| entry(&key.to_string(), &format!(":{command}"))));
        lines.push(HelpLine::Blank);
    }
    lines.push(HelpLine::Title("Always"));
    lines.push(entry(INTERRUPT.0, INTERRUPT.1));
    lines.push(HelpLine::Blank);
    lines.push(HelpLine::Title("While typing"));
    lines.extend(TYPING.iter().map(|(keys, text)| entry(keys, text)));
    lines
}

fn keys_of(map: &KeyMap, action: KeyAction) -> String {
    let keys: Vec<String> = map.keys(action).map(|key| key.to_string()).collect();
    keys.join(" ")
}

/// The key list of all presets, as Markdown: `docs/keys.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# Keys of the debugger\n\
         \n\
         Written from the key map; `UPDATE_KEYS=1 cargo test -p reviver-debugger --test tui` writes it anew.\n\
         \n\
         A small letter goes forward, its capital backward; a function key goes forward, with Shift backward.\n\
         The first column is what a key file calls the action.\n",
    );
    let maps = Preset::ALL.map(KeyMap::new);
    let names = Preset::ALL.map(|preset| format!("`{}`", preset.name())).join(" | ");
    for group in HelpGroup::ALL {
        text += &format!("\n## {}\n\n| action | {names} | |\n|---|---|---|---|---|---|\n", group.title());
        for &action in KeyAction::ALL.iter().filter(|action| action.group() == group) {
            let keys = maps.each_ref().map(|map| marked(map, action)).join(" | ");
            text += &format!("| `{action}` | {keys} | {} |\n", action.help());
        }
    }
    text += "\n## Always\n\n";
    text += &format!("`{}`: {}.\n", INTERRUPT.0, INTERRUPT.1);
    text += "\n## While typing\n\n| keys | |\n|---|---|\n";
    for (keys, help) in TYPING {
        let keys: Vec<String> = keys.split(' ').map(|key| format!("`{key}`")).collect();
        text += &format!("| {} | {help} |\n", keys.join(" "));
    }
    text + FILE
}

/// The keys of an action for a Markdown table, in which `|` would end a column.
fn marked(map: &KeyMap, action: KeyAction) -> String {
    let keys: Vec<String> = map.keys(action).map(|key| format!("`{key}`").replace('|', "\\|")).collect();
    keys.join(" ")
}

const FILE: &str = r#"
## A key file

`--keys FILE`, or `reviver/keys.toml` in the folder where your platform keeps the files that you configure
programs with:

```toml
preset = "vi"            # gdb, vi, vscode or arrows

[keys]
F2 = "continue"          # an action
Shift-F2 = ":goto 50%"   # a command line
s = "none"               # nothing
"'" = "goto"             # quotes around what TOML doesn't take for a name
```

Keys are written as above: `s`, `S`, `F5`, `Shift-F5`, `Ctrl-L`, `Alt-Left`, `Space`. Keys that a terminal can't
tell from others are refused: Ctrl-I is Tab, Ctrl-M, Ctrl-J and Shift-Enter are Enter, Ctrl-H is Backspace, Ctrl-[ is
Esc, Shift-Space is Space.
"#;
