//! Compares the speed of travel with that of plain runs of the machine, over 10⁸ steps. These tests are ignored by
//! default; to run them: `cargo test -p reviver-debugger --release --test speed -- --ignored --nocapture`.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_compile::tiered::TieredRuntime;
use reviver_debugger::points::WatchMode;
use reviver_debugger::session::{PointOptions, Session};
use reviver_debugger::timeline::LongRuns;
use reviver_jit::Jit;
use reviver_vm::{Machine, Stop, Travel};

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// Prints the time of each kind of travel, as a multiple of the time of a plain run. Asserts that `reverse-continue`
/// takes at most `most` times as long as `continue`.
fn measure(name: &str, text: &str, cell: &str, most: f64) {
    let last_line = text.lines().count();
    let subject = support::subject(text);
    let mut machine = Machine::at_begin(subject.program.clone()).unwrap();
    let (plain, stop) = timed(|| machine.run(Travel::Forward, u64::MAX));
    assert_eq!(stop, Ok(Stop::Bound));
    let steps = machine.state().step;
    println!("{name}: {steps} steps, plain run {plain:?}");
    let mut session = Session::at_begin(subject).unwrap();
    let report = |what: &str, session: &Session, time: Duration| {
        let ratio = time.as_secs_f64() / plain.as_secs_f64();
        let bytes = (session.timeline().history_bytes(), session.timeline().checkpoint_bytes());
        println!("  {what}: {ratio:.2} ({} B history, {} B checkpoints)", bytes.0, bytes.1);
        ratio
    };
    let (time, _) = timed(|| session.goto_end());
    assert!(report("end", &session, time) < 3.0);
    assert_eq!(session.state().ints, machine.state().ints);
    assert_eq!(session.state().reals, machine.state().reals);
    let (time, _) = timed(|| session.goto_percent(50.0));
    assert!(report("middle", &session, time) < 3.0);
    let (time, _) = timed(|| session.goto_start());
    assert!(report("beginning", &session, time) < 3.0);
    let options = PointOptions::default();
    session
        .break_at(
            &format!("{last_line}"),
            &PointOptions { condition: Some("last == 7".into()), ..options.clone() },
        )
        .unwrap();
    let (there, _) = timed(|| session.resume(Travel::Forward));
    report("continue past a breakpoint that isn't hit", &session, there);
    assert_eq!(session.step_number(), steps);
    let (back, _) = timed(|| session.resume(Travel::Backward));
    report("reverse-continue likewise", &session, back);
    assert_eq!(session.step_number(), 0);
    let compare = |there: Duration, back: Duration| {
        let ratio = back.as_secs_f64() / there.as_secs_f64();
        println!("  reverse / forward: {ratio:.2}");
        assert!(ratio <= most);
    };
    compare(there, back);
    session.delete(1).unwrap();
    // From the end of the run, a breakpoint before all loops is many steps away, although the text of the program is
    // short.
    session.break_at("main", &options).unwrap();
    let (there, _) = timed(|| session.resume(Travel::Forward));
    report("continue from a breakpoint before the loop", &session, there);
    assert_eq!(session.step_number(), steps);
    let (back, _) = timed(|| session.resume(Travel::Backward));
    report("reverse-continue to it", &session, back);
    assert_eq!(session.step_number(), 0);
    compare(there, back);
    session.delete(2).unwrap();
    session.watch(cell, WatchMode::Change, &options).unwrap();
    let (there, _) = timed(|| session.resume(Travel::Forward));
    let at = session.step_number();
    report("continue to a watched change", &session, there);
    let (back, _) = timed(|| session.goto_end());
    report(&format!("(from {at} to the end)"), &session, back);
    let (back, _) = timed(|| session.resume(Travel::Backward));
    report("reverse-continue to the last change", &session, back);
    println!("  at {}", session.step_number());
    let (back, _) = timed(|| session.step(Travel::Backward, 1));
    report("a reverse step", &session, back);
}

#[test]
#[ignore = "measures; takes seconds"]
fn integers() {
    let text = support::text("fib.rasm").replace("default 10", "default 20_000_000")
        + "
        add last, 1
";
    let text = text.replace(".in  n", ".out last\n.in  n");
    measure("fibonacci", &text, "last", 1.5);
}

#[test]
#[ignore = "measures; takes seconds"]
fn calls() {
    let text = ".inout n default 9_000_000\n.out last\n.proc more(inout y, in x)\n        add y, x\n\
                \x20       sub y, x\n.end\n        for i in 0..n\n            call more(last, i)\n        rof\n\
                \x20       add last, 1\n";
    measure("calls", text, "last", 1.5);
}

#[test]
#[ignore = "measures; takes seconds"]
fn floats() {
    let text =
        support::text("leapfrog.rasm").replace(".real fixed", ".real f64").replace("100_000", "4_500_000");
    let text = text + "        add last, 1\n";
    let text = text.replace(".inout steps", ".out last\n.inout steps");
    measure("leapfrog in f64", &text, "last", 3.0);
}

/// Returns the speed of native code as a multiple of the interpreter's speed, for a session that travels to the end
/// and back.
fn compare_engines(name: &str, text: &str) -> f64 {
    let subject = support::subject(text);
    let trips = |mut session: Session| {
        let (there, _) = timed(|| session.goto_end());
        let (middle, _) = timed(|| session.goto_percent(50.0));
        let (back, _) = timed(|| session.goto_start());
        session.break_at("main", &PointOptions::default()).unwrap();
        session.watch("seldom", WatchMode::Change, &PointOptions::default()).unwrap();
        let (on, _) = timed(|| session.resume(Travel::Forward));
        let at = session.step_number();
        assert!(session.step_number() > 1_000_000);
        let (away, _) = timed(|| session.goto_end());
        let (reverse, _) = timed(|| session.resume(Travel::Backward));
        assert!(session.step_number() >= at);
        [there, middle, back, on, away, reverse]
    };
    let plain = trips(Session::at_begin(subject.clone()).unwrap());
    let runtime = TieredRuntime::new(&subject.program, Jit::new().unwrap());
    let long_runs = LongRuns::new(Arc::new(runtime));
    let fast = trips(Session::at_begin(subject).unwrap().with_long_runs(&long_runs));
    let what = [
        "end",
        "middle",
        "beginning",
        "continue to a watched change",
        "from there to the end",
        "reverse-continue",
    ];
    for ((what, plain), fast) in what.iter().zip(plain).zip(fast) {
        let ratio = plain.as_secs_f64() / fast.as_secs_f64();
        println!("{name}, {what}: interpreted {plain:?}, native {fast:?}: {ratio:.1} times as fast");
    }
    plain[0].as_secs_f64() / fast[0].as_secs_f64()
}

/// A loop of 2·10⁸ steps with a rarely executed line.
const LOOP: &str = "\
.inout n default 16_600_000
.out a, seldom
        for i in 0..n
            add a, i
            xor a, 21
            if i % 4_000_000 == 3_999_999
                add seldom, i
            fi i % 4_000_000 == 3_999_999
        rof
";

#[test]
#[ignore = "measures; takes seconds"]
fn native_code() {
    let integers = compare_engines("integers", LOOP);
    let body = "            add a, i\n            xor a, 21\n";
    let called = LOOP.replace(body, "            call more(a, i)\n")
        + ".proc more(inout a, in i)\n        add a, i\n        xor a, 21\n.end\n";
    let calls = compare_engines("calls", &called);
    let floats = LOOP
        .replace(".out a", ".out x: real, a")
        .replace("xor a, 21", "add x, 0.1")
        .replace("16_600_000", "9_000_000");
    compare_engines("floats", &floats);
    let cells = LOOP
        .replace(".out a", ".out A[1_000_000], a")
        .replace("xor a, 21", "add A[i % 1_000_000], a")
        .replace("16_600_000", "9_000_000");
    compare_engines("a million cells", &cells);
    assert!(integers > 3.0 && calls > 2.0, "{integers} {calls}");
}

#[test]
#[ignore = "measures; takes seconds"]
fn panes_of_a_large_program() {
    let mut text = ".out big[1_000_000]: real\n.out a\n".to_owned();
    for n in 0..1_250 {
        let body = "l{n}: from r{n}, a != {n}\nadd a, 1\nsub a, 1\nbr_{n}: br e{n}, a == {n}\nr{n}: br l{n}, always\n\
                    e{n}: from br_{n}, always\nadd a, 1\nadd big[{n}], 1.5\n";
        text.push_str(&body.replace("{n}", &n.to_string()));
    }
    let (opened, subject) = timed(|| support::subject(&text));
    let mut session = Session::at_begin(subject).unwrap();
    session.goto_percent(50.0);
    println!("opened {} lines in {opened:?}", text.lines().count());
    let (time, _) = timed(|| {
        session.step(Travel::Forward, 1);
        let footprint = session.footprint().to_vec();
        let code = reviver_debugger::view::code::around_here(&session, 40);
        let cells = reviver_debugger::view::cells::cells(&session, &footprint);
        let array = reviver_debugger::view::cells::array(&session, &footprint, "big", 999_900, 60);
        let card = reviver_debugger::view::card::card(&mut session);
        let bar =
            reviver_debugger::view::timeline::timeline(&session, session.timeline().span().steps(), 120);
        let status = reviver_debugger::view::status::status(&session);
        (code, cells, array, card, bar, status, reviver_debugger::view::stack::frames(&session, 0, 20))
    });
    println!("a step and all panes: {time:?}");
    assert!(time < Duration::from_millis(16));
}
