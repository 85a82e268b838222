//! Commands overwrite no inputs, by whatever name an input is given. Of all other files, they overwrite only earlier
//! outputs of the same kind.

use crate::support::{Folder, reviver, with_input};

/// Program that includes a file, reads a value from the input tape, and writes another value to the output tape.
const PROGRAM: &str =
    ".include \"library.rasm\"\n.inout a\nread r0\nadd a, r0\nsub r0, a\nadd r0, 7\nwrite r0\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("library.rasm", "; nothing\n");
    folder.file("program.rasm", PROGRAM);
    folder.file("tape.csv", "7\n");
    folder.file("values.csv", "0\n");
    let (program, image, state) = (folder.at("program.rasm"), folder.at("program.rbc"), folder.at("state"));
    reviver(&format!("asm {program} -o {image}")).expect(0);
    reviver(&format!("run {program} --tape 7 --save-state {state}")).expect(0);
    folder
}

/// All commands that write a file: the command line without the name of this file, and the files that the command
/// reads. Commands on a text also read the included file.
const WRITERS: [(&str, &[&str]); 10] = [
    (
        "run program.rasm --tape tape.csv --set a=@values.csv --save-state",
        &["program.rasm", "library.rasm", "tape.csv", "values.csv"],
    ),
    (
        "run program.rasm --tape tape.csv --set a=@values.csv --tape-out",
        &["program.rasm", "library.rasm", "tape.csv", "values.csv"],
    ),
    ("run program.rasm --from-state state --save-state", &["program.rasm", "library.rasm", "state"]),
    ("run program.rbc --tape tape.csv --save-state", &["program.rbc", "tape.csv"]),
    ("asm program.rasm -o", &["program.rasm", "library.rasm"]),
    ("disasm program.rasm -o", &["program.rasm", "library.rasm"]),
    ("disasm program.rbc -o", &["program.rbc"]),
    ("expand program.rasm -o", &["program.rasm", "library.rasm"]),
    ("invert program.rasm -o", &["program.rasm", "library.rasm"]),
    ("repl program.rasm --tape tape.csv --transcript", &["program.rasm", "library.rasm", "tape.csv"]),
];

/// Returns other names of a file: paths and links to it.
fn aliases(folder: &Folder, name: &str) -> Vec<String> {
    let file = folder.path(name);
    let mut aliases = vec![folder.at(name), folder.at(&format!("./{name}"))];
    #[cfg(unix)]
    {
        std::fs::hard_link(&file, folder.path("hard")).unwrap();
        std::os::unix::fs::symlink(&file, folder.path("soft")).unwrap();
        std::os::unix::fs::symlink("soft", folder.path("softer")).unwrap();
        aliases.extend([folder.at("hard"), folder.at("soft"), folder.at("softer")]);
    }
    let _ = file;
    aliases
}

#[test]
fn input_files_are_never_overwritten() {
    for (command, inputs) in WRITERS {
        for input in inputs {
            let folder = folder();
            let before = folder.read(input);
            for output in aliases(&folder, input) {
                for force in ["", " --force"] {
                    let ran = folder.reviver(&format!("{command} {output}{force}")).expect(2);
                    let ran = ran.says("would be overwritten, but the command reads it").prints("");
                    assert!(ran.stderr.contains("= help: name another file"), "{ran:#?}");
                    assert!(folder.read(input) == before, "{command} {output}{force}");
                }
            }
        }
    }
}

#[test]
fn the_file_of_standard_input_is_not_overwritten() {
    let folder = folder();
    let binary = env!("CARGO_BIN_EXE_reviver");
    for (command, input) in [
        ("disasm - -o program.rasm < program.rasm", "program.rasm"),
        ("run program.rasm --tape - --tape-out tape.csv < tape.csv", "tape.csv"),
        ("run program.rasm --tape 7 --save-state out > out", "out"),
        ("asm program.rasm -o out 2> out", "out"),
        ("asm program.rasm -o /dev/stdout --force > out", "out"),
    ] {
        folder.file("out", "");
        let before = folder.read(input);
        let ran = folder.shell(&format!("{binary} {command}"));
        assert_eq!(ran.code, 2, "{command}: {ran:#?}");
        // The message of the command may be in the file `out`.
        assert!(input == "out" || folder.read(input) == before, "{command}");
        assert!(!folder.read(input).starts_with(b"\x89RBC"), "{command}");
    }
    // Devices may be written.
    folder.reviver("run program.rasm --tape 7 --tape-out /dev/stdout").expect(0);
    folder.reviver("run program.rasm --tape /dev/null --save-state /dev/null --max-steps 0").expect(5);
}

#[test]
fn two_outputs_are_two_files() {
    let folder = folder();
    #[cfg(unix)]
    std::os::unix::fs::symlink("out", folder.path("link")).unwrap();
    for other in ["out", "./out", "link"] {
        let command = format!("run program.rasm --tape 7 --save-state out --tape-out {other}");
        folder.reviver(&command).expect(2).says("would be written twice").prints("");
    }
    assert!(!folder.path("out").exists());
}

#[test]
fn a_file_of_another_kind_is_replaced_only_with_force() {
    let folder = folder();
    let tape = "run program.rasm --tape 7 --tape-out";
    let kinds = [
        ("run program.rasm --tape 7 --save-state", "out.state"),
        (tape, "out.csv"),
        ("asm program.rasm -o", "out.rbc"),
        ("disasm program.rasm -o", "flat.rasm"),
        ("invert program.rasm -o", "inverse.rasm"),
        ("repl program.rasm --tape 7 --transcript", "session"),
    ];
    for (command, own) in kinds {
        folder.reviver(&format!("{command} {own}")).expect(0);
        let made = folder.read(own);
        assert!(!made.is_empty());
        // A second run replaces its own output, and an empty file.
        folder.reviver(&format!("{command} {own}")).expect(0);
        folder.file("empty", "");
        folder.reviver(&format!("{command} empty")).expect(0);
        assert!(folder.read("empty") == made && folder.read(own) == made, "{command}");
    }
    folder.file("notes", "Dear diary, 7 and 8\n");
    folder.file("mine.rasm", PROGRAM);
    for (command, own) in kinds {
        let others = kinds.iter().map(|(_, other)| *other).filter(|other| *other != own);
        let others = others.filter(|other| !(own.ends_with(".rasm") && other.ends_with(".rasm")));
        for other in others.chain(["notes", "mine.rasm"]) {
            let before = folder.read(other);
            let ran = folder.reviver(&format!("{command} {other}")).expect(2).prints("");
            ran.says(&format!("{other} already exists and is not a"))
                .says("= help: add `--force` to replace the file");
            assert!(folder.read(other) == before, "{command} {other}");
        }
        folder.file("forced", "Dear diary\n");
        folder.reviver(&format!("{command} forced --force")).expect(0);
        assert!(folder.read("forced") == folder.read(own), "{command}");
    }
}

#[test]
fn a_session_is_not_saved_over_an_input() {
    let folder = folder();
    folder.file("script", "# a session of the reviver debugger\nstep\n");
    folder.file("keys.toml", "");
    for (name, words) in [
        ("program.rasm", "would be overwritten, but the command reads it"),
        ("library.rasm", "would be overwritten, but the command reads it"),
        ("script", "would be overwritten, but the command reads it"),
        ("transcript", "would be written twice"),
        ("tape.csv", "would be overwritten, but the command reads it"),
    ] {
        let input = format!("source script\nsave {name}\n");
        let ran =
            folder.with_input("repl program.rasm --tape tape.csv --transcript transcript", input.as_bytes());
        assert!(ran.stdout.contains(words), "{name}: {ran:#?}");
    }
    assert_eq!(folder.read("program.rasm"), PROGRAM.as_bytes());
    let batch = folder.file("batch", "# a session of the reviver debugger\nstep\nsave batch\n");
    let ran = folder.reviver(&format!("debug program.rasm --tape 7 --batch {batch}")).expect(1);
    assert!(ran.stdout.contains("would be overwritten, but the command reads it"), "{ran:#?}");
    // A session may overwrite its own file.
    let twice = folder.with_input("repl program.rasm --tape 7", b"step\nsave new\nstep\nsave new\n");
    assert_eq!(twice.stdout.matches("saved to new").count(), 2, "{twice:#?}");
    assert_eq!(folder.read("new"), b"# a session of the reviver debugger\nstep\nstep\n");
}

#[test]
fn a_written_text_has_one_header() {
    let folder = folder();
    folder.reviver("invert program.rasm -o inverse.rasm").expect(0);
    folder.reviver("invert inverse.rasm -o again.rasm").expect(0);
    for name in ["inverse.rasm", "again.rasm"] {
        let text = String::from_utf8(folder.read(name)).unwrap();
        assert!(text.starts_with("; written by `reviver`"), "{text}");
        assert_eq!(text.matches("written by").count(), 1, "{text}");
    }
    folder.reviver("run again.rasm --tape 7 --check").expect(0);
    let printed = folder.reviver("invert program.rasm").expect(0);
    assert!(!printed.stdout.contains("written by"), "{printed:#?}");
}

#[test]
fn formatting_rewrites_its_own_input() {
    let folder = folder();
    folder.file("untidy.rasm", ".inout  a\nadd    a,1\n");
    folder.reviver("fmt --write untidy.rasm").expect(0);
    folder.reviver("fmt --check untidy.rasm").expect(0);
    with_input("fmt --write -", b"add  r0,1\n").expect(0).prints("        add   r0, 1\n");
}

#[test]
fn an_output_is_refused_before_the_run() {
    let folder = folder();
    let endless = ".in n default 1\n.out a\ntop: from again, a > 0\nadd a, 1\nagain: br top, n > 0\n";
    folder.file("endless.rasm", endless);
    folder.file("notes", "Dear diary\n");
    for option in
        ["--save-state notes", "--tape-out notes", "--save-state none/x", "--tape-out program.rasm/x"]
    {
        // Without a step limit, the run would be endless.
        let ran = folder.reviver(&format!("run endless.rasm {option}"));
        assert!(ran.code == 2 || ran.code == 3, "{ran:#?}");
    }
}
