//! Tests that a frame is drawn within 16 ms of a key press, at 120×40, for a program with 10,000 lines and an
//! array of 10⁶ cells.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reviver_compile::tiered::TieredRuntime;
use reviver_debugger::session::Session;
use reviver_debugger::timeline::LongRuns;
use reviver_jit::Jit;

use crate::screen::{Screen, app_of};
use crate::support;

const LIMIT: Duration = Duration::from_millis(16);

fn long_program() -> String {
    let mut text = String::from(".inout A[1_000_000]\n.inout a\n");
    for n in 0..5_000 {
        text += &format!("        add  A[{n}], {n}\n        add  a, A[{n}]\n");
    }
    text
}

#[test]
fn a_key_becomes_a_frame_in_time() {
    held(Screen::open(support::subject(&long_program()), 120, 40));
}

/// Even with an engine for long runs, short runs are interpreted. So no key press waits for compilation.
#[test]
fn no_key_waits_for_native_code() {
    let subject = support::subject(&long_program());
    let runtime = TieredRuntime::new(&subject.program, Jit::new().expect("a machine that is known"));
    let session = Session::at_begin(subject).unwrap().with_long_runs(&LongRuns::new(Arc::new(runtime)));
    held(Screen::new(app_of(session), 120, 40));
}

/// Presses keys and asserts that each is followed by a frame in time.
fn held(mut screen: Screen) {
    screen.keys("s s s");
    for keys in ["s", "S", "4", "PageDown", "3", "1", "PageDown", "Tab", "{", "}", "n"] {
        let mut times: Vec<Duration> = (0..15)
            .map(|_| {
                let start = Instant::now();
                screen.keys(keys);
                start.elapsed()
            })
            .collect();
        times.sort();
        let median = times[times.len() / 2];
        println!("{keys}: {median:?}");
        assert!(median < LIMIT, "{keys}: {median:?}");
    }
}
