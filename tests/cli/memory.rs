//! Memory that runs out: an error or a trap with its words and its exit code, never an abort. The limit
//! is the system's, `ulimit -v`, so that nothing here takes the memory of the machine that tests it.
#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::support::{Folder, Ran, reviver, root};

/// `reviver` that may take so many MiB of addresses.
fn within(mebibytes: u32, arguments: &str) -> Ran {
    let script =
        format!("ulimit -v {}; exec {} {arguments}", mebibytes * 1024, env!("CARGO_BIN_EXE_reviver"));
    let output =
        Command::new("sh").args(["-c", &script]).current_dir(root()).stdin(Stdio::null()).output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A program that repeats a statement for ever.
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
        within(512, &format!("{command} {file}")).expect(4).says("not enough memory for the cells");
    }
    let file = folder.file("b.rasm", ".var A[4000000000]\n  add A[7], 1\n  sub A[7], 1\n");
    reviver(&format!("run {file}")).expect(3).says("more than 268435456");
}

#[test]
fn frames() {
    let folder = Folder::new();
    let text = ".limit depth 1000000\n  call p()\n.proc p()\n.ancilla A[1000000]\n  call p()\n.end\n";
    let file = folder.file("a.rasm", text);
    within(512, &format!("run {file}"))
        .expect(4)
        .says("memory ran out: there is none for the frame of this call")
        .says("`.limit depth`");
}

/// Frames and globals share what one class may have, so that the address of a cell never looks like that
/// of an adjoint. Nothing is written to the pages of the large array.
#[test]
fn frames_are_limited() {
    let folder = Folder::new();
    let program = |cells: u32| {
        let text = format!(".var G[{cells}]\n  call p()\n.proc p()\n.ancilla A[200]\n.end\n");
        reviver(&format!("run {} --max-steps 1", folder.file("a.rasm", text)))
    };
    program((1 << 28) - 202).expect(5);
    program((1 << 28) - 200).expect(4).says("more cells than a program may have, 268435456 a class");
}

#[test]
fn stacks() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", for_ever(".limit stack 1000000000", "push n"));
    // What is pushed leaves 0 behind.
    let text = std::fs::read_to_string(&file).unwrap().replace("push n\n", "add x, n\n    push x\n");
    let file = folder.file("a.rasm", format!(".var x\n{text}"));
    within(256, &format!("run {file}"))
        .expect(4)
        .says("memory ran out: there is none for another value on the stack")
        .says("`.limit stack`");
}

#[test]
fn tapes() {
    let folder = Folder::new();
    let text = |limit: &str| for_ever(&format!("{limit}\n.var x"), "write x");
    let file = folder.file("a.rasm", text(".limit tape 1000000000"));
    within(256, &format!("run {file}"))
        .expect(4)
        .says("memory ran out: there is none for another value on the tape")
        .says("`.limit tape`");
    let file = folder.file("b.rasm", text(".limit tape 3"));
    reviver(&format!("run {file}"))
        .expect(4)
        .says("the output tape is full: it holds at most 3 values")
        .says("`.limit tape` raises the limit");
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
    within(256, &format!("run {file} --exact"))
        .expect(4)
        .says("memory ran out: there is none for what the way back needs of this step")
        .says("`--exact`");
}

/// A program that shows without end prints without end; the object of `--json` is bounded, and says so.
#[test]
fn shows() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", for_ever(".var x", "show x"));
    let object = within(1024, &format!("run {file} --json --max-steps 6000000")).expect(5).json();
    assert_eq!(object["shown"].as_array().unwrap().len(), 1 << 20);
    assert_eq!(object["shown_left_out"], 2_000_000 - (1 << 20));
}

/// Only `--check` keeps copies of the state.
#[test]
fn copies() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", ".var A[40000000]\n  add A[7], 1\n  sub A[7], 1\n");
    within(600, &format!("run {file}")).expect(0);
    within(600, &format!("run {file} --check")).expect(4).says("not enough memory for the copies");
    reviver(&format!("run {file} --check")).expect(0);
}

/// A state that can be held can't always be saved: nothing is written then.
#[test]
fn saved_states() {
    let folder = Folder::new();
    let file = folder.file("a.rasm", ".var A[40000000]\n  add A[7], 1\n  sub A[7], 1\n");
    let state = folder.path("state");
    within(370, &format!("run {file} --save-state {}", state.display())).expect(3).says("not enough memory");
    assert!(!state.exists());
}
