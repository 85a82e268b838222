//! Scripted sessions: each file in `sessions/` is a transcript, held against what its commands say
//! today. `UPDATE_SESSIONS=1` writes what they say.
//!
//! A file begins with `# program NAME` (of the `programs` folder) or with the program itself, in lines
//! after `#|`. It may go on with `# replace OLD -> NEW` for the program's text, `# tape 1,2,3` and
//! `# max-steps 100`. A transcript that ends in an error is one of a script
//! that must fail.

mod support;

use std::path::{Path, PathBuf};

use reviver_debugger::batch::{Ended, run, script_of};
use reviver_debugger::command::Console;
use reviver_debugger::session::Session;
use reviver_debugger::timeline::Limits;
use reviver_vm::Machine;

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn line(text: String, line: &str) -> String {
    text + line + "\n"
}

fn console(header: &[&str]) -> Console {
    let value = |key: &str| header.iter().find_map(|line| line.strip_prefix("# ")?.strip_prefix(key));
    let own: String = header.iter().filter_map(|line| line.strip_prefix("#|")).fold(String::new(), line);
    let mut text = value("program ").map_or(own, support::text);
    for (old, new) in header.iter().filter_map(|line| line.strip_prefix("# replace ")?.split_once(" -> ")) {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let subject = support::subject(&text);
    let mut machine = Machine::at_begin(subject.program.clone());
    if let Some(tape) = value("tape ") {
        let entries = tape.split(',').rev().map(|entry| subject.program.parse_entry(entry).unwrap());
        machine.state_mut().input = entries.collect();
    }
    let most = value("max-steps ").map_or(u64::MAX, |most| most.parse().unwrap());
    Console::new(Session::new(subject, &machine, Limits::default()).with_most_steps(most))
}

#[test]
fn sessions_say_what_they_said() {
    let update = std::env::var_os("UPDATE_SESSIONS").is_some();
    for path in transcripts() {
        let expected = std::fs::read_to_string(&path).unwrap();
        let header: Vec<&str> = expected.lines().take_while(|line| line.starts_with('#')).collect();
        let mut output = Vec::new();
        let ended = run(&mut console(&header), &script_of(&expected), &mut output).unwrap();
        let found = format!("{}\n{}", header.join("\n"), String::from_utf8(output).unwrap());
        let fails = path.file_stem().unwrap().to_string_lossy().starts_with("fails");
        if update {
            std::fs::write(&path, &found).unwrap();
        }
        assert!(update || found == expected, "{}:\n{found}", path.display());
        assert_eq!(ended != Ended::Fine, fails, "{}:\n{found}", path.display());
    }
}
