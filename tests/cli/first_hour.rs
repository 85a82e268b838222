//! Typical mistakes of beginners, and the help that the messages give.

use crate::support::{Folder, reviver};

/// Checks the help for a faulty statement, after declarations of cells, a procedure and a macro.
fn helped(statement: &str, help: &str) {
    let folder = Folder::new();
    let head = ".inout a\n.inout b\n.inout c\n.inout A[9]\n.out y: real\n.proc p(inout x)\n neg x\n.end\n.macro m(x, z)\n add x, z\n.endm\n";
    folder.file("t.rasm", format!("{head}{statement}\n"));
    let ran = folder.reviver("check t.rasm").expect(3);
    assert!(ran.stderr.contains(help), "{statement}: {ran:#?}");
}

#[test]
fn assignments_of_several_cells() {
    helped("a, b = b, a", "write `swap a, b`");
    helped("(a, b) = (b, a)", "write `swap a, b`");
    helped("a, b := b, a", "write `swap a, b`");
    helped("A[1], A[b] = A[b], A[1] ; exchange", "write `swap A[1], A[b]`");
    helped("a, b, c = b, c, a", "write `swap a, b` and below it `swap b, c`");
    helped("a, b, c = c, a, b", "write `swap a, b` and below it `swap a, c`");
    helped(
        "a, b = 1, 2",
        "write a line for each cell: a statement changes one cell, and `swap a, b` exchanges two",
    );
    helped("a = a + b", "write `add a, b`");
}

#[test]
fn powers() {
    helped(
        "add y, y ** 2",
        "write `pow(a, b)` for a power of reals, and a product such as `a * a` for a power of integers",
    );
    helped("y = y2 ** 2", "write `add y, pow(y2, 2)`");
    helped("if a ** 2 == 4\nfi a == 2", "write `pow(a, b)` for a power of reals");
    helped("add A[a ** 2], 1", "write `pow(a, b)` for a power of reals");
}

#[test]
fn characters() {
    helped("add a, 'A'", "write 65, the code of `A`: cells hold numbers");
    helped("add a, ' '", "write 32, the code of ` `");
    helped("add a, b + '0'", "write 48, the code of `0`");
    helped("if a == 'z'\nfi a == 0", "write 122, the code of `z`");
    helped("add a, 'ab'", "expected an operand");
}

#[test]
fn operands_in_parentheses() {
    helped("swap(a,b)", "write `swap a,b`");
    helped("swap (a, b) ; exchange", "write `swap a, b`");
    helped("add(a, (b + c) * 2)", "write `add a, (b + c) * 2`");
    helped("add.mul(a, b, c)", "write `add.mul a, b, c`");
    helped("m(a, b)", "write `m a, b`");
    helped("undo m(a, b)", "write `m a, b`");
    // Parentheses of an operand are kept.
    let folder = Folder::new();
    folder.file(
        "t.rasm",
        ".inout a\n.inout b\nadd a, (b + 1) * (b - 1)\nneg (a)\ncall p(a)\n.proc p(inout x)\n neg x\n.end\n",
    );
    folder.reviver("check t.rasm").expect(0);
}

#[test]
fn ends_of_other_languages() {
    helped("for i in 0..3\nadd a, i\nnext", "this is no `rof`");
    helped("for i in 0..3\nadd a, i\nnext i", "end it with `rof`");
    helped("for i in 0..3\nadd a, i\nendfor", "this is no `rof`");
    helped("if a == 0\nadd b, 1\nendif", "this is no `fi`");
    helped("from a == 0\nadd a, 1\nwend", "this is no `until`");
    // A macro may be called `next`.
    let folder = Folder::new();
    folder.file("t.rasm", ".inout a\n.macro next()\nadd a, 1\n.endm\nfor i in 0..3\nnext\nrof\n");
    folder.reviver("check t.rasm").expect(0);
}

#[test]
fn invalid_tasks_get_a_suggestion() {
    helped("par uncall p(a), uncall p(b)", "to undo calls, write `unpar p(x), q(y)`");
    helped("par p(a), uncall p(b)", "call a procedure that contains the `uncall`");
    helped("par for i in 0..9 uncall p(A[i])", "write `unpar for i in 0..n call p(A[i])`");
    helped("par call p(a)", "write `par p(x), q(y)`");
    helped("par\ncall p(a)", "write `par p(x), q(y)`");
    helped("par i in 0..9 call p(A[i])", "write `par p(x), q(y)`, or `par for i in 0..n call p(A[i])`");
}

#[test]
fn encodings_are_named_with_their_remedy() {
    let folder = Folder::new();
    let text = ".in n ; Größe\n.out m\nadd m, n\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked: Vec<u8> = [&[0xff, 0xfe], &*little].concat();
    let big: Vec<u8> =
        [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect();
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let utf16 = ("UTF-8 but UTF-16", "iconv -f UTF-16 -t UTF-8");
    let windows = ("UTF-8 but most likely Windows-1252", "iconv -f WINDOWS-1252 -t UTF-8");
    for (bytes, (name, cure)) in [(little, utf16), (marked, utf16), (big, utf16), (latin, windows)] {
        let file = folder.file("t.rasm", &bytes);
        for command in ["check", "run", "fmt", "test"] {
            let ran = folder.reviver(&format!("{command} {file}"));
            let said = ran.stdout.clone() + &ran.stderr;
            assert!(ran.code != 0 && said.contains(name), "{command}: {ran:#?}");
            assert!(command == "test" || said.contains(cure), "{command}: {ran:#?}");
        }
        std::fs::create_dir_all(folder.path("mine/01-swap-two-cells")).unwrap();
        folder.file("mine/01-swap-two-cells/start.rasm", &bytes);
        folder.reviver("course check 1 mine").expect(1).prints_part(name).prints_part(cure);
    }
}

#[test]
fn cells_without_their_option() {
    let typed = |arguments: &str, answer: &str| {
        reviver(arguments).expect(2).says(answer).says("unexpected argument");
    };
    let answer = "`reviver run programs/fib.rasm --set n=10`";
    typed("run programs/fib.rasm n=10", answer);
    typed("run programs/fib.rasm -n 10", answer);
    typed("run programs/fib.rasm -n=10", answer);
    typed("run programs/fib.rasm --n 10", answer);
    typed("run programs/fib.rasm --set n 10", answer);
    typed("run programs/fib.rasm 10", answer);
    typed("run n=10 programs/fib.rasm", answer);
    typed("debug programs/fib.rasm a=1", "`reviver debug programs/fib.rasm --set a=1`");
    typed("grad programs/fib.rasm x=0.5", "`reviver grad programs/fib.rasm --set x=0.5`");
    // A command without cells doesn't suggest `--set`.
    let ran = reviver("check programs/fib.rasm n=10").expect(2);
    assert!(!ran.stderr.contains("--set"), "{ran:?}");
    let ran = reviver("run programs/fib.rasm --json n=10").expect(2);
    assert!(ran.json()["error"].to_string().contains("--set n=10"), "{ran:?}");
}

#[test]
fn commands_of_the_debugger() {
    let folder = Folder::new();
    let debug = |script: &str| {
        folder.file("script.txt", format!("{script}\n"));
        let command = format!(
            "debug {} --batch script.txt",
            crate::support::root().join("programs/fib.rasm").display()
        );
        let ran = folder.reviver(&command);
        ran.stdout + &ran.stderr
    };
    let said = debug("goto 9999");
    assert!(said.contains("there is no step 9999: the run ends at step 52; type `goto end`"), "{said}");
    let said = debug("goto -5");
    assert!(said.contains("there is no step -5: the run begins at step 0; type `goto start`"), "{said}");
    for quiet in ["goto 52", "goto 0", "goto end", "goto start", "goto 100%"] {
        let said = debug(quiet);
        assert!(!said.contains("there is no step"), "{said}");
    }
    let said = debug("print a, b");
    assert!(said.contains("`print` takes one expression: type `print a`, and then `print b`"), "{said}");
    let said = debug("display a, b");
    assert!(said.contains("one expression at a time"), "{said}");
}

/// A long run prints how its steps can be limited.
#[test]
fn long_runs_name_their_limit() {
    let folder = Folder::new();
    folder.file("long.rasm", ".inout a default 3\nfrom a == 3\nadd a, 2\nuntil a == 0\n");
    let long = &|limit: &str| {
        folder
            .shell(&format!("timeout -s INT 12 {} run long.rasm {limit}", env!("CARGO_BIN_EXE_reviver")))
            .stderr
    };
    let [without, with] = std::thread::scope(|scope| {
        let runs = ["", "--max-steps 100000000000000"].map(|limit| scope.spawn(move || long(limit)));
        runs.map(|run| run.join().unwrap())
    });
    assert_eq!(without.matches("limit a run with `--max-steps N`").count(), 1, "{without}");
    assert!(!with.contains("limit a run"), "{with}");
}
