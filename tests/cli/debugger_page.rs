//! `docs/debugger.md` matches the debugger: its tour is one session, its last sections are the command tables.
//! `UPDATE_COMMANDS=1` rewrites both.

use reviver_debugger::command::table::{COMMANDS, Command, SCREEN_COMMANDS};

use crate::support::{root, with_input};

/// Prompt before the input lines of the tour.
const PROMPT: &str = "(reviver) ";

const TABLE: &str = "| command | other names | effect |\n|---|---|---|\n";

/// Text between the tables.
const OF_SCREEN: &str = "
## Commands of the screen

These commands concern the screen, so scripts don't have them. Type them after `:`, or bind keys to them. Abbreviations of the
commands above take precedence.

";

#[test]
fn the_page_of_the_debugger_is_current() {
    let path = root().join("docs/debugger.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (text, _) = page.split_once(TABLE).expect("the page ends with the tables of commands");
    let current = with_tour(text) + TABLE + &rows(COMMANDS) + OF_SCREEN + TABLE + &rows(SCREEN_COMMANDS);
    if std::env::var_os("UPDATE_COMMANDS").is_some() {
        std::fs::write(&path, &current).unwrap();
        return;
    }
    assert!(
        page == current,
        "docs/debugger.md is out of date; to rewrite it, run\n\
         UPDATE_COMMANDS=1 cargo test --test cli debugger_page"
    );
}

/// Replaces the answers in the console blocks by current ones.
fn with_tour(text: &str) -> String {
    let mut parts: Vec<String> = text.split("```").map(str::to_owned).collect();
    let blocks = || parts.iter().filter(|part| part.starts_with("console\n"));
    let typed = |block: &str| -> Vec<String> {
        block.lines().filter_map(|line| line.strip_prefix(PROMPT)).map(|line| format!("{line}\n")).collect()
    };
    let script: String = blocks().flat_map(|block| typed(block)).collect();
    let ran = with_input("debug programs/besselj.rasm --batch -", script.as_bytes()).expect(0);
    let mut answers = ran.stdout.trim_end().split("\n> ").map(|answer| answer.trim_start_matches("> "));
    for block in parts.iter_mut().filter(|part| part.starts_with("console\n")) {
        let answers = answers.by_ref().take(typed(block).len());
        *block = answers.fold("console\n".to_owned(), |block, answer| block + PROMPT + answer + "\n");
    }
    parts.join("```")
}

/// Returns the rows of a command table, with the topics of `info` after it. The sign `|` would end a column.
fn rows(table: &'static [Command]) -> String {
    table
        .iter()
        .map(|command| {
            row(command, "") + &command.topics().iter().map(|topic| row(topic, "info ")).collect::<String>()
        })
        .collect()
}

fn row(command: &Command, before: &str) -> String {
    let marked = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    let aliases: Vec<String> =
        command.aliases.iter().map(|alias| marked(&format!("{before}{alias}"))).collect();
    format!("| {} | {} | {} |\n", marked(command.usage), aliases.join(" "), command.help)
}
