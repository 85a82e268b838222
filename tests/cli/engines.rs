//! `--engine`: output and exit code don't depend on the engine.

use std::time::{Duration, Instant};

use crate::support::{Folder, reviver, with_input};

/// Checks that a command prints the same on every engine, and ends with an exit code.
#[track_caller]
fn same_on_all(command: &str, code: i32) {
    let expected = reviver(command).expect(code);
    for engine in ["interp", "jit", "auto"] {
        let found = reviver(&format!("{command} --engine {engine}")).expect(code);
        let [found_text, expected_text] =
            [&found, &expected].map(|ran| but_for_engine(&but_for_memory(&ran.stdout)));
        assert_eq!(found_text, expected_text, "{engine}");
        assert_eq!(found.stderr, expected.stderr, "{engine}");
    }
}

/// Removes the memory figure, which depends on the engine.
fn but_for_memory(text: &str) -> String {
    let Some((before, behind)) = text.split_once("memory: ") else { return text.into() };
    let rest = behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
    format!("{before}memory:{rest}")
}

/// Removes the name of the engine.
fn but_for_engine(text: &str) -> String {
    text.replace("\"engine\":\"jit\"", "\"engine\":\"interp\"")
}

#[test]
fn objects_report_the_engine() {
    let engine = |command: &str| reviver(&format!("{command} --json")).expect(0).json()["engine"].clone();
    // The interpreter runs until code is compiled, which is early in this run.
    let long = "run programs/fib.rasm --set n=10000000";
    assert_eq!(engine(long), "jit");
    assert_eq!(engine(&format!("{long} --engine interp")), "interp");
    // The run ends before code is compiled.
    assert_eq!(engine("run programs/fib.rasm"), "interp");
    for command in [
        "grad programs/besselj.rasm --loss out",
        "jacobian programs/rotation.rasm",
        "hessian programs/besselj.rasm --of out",
        "taylor programs/besselj.rasm --along z --of out --order 3",
    ] {
        assert_eq!(engine(&format!("{command} --engine jit")), "jit", "{command}");
        assert_eq!(engine(&format!("{command} --engine interp")), "interp", "{command}");
    }
}

/// Returns a program of `loops` loops inside a loop of 300 iterations.
fn many_loops(loops: usize) -> String {
    format!(
        ".inout m default 300\n.out b\nfor q in 0..m\n{}rof\n",
        "for i in 0..3\nadd b, i\nrof\n".repeat(loops)
    )
}

/// A run doesn't wait for compiled code, because compilation may take longer than interpreting the whole run.
#[test]
fn a_run_doesnt_wait_for_code() {
    let folder = Folder::new();
    let loops = folder.file("loops.rasm", many_loops(4000));
    let branches = folder.file(
        "branches.rasm",
        format!(
            ".inout m default 30\n.out b\nfor q in 0..m\n{}rof\n",
            "if q > 2\nadd b, q\nfi q > 2\n".repeat(8000)
        ),
    );
    let calls = folder.file(
        "calls.rasm",
        format!(
            ".inout m default 100\n.out b\nfor q in 0..m\n{}rof\n.proc p(inout x, in y)\nfor i in 0..y\nadd x, y\nrof\n.end\n",
            "call p(b, q)\n".repeat(400)
        ),
    );
    for file in [loops, branches, calls] {
        let best = |engine: &str| {
            let took = || {
                let began = Instant::now();
                reviver(&format!("run {file} --engine {engine}")).expect(0);
                began.elapsed()
            };
            (0..3).map(|_| took()).min().unwrap_or_default()
        };
        let (plain, auto) = (best("interp"), best("auto"));
        // Both times include process startup, and the machine may be busy.
        assert!(auto <= 2 * plain + Duration::from_millis(300), "{file}: {auto:?} beside {plain:?}");
    }
}

#[test]
fn all_commands_print_the_same_on_every_engine() {
    same_on_all("run programs/fib.rasm --set n=1000000 --check", 0);
    same_on_all("run programs/fib.rasm --back --set a=55,b=89", 0);
    same_on_all("run programs/leapfrog.rasm --check", 0);
    same_on_all("run programs/besselj.rasm --check --exact", 0);
    same_on_all("run programs/fib_recursive.rasm --check --word 16", 0);
    same_on_all("grad programs/besselj.rasm --loss out --verify", 0);
    same_on_all("grad programs/besselj.rasm --loss out --real f32 --whole", 0);
    same_on_all("grad programs/particles.rasm --loss loss", 0);
    same_on_all("jacobian programs/rotation.rasm", 0);
    same_on_all("hessian programs/besselj.rasm --loss out", 0);
    same_on_all("taylor programs/besselj.rasm --along z --of out --order 3", 0);
}

#[test]
fn limits_and_traps_are_the_same_on_every_engine() {
    let folder = Folder::new();
    let file = folder
        .file("late.rasm", ".in n default 2000000\n.out s\nfor i in 0..n\n add s, 1 / (1999999 - i)\nrof\n");
    same_on_all(&format!("run {file}"), 4);
    same_on_all(&format!("run {file} --json"), 4);
    same_on_all(&format!("run {file} --max-steps 1234567"), 5);
}

#[test]
fn the_debugger_prints_the_same_on_every_engine() {
    let script = "goto end\nprint a\nlast b\nbreak main\nrc\ngoto 70%\nprint a\ncheck\ninfo status\n";
    let folder = Folder::new();
    let batch = folder.file("script", script);
    same_on_all(&format!("debug programs/fib.rasm --set n=400000 --batch {batch}"), 0);
    let typed = |engine: &str| {
        let command = format!("repl programs/fib.rasm --set n=400000 --engine {engine}");
        with_input(&command, script.as_bytes()).expect(0).stdout
    };
    assert!(typed("interp") == typed("jit") && typed("interp") == typed("auto"));
}

#[test]
fn unknown_engines_are_refused() {
    reviver("debug programs/fib.rasm --engine fast").expect(2).says("invalid value 'fast'");
    reviver("run programs/fib.rasm --engine fast")
        .expect(2)
        .says("invalid value 'fast'")
        .says("interp, jit, auto");
}
