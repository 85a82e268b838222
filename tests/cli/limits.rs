//! Inputs without an end have a limit, and one that is told.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Folder, Ran, command, reviver};

const LIMIT: &str = "more than 256 MiB";

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_never_ends() {
    let folder = Folder::new();
    let list = folder.file("list.rasm", ".inout A[3]\nadd A[0], 1\n");
    let started = Instant::now();
    for (what, file) in [
        ("check /dev/zero".to_owned(), "/dev/zero"),
        ("run /dev/zero".to_owned(), "/dev/zero"),
        ("fmt /dev/zero".to_owned(), "/dev/zero"),
        (format!("run {list} --set A=@/dev/zero"), "/dev/zero"),
        (format!("run {list} --tape /dev/zero"), "/dev/zero"),
        (format!("run {list} --from-state /dev/zero"), "/dev/zero"),
        (format!("debug {list} --batch /dev/zero"), "/dev/zero"),
    ] {
        let ran = reviver(&what).expect(3).says(LIMIT).prints("");
        assert!(ran.stderr.contains(file), "{ran:#?}");
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    let ran = folder.with_input(&format!("repl {list}"), b"source /dev/zero\n").expect(0);
    assert!(ran.stdout.contains(LIMIT), "{ran:#?}");
}

/// Runs a command with standard input that never ends.
#[cfg(unix)]
fn endless(arguments: &str) -> Ran {
    let mut yes = Command::new("yes").arg("add r0, 1").stdout(Stdio::piped()).spawn().unwrap();
    let input = yes.stdout.take().unwrap();
    let output = command().args(arguments.split_whitespace()).stdin(input).output().unwrap();
    yes.kill().ok();
    yes.wait().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[cfg(unix)]
#[test]
fn standard_input_that_never_ends() {
    endless("check -").expect(3).says("can't read <stdin>").says(LIMIT).prints("");
    endless("run programs/fib.rasm --tape -").expect(3).says(LIMIT).says("put it into a file first");
    endless("debug programs/fib.rasm --batch -").expect(3).says(LIMIT);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_too_long_is_not_read() {
    let folder = Folder::new();
    let path = folder.file("long.rasm", "");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    let includes = folder.file("includes.rasm", ".include \"long.rasm\"\n");
    let started = Instant::now();
    reviver(&format!("check {path}")).expect(3).says("the most that a text may have");
    reviver(&format!("check {includes}")).expect(3).says("the most that a text may have");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[cfg(target_os = "linux")]
#[test]
fn what_can_not_be_printed_is_an_error() {
    let binary = env!("CARGO_BIN_EXE_reviver");
    for arguments in [
        "--help",
        "--version",
        "help run",
        "run --help",
        "isa",
        "isa add",
        "completions bash",
        "check programs/fib.rasm",
        "fmt programs/fib.rasm",
        "disasm programs/fib.rasm",
        "invert programs/fib.rasm",
        "asm programs/fib.rasm -o -",
        "asm programs/fib.rasm -o /dev/full",
        "run programs/fib.rasm",
        "run programs/fib.rasm --json",
        "run programs/fib.rasm --tape-out -",
        "grad programs/norm.rasm --loss length",
        "jacobian programs/norm.rasm",
        "hessian programs/norm.rasm --loss length",
        "taylor programs/horner.rasm --along x --order 2",
        "repl programs/fib.rasm < docs/keys.md",
        "debug programs/fib.rasm --batch /tmp/../dev/stdin < docs/keys.md",
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{binary} {arguments} > /dev/full")]).current_dir(crate::support::root());
        let output = shell.output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments}: {words}");
        assert!(words.contains("No space left"), "{arguments}: {words}");
    }
}
