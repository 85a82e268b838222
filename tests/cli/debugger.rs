//! `reviver debug` and `reviver repl` without a terminal: scripts, pipes, and errors in them.

use crate::support::{Folder, reviver, with_input};

#[test]
fn a_script() {
    let folder = Folder::new();
    let script =
        folder.file("script", "# to the end\ngoto end\nprint a\nexpect a == 55 # as always\nlast a\n");
    let shown = "> goto end\nhistory end\nstep 52: the end\n> print a\na = 55\n> expect a == 55\n\
                 > last a\na: 89 -> 55 by `swap a, b` (line 30, step 49)\nstep 48, line 30: swap  a, b\n";
    reviver(&format!("debug programs/fib.rasm --batch {script}")).expect(0).says("").prints(shown);
    // The output of a script is a valid script.
    let printed = folder.file("printed", shown);
    reviver(&format!("debug programs/fib.rasm --batch {printed}")).expect(0).prints(shown);
    let input = with_input("debug --batch - programs/fib.rasm", shown.as_bytes());
    input.expect(0).prints(shown);
}

#[test]
fn the_debugger_takes_values_and_options() {
    let folder = Folder::new();
    let program = folder.file("tape.rasm", ".inout n\n.out x: real\nread n\nadd x, 1e-6\n");
    let script = folder.file("script", "goto end\nprint n\nprint x\n");
    reviver(&format!("debug {program} --tape 200 --word 8 --batch {script}")).expect(2).says("8 bits");
    let options = "--tape -56 --word 8 --real fixed:16";
    let ran = reviver(&format!("debug {program} {options} --history 1K --batch {script}")).expect(0);
    assert!(ran.stdout.contains("n = -56\n"), "{ran:#?}");
    assert!(ran.stdout.contains("x = 0.0\n"), "{ran:#?}");
    let set = reviver(&format!("debug programs/fib.rasm --set n=3 --batch {script}")).expect(1);
    assert!(set.stdout.contains("step 17: the end\n"), "{set:#?}");
}

/// `--history` limits the memory of residues, except those of the last slice of steps.
#[test]
fn the_history_is_limited_by_the_option() {
    // Each iteration loses bits by adding small to large numbers.
    let rounds =
        "        for i in 0..100_000\n            add x, 1000.1\n            sub x, 1000.2\n        rof\n";
    let folder = Folder::new();
    let program = folder.file("rounds.rasm", ".inout x: real default 1\n".to_owned() + rounds);
    let script = "goto end\n".to_owned() + &"reverse-step 2_000\ninfo status\n".repeat(100);
    let most = |history: &str| {
        let ran = with_input(&format!("debug {program} --history {history} --batch -"), script.as_bytes());
        let reported = ran.expect(0).stdout;
        let reported = reported.lines().filter_map(|line| line.strip_prefix("history: ")?.split(' ').next());
        reported.filter_map(|bytes| bytes.parse::<usize>().ok()).max().unwrap()
    };
    // A slice of 4,096 steps, with at most 16 bytes each, is added.
    let (limit, slice) = (1 << 20, 64 << 10);
    let found = most("1M");
    assert!((limit / 2..limit + slice).contains(&found), "{found}");
    let found = most("2M");
    assert!((limit + slice..2 * limit + slice).contains(&found), "{found}");
}

#[test]
fn a_script_ends_at_its_first_failure() {
    let script = b"goto end\n\nexpect a == 54\nprint b\n";
    let ran = with_input("debug programs/fib.rasm --batch -", script)
        .expect(1)
        .says("error: the command on line 3 of <stdin> failed\n");
    assert!(
        ran.stdout.ends_with("> expect a == 54\nerror: `a == 54` does not hold: the sides are 55 and 54\n"),
        "{ran:#?}"
    );
    let ran = with_input("debug programs/fib.rasm --batch -", b"revers-step\n").expect(1);
    assert!(ran.stdout.contains("did you mean `reverse-step`?"), "{ran:#?}");
    let ran = with_input("debug programs/fib.rasm --batch -", b"expect-stop end\n").expect(1);
    assert!(ran.stdout.starts_with("> expect-stop end\nerror: "), "{ran:#?}");
    with_input("debug programs/fib.rasm --batch -", b"quit\nfrobnicate\n").expect(0).prints("> quit\n");
}

#[test]
fn a_program_without_end_is_stopped() {
    let script = b"goto 20\nset n = -1\ncontinue\nprint a\n";
    let ran = with_input("debug programs/fib.rasm --batch - --max-steps 10_000", script).expect(2);
    ran.says("invalid value");
    let ran = with_input("debug programs/fib.rasm --batch - --max-steps 10000", script)
        .expect(5)
        .says("error: the command on line 3 of <stdin> was stopped at 10000 steps from the start\n");
    assert!(ran.stdout.contains("step limit\nstep 10000 of branch 1"), "{ran:#?}");
    // In line mode the session continues.
    let ran = with_input("repl programs/fib.rasm --max-steps 10", b"c\nrs 3\ninfo status\n").expect(0);
    assert!(ran.stdout.contains("step limit\nstep 10") && ran.stdout.contains("step 7 of"), "{ran:#?}");
}

#[test]
fn unreadable_scripts() {
    let folder = Folder::new();
    reviver("debug programs/fib.rasm --batch nowhere").expect(3).says("there is no file nowhere");
    let latin = folder.file("latin", b"print \xe9\n");
    reviver(&format!("debug programs/fib.rasm --batch {latin}")).expect(3).says("not UTF-8");
    with_input("debug - --batch -", b"").expect(2).says("one purpose only");
    reviver("debug programs/fib.rasm --batch x --keys y").expect(2).says("cannot be used with");
}

#[test]
fn a_line_mode_through_a_pipe() {
    let folder = Folder::new();
    let transcript = folder.path("transcript").display().to_string();
    let commands = b"goto end\nwach a\nrs 2\nprint b\n";
    let ran = with_input(&format!("repl programs/fib.rasm --transcript {transcript}"), commands).expect(0);
    assert!(ran.stdout.contains("did you mean `watch`?"), "{ran:#?}");
    assert!(ran.stdout.contains("b = 89"), "{ran:#?}");
    // Failed commands aren't repeated.
    assert_eq!(folder.read("transcript"), b"# a session of the reviver debugger\ngoto end\nrs 2\nprint b\n");
    let again = reviver(&format!("debug programs/fib.rasm --batch {transcript}")).expect(0);
    assert!(again.stdout.ends_with("> print b\nb = 89\n"), "{again:#?}");
    with_input("repl -", b"").expect(2).says("reads its commands from standard input");
    reviver("repl programs/fib.rasm --transcript nowhere/t").expect(3).says("there is no folder nowhere");
}

#[test]
fn a_program_with_errors() {
    let folder = Folder::new();
    let file = folder.file("bad.rasm", "add r0, r0\nfrob r1\n");
    for command in ["debug --batch -", "repl"] {
        reviver(&format!("{command} {file}"))
            .expect(3)
            .says("bad.rasm:1:9")
            .says("bad.rasm:2:1")
            .says("2 errors: nothing was assembled")
            .prints("");
    }
    let image = folder.file("bad.rbc", "no image");
    reviver(&format!("repl {image}")).expect(3).says("not a Reviver image");
    reviver("repl nowhere.rasm").expect(3).says("there is no file nowhere.rasm");
    reviver("repl programs/fib.rasm --set m=3").expect(2).says("no cell `m`");
    let warned = folder.file("half.rasm", ".inout x\nadd x, 1000\n");
    reviver(&format!("repl {warned} --word 8")).expect(3).says("does not fit");
}

#[test]
fn a_screen_needs_a_terminal() {
    reviver("debug programs/fib.rasm")
        .expect(2)
        .says("needs a terminal")
        .says("`reviver repl FILE`")
        .prints("");
}

#[test]
fn options_of_the_screen() {
    let folder = Folder::new();
    let keys = folder.file("keys.toml", "preset = \"vi\"\n[keys]\nF2 = \"contineu\"\n");
    reviver(&format!("debug programs/fib.rasm --keys {keys}"))
        .expect(3)
        .says("keys.toml:3: there is no command `contineu`: did you mean `continue`?");
    reviver("debug programs/fib.rasm --keys nowhere.toml").expect(3).says("nowhere.toml: ");
    reviver("debug programs/fib.rasm --preset emacs").expect(2).says("gdb, vi, vscode, arrows");
    reviver("debug programs/fib.rasm --theme pink").expect(2).says("dark, light, 16, 16-light, plain");
    reviver("debug programs/fib.rasm --history lots").expect(2).says("64M");
}

/// An invalid UTF-8 byte skips one line, and its place is reported.
#[test]
fn a_line_that_is_not_text_is_skipped() {
    let commands = b"step\nprint \xff\nstep\nprint $step\n";
    let ran = with_input("repl programs/fib.rasm", commands).expect(0);
    assert!(
        ran.stdout.contains("error: line 2, column 7: the byte 0xff is no text in UTF-8\n  help: "),
        "{ran:#?}"
    );
    assert!(ran.stdout.ends_with("$step = 2\n"), "{ran:#?}");
    let typed = with_input("repl programs/fib.rasm", b"step\xff").expect(0);
    assert!(typed.stdout.contains("line 1, column 5"), "{typed:#?}");
}
