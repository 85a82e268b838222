//! Tests that a session has the same output with each engine for long runs. The tests compare transcripts of
//! programs with long loops, calls, recursion and gradients, and the intervals of calls on the timeline bar.

mod support;

use std::sync::Arc;

use reviver_compile::tiered::TieredRuntime;
use reviver_debugger::batch::run;
use reviver_debugger::command::Console;
use reviver_debugger::session::Session;
use reviver_debugger::timeline::{CallSegment, LongRuns};
use reviver_debugger::tui::app::Face;
use reviver_files::UsedFiles;
use reviver_jit::Jit;
use reviver_vm::{Program, Runner};

fn native(program: &Program) -> Arc<dyn Runner> {
    Arc::new(TieredRuntime::new(program, Jit::new().expect("a machine that is known")))
}

/// The engines for long runs: none (only the interpreter), native code from the first step on, and native code
/// after a million steps.
const ENGINES: [fn(&Program) -> Option<LongRuns>; 3] = [
    |_| None,
    |program| Some(LongRuns::eager(native(program))),
    |program| Some(LongRuns::new(native(program))),
];

/// Returns the output of a script on each engine, and the intervals of calls after the script.
fn said(text: &str, script: &str) -> Vec<(String, Vec<CallSegment>)> {
    let subject = support::subject(text);
    let on = |engine: fn(&Program) -> Option<LongRuns>| {
        let session = Session::at_begin(subject.clone()).unwrap();
        let session = match engine(&subject.program) {
            Some(long_runs) => session.with_long_runs(&long_runs),
            None => session,
        };
        let mut console = Console::new(session, UsedFiles::default(), Box::new(Face::default()));
        let mut output = Vec::new();
        run(&mut console, script, &mut output).unwrap();
        let calls = console.session.timeline().branch().calls().collect();
        (String::from_utf8(output).unwrap(), calls)
    };
    ENGINES.into_iter().map(on).collect()
}

/// Asserts that a script has the same output on each engine, that the output contains `words`, and that all
/// commands were executed.
#[track_caller]
fn same_on_all(text: &str, script: &str, words: &[&str]) {
    let reported = said(text, script);
    for found in &reported {
        assert_eq!(found.0, reported[0].0);
        assert!(found.1 == reported[0].1, "the calls differ");
    }
    let commands = reported[0].0.lines().filter(|line| line.starts_with("> ")).count();
    assert_eq!(commands, script.lines().count(), "{}", reported[0].0);
    words.iter().for_each(|word| assert!(reported[0].0.contains(word), "no {word}:\n{}", reported[0].0));
}

/// Program with a loop of three million steps and an array. One line of the loop is executed rarely, another one in
/// every iteration.
const LOOP: &str = "\
.inout n default 600_000
.out a, seldom, A[7]
        for i in 0..n
            add a, i
            add A[i % 7], a
            if i % 100_000 == 77_777
                add seldom, i
            fi i % 100_000 == 77_777
        rof
        add a, 1
";

#[test]
fn a_long_loop() {
    let script = "goto end\nx A\ngoto 50%\nprint a\ngoto start\nbreak 7\nc\nc\nprint seldom\nc\nrc\nrc\nprint seldom\ninfo cells\n\
                  delete\nbreak 5 if i == 444_444\nbreak 10\nc\nc\nrc\nrc\ndelete\nwatch seldom\nc\nc\nc\nrc\ngoto end\nrc\ndelete\n\
                  goto end\nlast seldom\nlast A[3]\nwhy seldom\nplot seldom\nplot a\nhistory seldom 3\ncheck\ninfo status\n\
                  goto 1_234_567\nset a = 5\ngoto end\nprint a\nrc\nprint a\ntimeline\ntimeline up\nrs 70_000\nprint A[0]\n\
                  trace i, seldom at 7\nfence\ngoto start\nc\ninfo status";
    same_on_all(LOOP, script, &["seldom = 77777\n", "breakpoint 1, ", "1388885"]);
}

/// Program that calls and uncalls procedures in loops, with arrays.
const CALLS: &str = "\
.inout n default 90_000
.out s, A[50]
        for i in 0..n
            call work(A, s, i)
            if i % 30_000 == 7
                uncall work(A, s, i)
                call seldom(s, i)
            fi i % 30_000 == 7
        rof
.proc work(inout V[], inout s, in i)
        for j in 0..3
            add V[(i + j) % 50], j + i
        rof
        call more(s, V[i % 50])
.end
.proc more(inout s, in x)
        add s, x
        xor s, 21
.end
.proc seldom(inout s, in x)
        add s, x * x
.end
";

#[test]
fn calls_in_loops() {
    let script = "goto end\nprint s\nbt\ngoto 30%\nbt\ngoto start\nbreak seldom\nc\nbt\nc\nfinish\nc\nrc\nreverse-finish\nrc\ndelete\n\
                  goto 2_000_000\nbt\nfinish\ntbreak seldom\nn 2\nc\ngoto end\nlast s\nlast A[17]\nwhy s\nwatch A[17] if s < 0\nrc\ndelete\n\
                  goto start\nwatch s if $step > 1_500_000\nc\nrc\ndelete\ngoto end\nplot s\ninfo status\nle call\nle call\nne call\nhistory s 4\ncheck\n\
                  rn 3\nrun-to 19\nreverse-until 12\ninfo status";
    same_on_all(CALLS, script, &["breakpoint 1, seldom"]);
}

/// Program with a deep recursion, by `call` and by `uncall`.
const RECURSION: &str = "\
.limit depth 100_000
.inout n default 40_000
.out f
.ancilla a, b
        for k in 0..4
            call pair(n, a, b)
            add f, a % 1_000
            uncall pair(n, a, b)
        rof
.proc pair(inout n, inout a, inout b)
        if n == 0
            add b, 1
        else
            sub n, 1
            call pair(n, a, b)
            add a, b
            swap a, b
        fi a == 0
.end
";

#[test]
fn a_deep_recursion() {
    let script = "goto end\nprint f\nbreak 13\nrc\nrc\nbt 3\nc\nc\ndelete\ngoto 55%\nbt 4\nfinish\nbt 2\ngoto start\nbreak 7\nc\nc\nrc\ndelete\n\
                  goto end\nlast f\nwhy f\nplot f\nle call\nle call\ncheck\ninfo status";
    same_on_all(RECURSION, script, &["breakpoint 1"]);
}

/// Program with a loop in which floats lose bits. The tests compute a gradient of the program.
const FLOATS: &str = "\
.inout n default 200_000
.inout x: real default 0.3
.out y: real, loss: real, count
.ancilla t: real
        for i in 0..n
            compute
                add t, x * 0.1
                add t, y * 0.3
            apply
                add y, t / 7
                sub y, 0.01
            uncompute
            if i % 60_000 == 5
                add count, 1
            fi i % 60_000 == 5
        rof
        add loss, y * x
";

#[test]
fn floats_with_a_gradient() {
    let script = "goto end\nprint y\ninfo status\ngoto 40%\nprint y\nprint t\ninfo status\nrs 9_000\nprint y\nbreak 14\nc\nrc\nrc\nprint y\ndelete\n\
                  goto start\nprint y\nbreak 14\nbreak 17\nc\nc\nc\nc\nc\nc\nrc\ndelete\ngoto end\ngradient loss\nrs 100_000\nprint y'\nprint x'\n\
                  break 14\nrc\nprint x'\ndelete\ngoto start\nprint x'\ninfo status\ntimeline\ntimeline up\nlast count\nlast y\nwhy count\nplot y\n\
                  watch count\nrc\nrc\ngoto start\nc\nc\ncheck\ninfo status";
    same_on_all(FLOATS, script, &["x' = "]);
    // Fixed point loses nothing, so its gradient needs no history.
    same_on_all(&format!(".real fixed\n{FLOATS}"), script, &["x' = "]);
}

/// A program with output of `show`, and with a trap after many steps.
const LATE: &str = "\
.inout n default 400_000
.out s
        for i in 0..n
            add s, 1 / (399_990 - i)
            if i % 90_000 == 9
                show s
            fi i % 90_000 == 9
        rof
";

#[test]
fn shown_values_and_a_late_trap() {
    let script = "c\nprint i\nrs 1_000_000\nprint i\ngoto end\ninfo status\ngoto start\ngoto end\nbreak 6\nrc\nrc\nc\nc\ninfo status";
    same_on_all(LATE, script, &["trap"]);
}

#[test]
fn a_program_of_the_repository() {
    let text = support::text("fib.rasm").replace("default 10", "default 500_000");
    let script = "goto end\nprint a\nlast a\nwhy b\ngoto 33%\nprint a\nwatch n\nc\nrc\ncheck\ninfo status";
    same_on_all(&text, script, &["watchpoint 1"]);
}
