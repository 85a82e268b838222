//! `reviver build`: C text, headers and libraries, and what is refused.

use std::process::Command;

use crate::support::{Folder, command, reviver, with_input};

/// Whether there is a C compiler, as the command looks for one.
fn has_compiler() -> bool {
    let is_there = Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("NOT TRIED: there is no `cc`");
    }
    is_there
}

#[test]
fn text_and_header_are_printed_or_written() {
    let folder = Folder::new();
    let text = reviver("build programs/fib.rasm").expect(0).stdout;
    assert!(text.starts_with("/* written by `reviver build`"), "{text}");
    assert!(
        text.contains(
            "int fib_forward(struct fib_memory *memory, const int64_t *n, int64_t *a, int64_t *b) {"
        )
    );
    assert_eq!(reviver("build programs/fib.rasm --c -o -").expect(0).stdout, text);
    let file = folder.path("fib.c").display().to_string();
    for _ in 0..2 {
        reviver(&format!("build programs/fib.rasm -o {file}")).expect(0).prints("");
        assert_eq!(folder.read("fib.c"), text.as_bytes());
    }
    let header = reviver("build programs/fib.rasm --header --name my-fib").expect(0).stdout;
    assert!(
        header.contains("int my_fib_backward(struct my_fib_memory *memory, int64_t *n, const int64_t *a"),
        "{header}"
    );
    assert!(!header.contains("_gradient"), "{header}");
    with_input("build - --header", b".in n\nadd n, 1\n").expect(0).prints_part("int program_forward(");
    reviver("build programs/fib.rasm --c --lib -o x").expect(2);
    reviver("build programs/fib.rasm --lib").expect(2).says("--output");
}

#[test]
fn other_files_are_left_alone() {
    let folder = Folder::new();
    let file = folder.path("mine.c").display().to_string();
    std::fs::write(&file, "int mine;\n").unwrap();
    reviver(&format!("build programs/fib.rasm -o {file}"))
        .expect(2)
        .says("is not a C text that `reviver` has written");
    assert_eq!(folder.read("mine.c"), b"int mine;\n");
    reviver(&format!("build programs/fib.rasm -o {file} --force")).expect(0);
}

#[test]
fn what_has_no_text_is_refused_with_its_place() {
    with_input("build -", b".in n\npush n\npop n\n")
        .expect(3)
        .says("line 2: `push` has no C text")
        .says("= help: keep");
    with_input("build -", b".in n\nshow n\n").expect(3).says("line 2: `show` has no C text");
    let fixed = b".real fixed\n.inout x: real\n.out y: real\nadd y, exp(x)\n";
    with_input("build -", fixed).expect(3).says("`exp` in fixed point has no C text");
    for (loss, said) in
        [("zz", "no cell `zz`"), ("c", "`c` has 5 cells"), ("i", "no cell `i`"), ("c[9]", "no cell `c[9]`")]
    {
        reviver(&format!("build programs/horner.rasm --loss {loss}")).expect(2).says(said);
    }
    reviver("build programs/fib.rasm --loss a").expect(2).says("only reals have a gradient");
    reviver("build programs/nowhere.rasm").expect(3);
}

#[test]
fn a_library_computes_what_the_program_computes() {
    if !has_compiler() {
        return;
    }
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let library = path("libhorner.so");
    // What it has built it replaces.
    for _ in 0..2 {
        reviver(&format!("build programs/horner.rasm --loss y --lib -o {library}")).expect(0);
    }
    reviver(&format!("build programs/horner.rasm --loss y --header -o {}", path("horner.h"))).expect(0);
    let user = "#include <stdio.h>\n#include \"horner.h\"\n\
        int main(void) {\n    struct horner_memory memory;\n    double x = 2, c[5] = {1, 2, 3, 4, 5}, y, by_x, by_c[5];\n\
        \x20   int status = horner_gradient(&memory, &x, c, &y, &by_x, by_c);\n\
        \x20   printf(\"%s: %g, %g, %g\\n\", horner_message(status), y, by_x, by_c[4]);\n    return status;\n}\n";
    std::fs::write(path("user.c"), user).unwrap();
    let compiled =
        Command::new("cc").args([&path("user.c"), &library, "-o", &path("user"), "-lm"]).output().unwrap();
    assert!(compiled.status.success(), "{compiled:?}");
    let ran = Command::new(path("user")).env("LD_LIBRARY_PATH", folder.path("")).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(said, "the results are written: 129, 222, 16\n");
}

#[test]
fn a_compiler_that_is_missing_or_refuses_is_named() {
    let folder = Folder::new();
    for (compiler, said) in
        [("no-such-compiler", "can't run the C compiler `no-such-compiler`"), ("false", "refuses the text")]
    {
        let mut build = command();
        build
            .args(["build", "programs/fib.rasm", "--lib", "-o"])
            .arg(folder.path("fib.so"))
            .env("CC", compiler);
        let output = build.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(3) && stderr.contains(said), "{stderr}");
        assert!(!folder.path("fib.so").exists());
    }
}
