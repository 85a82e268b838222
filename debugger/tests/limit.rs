//! Tests that no command exceeds the step limit of a session. The limit is the maximum distance from step 0.

mod support;

use reviver_debugger::outcome::{OriginCause, Reason};
use reviver_debugger::session::Session;
use reviver_vm::Travel::{Backward, Forward};

/// Creates a session of the Fibonacci loop. The loop ends after 52 steps; with a negative n it never ends.
fn session(most_steps: u64) -> Session {
    Session::at_begin(support::subject(&support::text("fib.rasm"))).unwrap().with_most_steps(most_steps)
}

#[test]
fn no_motion_passes_the_step_limit() {
    let mut session = session(20);
    let limit = (Reason::StepLimit, 20);
    type Move = fn(&mut Session) -> reviver_debugger::outcome::Motion;
    let moves: [Move; 6] = [
        |session| session.resume(Forward),
        |session| session.goto_end(),
        |session| session.goto(21),
        |session| session.goto_percent(50.0),
        |session| session.step(Forward, 100),
        |session| session.next(Forward, 100),
    ];
    for from in [0, 7, 19, 20] {
        for advance in moves {
            session.goto(from);
            let motion = advance(&mut session);
            assert_eq!((motion.reason, motion.to.step), limit, "from {from}");
        }
    }
    assert_eq!(session.step(Backward, 3).reason, Reason::Arrived);
    assert_eq!(session.goto(20).reason, Reason::Arrived);
    assert_eq!(session.check().unwrap().stop, Reason::StepLimit);
    assert_eq!(session.check().unwrap().steps, 20);
}

#[test]
fn questions_short_circuit() {
    let text = support::text("fib.rasm").replace(".in  n", ".out c\n.in  n");
    let mut session = Session::at_begin(support::subject(&text)).unwrap().with_most_steps(1_000);
    session.goto(20);
    session.set("a", "1").unwrap();
    session.set("b", "3").unwrap();
    assert_eq!(session.history("c", 5).unwrap().stopped, Some(Reason::StepLimit));
    let origin = session.why("c", 1).unwrap().remove(0);
    assert_eq!(origin.cause, OriginCause::Stopped { step: -1_000, reason: Reason::StepLimit });
}

#[test]
fn a_limit_at_the_end_of_the_program_has_no_effect() {
    let mut session = session(52);
    assert_eq!(session.resume(Forward).reason, Reason::HistoryEnd);
    assert_eq!(session.check().unwrap().stop, Reason::HistoryEnd);
    session.goto_start();
    assert_eq!(session.goto_end().reason, Reason::HistoryEnd);
    assert_eq!(session.goto_percent(50.0).to.step, 26);
    assert_eq!(session.resume(Backward).reason, Reason::HistoryBegin);
}

#[test]
fn the_step_limit_applies_to_branches_in_both_directions() {
    let mut session = session(1_000);
    session.goto(17);
    session.set("n", "-1").unwrap();
    let motion = session.resume(Forward);
    assert_eq!((motion.reason, motion.to.step), (Reason::StepLimit, 1_000));
    let check = session.check().unwrap();
    assert_eq!((check.stop, check.steps), (Reason::StepLimit, 983));
    // The edited values aren't Fibonacci numbers, so a backward run never reaches the start of the loop.
    session.timeline_up().unwrap();
    session.goto(27);
    session.set("a", "100").unwrap();
    let motion = session.resume(Backward);
    assert_eq!((motion.reason, motion.to.step), (Reason::StepLimit, -1_000));
    assert_eq!(session.goto(-5).reason, Reason::Arrived);
    assert_eq!(session.goto_start().to.step, -1_000);
}

#[test]
fn a_fence_stops_before_the_step_limit() {
    let mut session = session(20);
    session.goto(20);
    session.fence();
    session.goto(3);
    assert_eq!(session.resume(Forward).reason, Reason::Fence);
    assert_eq!(session.resume(Forward).reason, Reason::StepLimit);
}
