//! What the documents show is what happens.

use std::process::Command;

use crate::support::root;

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The commands of a console session, each with the output that the document shows.
fn session(document: &str) -> Vec<(String, String)> {
    let start = document.split("```console\n").nth(1).expect("a console session");
    let session = start.split("```").next().unwrap();
    let commands = session.split("\n$ ").map(|part| part.trim_start_matches("$ "));
    commands
        .map(|part| {
            let (command, output) = part.split_once('\n').unwrap_or((part, ""));
            (command.to_owned(), output.trim_end().to_owned())
        })
        .collect()
}

#[cfg(unix)]
#[test]
fn the_session_of_the_readme_is_true() {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_reviver"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let commands = session(&read("README.md"));
    assert!(commands.len() >= 4, "{commands:?}");
    for (command, shown) in commands {
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &command]).current_dir(root()).env("PATH", &path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert_eq!(text.trim_end(), shown, "$ {command}");
    }
}

#[test]
fn the_table_of_programs_is_complete() {
    let table = read("programs/README.md");
    for folder in ["programs", "programs/lib"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".rasm") {
                let link = if folder == "programs" { format!("]({name})") } else { format!("](lib/{name})") };
                assert!(table.contains(&link), "programs/README.md doesn't mention {folder}/{name}");
            }
        }
    }
    for link in table.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(root().join("programs").join(link).exists(), "programs/README.md links to {link}");
    }
}
