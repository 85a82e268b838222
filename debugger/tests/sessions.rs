//! Tests with scripted sessions. Each file in `sessions/` is a transcript. The commands of the transcript are
//! executed, and their output is compared with the file. `UPDATE_SESSIONS=1` writes the current output into the
//! files.
//!
//! A file begins with `# program NAME` (a file of the `programs` folder), or with the program itself in lines after
//! `#|`. Optional header lines are `# replace OLD -> NEW` for the program's text, `# tape 1,2,3` and `# max-steps
//! 100`. If a transcript ends with an error, its script must fail with this error.

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use reviver_compile::tiered::TieredRuntime;
use reviver_debugger::batch::{BatchEnding, run, script_of};
use reviver_debugger::command::{Console, SAVED};
use reviver_debugger::outcome::StopKind;
use reviver_debugger::session::Session;
use reviver_debugger::timeline::{LongRuns, TimelineLimits};
use reviver_debugger::tui::app::Face;
use reviver_files::UsedFiles;
use reviver_jit::Jit;
use reviver_vm::{Machine, Program};

fn transcripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn line(text: String, line: &str) -> String {
    text + line + "\n"
}

/// Function that creates the engine for long runs.
type RunnerMaker = fn(&Program) -> Option<LongRuns>;

fn interpreter(_: &Program) -> Option<LongRuns> {
    None
}

/// Creates an engine of native code, if the program permits it.
fn native_code(program: &Program) -> Option<LongRuns> {
    let jit = Jit::new().expect("a machine that is known");
    Some(LongRuns::eager(Arc::new(TieredRuntime::new(program, jit))))
}

fn console(header: &[&str]) -> Console {
    console_run_by(header, interpreter)
}

fn console_run_by(header: &[&str], long_runs: RunnerMaker) -> Console {
    let value = |key: &str| header.iter().find_map(|line| line.strip_prefix("# ")?.strip_prefix(key));
    let own: String = header.iter().filter_map(|line| line.strip_prefix("#|")).fold(String::new(), line);
    let mut text = value("program ").map_or(own, support::text);
    for (old, new) in header.iter().filter_map(|line| line.strip_prefix("# replace ")?.split_once(" -> ")) {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let subject = support::subject(&text);
    let mut machine = Machine::at_begin(subject.program.clone()).unwrap();
    if let Some(tape) = value("tape ") {
        let entries = tape.split(',').rev().map(|entry| subject.program.parse_entry(entry).unwrap());
        machine.state_mut().input = entries.collect();
    }
    let most = value("max-steps ").map_or(u64::MAX, |most| most.parse().unwrap());
    let long_runs = long_runs(&subject.program);
    let session = Session::new(subject, machine.into_state(), TimelineLimits::default()).unwrap();
    let session = session.with_most_steps(most);
    let session = match &long_runs {
        Some(long_runs) => session.with_long_runs(long_runs),
        None => session,
    };
    Console::new(session, UsedFiles::default(), Box::new(Face::default()))
}

#[test]
fn sessions_match_their_transcripts() {
    let update = std::env::var_os("UPDATE_SESSIONS").is_some();
    for path in transcripts() {
        let expected = std::fs::read_to_string(&path).unwrap();
        let header: Vec<&str> = expected.lines().take_while(|line| line.starts_with('#')).collect();
        let mut output = Vec::new();
        let ended = run(&mut console(&header), &script_of(&expected), &mut output).unwrap();
        let found = format!("{}\n{}", header.join("\n"), String::from_utf8(output).unwrap());
        let fails = path.file_stem().unwrap().to_string_lossy().starts_with("fails");
        if update {
            std::fs::write(&path, &found).unwrap();
        }
        assert!(update || found == expected, "{}:\n{found}", path.display());
        assert_eq!(ended != BatchEnding::Fine, fails, "{}:\n{found}", path.display());
    }
}

#[test]
fn sessions_match_their_transcripts_with_native_code() {
    for path in transcripts() {
        let expected = std::fs::read_to_string(&path).unwrap();
        let header: Vec<&str> = expected.lines().take_while(|line| line.starts_with('#')).collect();
        let mut output = Vec::new();
        run(&mut console_run_by(&header, native_code), &script_of(&expected), &mut output).unwrap();
        let found = format!("{}\n{}", header.join("\n"), String::from_utf8(output).unwrap());
        assert!(found == expected, "{}:\n{found}", path.display());
    }
}

/// Creates an empty folder for the files of one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Executes a script, and returns its output except the first line.
fn said(console: &mut Console, script: &str) -> String {
    let mut output = Vec::new();
    run(console, script, &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    output.split_once('\n').unwrap().1.to_owned()
}

const FIB: &[&str] = &["# program fib.rasm"];

#[test]
fn a_sourced_script_prints_the_same_as_a_batch() {
    let folder = folder("source");
    let path = folder.join("script");
    let script = "goto 1\nwatch a\nrc\ngoto end\nprint b\n";
    std::fs::write(&path, format!("# a script\n{script}")).unwrap();
    let mut batch = Vec::new();
    run(&mut console(FIB), script, &mut batch).unwrap();
    let source = format!("source {}", path.display());
    let batch = String::from_utf8(batch).unwrap();
    let sourced = said(&mut console(FIB), &source);
    assert_eq!(sourced.replace("\n>> ", "\n> ").strip_prefix(">").unwrap(), batch);
    // A replay of this transcript executes the script only once.
    assert_eq!(script_of(&format!("> {source}\n{sourced}")).trim(), source);

    // If a script fails, the outcomes of its earlier commands precede the error.
    std::fs::write(&path, "step\n\nprint nosuch\nstep\n").unwrap();
    let mut failed = console(FIB);
    let first = ">> step\nstep 1, line 28: leave:  br    done, n == 0\n>> print nosuch\nerror: ";
    let found = said(&mut failed, &source);
    assert!(found.starts_with(first) && found.contains("line 3: `print nosuch`"), "{found}");
    assert_eq!(failed.session.step_number(), 1);
    let nested = folder.join("nested");
    std::fs::write(&nested, format!("step\n{source}\n")).unwrap();
    let found = said(&mut console(FIB), &format!("source {}", nested.display()));
    assert_eq!(found.matches("> step\n").count(), 2, "{found}");
    assert!(found.contains("error: line 2: ") && found.contains("line 3: `print nosuch`"), "{found}");
}

#[test]
fn quit_in_a_script_ends_the_session() {
    let folder = folder("quit");
    let (inner, outer) = (folder.join("inner"), folder.join("outer"));
    std::fs::write(&inner, "step\nquit\nstep\n").unwrap();
    std::fs::write(&outer, format!("source {}\nstep\n", inner.display())).unwrap();
    let mut console = console(FIB);
    let script = format!("source {}\nstep\n", outer.display());
    let mut output = Vec::new();
    assert_eq!(run(&mut console, &script, &mut output).unwrap(), BatchEnding::Fine);
    assert_eq!(console.session.step_number(), 1);
    assert!(String::from_utf8(output).unwrap().ends_with(">>> quit\n"));
}

#[test]
fn a_command_stopped_by_a_limit_ends_the_script() {
    let path = folder("limit").join("script");
    std::fs::write(&path, "goto end\nrs 5\n").unwrap();
    let mut console = console(&["# program fib.rasm", "# max-steps 10"]);
    let script = format!("source {}\nrs 5\n", path.display());
    assert_eq!(run(&mut console, &script, &mut Vec::new()).unwrap(), BatchEnding::Limited { line: 1 });
    assert_eq!(console.session.step_number(), 10);
}

#[test]
fn a_saved_session_prints_the_same_when_replayed() {
    let folder = folder("save");
    let saved = folder.join("saved");
    let script = format!("goto end\nlast a\nsave {}\nprint a\n", saved.display());
    let said_first = said(&mut console(FIB), &script);
    let text = std::fs::read_to_string(&saved).unwrap();
    assert_eq!(text, format!("{SAVED}\ngoto end\nlast a\n"));
    let mut again = console(FIB);
    assert!(said_first.starts_with(&said(&mut again, &text)));
    // A second `save` may replace the file. Replaying the saved session writes no file.
    again.execute(&format!("save {}", saved.display())).unwrap();
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), text);
    let other = folder.join("homework");
    std::fs::write(&other, "my notes").unwrap();
    let error = again.execute(&format!("save {}", other.display())).unwrap_err().to_string();
    assert!(error.contains("is not a saved session"), "{error}");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "my notes");
}

#[test]
fn executed_lines_of_a_failed_script_are_saved() {
    let folder = folder("recorded");
    let (script, saved) = (folder.join("script"), folder.join("saved"));
    let own = folder.join("own");
    std::fs::write(&script, format!("break 30\nstep 3\nsave {}\nbogus\n", own.display())).unwrap();
    let mut console = console(FIB);
    console.execute("step 2").unwrap();
    console.execute(&format!("source {}", script.display())).unwrap_err();
    console.execute(&format!("save {}", saved.display())).unwrap();
    let expected = format!("{SAVED}\nstep 2\nbreak 30\nstep 3\n");
    assert_eq!(std::fs::read_to_string(&saved).unwrap(), expected);
    assert_eq!(std::fs::read_to_string(&own).unwrap(), expected);
}

#[test]
fn animated_motions_are_saved_as_their_destination() {
    let mut console = console(FIB);
    console.execute("break again").unwrap();
    for line in ["step 2", "step 1", "goto 4", "step 2", "step 3", "reverse-step 1"] {
        console.glide(line).unwrap();
    }
    console.execute("print a").unwrap();
    let expected = "break again\ngoto 4\nstep 2\ngoto 7\nprint a\n";
    assert_eq!(console.transcript(), format!("{SAVED}\n{expected}"));
    assert_eq!(console.session.step_number(), 7);
    // One `undo` reverts all movements that are saved as one line.
    console.execute("undo").unwrap();
    assert_eq!(console.session.step_number(), 5);
    console.execute("undo").unwrap();
    assert_eq!(console.session.step_number(), 4);
    // Movements that hit points aren't merged, because a replay of the merged line would count other hits.
    console.execute("ignore 1 9").unwrap();
    console.glide("step 3").unwrap();
    assert!(console.transcript().ends_with("ignore 1 9\nstep 3\n"));
}

/// Commands that are refused, with their error messages.
const REFUSED: &[(&str, &str)] = &[
    ("break 32 log {a", "`{` is not closed"),
    ("break 32 if nosuch == 2", "no procedure of the program has a cell `nosuch`"),
    ("watch a log {nosuch}", "no procedure of the program has a cell `nosuch`"),
    ("break 32 if A[mod] == 2", "no procedure of the program has a cell `A`"),
    ("last a if nosuch", "no procedure of the program has a cell `nosuch`"),
    ("last a if", "an expression is missing at the end"),
    ("last if $new == 1", "`last` takes a cell"),
    ("next-write a log {a}", "`next-write` stops at one write, so it takes no `log`"),
    ("break *0", "no run stops at `*0`: main begins there, and every run starts after it"),
    ("break *0 if a > 1", "no run stops at `*0`: main begins there, and every run starts after it"),
    ("tbreak *0", "no run stops at `*0`: main begins there, and every run starts after it"),
    ("until *0", "no run stops at `*0`: main begins there, and every run starts after it"),
    ("reverse-until *0", "no run stops at `*0`: main begins there, and every run starts after it"),
    ("trace a at *0", "no run stops at `*0`: main begins there, and every run starts after it"),
    ("break *9", "there is no `*9` to stop at"),
    ("rwatch a + b", "`a + b` is an expression: rwatch takes a cell, an array or a slice"),
    ("watch a + b any", "`a + b` is an expression: watch (any write) takes a cell, an array or a slice"),
    ("last a + b", "`a + b` is an expression: a search for a write takes a cell, an array or a slice"),
    ("history a + b", "`a + b` is an expression: `history` takes a cell, an array or a slice"),
    ("watch 3 + 4", "`3 + 4` names no cell: its value never changes"),
    ("watch $step + a", "`$step` changes at almost every step"),
    ("watch $new + a", "`$new` has a value only at a write of a watched cell"),
    ("watch a + nosuch", "no procedure of the program has a cell `nosuch`"),
    ("watch a[0..2]", "`a`: a scalar takes no index"),
    ("watch a << 2.5", "`<<` takes integers only"),
    ("rwatch", "`rwatch` takes a cell, a slice or an expression"),
    ("diff", "`diff` takes one or two time points"),
    ("diff 3 nowhere", "there is no mark `nowhere`"),
    ("diff 3 4 5 6", "`6` is not expected after `diff`"),
    ("diff 101%", "`101%` is not between 0 and 100 %"),
    ("diff 3x", "`3x` is no number, or is out of range"),
    ("trace", "`trace` takes expressions and a place"),
    ("trace a", "`trace` needs a place after `at`: `trace i, A[i] at 29`"),
    ("trace at 29", "`trace` takes expressions, with commas between them"),
    ("trace a, at 29", "an expression is missing at the end"),
    ("trace a, nosuch at 29", "no procedure of the program has a cell `nosuch`"),
    ("trace a at nosuch", "there is no `nosuch` to stop at"),
    ("trace a at 29 if nosuch", "no procedure of the program has a cell `nosuch`"),
    ("trace $new at 29", "`$new` has a value only at a write of a watched cell"),
    ("trace /0 a at 29", "a table has from 1 to 1000000 rows, and not 0"),
    ("trace /2000000 a at 29", "a table has from 1 to 1000000 rows, and not 2000000"),
    ("gradient", "the program has no real result: name a real cell as the loss"),
    ("condition 1 nosuch", "no procedure of the program has a cell `nosuch`"),
    ("display nosuch", "no procedure of the program has a cell `nosuch`"),
    ("break 32 log a is {a} if a == 2", "write `if` before `log`: the text after `log` is the message"),
    (
        "tbreak 32 log a",
        "a breakpoint with a message doesn't stop the run: write `break` instead of `tbreak`",
    ),
    ("delete 7", "there is no breakpoint or watchpoint 7"),
    ("delete 7-9", "there is no breakpoint or watchpoint 7"),
    ("disable x", "`x` is no number, or is out of range"),
    ("clear 30", "there is no breakpoint on line 30"),
    ("history a 0", "`history` takes a number of writes, at least 1"),
    ("x n 0 2 junk", "`junk` is not expected after `x`"),
    (
        "mark a%",
        "`a%` can't name a mark: begin with a letter or `_`, then use letters, digits, `_`, `-` and `.`",
    ),
    ("mark end", "`goto end` already goes to the start or the end: choose another name"),
    ("print a +", "an expression is missing at the end"),
    ("list 999", "line 33 is the last one"),
    ("list 30,20", "line 20 is before line 30"),
    ("list -5", "there is no `-5` to stop at"),
    ("list 4294967295,", "line 33 is the last one"),
    ("picture", "`picture` takes a file"),
    (
        "picture fib.svg 120",
        "`120` is neither a size, such as 120x40, nor one of dark, light, 16, 16-light, plain",
    ),
    ("picture fib.svg 120xforty", "`forty` is no number, or is out of range"),
    ("picture fib.svg 401x40", "a picture has from 20x6 to 400x200 cells"),
    ("picture fib.svg 120x5", "a picture has from 20x6 to 400x200 cells"),
    ("/x", "there is no command `/x`"),
    ("info nonsense", "there is no topic `nonsense`"),
    ("info c", "`c` can mean card, cells"),
    ("info marks 3", "`3` is not expected after `marks`"),
    ("jump 30", "`jump` is a command of gdb, and not of this debugger"),
    ("x/4i 3", "`x/4i` is a command of gdb, and not of this debugger"),
    ("timeline up", "this is the program's own branch, which has no parent branch"),
];

#[test]
fn refused_commands_have_a_reason() {
    let mut console = console(FIB);
    console.execute("break again").unwrap();
    for (command, expected) in REFUSED {
        let error = console.execute(command).map(|outcome| format!("{outcome:?}")).unwrap_err();
        assert!(error.to_string().contains(expected), "{command}: {error}");
    }
    assert_eq!(console.session.points().len(), 1);
}

/// Programs, scripts, and the expected output of the scripts.
const OWN: &[(&str, &str, &str)] = &[
    // A second gradient begins with all adjoints cleared.
    (
        ".in x: real default 1\n.out y: real, z: real\nadd.mul y, x, 2.0\nadd.mul z, x, 5.0\n",
        "goto end\ngradient y\ngradient z\ngoto start\nprint x'\ngoto end\nset y' = 1\ngoto start\nprint x'\n",
        "> goto end\nhistory end\nstep 2: the end\n\
         > gradient y\ny' = 1.0 and gradient mode on, in branch 1\n\
         running backward propagates adjoints (`rs`, `rc`, `goto start`); `timeline up` leaves the branch\n\
         > gradient z\nz' = 1.0 and gradient mode on, in branch 1\n1 other adjoint that was not 0 is now 0\n\
         running backward propagates adjoints (`rs`, `rc`, `goto start`); `timeline up` leaves the branch\n\
         > goto start\nhistory begin\nstep 0 of branch 1, line 3: add.mul y, x, 2.0\n> print x'\nx' = 5.0\n\
         > goto end\nhistory end\nstep 2 of branch 1: the end\n\
         > set y' = 1\ny': 0.0 -> 1.0, in branch 2\n\
         > goto start\nhistory begin\nstep 0 of branch 2, line 3: add.mul y, x, 2.0\n> print x'\nx' = 7.0\n",
    ),
    // One `undo` reverts a whole `run`, and a query doesn't extend the timeline bar.
    (
        ".out a\nadd a, 1\nadd a, 2\n",
        "step\nrun\nundo\nlast a\nprint a\ninfo events\n",
        "> step\nstep 1, line 3: add a, 2\n> run\nhistory end\nstep 2: the end\n\
         > undo\nstep 1, line 3: add a, 2\n\
         > last a\na: 0 -> 1 by `add a, 1` (line 2, step 1)\nstep 0, line 2: add a, 1\n> print a\na = 0\n\
         > info events\nthere are no events\n",
    ),
    // Several edits at one time point begin a single branch, unless a mark or fence at this time point would be lost.
    (
        ".inout a, b\nadd a, b\n",
        "set a = 1\nset b = 2\nmark here\nset a = 3\nundo\nprint a\ngoto here\nprint a\n\
         set mode = gradient\nset mode = values\n",
        "> set a = 1\na: 0 -> 1, in branch 1\n> set b = 2\nb: 0 -> 2, in branch 1\n\
         > mark here\nmark here: step 0 of branch 1\n> set a = 3\na: 1 -> 3, in branch 2\n\
         > undo\nstep 0 of branch 1, line 2: add a, b\n> print a\na = 1\n\
         > goto here\nstep 0 of branch 1, line 2: add a, b\n> print a\na = 1\n\
         > set mode = gradient\nmode: 0 -> 1, in branch 3\n> set mode = values\nmode: 1 -> 0, in branch 3\n",
    ),
    // A program that computes its adjoints itself can't be switched to gradient mode.
    (
        ".out y: real\n.in x: real default 1\nadd y, x\ngrad.on\ngrad.off\n",
        "gradient y\n",
        "> gradient y\nerror: the program switches gradient mode itself: `reviver grad` differentiates its text, in which it replaces these gradients by statements\n",
    ),
    // For a failed comparison, the values of both sides are reported; for other conditions, no values.
    (
        ".out a\nadd a, 1\n",
        "expect a == 1 and a < 2\n",
        "> expect a == 1 and a < 2\nerror: `a == 1 and a < 2` does not hold\n",
    ),
    // `any` after a cell is an option, but a cell may also be called `any`.
    (
        ".out many, any\nadd many, 1\nadd any, 1\n",
        "watch many any\nwatch any\nwatch any any if many == 1\nrun\nrun\n",
        "> watch many any\nwatch (any write) 1: many\n> watch any\nwatchpoint 2: any\n\
         > watch any any if many == 1\nwatch (any write) 3: any if many == 1\n\
         > run\nwatch (any write) 1: many: 0 -> 1 by `add many, 1` (line 2, step 1)\n\
         step 1, line 3: add any, 1\n\
         > run\nwatch (any write) 1: many: 0 -> 1 by `add many, 1` (line 2, step 1)\n\
         step 1, line 3: add any, 1\n",
    ),
    // Numbers are compared exactly in the program's number system, not as the nearest f64.
    (
        ".real fixed\n.out x: real, n\nadd x, 1.0\n",
        "set n = -9223372036854775808\nset x = 100000.0000000000001\nexpect x > 100000.0\nexpect x > 100000\n\
         expect x == 100000.0000000000001\nset x = -x\nexpect x < -100000\nexpect x == -100000.0\n",
        "> set n = -9223372036854775808\nn: 0 -> -9223372036854775808, in branch 1\n\
         > set x = 100000.0000000000001\nx: 0.0 -> 100000.0000000000001, in branch 1\n\
         > expect x > 100000.0\n> expect x > 100000\n> expect x == 100000.0000000000001\n\
         > set x = -x\nx: 100000.0000000000001 -> -100000.0000000000001, in branch 1\n\
         > expect x < -100000\n> expect x == -100000.0\n\
         error: `x == -100000.0` does not hold: the sides are -100000.0000000000001 and -100000.0\n",
    ),
];

#[test]
fn sessions_print_the_expected_lines() {
    for (text, script, expected) in OWN {
        let mut console = Console::new(
            Session::at_begin(support::subject(text)).unwrap(),
            UsedFiles::default(),
            Box::new(Face::default()),
        );
        let mut output = Vec::new();
        run(&mut console, script, &mut output).unwrap();
        let output = String::from_utf8(output).unwrap();
        assert_eq!(output, *expected, "{output}");
    }
}

/// Executes a command, and interrupts it once it has reached a step.
fn interrupted(console: &mut Console, command: &str, step: i64) {
    let (interrupt, progress) = (console.session.interrupt(), console.session.progress());
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                if progress.step() > step {
                    interrupt.store(true, Ordering::Relaxed);
                }
                thread::sleep(Duration::from_millis(1));
            }
        });
        let outcome = console.execute(command).unwrap();
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(outcome.cut_short(), Some(StopKind::Interrupted), "{command}: {outcome:?}");
    });
    interrupt.store(false, Ordering::Relaxed);
}

#[test]
fn an_interrupted_motion_is_saved_as_its_destination() {
    let long = &["# program fib.rasm", "# replace default 10 -> default 1000000000000"];
    let mut console = console(long);
    console.execute("break again if a == 1").unwrap();
    console.execute("ignore 1 9").unwrap();
    // An interrupted query isn't recorded in the transcript, because its replay wouldn't end.
    for command in ["run", "check", "continue"] {
        interrupted(&mut console, command, 10_000);
    }
    let (step, left) = (console.session.step_number(), console.session.points()[0].ignore);
    let transcript = console.transcript();
    let commands: Vec<&str> = transcript.lines().skip(3).collect();
    assert!(step > 10_000 && left < 9, "{step} {left}");
    let [first, second, last] = commands[..] else { panic!("{transcript}") };
    assert!(first.starts_with("goto "), "{transcript}");
    assert_eq!((second, last), (&*format!("ignore 1 {left}"), &*format!("goto {step}")));

    let mut again = self::console(long);
    run(&mut again, &transcript, &mut Vec::new()).unwrap();
    assert_eq!(again.session.state(), console.session.state());
    assert_eq!(again.session.points()[0].ignore, left);
}

/// Returns the error of a script, without the outcomes before it.
fn fails(script: &Path) -> String {
    let found = said(&mut console(FIB), &format!("source {}", script.display()));
    found[found.find("error: ").unwrap()..].to_owned()
}

#[test]
fn recursive_scripts_are_limited() {
    let folder = folder("bounded");
    let path = |name: &str| folder.join(name);
    let write = |name: &str, text: String| std::fs::write(path(name), text).unwrap();
    let source = |name: &str| format!("source {}\n", path(name).display());

    write("itself", format!("step\n{}", source("itself")));
    let found = fails(&path("itself"));
    assert!(found.contains("is already being executed, so it would never end"), "{found}");
    assert_eq!(found.matches("line 2").count(), 1, "the first time round: {found}");

    write("one", source("two"));
    write("two", format!("step\n\n{}", source("one")));
    let found = fails(&path("one"));
    assert!(found.contains("line 1: ") && found.contains("line 3: "), "{found}");
    assert!(found.contains(&format!("in `{}` in `{}`", path("one").display(), path("two").display())));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(path("itself"), path("link")).unwrap();
        assert!(fails(&path("link")).contains("is already being executed"));
    }

    write("script-0", "print a\n".into());
    (1..=10).for_each(|n| write(&format!("script-{n}"), source(&format!("script-{}", n - 1))));
    let found = fails(&path("script-10"));
    assert!(found.contains("nested too deeply: at most 10 scripts"), "{found}");
    assert!(said(&mut console(FIB), &source("script-9")).ends_with("a = 0\n"));
    // The limit on the number of commands applies to each script separately.
    let mut console = console(FIB);
    let twice = source("script-9").repeat(2);
    assert_eq!(said(&mut console, &twice).matches("a = 0").count(), 2);
}

#[test]
fn nested_scripts_end() {
    let folder = folder("many");
    let source = |n: usize| format!("source {}\n", folder.join(n.to_string()).display());
    std::fs::write(folder.join("0"), "info marks\n".repeat(100)).unwrap();
    (1..=3).for_each(|n| std::fs::write(folder.join(n.to_string()), source(n - 1).repeat(100)).unwrap());
    let found = fails(&folder.join("3"));
    assert!(found.contains("may have at most 100000 commands together"), "{found}");
    // A script that no other script executes may have any number of lines.
    let long = folder.join("long");
    std::fs::write(&long, "info marks\n".repeat(100_001)).unwrap();
    console(FIB).execute(&format!("source {}", long.display())).unwrap();
}
