//! The help and the key list, generated from the key map and the table of commands.

use super::{KeyMap, Preset};
use crate::command::named;
use crate::command::table::{COMMANDS, Command, CommandGroup, SCREEN_COMMANDS};

/// A line of the help, before its columns are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelpLine {
    /// The heading of a section.
    Title(&'static str),
    /// Keys, the command line that they are bound to, and a description of the command line's effect.
    Entry {
        /// The keys, separated by spaces; empty if there are none.
        keys: String,
        /// The command line that the keys are bound to; empty for keys with a fixed meaning.
        line: String,
        /// The effect of the line, as a short description.
        text: String,
    },
    /// An empty line between sections.
    Blank,
}

/// Keys that edit a command line; they can't be bound.
const TYPING: &[(&str, &str)] = &[
    ("Enter", "execute the command, or search for the text"),
    ("Esc", "close the prompt"),
    ("Up Down", "recall a line that was typed earlier"),
    ("Tab", "complete a word"),
    ("Left Right Home End", "move the cursor"),
    ("Backspace Delete", "delete a character"),
    ("Ctrl-W Ctrl-U", "delete a word, or everything before the cursor"),
];

/// Description of Ctrl-C, which can't be bound.
const INTERRUPT: (&str, &str) = ("Ctrl-C", "stop a long run; the session continues");

/// Description of the placeholder `@`.
const SELECTED: (&str, &str) = (
    "@",
    "the selected item: the cell, the line under the cursor, the step in the timeline, the frame in the calls",
);

/// Returns the help of a key map: every bound line with its keys.
pub fn lines(map: &KeyMap) -> Vec<HelpLine> {
    let entry = |keys: String, line: &str, text: &str| HelpLine::Entry {
        keys,
        line: line.to_owned(),
        text: text.to_owned(),
    };
    let bound = bound_lines([map]);
    let mut lines = Vec::new();
    for group in CommandGroup::ALL {
        let of_group: Vec<_> = bound.iter().filter(|(row, _)| row.group == group).collect();
        if of_group.is_empty() {
            continue;
        }
        lines.push(HelpLine::Title(group.title()));
        lines.extend(of_group.iter().map(|(row, line)| entry(keys_of(map, line), line, &summary(row, line))));
        lines.push(HelpLine::Blank);
    }
    lines.push(HelpLine::Title("Always"));
    lines.push(entry(INTERRUPT.0.to_owned(), "", INTERRUPT.1));
    lines.push(entry(String::new(), SELECTED.0, SELECTED.1));
    lines.push(HelpLine::Blank);
    lines.push(HelpLine::Title("While typing"));
    lines.extend(TYPING.iter().map(|(keys, text)| entry((*keys).to_owned(), "", text)));
    lines
}

/// Returns the description of a line. If the line opens the prompt with the beginning of a command, returns
/// the description of that command.
fn summary(row: &Command, line: &str) -> String {
    let asked = line.strip_prefix("ask ").and_then(|line| named(line).ok());
    match asked {
        Some((row, arguments)) => {
            let (first, rest) = row.summary_with(arguments).split_at(1);
            format!("Ask, and {}{rest}", first.to_lowercase())
        }
        None => {
            let arguments = named(line).map_or("", |(_, arguments)| arguments);
            row.summary_with(arguments).to_owned()
        }
    }
}

/// Returns the command lines that any of the key maps binds, each line once. The lines are in the order of the
/// command table, and lines of the same command in the order of their keys.
fn bound_lines<const N: usize>(maps: [&KeyMap; N]) -> Vec<(&'static Command, String)> {
    let mut lines: Vec<(usize, &'static Command, String)> = Vec::new();
    for line in maps.into_iter().flat_map(KeyMap::bound).map(|(_, line)| line) {
        let Ok((row, _)) = named(line) else { continue };
        let mut all = COMMANDS.iter().chain(SCREEN_COMMANDS);
        let place = all.position(|other| std::ptr::eq(other, row)).unwrap_or(usize::MAX);
        if !lines.iter().any(|(_, _, known)| known == line) {
            lines.push((place, row, line.to_owned()));
        }
    }
    lines.sort_by_key(|(place, ..)| *place);
    lines.into_iter().map(|(_, row, line)| (row, line)).collect()
}

fn keys_of(map: &KeyMap, line: &str) -> String {
    let keys: Vec<String> = map.keys(line).map(|key| key.to_string()).collect();
    keys.join(" ")
}

/// Returns the key list of all presets as Markdown: `docs/keys.md`.
pub fn document() -> String {
    let mut text = String::from(
        "# Keys of the debugger\n\
         \n\
         This page is generated from the key map.\n\
         `UPDATE_KEYS=1 cargo test -p reviver-debugger --test tui` rewrites it.\n\
         \n\
         A key executes a command line, which can also be typed after `:`. Every action is a command.\n\
         For travel, a small letter goes forward and its capital letter backward. A function key goes forward, and\n\
         backward with Shift.\n\
         An `@` in a command line is replaced by the selected item: the cell, the source line under the cursor,\n\
         the step in the timeline, or the frame in the calls.\n",
    );
    let maps = Preset::ALL.map(KeyMap::new);
    let names = Preset::ALL.map(|preset| format!("`{}`", preset.name())).join(" | ");
    let bound = bound_lines(maps.each_ref());
    for group in CommandGroup::ALL {
        let mut of_group = bound.iter().filter(|(row, _)| row.group == group).peekable();
        if of_group.peek().is_some() {
            text += &format!(
                "\n## {}\n\n| command line | {names} | effect |\n|---|---|---|---|---|---|\n",
                group.title()
            );
        }
        for (row, line) in of_group {
            let keys = maps.each_ref().map(|map| marked(map, line)).join(" | ");
            text += &format!("| `{line}` | {keys} | {} |\n", summary(row, line));
        }
    }
    text += "\n## Always\n\n";
    text += &format!("`{}`: {}.\n", INTERRUPT.0, INTERRUPT.1);
    text += "\n## While typing\n\n| keys | effect |\n|---|---|\n";
    for (keys, help) in TYPING {
        let keys: Vec<String> = keys.split(' ').map(|key| format!("`{key}`")).collect();
        text += &format!("| {} | {help} |\n", keys.join(" "));
    }
    text + FILE
}

/// Returns the keys that are bound to a line, for a table in Markdown, where `|` must be escaped.
fn marked(map: &KeyMap, line: &str) -> String {
    let keys: Vec<String> = map.keys(line).map(|key| format!("`{key}`").replace('|', "\\|")).collect();
    keys.join(" ")
}

const FILE: &str = r#"
## A key file

`--keys FILE` names a key file. Without the option, the file is `reviver/keys.toml` in the platform's folder for
configuration (`~/.config` on Linux). An example:

```toml
preset = "vi"            # gdb, vi, vscode or arrows

[keys]
F2 = "continue"          # a command
Shift-F2 = "goto 50%"    # with its arguments
F3 = "watch @ any"       # of the selected cell
F12 = "ask print /x"     # opens the prompt with this beginning of a command
s = "none"               # no command
"'" = "focus code"       # TOML needs quotes around such a key
```

Keys are written as above: `s`, `S`, `F5`, `Shift-F5`, `Ctrl-L`, `Alt-Left`, `Space`. Keys that a terminal can't
tell from others are rejected: Ctrl-I is Tab, Ctrl-M, Ctrl-J and Shift-Enter are Enter, Ctrl-H is Backspace, Ctrl-[ is
Esc, Shift-Space is Space.
"#;
