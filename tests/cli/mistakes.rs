//! Typical mistakes of users, as programs in `tests/mistakes`, with the complete output of the command.
//! `UPDATE_MISTAKES=1` rewrites the outputs; then read them from the user's point of view.
//!
//! A program starts with its commands, one per line, such as `;$ run FILE --set n=5`. `FILE` is replaced by the
//! program's name, and commands run in its folder. The `.txt` file of the same name has each command with its
//! standard output, standard error and exit code.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Folder, command, reviver, root};

fn folder() -> PathBuf {
    root().join("tests/mistakes")
}

/// Returns the files of the folder with an extension, sorted by name.
fn files(extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

/// Returns every command of a program with its outcome.
fn transcript(program: &Path) -> String {
    let name = program.file_name().unwrap().to_str().unwrap();
    let text = std::fs::read_to_string(program).unwrap();
    let commands: Vec<&str> = text.lines().map_while(|line| line.strip_prefix(";$ ")).collect();
    assert!(!commands.is_empty(), "{name}: no line `;$ …` says what is tried");
    let outcomes: Vec<String> = commands.iter().map(|line| outcome(&line.replace("FILE", name))).collect();
    outcomes.join("\n")
}

fn outcome(arguments: &str) -> String {
    let output = command().current_dir(folder()).args(arguments.split_whitespace()).output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(!stderr.contains("panicked"), "{arguments}: {stderr}");
    format!("$ reviver {arguments}\n{stdout}{stderr}exit {}\n", output.status.code().unwrap_or(-1))
}

#[test]
fn messages_of_mistakes_match_their_transcripts() {
    let update = std::env::var_os("UPDATE_MISTAKES").is_some();
    let programs = files("rasm");
    for program in &programs {
        let (found, answer) = (transcript(program), program.with_extension("txt"));
        if update {
            std::fs::write(&answer, &found).unwrap();
            continue;
        }
        let expected = std::fs::read_to_string(&answer).unwrap_or_default();
        assert!(
            found == expected,
            "{} has changed; `UPDATE_MISTAKES=1` writes it.\n--- as it was\n{expected}\n--- as it is\n{found}",
            answer.display()
        );
    }
    assert!(programs.len() >= 20, "the mistakes that people make most");
    let named: Vec<PathBuf> = programs.iter().map(|program| program.with_extension("txt")).collect();
    assert_eq!(files("txt"), named, "each program has its answer, each answer its program");
}

/// Internal names with numbers, which lowering creates for duplicate names, never appear in messages.
#[test]
fn no_answer_contains_generated_names() {
    let is_made = |window: &[char]| matches!(window, [before, '$', after] if before.is_alphanumeric() && after.is_ascii_digit());
    for answer in files("txt") {
        let text = std::fs::read_to_string(&answer).unwrap();
        let reported: Vec<char> = text.chars().collect();
        assert!(!reported.windows(3).any(is_made), "{}", answer.display());
        let own = ["`flag`", " flag is", "flag ==", "flag !=", "`bound`"];
        assert!(own.iter().all(|word| !text.contains(word)), "{}", answer.display());
    }
}

#[test]
fn json_has_the_text_and_place_of_a_trap() {
    let trap =
        reviver("run tests/mistakes/fi_wrong_side.rasm --set n=5 --json").expect(4).json()["trap"].clone();
    assert_eq!(trap["instruction"], "fi n == 3");
    assert_eq!((&trap["line"], &trap["columns"]), (&json!(7), &json!([9, 17])));
    assert_eq!(trap["values"], json!({ "n": 4 }));
    let other = &trap["others"][0];
    assert_eq!((&other["words"], &other["line"]), (&json!("if n > 2"), &json!(5)));
    assert_eq!(other["label"], "the first body ran: 5 > 2");
}

/// An image gives the same messages without source lines, and so does its disassembly.
#[test]
fn an_image_gives_the_same_messages() {
    let folder = Folder::new();
    let [image, flat] = ["x.rbc", "x.rasm"].map(|name| folder.path(name).display().to_string());
    reviver(&format!("asm tests/mistakes/fi_compound.rasm -o {image}")).expect(0);
    reviver(&format!("disasm {image} -o {flat}")).expect(0);
    let message =
        |file: &str| reviver(&format!("run {file} --json")).expect(4).json()["trap"]["message"].clone();
    let said = message("tests/mistakes/fi_compound.rasm");
    assert!(said.as_str().unwrap().contains("`fi j > 0 and A[j] < x` (line 7) is false"), "{said}");
    assert_eq!(message(&image), said);
    assert_eq!(message(&flat), said);
}

/// `^` on reals is meant as a power.
#[test]
fn the_sign_of_a_power_names_the_functions_for_powers() {
    let folder = Folder::new();
    for statement in [
        "add y, a ^ 2",
        "add y, 2 * (a ^ n)",
        "add y, a ^ a",
        "add.xor y, a, n",
        "local t = a ^ n\ndelocal t = a ^ n",
    ] {
        let text = format!(".inout a: real default 2, n default 3\n.out y: real\n{statement}\n");
        let ran = reviver(&format!("check {}", folder.file("power.rasm", text))).expect(3);
        assert!(ran.stderr.contains("`square(a)`, `powi(a, n)` or `pow(a, b)`"), "{statement}: {ran:?}");
    }
}
