//! Memory exhaustion gives an error or trap with its message and exit code, never an abort. The limit is set by
//! `ulimit -v`, so tests don't exhaust the machine.
#![cfg(unix)]

use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::support::{Folder, Ran, reviver, root};

/// Runs `reviver` with `mebibytes` MiB of address space in addition to the minimum.
fn within(mebibytes: u32, arguments: &str) -> Ran {
    let output = limited(least() + mebibytes, arguments);
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn limited(mebibytes: u32, arguments: &str) -> Output {
    let script =
        format!("ulimit -v {}; exec {} {arguments}", mebibytes * 1024, env!("CARGO_BIN_EXE_reviver"));
    Command::new("sh").args(["-c", &script]).current_dir(root()).stdin(Stdio::null()).output().unwrap()
}

/// Returns the MiB of address space that the program needs to start, which depends on the build.
fn least() -> u32 {
    static LEAST: OnceLock<u32> = OnceLock::new();
    *LEAST.get_or_init(|| (1..4096).find(|&least| limited(least, "--version").status.success()).unwrap())
}

/// Returns a program that repeats a statement forever.
fn for_ever(declarations: &str, statement: &str) -> String {
    format!(
        "{declarations}\n.var n\n  from n == 0\n    {statement}\n    add n, 1\n  until n == -1\n  add n, 1\n"
    )
}

#[test]
fn arrays() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", ".var A[100000000]: real\n  add A[7], 1\n  sub A[7], 1\n");
    for command in ["run", "debug --batch /dev/null", "grad --loss A[7]"] {
        within(480, &format!("{command} {file}")).expect(4).says("not enough memory for the cells");
    }
    let file = folder.file("b.rasm", ".var A[4000000000]\n  add A[7], 1\n  sub A[7], 1\n");
    reviver(&format!("run {file}")).expect(3).says("more than 268435456");
}

#[test]
fn frames() {
    let folder = Folder::new();
    let text = ".limit depth 1000000\n  call p()\n.proc p()\n.ancilla A[1000000]\n  call p()\n.end\n";
    let file = folder.file("a.rasm", text);
    within(480, &format!("run {file}"))
        .expect(4)
        .says("memory ran out: there is none for the frame of this call")
        .says("`.limit depth`");
}

/// Each class has one limit for frames and globals together, so that addresses of cells and of adjoints can't overlap.
/// The pages of the large array are never written.
#[test]
fn frames_are_limited() {
    let folder = Folder::new();
    let program = |cells: u32| {
        let text = format!(".var G[{cells}]\n  call p()\n.proc p()\n.ancilla A[200]\n.end\n");
        reviver(&format!("run {} --max-steps 1", folder.file("a.rasm", text)))
    };
    program((1 << 28) - 202).expect(5);
    program((1 << 28) - 200)
        .expect(4)
        .says("more cells than a program may have: at most 268435456 of each class");
}

#[test]
fn stacks() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", for_ever(".limit stack 1000000000", "push n"));
    // Pushing leaves 0 in the cell.
    let text = std::fs::read_to_string(&file).unwrap().replace("push n\n", "add x, n\n    push x\n");
    let file = folder.file("a.rasm", format!(".var x\n{text}"));
    within(64, &format!("run {file}"))
        .expect(4)
        .says("memory ran out: there is none for another value on the stack")
        .says("`.limit stack`");
}

#[test]
fn tapes() {
    let folder = Folder::new();
    let text = |limit: &str| for_ever(&format!("{limit}\n.var x"), "write x");
    let file = folder.file("a.rasm", text(".limit tape 1000000000"));
    within(64, &format!("run {file}"))
        .expect(4)
        .says("memory ran out: there is none for another value on the tape")
        .says("`.limit tape`");
    let file = folder.file("b.rasm", text(".limit tape 3"));
    reviver(&format!("run {file}"))
        .expect(4)
        .says("the output tape is full: it holds at most 3 values")
        .says("raise the limit by `.limit tape`");
    let file = folder.file("c.rasm", ".limit tape 2\n.var x\n  read x\n  write x\n");
    reviver(&format!("run {file} --tape 1,2,3"))
        .expect(2)
        .says("the tape holds 3 values")
        .says(".limit tape");
    let file = folder.file("d.rasm", ".limit tape 2000000000\n.var x\n  read x\n  write x\n");
    reviver(&format!("check {file}")).expect(3).says("`.limit tape` is at most 1073741824");
}

#[test]
fn histories() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", for_ever(".var x", "overwrite x, n"));
    within(64, &format!("run {file} --exact"))
        .expect(4)
        .says("memory ran out: there is none for the history of this step")
        .says("`--exact`");
}

/// A program that shows values endlessly prints endlessly. The list in `--json` is limited, and the object says so.
#[test]
fn shows() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", for_ever(".var x", "show x"));
    let object = within(990, &format!("run {file} --json --max-steps 6000000")).expect(5).json();
    assert_eq!(object["shown"].as_array().unwrap().len(), 1 << 20);
    assert_eq!(object["shown_left_out"], 2_000_000 - (1 << 20));
}

/// Of these commands, only `--check` copies the state.
#[test]
fn copies() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", ".var A[40000000]\n  add A[7], 1\n  sub A[7], 1\n");
    within(570, &format!("run {file}")).expect(0);
    within(570, &format!("run {file} --check")).expect(4).says("not enough memory for the copies");
    reviver(&format!("run {file} --check")).expect(0);
}

/// If a state fits into memory but its encoding doesn't, no file is written.
#[test]
fn saved_states() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", ".var A[40000000]\n  add A[7], 1\n  sub A[7], 1\n");
    let state = folder.path("state");
    within(340, &format!("run {file} --save-state {}", state.display())).expect(4).says("not enough memory");
    assert!(!state.exists());
}

/// Printing results needs no extra memory, in any format.
#[test]
fn results() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", ".out A[10000000]\n  add A[7], 1\n");
    for (options, bytes) in [("", "30000005"), ("--json", "20000126")] {
        within(80, &format!("run {file} {options} | wc -c")).expect(0).prints(&format!("{bytes}\n"));
    }
    let text = ".limit tape 2000000\n.var n\n.var x\n  from n == 0\n    add x, 9223372036854775807\n    write x\n    \
                add n, 1\n  until n == 2000000\n  sub n, 2000000\n";
    let file = folder.file("b.rasm", text);
    within(80, &format!("run {file} | wc -c")).expect(0).prints("42000008\n");
    // The text of a file is created before it is written, so that the file appears as a whole.
    let tape = folder.path("tape");
    within(80, &format!("run {file} --tape-out {} > /dev/null", tape.display()))
        .expect(4)
        .says("there is not enough memory");
    assert!(!tape.exists());
}

/// Derivatives need copies of the state; dual numbers and series need more memory than plain numbers.
#[test]
fn derivatives() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", ".inout A[5000000]: real\n.out y: real\n  add.mul y, A[7], A[8]\n");
    for (command, too_little, enough) in [
        ("grad --loss y --wrt A[7]", 105, 270),
        ("grad --loss y", 185, 370),
        ("jacobian --of y --wrt A[7]", 105, 270),
        ("jacobian --of y", 185, 570),
        ("jacobian", 1000, 0),
        ("hessian --loss y --wrt A[7]", 185, 470),
        ("taylor --order 2 --along A[7] --of y", 500, 1000),
    ] {
        let ran = within(too_little, &format!("{command} {file} --json"));
        assert_eq!(ran.json()["error"]["kind"], "trap", "{ran:#?}");
        ran.expect(4).says("there is not enough memory for");
        // All derivatives of an array by itself exceed any memory.
        if enough > 0 {
            within(enough, &format!("{command} {file} > /dev/null")).expect(0);
        }
    }
}

/// A debugger command that copies the state reports memory exhaustion. The session then continues unchanged.
#[test]
fn the_debugger() {
    let folder = Folder::new();
    let program = ".inout A[5000000]: real\n.var n\n  from n == 0\n    add A[n], 0.1\n    add n, 1\n  until n == 100000\n  sub n, 100000\n";
    let file = folder.file("a.rasm", program);
    let debug = |mebibytes, commands: &str| {
        let script = folder.file("script", commands);
        within(mebibytes, &format!("debug {file} --batch {script}"))
    };
    debug(43, "step\n")
        .expect(4)
        .says("not enough memory for the copy of the state from which the session starts");
    let no_copy = "error: there is not enough memory for a copy of the state";
    for command in ["set A[1] = 5", "gradient A[1]", "why A[1]", "history A[1]", "check", "picture p.svg"] {
        let ran = debug(115, &format!("goto end\n{command}\n")).expect(1);
        assert!(ran.stdout.contains(no_copy), "{ran:#?}");
    }
    // Running backward needs a copy, too, and traps without memory.
    let ran = debug(115, "goto end\nreverse-step\nprint A[99999]\n").expect(0);
    assert!(
        ran.stdout.contains("trap[T35]: memory ran out: there is none for a copy of the state"),
        "{ran:#?}"
    );
    assert!(ran.stdout.contains("= 0.1\n"), "{ran:#?}");
    // A search that lacks the memory to run backward doesn't report that nothing was found.
    let ran = debug(160, "goto end\nwhy A[1]\nhistory A[1]\n").expect(0);
    assert!(ran.stdout.contains("A[1] = 0.1 at step 300002; memory ran out: the search stopped"), "{ran:#?}");
    assert!(ran.stdout.contains("memory ran out: there may be more writes"), "{ran:#?}");
    let ran = debug(1000, "goto end\nset A[1] = 5\nreverse-step\ncheck\nwhy A[1]\n").expect(0);
    assert!(!ran.stdout.contains("memory"), "{ran:#?}");
}
