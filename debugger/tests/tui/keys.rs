//! The key list that is committed is the one that the key map writes, and the help has every action.

use reviver_files::UsedFiles;
use std::path::Path;

use reviver_debugger::tui::keys::help::{self, HelpLine};
use reviver_debugger::tui::keys::{KeyAction, KeyMap, Preset};

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
        "docs/keys.md is not what the key map says; to write it anew, run\n\
         UPDATE_KEYS=1 cargo test -p reviver-debugger --test tui"
    );
}

#[test]
fn the_help_lists_every_action_with_a_key() {
    for preset in Preset::ALL {
        let lines = help::lines(&KeyMap::new(preset));
        for action in KeyAction::ALL {
            let has = |line: &HelpLine| matches!(line, HelpLine::Entry { keys, text } if text == action.help() && !keys.is_empty());
            assert!(lines.iter().any(has), "{}: {action}", preset.name());
        }
    }
}

#[test]
fn commands_of_a_users_own_are_in_the_help() {
    let path = std::env::temp_dir().join(format!("reviver-keys-{}.toml", std::process::id()));
    std::fs::write(&path, "[keys]\nF2 = \":goto 50%\"\n").unwrap();
    let keys = reviver_debugger::tui::keys::file::load(&UsedFiles::default(), Some(&path), None);
    std::fs::remove_file(&path).unwrap();
    let entry = HelpLine::Entry { keys: "F2".into(), text: ":goto 50%".into() };
    assert!(help::lines(&keys.unwrap()).contains(&entry));
}
