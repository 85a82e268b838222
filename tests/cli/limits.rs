//! Endless inputs are limited, and the limit is reported.

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

/// Runs a command with endless standard input.
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
    endless("run programs/fib.rasm --tape -").expect(3).says(LIMIT).says("save the data in a file first");
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
    reviver(&format!("check {path}")).expect(3).says("the maximum size of a text");
    reviver(&format!("check {includes}")).expect(3).says("the maximum size of a text");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_standard_output_is_an_error() {
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
        assert!(words.contains("the disk is full"), "{arguments}: {words}");
    }
}

/// Every command quickly refuses nested macros whose expansion is exponentially long, and needs little memory for the
/// refusal.
#[cfg(target_os = "linux")]
#[test]
fn macros_that_multiply_are_refused() {
    let folder = Folder::new();
    let mut text = String::from(".inout x default 3\n.out seen\n");
    for n in 1..6 {
        text += &format!(".macro m{n}()\n{}.endm\n", format!("m{}\n", n + 1).repeat(10));
    }
    let sum: Vec<String> = (2..60).map(|n| format!("(x*{n})")).collect();
    text += &format!(".macro m6()\n{}.endm\nm1\n", format!("add seen, {}\n", sum.join(" + ")).repeat(8));
    let uses = ".inout x\n.macro e0()\n.endm\n".to_owned()
        + &(1..30).map(|n| format!(".macro e{n}()\ne{0}\ne{0}\n.endm\n", n - 1)).collect::<String>()
        + "e29\n";
    let undone = text.replace("\nm1\n", "\nundo m1\n");
    let compute =
        format!(".inout x\n.var t\n{}add t, x\n{}", "compute\n".repeat(30), "apply\nuncompute\n".repeat(30));
    for (name, text) in [("sums", &text), ("uses", &uses), ("undone", &undone), ("compute", &compute)] {
        folder.file("bomb.rasm", text);
        let started = Instant::now();
        let ran = folder
            .shell(&format!("ulimit -d 262144; {} check bomb.rasm", env!("CARGO_BIN_EXE_reviver")))
            .expect(3);
        let ran =
            ran.says("error[E09]: macros and `uncompute` expand this text to more than 500000 instructions");
        ran.says("--> bomb.rasm:").says("write a `.proc` for the repeated part");
        assert!(started.elapsed() < Duration::from_secs(10), "{name}: {:?}", started.elapsed());
    }
    folder.file("bomb.rasm", format!(";! run -> seen=0\n{text}"));
    for command in [
        "run",
        "expand",
        "disasm",
        "grad --loss seen",
        "build",
        "asm -o out.rbc",
        "bennett",
        "test",
        "debug --batch /dev/null",
    ] {
        let line = format!("{command} bomb.rasm");
        let ran = folder.reviver(&line);
        assert!(
            ran.code != 0 && (ran.stderr.clone() + &ran.stdout).contains("to more than 500000 instructions"),
            "{line}: {ran:?}"
        );
    }
}
