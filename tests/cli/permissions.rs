//! Permissions, links and owners of output files, and files of killed writers.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::process::Command;

use crate::support::{Folder, Ran};

const BINARY: &str = env!("CARGO_BIN_EXE_reviver");

fn mode(folder: &Folder, name: &str) -> u32 {
    fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o7777
}

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.path(name), Permissions::from_mode(mode)).unwrap();
}

/// Creates a folder with a small program.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("program.rasm", ".inout a\nadd a, 1\n");
    folder
}

#[test]
fn a_new_file_has_the_permissions_of_the_umask() {
    let folder = folder();
    for (umask, expected) in [("022", 0o644), ("077", 0o600), ("002", 0o664), ("000", 0o666)] {
        for command in
            ["asm program.rasm -o out", "run program.rasm --save-state out", "disasm program.rasm -o out"]
        {
            let ran = folder.shell(&format!("umask {umask}; {BINARY} {command}"));
            assert_eq!(ran.code, 0, "{ran:#?}");
            assert_eq!(mode(&folder, "out"), expected, "umask {umask}: {command}");
            fs::remove_file(folder.path("out")).unwrap();
        }
    }
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_its_owner() {
    let folder = folder();
    folder.reviver("asm program.rasm -o out").expect(0);
    for expected in [0o600, 0o640, 0o755, 0o666] {
        set_mode(&folder, "out", expected);
        folder.reviver("asm program.rasm -o out").expect(0);
        assert_eq!(mode(&folder, "out"), expected);
        set_mode(&folder, "program.rasm", expected);
        folder.file("program.rasm", ".inout a\nadd   a, 1\n");
        folder.reviver("fmt --write program.rasm").expect(0);
        assert_eq!(mode(&folder, "program.rasm"), expected);
    }
    if chown(folder.path("out"), Some(65534), Some(65534)).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    folder.reviver("asm program.rasm -o out").expect(0);
    let facts = fs::metadata(folder.path("out")).unwrap();
    assert_eq!((facts.uid(), facts.gid()), (65534, 65534));
}

#[test]
fn a_dangling_link_gets_its_target() {
    let folder = folder();
    fs::create_dir(folder.path("sub")).unwrap();
    symlink("sub/target", folder.path("link")).unwrap();
    symlink("link", folder.path("longer")).unwrap();
    folder.reviver("asm program.rasm -o longer").expect(0);
    assert!(folder.path("link").is_symlink() && folder.path("longer").is_symlink());
    assert!(folder.read("sub/target").starts_with(b"\x89RBC"));
    symlink("none/target", folder.path("lost")).unwrap();
    folder.reviver("asm program.rasm -o lost").expect(3).says("none/target: there is no folder");
    symlink("round", folder.path("round")).unwrap();
    folder.reviver("asm program.rasm -o round").expect(3).says("can't write round");
    folder.reviver("asm program.rasm -o new/").expect(3).says("it is a folder");
}

/// Runs a command in a folder without root privileges, as the user `nobody` if the tests run as root. `None` if that
/// isn't possible.
fn unprivileged(folder: &Folder, command: &str) -> Option<Ran> {
    unprivileged_after(folder, "", command)
}

/// Runs a command with a file size limit of a few KiB.
fn limited(folder: &Folder, command: &str) -> Option<Ran> {
    unprivileged_after(folder, "trap '' XFSZ; ulimit -f 8; ", command)
}

/// Runs a command in a shell after other shell commands.
fn unprivileged_after(folder: &Folder, first: &str, command: &str) -> Option<Ran> {
    if fs::metadata(folder.path("program.rasm")).unwrap().uid() != 0 {
        return Some(folder.shell(&format!("{first}{BINARY} {command}")));
    }
    // The program may be in a folder that only root can access.
    let copy = folder.path("reviver");
    if !copy.exists() {
        fs::copy(BINARY, &copy).unwrap();
    }
    let tool = Command::new("setpriv").arg("--version").output();
    if !tool.is_ok_and(|output| output.status.success()) {
        println!("skipped: the tests run as root, and there is no `setpriv` to be somebody else");
        return None;
    }
    let nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    Some(folder.shell(&format!("{first}{nobody} ./reviver {command}")))
}

/// Changes a file's owner to the user of [`unprivileged`].
fn give_away(folder: &Folder, name: &str) {
    if fs::metadata(folder.path("program.rasm")).unwrap().uid() == 0 {
        chown(folder.path(name), Some(65534), Some(65534)).unwrap();
    }
}

#[test]
fn a_write_protected_file_is_replaced_only_with_force() {
    let folder = folder();
    folder.reviver("asm program.rasm -o out").expect(0);
    set_mode(&folder, "out", 0o444);
    set_mode(&folder, "", 0o777);
    give_away(&folder, "out");
    let before = fs::metadata(folder.path("out")).unwrap().ino();
    let Some(ran) = unprivileged(&folder, "asm program.rasm -o out") else { return };
    ran.expect(3).says("it is write-protected").says("add `--force` to replace the file");
    assert_eq!(fs::metadata(folder.path("out")).unwrap().ino(), before);
    unprivileged(&folder, "asm program.rasm -o out --force").unwrap().expect(0);
    assert_ne!(fs::metadata(folder.path("out")).unwrap().ino(), before);
    assert_eq!(mode(&folder, "out"), 0o444);
    folder.file("untidy.rasm", ".inout  a\nadd    a,1\n");
    set_mode(&folder, "untidy.rasm", 0o444);
    let ran = unprivileged(&folder, "fmt --write untidy.rasm").unwrap();
    ran.expect(3).says("it is write-protected").says("make the file writable first");
}

#[test]
fn a_writable_file_in_a_folder_that_is_not_is_written_in_place() {
    let folder = folder();
    fs::create_dir(folder.path("locked")).unwrap();
    folder.reviver("asm program.rasm -o locked/out").expect(0);
    let image = folder.read("locked/out");
    folder.file("locked/out", [&image[..], &[0; 100]].concat());
    set_mode(&folder, "locked/out", 0o666);
    set_mode(&folder, "locked", 0o555);
    set_mode(&folder, "", 0o755);
    let before = fs::metadata(folder.path("locked/out")).unwrap().ino();
    if let Some(ran) = unprivileged(&folder, "asm program.rasm -o locked/out") {
        ran.expect(0);
        assert_eq!(fs::metadata(folder.path("locked/out")).unwrap().ino(), before);
        assert!(folder.read("locked/out") == image, "nothing of the longer file is left");
        let new = unprivileged(&folder, "asm program.rasm -o locked/new").unwrap();
        new.expect(3).says("permission denied");
    }
    set_mode(&folder, "locked", 0o755);
}

#[test]
fn a_failed_write_in_place_restores_the_file() {
    let folder = folder();
    // 100,000 cells make a state file that is longer than the limit.
    folder.file("large.rasm", ".inout A[100000]\nadd A[0], 1000000\n");
    fs::create_dir(folder.path("locked")).unwrap();
    folder.reviver("run program.rasm --save-state locked/out").expect(0);
    let before = folder.read("locked/out");
    set_mode(&folder, "locked/out", 0o666);
    set_mode(&folder, "locked", 0o555);
    set_mode(&folder, "", 0o755);
    if let Some(ran) = limited(&folder, "run large.rasm --save-state locked/out") {
        ran.expect(3).says("can't write locked/out");
        assert!(folder.read("locked/out") == before);
    }
    set_mode(&folder, "locked", 0o755);
}

#[test]
fn a_writable_file_keeps_its_owner() {
    let folder = folder();
    folder.reviver("asm program.rasm -o out").expect(0);
    set_mode(&folder, "out", 0o666);
    set_mode(&folder, "", 0o777);
    let owner = fs::metadata(folder.path("out")).unwrap().uid();
    let before = fs::metadata(folder.path("out")).unwrap().ino();
    let Some(ran) = unprivileged(&folder, "asm program.rasm -o out") else { return };
    ran.expect(0);
    let after = fs::metadata(folder.path("out")).unwrap();
    assert_eq!(after.uid(), owner);
    assert!(owner != 0 || after.ino() == before, "root's file is written in place");
}

#[test]
fn failed_and_killed_writes_leave_no_files() {
    let folder = Folder::new();
    // 100,000 cells make a state file that is longer than the limit.
    folder.file("program.rasm", ".inout A[100000]\nadd A[0], 1000000\n");
    let run = format!("{BINARY} run program.rasm --save-state state");
    let code = folder.shell(&format!("{run} --tape-out tape")).code;
    assert_eq!(code, 0);
    let before = folder.read("state");
    let failing = folder.shell(&format!("trap '' XFSZ; ulimit -f 8; {run}"));
    assert_eq!(failing.code, 3, "{failing:#?}");
    assert!(failing.stderr.contains("can't write state"), "{failing:#?}");
    assert!(failing.stdout.starts_with("A = [1000000, 0"), "the results are printed all the same");
    assert!(folder.read("state") == before);
    let names = folder.names();
    assert_eq!(names, ["program.rasm", "state", "tape"], "nothing half written is left");
    let killed = folder.shell(&format!("ulimit -f 8; {run}"));
    assert!(killed.code != 0 && killed.stderr.is_empty() || killed.code > 128, "{}", killed.code);
    assert!(folder.read("state") == before);
    assert_eq!(folder.names().len(), 4, "what was half written is still there: {:?}", folder.names());
    assert_eq!(folder.shell(&run).code, 0);
    assert_eq!(folder.names(), ["program.rasm", "state", "tape"], "the next writer has cleaned up");
}
