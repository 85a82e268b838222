//! Output files appear as a whole or not at all, and obstacles are reported.

use crate::support::{Folder, command, reviver, root};

#[test]
fn a_failing_command_leaves_its_output_file_alone() {
    let folder = Folder::new();
    let (old, bad) = (folder.file("out", "old"), folder.file("bad.rasm", "if (\n"));
    for command in ["asm", "disasm", "expand", "invert"] {
        reviver(&format!("{command} {bad} -o {old}")).expect(3);
        reviver(&format!("{command} {bad} -o {old}2")).expect(3);
    }
    reviver(&format!("fmt --write {}", folder.file("worse.rasm", "if ( \n"))).expect(3);
    let reading = "run programs/reverse_string.rasm --set n=2 --tape 1,2,3";
    let own = "# tape written by `reviver`, and overwritten when it is written again\n7\n";
    let tape = folder.file("tape", own);
    reviver(&format!("{reading} --max-steps 10 --tape-out {tape}")).expect(5);
    assert_eq!(folder.read("tape"), own.as_bytes());
    reviver(&format!("run programs/fib.rasm --set m=1 --save-state {old}")).expect(2);
    assert_eq!(folder.read("out"), b"old");
    assert_eq!(folder.read("worse.rasm"), b"if ( \n");
    assert_eq!(folder.names(), ["bad.rasm", "out", "tape", "worse.rasm"], "nothing half written is left");
}

#[test]
fn an_output_file_is_replaced_whole() {
    let folder = Folder::new();
    let out = folder.file("out.rbc", [&b"\x89RBC\r\n\x1a\n"[..], &[7; 100_000]].concat());
    reviver(&format!("asm programs/fib.rasm -o {out}")).expect(0).prints("");
    reviver(&format!("run {out} --check")).expect(0);
    assert_eq!(folder.names(), ["out.rbc"]);
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let folder = Folder::new();
    let text = folder.file("a.rasm", ".inout x\nadd x, 1\n");
    reviver(&format!("asm {text} -o {text}.none/x")).expect(3).says("there is no folder");
    reviver(&format!("asm {text} -o {text}/x")).expect(3).says("is not a folder");
    reviver(&format!("asm {text} -o {}", folder.path("").display())).expect(3).says("it is a folder");
    reviver(&format!("asm {text} -o {text}"))
        .expect(2)
        .says("would be overwritten, but the command reads it");
    reviver(&format!("run {text} --save-state {text}.none/x")).expect(3).says("there is no folder");
    assert_eq!(folder.names(), ["a.rasm"]);
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let locked = folder.path("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o500)).unwrap();
    let out = locked.join("out.rbc");
    // A privileged user can write everywhere, so the test can't block writing.
    if std::fs::write(&out, "").is_err() {
        reviver(&format!("asm programs/fib.rasm -o {}", out.display())).expect(3).says("permission denied");
    }
}

#[cfg(unix)]
#[test]
fn devices_and_links_are_kept() {
    let folder = Folder::new();
    reviver("asm programs/fib.rasm -o /dev/null").expect(0);
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    let target = folder.file("target", "");
    std::os::unix::fs::symlink(&target, folder.path("link")).unwrap();
    reviver(&format!("disasm programs/fib.rasm -o {}", folder.path("link").display())).expect(0);
    assert!(folder.path("link").is_symlink());
    assert_ne!(folder.read("target"), b"");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_the_command_quietly() {
    let folder = Folder::new();
    let endless = ".in n default 1\ntop: from again, n > 1\nshow n\nadd n, 1\nagain: br top, n > 0\n";
    let endless = folder.file("endless.rasm", endless);
    let binary = env!("CARGO_BIN_EXE_reviver");
    for arguments in ["isa", "completions zsh", &format!("run {endless} --max-steps 100000000")] {
        let script = format!("{binary} {arguments} | head -n 1");
        let mut shell = std::process::Command::new("sh");
        let output = shell.arg("-c").arg(&script).current_dir(command().get_current_dir().unwrap()).output();
        let output = output.unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{script}");
        assert_eq!(output.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1, "{script}");
    }
}

/// A log replaces only an earlier log.
#[test]
fn a_log_replaces_only_a_log() {
    let folder = Folder::new();
    let program = root().join("programs/fib.rasm");
    for text in ["# My thesis\n\nThree years of work.\n", "x,y\n1,2\n", "precious\n"] {
        folder.file("notes", text);
        folder.reviver(&format!("run {} --log notes", program.display())).expect(2).says("notes");
        assert_eq!(folder.read("notes"), text.as_bytes());
    }
    folder.reviver(&format!("run {} --log log.csv", program.display())).expect(0);
    folder.reviver(&format!("run {} --back --set a=1,b=2 --log log.csv", program.display())).expect(0);
    assert!(folder.read("log.csv").starts_with(b"step,way,n,a,b\n0,backward,"));
}

/// The output of a batch replaces only the output of a batch with the same columns, neither text nor other numbers.
#[test]
fn a_batch_replaces_only_output_of_a_batch() {
    let folder = Folder::new();
    folder.file("double.rasm", ".inout n default 1\n.out twice\nadd twice, 2 * n\n");
    folder.file("in.csv", "n\n1\n2\n");
    for name in ["out.csv", "out.tsv"] {
        (0..2).for_each(|_| {
            drop(folder.reviver(&format!("batch double.rasm --lanes in.csv -o {name}")).expect(0))
        });
    }
    for text in [
        "# My thesis\n\nThree years of work.\n",
        "thesis\n\nThree years of work.\n",
        "x,y\n1,2\n",
        "n,twice,weight\n1,2,3\n",
        "1,2\n",
    ] {
        folder.file("notes.csv", text);
        folder.reviver("batch double.rasm --lanes in.csv -o notes.csv").expect(2).says("notes.csv");
        assert_eq!(folder.read("notes.csv"), text.as_bytes());
    }
    // An empty file is replaced; a table with other columns only with `--force`.
    folder.file("empty.csv", "");
    folder.reviver("batch double.rasm --lanes in.csv -o empty.csv").expect(0);
    folder.reviver("batch double.rasm --lanes in.csv --keep-going -o empty.csv").expect(2);
    folder.reviver("batch double.rasm --lanes in.csv --keep-going -o empty.csv --force").expect(0);
    // The output arrays are marked; arrays without the mark are kept.
    for _ in 0..2 {
        folder.reviver("batch double.rasm --lanes in.csv -o out.npz").expect(0);
    }
    let foreign = std::fs::read(root().join("tests/cases/tables/plain.npz")).unwrap();
    folder.file("mine.npz", &foreign);
    folder
        .reviver("batch double.rasm --lanes in.csv -o mine.npz")
        .expect(2)
        .says("mine.npz already exists and is not an archive that `reviver batch` has written");
    assert_eq!(folder.read("mine.npz"), foreign);
}

/// Output tapes are marked, too; files of numbers without the mark are kept.
#[test]
fn a_tape_replaces_only_a_tape() {
    let folder = Folder::new();
    folder.file("silent.rasm", ".inout n default 1\nadd n, 1\n");
    folder.file("loud.rasm", ".inout n default 1\nwrite n\n");
    for text in ["1\n2\n3\n", "1, 2, 3\n", "0.5", "# mine\n7\n"] {
        folder.file("numbers", text);
        for program in ["silent.rasm", "loud.rasm"] {
            folder
                .reviver(&format!("run {program} --tape-out numbers"))
                .expect(2)
                .says("numbers already exists and is not a tape that `reviver` has written");
        }
        assert_eq!(folder.read("numbers"), text.as_bytes());
    }
    folder.reviver("run loud.rasm --tape-out numbers --force").expect(0);
    folder.reviver("run silent.rasm --tape-out numbers").expect(0);
    folder.reviver("run loud.rasm --tape-out numbers").expect(0);
    assert_eq!(
        folder.read("numbers"),
        b"# tape written by `reviver`, and overwritten when it is written again\n1\n"
    );
    folder.reviver("run loud.rasm --back --set n=0 --tape numbers").expect(0).prints("n = 1\n");
    folder.reviver("run silent.rasm --tape-out new").expect(0);
    folder.reviver("run silent.rasm --tape new").expect(0);
}
