//! Codes of messages. The smallest program of each code shows this code and no other, in text and in JSON. The
//! corrected program shows none. `docs/errors.md` has the texts of the codes; `UPDATE_ERRORS=1` rewrites it.

use std::collections::BTreeSet;

use reviver_isa::codes::{CodeEntry, CodeEvidence, CodeTrial, page};
use reviver_vm::codes;
use serde_json::Value;

use crate::support::{Folder, Ran, reviver, root};

/// Codes that no program can show.
const UNSHOWN: &[&str] = &["E91", "T35"];

/// Runs the command of a trial on its program.
fn tried(folder: &Folder, entry: &CodeEntry, trial: &CodeTrial, more: &str) -> Ran {
    let file = entry.file();
    folder.file(&file, trial.text);
    let ran = folder.reviver(&format!("{}{more}", trial.command.replace("FILE", &file)));
    assert!(!ran.stderr.contains("panicked"), "{}: {ran:#?}", entry.code);
    ran
}

/// Returns the codes in the text for users.
fn shown(stderr: &str) -> BTreeSet<String> {
    let of_line = |line: &str| {
        let rest = ["error[", "warning[", "trap["].iter().find_map(|kind| line.strip_prefix(kind))?;
        rest.split(']').next().map(str::to_owned)
    };
    stderr.lines().filter_map(of_line).collect()
}

/// Collects the members `code` in JSON at any depth.
fn reported(json: &Value, codes: &mut BTreeSet<String>) {
    match json {
        Value::Object(members) => members.iter().for_each(|(key, value)| match value {
            Value::String(code) if key == "code" => codes.extend([code.clone()]),
            value => reported(value, codes),
        }),
        Value::Array(list) => list.iter().for_each(|value| reported(value, codes)),
        _ => {}
    }
}

fn programs() -> impl Iterator<Item = (&'static CodeEntry, &'static CodeTrial, &'static CodeTrial)> {
    codes::all().filter_map(|entry| match &entry.account.evidence {
        CodeEvidence::Programs { shown, recomputed } => Some((entry, shown, recomputed)),
        CodeEvidence::NotShown(_) => None,
    })
}

#[test]
fn a_smallest_program_shows_its_code_and_no_other() {
    let folder = Folder::new();
    for (entry, trial, _) in programs() {
        let ran = tried(&folder, entry, trial, "");
        assert_eq!(shown(&ran.stderr), BTreeSet::from([entry.code.to_owned()]), "{ran:#?}");
        let is_warning = entry.code.starts_with(['W', 'L']);
        assert_eq!(ran.code == 0, is_warning, "{}: {ran:#?}", entry.code);
    }
}

#[test]
fn json_has_the_code_of_a_trap() {
    let folder = Folder::new();
    let writes_text = |trial: &CodeTrial| {
        ["invert", "bennett"].iter().any(|c| trial.command.starts_with(c)) || trial.command.contains("--emit")
    };
    let has_json = |trial: &CodeTrial| !writes_text(trial);
    for (entry, trial, _) in programs().filter(|(_, trial, _)| has_json(trial)) {
        let ran = tried(&folder, entry, trial, " --json");
        let mut found = BTreeSet::new();
        reported(&ran.json(), &mut found);
        assert_eq!(found, BTreeSet::from([entry.code.to_owned()]), "{ran:#?}");
    }
}

#[test]
fn a_corrected_program_shows_no_code() {
    let folder = Folder::new();
    for (entry, shown, recomputed) in programs() {
        let ran = tried(&folder, entry, recomputed, "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}: {ran:#?}", entry.code);
        assert!(shown != recomputed, "{} isn't mended", entry.code);
    }
}

#[test]
fn codes_without_a_smallest_program_are_listed() {
    let unshown = codes::all().filter(|entry| matches!(entry.account.evidence, CodeEvidence::NotShown(_)));
    assert_eq!(unshown.map(|entry| entry.code).collect::<Vec<_>>(), UNSHOWN);
}

#[test]
fn codes_and_names_are_unique() {
    let mut names = BTreeSet::new();
    for entry in codes::all() {
        let (letter, digits) = entry.code.split_at(1);
        assert!("EWTL".contains(letter) && digits.len() == 2, "{}", entry.code);
        assert!(digits.chars().all(|sign| sign.is_ascii_digit()), "{}", entry.code);
        let is_word = |sign: char| sign.is_ascii_lowercase() || sign == '-';
        assert!(entry.words.chars().all(is_word), "{}", entry.words);
        assert!(names.insert(entry.code) && names.insert(entry.words), "{} is given twice", entry.code);
        let account = entry.account;
        assert!(!account.title.ends_with('.'), "{}", account.title);
        assert!(account.meaning.ends_with('.') && account.cure.ends_with('.'), "{}", entry.code);
        // An entry is found by its code and by its name, in lower or upper case.
        assert_eq!(codes::find(entry.code), Some(entry));
        assert_eq!(codes::find(&entry.words.to_uppercase()), Some(entry));
    }
}

#[test]
fn codes_are_explained_by_their_names() {
    let page = reviver("explain T20").expect(0).stdout;
    for part in [
        "T20 index-outside: an index",
        "    for i in 0..5",
        "Corrected program:",
        "$ reviver run index-outside.rasm",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    reviver("explain index-outside").expect(0).prints(&page);
    reviver("explain t20").expect(0).prints(&page);
    reviver("explain trap[T20]:").expect(0).prints(&page);
    let object = reviver("explain T20 --json").expect(0).json();
    assert_eq!(object["words"], "index-outside");
    assert_eq!(object["shown"]["command"], "reviver run index-outside.rasm");
    assert!(object["mended"]["text"].as_str().unwrap().contains("len(A)"));
}

#[test]
fn all_codes_are_listed() {
    let list = reviver("explain").expect(0).stdout;
    let object = reviver("explain --json").expect(0).json();
    let entries = object["codes"].as_array().unwrap();
    assert_eq!(entries.len(), codes::all().count());
    for entry in codes::all() {
        assert!(list.contains(&format!("  {}  {}", entry.code, entry.words)), "{}: {list}", entry.code);
    }
}

#[test]
fn an_unknown_code_gets_the_nearest_one() {
    reviver("explain index-outsid").expect(2).says("there is no code `index-outsid`").says("`index-outside`");
    reviver("explain index").expect(2).says("`index` is a part of `index-out-of-bounds`, `index-outside`");
    reviver("explain somewhere-else").expect(2).says("`reviver explain` lists all codes");
    let object = reviver("explain E999999 --json").expect(2).json();
    assert_eq!(object["error"]["kind"], "usage");
}

/// Returns the embedded outputs of commands by code.
fn printed() -> Vec<(&'static str, String)> {
    let folder = Folder::new();
    let printed = |(entry, shown, _): (&'static CodeEntry, &CodeTrial, _)| {
        let file = entry.file();
        folder.file(&file, shown.text);
        let program = env!("CARGO_BIN_EXE_reviver");
        let command = shown.typed(&file).replacen("reviver", program, 1);
        (entry.code, folder.shell(&format!("{command} 2>&1")).stdout)
    };
    programs().map(printed).collect()
}

/// Checks a generated file, or rewrites it if requested.
#[track_caller]
fn is_current(path: &str, current: &str) {
    let path = root().join(path);
    if std::env::var_os("UPDATE_ERRORS").is_some() {
        std::fs::write(&path, current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "{} is not what the codes say; to write it anew, run\n\
         UPDATE_ERRORS=1 cargo test --test cli explain::",
        path.display()
    );
}

#[test]
fn the_page_of_errors_is_current() {
    let printed = printed();
    let of = |entry: &CodeEntry| {
        let own = printed.iter().find(|(code, _)| *code == entry.code);
        own.map(|(_, text)| text.clone()).unwrap_or_default()
    };
    is_current("docs/errors.md", &page::document(codes::all(), of));
    let further_in = |text: &str| -> String {
        text.lines().map(|line| format!("{}\n", format!("    {line}").trim_end())).collect()
    };
    let kept = printed.iter().map(|(code, text)| format!("{code}\n{}", further_in(text)));
    is_current("vm/src/codes/printed.txt", &kept.collect::<String>());
}

#[test]
fn the_output_of_the_smallest_program_is_shown_below_it() {
    for (code, text) in printed() {
        let trimmed: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        assert!(trimmed.contains(&format!("[{code}]")), "{code}: {text}");
        assert_eq!(codes::printed(code), trimmed, "{code}");
    }
    let page = reviver("explain T20").expect(0).stdout;
    assert!(page.contains("    $ reviver run index-outside.rasm\n    trap[T20]: "), "{page}");
    let object = reviver("explain T20 --json").expect(0).json();
    assert!(object["shown"]["printed"].as_str().unwrap().starts_with("trap[T20]: "));
}
