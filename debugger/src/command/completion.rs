//! Completion of a line that is being typed. Candidates are from the table of commands and the program's
//! names.

use reviver_vm::codes;

use super::console::Console;
use super::table::{ArgumentKind, COMMANDS, Command, SCREEN_COMMANDS, find, find_topic};
use crate::expression::{SPECIALS, WRITTEN};
use crate::points::Trigger;

/// Returns the start of the word being typed, in bytes, and the possible completions of this word. With a screen,
/// `panes` has the names of the panes, and the commands of the screen are candidates, too. Without a screen,
/// `panes` is `None`.
pub fn candidates(console: &Console, panes: Option<&[&'static str]>, typed: &str) -> (usize, Vec<String>) {
    let (start, mut names) = match typed.split_once(char::is_whitespace) {
        None => (0, names_of_commands(panes.is_some())),
        Some((command, _)) if find(command).is_ok_and(|command| command.argument == ArgumentKind::File) => {
            return files(typed);
        }
        Some((command, rest)) => {
            let separates = |c: char| c.is_whitespace() || "([{+-*/=<>&|^~,".contains(c);
            let start = typed.rfind(separates).map_or(0, |at| at + 1);
            let names = match find(command).ok() {
                Some(command) if is_in_condition(command, rest) => names_at_points(console, command, rest),
                Some(command) => arguments(console, panes, row(command, rest)),
                None => Vec::new(),
            };
            (start, names)
        }
    };
    let word = typed.get(start..).unwrap_or_default();
    names.retain(|name| name.starts_with(word));
    names.sort();
    names.dedup();
    (start, names)
}

/// Returns the names of the commands that are available with or without a screen.
fn names_of_commands(has_screen: bool) -> Vec<String> {
    let screen = SCREEN_COMMANDS.iter().filter(|_| has_screen);
    COMMANDS.iter().chain(screen).map(|command| command.name.to_owned()).collect()
}

/// Returns true if the word being typed belongs to a point's condition or message.
fn is_in_condition(command: &Command, rest: &str) -> bool {
    let is_conditional = command.usage.contains("if CONDITION");
    let mut before: Vec<&str> = rest.split_whitespace().collect();
    if !rest.ends_with(char::is_whitespace) {
        before.pop();
    }
    match command.name {
        "condition" => !before.is_empty(),
        _ => is_conditional && before.iter().any(|word| matches!(*word, "if" | "log")),
    }
}

/// Returns the names that a point's condition or message may contain.
fn names_at_points(console: &Console, command: &Command, rest: &str) -> Vec<String> {
    let has_write = match command.argument {
        ArgumentKind::Point => {
            let id = rest.split_whitespace().next().and_then(|id| id.parse().ok());
            let point = console.session.points().iter().find(|point| Some(point.id) == id);
            point.is_some_and(|point| matches!(point.trigger, Trigger::Watch { .. }))
        }
        argument => argument == ArgumentKind::Cell,
    };
    let written = WRITTEN.into_iter().filter(|_| has_write);
    SPECIALS.into_iter().chain(written).chain(console.session.names()).map(str::to_owned).collect()
}

/// Returns the command whose arguments are being typed. If the command is `info` and a topic is named, returns the
/// topic.
fn row(command: &'static Command, rest: &str) -> &'static Command {
    match rest.trim_start().split_once(char::is_whitespace) {
        Some((topic, _)) if command.argument == ArgumentKind::Topic => find_topic(topic).unwrap_or(command),
        _ => command,
    }
}

/// Returns the start of the last word, in bytes, and the file names that complete this word. If the folder can't
/// be read, returns no file names.
#[cfg(feature = "terminal")]
fn files(typed: &str) -> (usize, Vec<String>) {
    use reviver_escape::line as escaped_line;
    use rustyline::completion::{FilenameCompleter, unescape};

    let found = FilenameCompleter::new().complete_path(typed, typed.len());
    let (start, pairs) = found.unwrap_or((typed.len(), Vec::new()));
    let names = pairs.iter().map(|pair| unescape(&pair.replacement, Some('\\')).into_owned());
    // Names with characters that need escapes are left out: the editor would print them unescaped, and they can't
    // be typed.
    (start, names.filter(|name| escaped_line(name) == *name).collect())
}

/// Returns no names, because file names are completed only on a terminal.
#[cfg(not(feature = "terminal"))]
fn files(typed: &str) -> (usize, Vec<String>) {
    (typed.len(), Vec::new())
}

fn arguments(console: &Console, panes: Option<&[&'static str]>, command: &Command) -> Vec<String> {
    let session = &console.session;
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match command.argument {
        ArgumentKind::None | ArgumentKind::Count | ArgumentKind::File => Vec::new(),
        ArgumentKind::Step => {
            ["start", "end"].into_iter().map(str::to_owned).chain(session.marks().keys().cloned()).collect()
        }
        ArgumentKind::Code => {
            codes::all().flat_map(|entry| [entry.code, entry.words]).map(str::to_owned).collect()
        }
        ArgumentKind::Mark => session.marks().keys().cloned().collect(),
        ArgumentKind::Place => session.place_names().map(str::to_owned).collect(),
        ArgumentKind::Procedure => {
            session.program().module().procedures.iter().map(|procedure| procedure.name.clone()).collect()
        }
        ArgumentKind::Cell => session.names().map(str::to_owned).collect(),
        ArgumentKind::Expression => SPECIALS.into_iter().chain(session.names()).map(str::to_owned).collect(),
        ArgumentKind::Point => session.points().iter().map(|point| point.id.to_string()).collect(),
        ArgumentKind::Command | ArgumentKind::Line => names_of_commands(panes.is_some()),
        ArgumentKind::Pane => owned(&[panes.unwrap_or_default(), &["next", "previous"]].concat()),
        ArgumentKind::Topic => command.topics().iter().map(|topic| topic.name.to_owned()).collect(),
        ArgumentKind::OneOf(words) => owned(words),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "terminal")]
    #[test]
    fn files_are_completed() {
        use super::files;

        let folder = env!("CARGO_MANIFEST_DIR");
        let (start, names) = files(&format!("source {folder}/src/rep"));
        assert_eq!((start, names), (7, vec![format!("{folder}/src/repl.rs")]));
        assert_eq!(files("save nowhere/x").1, [""; 0]);
    }
}
