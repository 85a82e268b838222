//! Invalid inputs give a clear error with its exit code; no input causes a panic or a hang.

use std::time::{Duration, Instant};

use crate::support::{Folder, reviver, with_input};

#[test]
fn texts_with_mistakes() {
    let cases = [
        ("nothing", "", "there is no program here"),
        ("unknown instruction", "frob r0\n", "no instruction or macro `frob`"),
        ("unknown name", "add nme, 1\n", "nothing is named `nme`"),
        ("near name", ".inout name\nadd nme, 1\n", "did you mean `name`?"),
        ("too few operands", "add r0\n", "`add` takes 2 operands, found 1"),
        ("too many operands", "add r0, 1, 2, 3\n", "`add` takes 2 operands, found 4"),
        ("a function's arity", "add.mul r0, 1\n", "`add.mul` takes 3 operands, found 2"),
        ("a wide integer", "add r0, 99999999999999999999\n", "does not fit into 64 bits"),
        ("an integer too wide for the word", ".word 8\nadd r0, 200\n", "200 does not fit into 8 bits"),
        ("an aliased target", "add r0, r0\n", "target and a source"),
        ("an aliased index", ".inout A[4]\nadd A[r0], 1\nswap A[r0], r0\n", "error"),
        ("a label twice", "a: add r0, 1\na: sub r0, 1\n", "the label `a` is declared twice"),
        ("no such label", "a: br b, r0 == 0\n", "no label `b`"),
        ("an unpaired branch", "a: br b, r0 == 0\nb: add r0, 1\n", "error"),
        (
            "a label used by two branches",
            "a: br c, r0 == 0\nb: br c, r0 == 1\nc: from a, r0 == 1\n",
            "`c` does not name this branch as its partner",
        ),
        ("a macro of itself", ".macro m(x)\nm x\n.endm\nm r0\n", "the macro `m` uses itself"),
        (
            "macros of each other",
            ".macro m(x)\nn x\n.endm\n.macro n(x)\nm x\n.endm\nm r0\n",
            "the macro `m` uses itself",
        ),
        ("an open block", "if r0 == 0\nadd r1, 1\n", "error"),
        ("a block closed twice", "rof\n", "error"),
        ("a missing include", ".include \"none.rasm\"\n", "there is no file `"),
        ("an included folder", ".include \"..\"\n", "is a directory"),
    ];
    let folder = Folder::new();
    for (what, text, reason) in cases {
        let file = folder.file("bad.rasm", text);
        for command in ["run", "check", "disasm"] {
            let ran = reviver(&format!("{command} {file}"));
            assert_eq!((ran.code, &ran.stdout[..]), (3, ""), "{what}: {ran:#?}");
            assert!(ran.stderr.contains(reason), "{what}: {ran:#?}");
            assert!(ran.stderr.ends_with(": nothing was assembled\n"), "{what}: {ran:#?}");
        }
    }
}

#[test]
fn all_mistakes_are_reported_in_one_run() {
    let folder = Folder::new();
    let file = folder.file("bad.rasm", "frob r0\nadd r0, r0\nadd rr0, 1\n");
    reviver(&format!("check {file}"))
        .expect(3)
        .says("bad.rasm:1:1")
        .says("bad.rasm:2:9")
        .says("bad.rasm:3:5")
        .says("3 errors: nothing was assembled");
}

#[test]
fn files_that_are_not_text() {
    let folder = Folder::new();
    let latin = folder.file("latin.rasm", b"add r0, 1 ; caf\xe9\n");
    reviver(&format!("run {latin}")).expect(3).says("not UTF-8").says("latin.rasm:1:16");
    let nul = folder.file("nul.rasm", b"add r0, 1\0\n");
    reviver(&format!("run {nul}")).expect(3).says("NUL byte");
    for command in ["run", "check", "fmt", "invert"] {
        reviver(&format!("{command} {nul}")).expect(3);
        reviver(&format!("{command} {latin}")).expect(3);
    }
    let includes = folder.file("includes.rasm", ".include \"latin.rasm\"\n.include \"image.rbc\"\n");
    let image = folder.path("image.rbc");
    reviver(&format!("asm programs/fib.rasm -o {}", image.display())).expect(0);
    reviver(&format!("check {includes}")).expect(3).says("included here").says("2 errors");
    with_input("run -", b"\xff\xfe").expect(3).says("<stdin>");
    reviver(&format!("run {}", folder.path("").display())).expect(3).says("it is a folder");
}

#[test]
fn circular_includes_are_refused() {
    let folder = Folder::new();
    let first = folder.file("first.rasm", ".include \"second.rasm\"\n.inout x\nadd x, 1\n");
    folder.file("second.rasm", ".include \"first.rasm\"\n");
    reviver(&format!("run {first}")).expect(3).says("includes itself").says("included here");
}

#[test]
fn very_long_lines_are_rejected_quickly() {
    const LENGTH: usize = 100_000_000;
    let folder = Folder::new();
    for (name, start, unit) in [("name", "add ", "x"), ("nest", "add r0, ", "("), ("text", "; ", "c")] {
        let file = folder.file(name, format!("{start}{}\n", unit.repeat(LENGTH)));
        let started = Instant::now();
        reviver(&format!("check {file}")).expect(3).says("this line is longer than 1 MiB");
        assert!(started.elapsed() < Duration::from_secs(5), "{name} took {:?}", started.elapsed());
    }
    let nested = folder.file("nested", format!("add r0, {}1\n", "(".repeat(1 << 19)));
    reviver(&format!("check {nested}")).expect(3);
    let blocks = folder.file("blocks", "if r0 == 0\n".repeat(100_000));
    reviver(&format!("check {blocks}")).expect(3);
}

#[test]
fn invalid_images() {
    let folder = Folder::new();
    let image = folder.path("fib.rbc").display().to_string();
    reviver(&format!("asm programs/fib.rasm -o {image}")).expect(0);
    let good = folder.read("fib.rbc");
    let refused = |bytes: &[u8], reason: &str| {
        let file = folder.file("bad.rbc", bytes);
        for command in ["run", "check", "disasm", "invert"] {
            reviver(&format!("{command} {file}")).expect(3).says(reason).prints("");
        }
    };
    refused(b"", "not a Reviver image");
    refused(b"add r0, 1\n", "not a Reviver image");
    refused(&good[..7], "truncated");
    refused(&good[..100], "truncated");
    refused(&good[..good.len() - 1], "truncated");
    let mut newer = good.clone();
    newer[8] = 9;
    refused(&newer, "format version 9, and this build reads version 5");
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 1;
    refused(&damaged, "damaged");
    // Damaged bytes under another name are still not accepted as text.
    let file = folder.file("noname", &damaged);
    reviver(&format!("run {file}")).expect(3).says("damaged");
}
