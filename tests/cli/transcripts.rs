//! Console sessions of documents, executed in a shell.

#[cfg(unix)]
use std::process::Command;

#[cfg(unix)]
use crate::support::{Folder, root};

/// Command as typed, with its output.
#[derive(Debug, PartialEq)]
pub struct Exchange {
    pub command: String,
    pub output: String,
}

/// Returns all exchanges in a document's console sessions, in order.
///
/// A command is the rest of a line after `$ `. With `<<'END'` it continues up to the line `END`.
pub fn exchanges(document: &str) -> Vec<Exchange> {
    let sessions = document.split("```console\n").skip(1);
    sessions.flat_map(|start| of_session(start.split("```").next().unwrap())).collect()
}

fn of_session(session: &str) -> Vec<Exchange> {
    let mut lines = session.lines();
    let mut exchanges: Vec<Exchange> = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(typed) = line.strip_prefix("$ ") {
            let mut command = typed.to_owned();
            if let Some(end) = end_of_text(typed) {
                for line in lines.by_ref() {
                    command.push_str(&format!("\n{line}"));
                    if line == end {
                        break;
                    }
                }
            }
            exchanges.push(Exchange { command, output: String::new() });
        } else {
            let last = exchanges.last_mut().expect("a session begins with a command");
            last.output.push_str(&format!("{line}\n"));
        }
    }
    exchanges.iter_mut().for_each(|exchange| exchange.output.truncate(exchange.output.trim_end().len()));
    exchanges
}

/// Returns the end marker of a here-document in a command.
fn end_of_text(command: &str) -> Option<&str> {
    let (_, behind) = command.split_once("<<'")?;
    Some(behind.split_once('\'')?.0)
}

/// Executes the commands of a document's sessions in a temporary folder with the programs, and compares their outputs
/// with the document. Panics if there are fewer than `least` commands.
#[cfg(unix)]
pub fn are_true(name: &str, document: &str, least: usize) {
    let folder = Folder::new();
    for part in ["programs", "course"] {
        std::os::unix::fs::symlink(root().join(part), folder.path(part)).unwrap();
    }
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_reviver"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let exchanges = exchanges(document);
    assert!(exchanges.len() >= least, "{name} has {} commands", exchanges.len());
    for Exchange { command, output } in exchanges {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(folder.path("")).env("PATH", &path);
        let ran = shell.output().unwrap();
        let text = String::from_utf8(ran.stdout).unwrap() + &String::from_utf8(ran.stderr).unwrap();
        assert_eq!(text.trim_end(), output, "{name}: $ {command}");
    }
}

#[test]
fn here_documents_belong_to_their_commands() {
    let document =
        "```console\n$ cat > a <<'END'\n$ no command\nEND\n\n$ cat a\n$x\n\n```\nand\n```console\n$ b\n```\n";
    let exchange = |command: &str, output: &str| Exchange { command: command.into(), output: output.into() };
    let expected =
        [exchange("cat > a <<'END'\n$ no command\nEND", ""), exchange("cat a", "$x"), exchange("b", "")];
    assert_eq!(exchanges(document), expected);
}
