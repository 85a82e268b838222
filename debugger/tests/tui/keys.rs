//! Tests that the key list in `docs` is the generated one, and that the help contains every key.

use reviver_files::UsedFiles;
use std::path::Path;

use reviver_debugger::tui::keys::help::{self, HelpLine};
use reviver_debugger::tui::keys::{Key, KeyMap, Preset};

#[test]
fn the_committed_key_list_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/keys.md");
    let current = help::document();
    if std::env::var_os("UPDATE_KEYS").is_some() {
        std::fs::write(&path, &current).expect("the key list can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "docs/keys.md is out of date; to rewrite it, run\n\
         UPDATE_KEYS=1 cargo test -p reviver-debugger --test tui"
    );
}

#[test]
fn the_help_lists_every_key_with_its_line() {
    for preset in Preset::ALL {
        let map = KeyMap::new(preset);
        let help = help::lines(&map);
        for (key, bound) in map.bound() {
            let has = |entry: &HelpLine| match entry {
                HelpLine::Entry { keys, line, text } => {
                    let is_there = keys.split(' ').any(|word| word.parse::<Key>() == Ok(key));
                    is_there && line == bound && !text.is_empty()
                }
                _ => false,
            };
            assert_eq!(help.iter().filter(|entry| has(entry)).count(), 1, "{}: {key}", preset.name());
        }
    }
}

#[test]
fn user_defined_keys_are_in_the_help() {
    let path = std::env::temp_dir().join(format!("reviver-keys-{}.toml", std::process::id()));
    std::fs::write(&path, "[keys]\nF2 = \":print @ + 1\"\n").unwrap();
    let keys = reviver_debugger::tui::keys::file::load(&UsedFiles::default(), Some(&path), None);
    std::fs::remove_file(&path).unwrap();
    let entry = HelpLine::Entry {
        keys: "F2".into(),
        line: "print @ + 1".into(),
        text: "Print a value: `print a + A[i]`".into(),
    };
    assert!(help::lines(&keys.unwrap()).contains(&entry));
}

/// If command lines of one command have different effects, they have different help texts. The lines that focus a
/// pane are an exception: they differ only by the pane's name.
#[test]
fn every_line_has_its_own_help() {
    for preset in Preset::ALL {
        let help = help::lines(&KeyMap::new(preset));
        let entries: Vec<(&str, &str)> = help
            .iter()
            .filter_map(|entry| match entry {
                HelpLine::Entry { line, text, .. } => Some((line.as_str(), text.as_str())),
                _ => None,
            })
            .filter(|(line, _)| !line.is_empty() && !line.starts_with("focus "))
            .collect();
        for (n, (line, text)) in entries.iter().enumerate() {
            let same = entries.iter().take(n).find(|(_, other)| other == text);
            assert_eq!(same, None, "{}: {line}: {text}", preset.name());
        }
    }
    let help = help::lines(&KeyMap::new(Preset::Gdb));
    let text = |wanted: &str| {
        help.iter().find_map(|entry| match entry {
            HelpLine::Entry { keys, text, .. } if keys == wanted => Some(text.clone()),
            _ => None,
        })
    };
    assert!(text("i").unwrap().contains("fewer steps") && text("I").unwrap().contains("more steps"));
    assert!(text("^").unwrap().starts_with("Go to the parent branch"));
}
