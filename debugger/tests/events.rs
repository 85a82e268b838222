//! Tests that the timeline has the same events as a run of the machine in single steps.

mod support;

use reviver_debugger::session::{EventKind, Session, SessionError};
use reviver_debugger::timeline::{CallSegment, TimelineLimits};
use reviver_debugger::view::timeline::timeline;
use reviver_vm::{Machine, Stop, Travel};

/// Returns a program that computes the n-th Fibonacci number by recursion. If `n` is large, a branch stores
/// intervals of calls of the program instead of single calls.
fn recursion(n: u32) -> String {
    support::text("fib_recursive.rasm").replace("default 10", &format!("default {n}"))
}

/// Programs with calls: short and long runs, inverted calls, floats.
fn programs() -> Vec<String> {
    let float = support::text("besselj.rasm");
    vec![recursion(4), recursion(1_500), float, support::text("fib.rasm")]
}

/// Returns the step number after each step that enters or leaves a call.
fn calls(text: &str) -> Vec<i64> {
    let mut machine = Machine::at_begin(support::subject(text).program).unwrap();
    let mut steps = Vec::new();
    loop {
        let depth = machine.state().calls.len();
        if machine.step(Travel::Forward) != Ok(Stop::Budget) {
            return steps;
        }
        if machine.state().calls.len() != depth {
            steps.push(machine.state().step);
        }
    }
}

fn session(text: &str) -> Session {
    let subject = support::subject(text);
    let machine = Machine::at_begin(subject.program.clone()).unwrap();
    let limits = TimelineLimits { history: 1 << 12, spacing: 64, short: 8, ..TimelineLimits::default() };
    Session::new(subject, machine.into_state(), limits).unwrap()
}

/// Asserts that every call is in one interval, and that every interval contains calls.
fn assert_found(intervals: &[CallSegment], calls: &[i64]) {
    let mut left = calls.iter().peekable();
    for interval in intervals {
        let mut count = 0;
        while left.next_if(|&&step| step <= interval.to).is_some_and(|&step| step > interval.from) {
            count += 1;
        }
        assert_eq!(interval.calls.entered + interval.calls.left, count, "{interval:?}");
        assert!(count > 0);
    }
    assert_eq!(left.next(), None);
}

#[test]
fn every_call_is_counted_in_both_directions() {
    for text in programs() {
        let calls = calls(&text);
        let mut session = session(&text);
        for step in [3, 17, 5, 40, 39, 200, 11, 5_000, 4_097, 4_999, 100] {
            session.goto(step);
            let (_, last) = session.timeline().branch().extent();
            let reached: Vec<i64> = calls.iter().copied().filter(|&step| step <= last).collect();
            let intervals: Vec<CallSegment> = session.timeline().branch().calls().collect();
            assert_found(&intervals, &reached);
            let exact = intervals.iter().all(|interval| interval.to - interval.from == 1);
            assert!(exact || last > 4_096);
        }
        session.goto_end();
        let intervals: Vec<CallSegment> = session.timeline().branch().calls().collect();
        assert_found(&intervals, &calls);
        assert!(intervals.len() <= 4_097);
    }
}

#[test]
fn calls_are_found_on_both_sides_of_an_edit() {
    let text = format!(".inout unused\n{}", recursion(5));
    let calls = calls(&text);
    let mut session = session(&text);
    session.goto(60);
    // No instruction reads the edited cell, so the new branch executes the same steps.
    assert!(session.set("unused", "1").unwrap().is_change);
    assert_eq!(session.time_point().branch, 1);
    session.goto_end();
    session.goto(20);
    let (first, _) = session.timeline().branch().extent();
    assert!(first < 60, "nobody went back over the edit");
    let reached: Vec<i64> = calls.iter().copied().filter(|&step| step > first).collect();
    assert_found(&session.timeline().branch().calls().collect::<Vec<_>>(), &reached);
}

#[test]
fn next_and_previous_calls_are_found() {
    let text = recursion(1_500);
    let calls = calls(&text);
    assert!(calls.len() > 1_000);
    let mut session = session(&text);
    session.goto_end();
    let wanted = Some(EventKind::Call);
    for from in [0, 1, 7_001, calls[500], calls[501] - 1, calls[501] + 1, *calls.last().unwrap()] {
        for travel in [Travel::Forward, Travel::Backward] {
            session.goto(from);
            let expected = match travel {
                Travel::Forward => calls.iter().copied().find(|&step| step > from),
                Travel::Backward => calls.iter().copied().rfind(|&step| step < from),
            };
            match session.next_event(travel, wanted) {
                Ok(motion) => assert_eq!(Some(motion.to.step), expected, "from {from} {travel:?}"),
                Err(error) => {
                    assert_eq!((error, expected), (SessionError::NoEvent { travel, wanted }, None));
                    assert_eq!(session.step_number(), from);
                }
            }
        }
    }
}

#[test]
fn motions_to_an_event_stop_at_other_events() {
    let text = recursion(1_500);
    let calls = calls(&text);
    let mut session = session(&text);
    session.goto_end();
    // The marked step is between two calls. The interval that contains the step has other calls.
    let gap = calls.windows(2).find(|pair| pair[0] > 6_000 && pair[1] > pair[0] + 2).unwrap();
    session.goto(gap[0] + 1);
    session.mark("between");
    for (from, travel, expected) in [
        (gap[0], Travel::Forward, gap[0] + 1),
        (gap[0] + 1, Travel::Forward, gap[1]),
        (gap[1], Travel::Backward, gap[0] + 1),
        (gap[0] + 1, Travel::Backward, gap[0]),
    ] {
        session.goto(from);
        assert_eq!(session.next_event(travel, None).unwrap().to.step, expected);
    }
}

#[test]
fn the_bar_has_a_bracket_for_each_call() {
    let text = recursion(3);
    let calls = calls(&text);
    let mut session = session(&text);
    session.goto_end();
    let last = session.step_number();
    let pane = timeline(&session, session.timeline().span().steps(), last as usize + 1);
    let columns: Vec<i64> =
        (0..).zip(&pane.columns).filter(|(_, c)| !c.calls.none()).map(|(n, _)| n).collect();
    assert_eq!(columns, calls);
    // With fewer columns than steps, the column that contains a call is marked.
    let pane = timeline(&session, session.timeline().span().steps(), 10);
    for call in calls {
        let column = (call * 10 / (last + 1)) as usize;
        assert!(!pane.columns[column].calls.none());
    }
}
