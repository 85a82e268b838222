//! Tests of long runs and playback: the screen during a run, the effects of keys, and interrupts.

use crate::behaviour::{LONG, SHOWS, fib, status};
use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::event::InputEvent;
use reviver_debugger::tui::keys::Key;
use std::time::Duration;

#[test]
fn the_screen_updates_during_a_long_run_and_an_interrupt_ends_it() {
    let mut screen = Screen::open(support::subject(LONG), 80, 24);
    let background_task = screen.send(InputEvent::Key(Key::char('c')));
    screen.event(InputEvent::Tick(Duration::from_millis(700)));
    let expected = "running `continue`  step 0  0.7 s  history 0 B  Ctrl-C stops it";
    assert!(screen.text().contains(expected), "{}", screen.text());
    // Keys are stored until the run has ended; an interrupt drops them.
    screen.keys("Down q");
    screen.resize(100, 30);
    let running = std::thread::spawn(move || background_task.perform());
    let progress = |screen: &mut Screen| {
        screen.event(InputEvent::Tick(Duration::from_millis(100)));
        !screen.text().contains("step 0  ")
    };
    while !progress(&mut screen) {
        std::thread::sleep(Duration::from_millis(1));
    }
    screen.event(InputEvent::Key(Key::ctrl('c')));
    let effect = screen.app.returned(running.join().unwrap());
    assert!(effect.is_empty() && !screen.has_quit);
    screen.draw();
    assert!(screen.step() > 0 && screen.text().contains("nterrupt"), "{}", screen.text());
}

#[test]
fn a_long_run_through_known_steps_has_a_percentage() {
    let mut screen = Screen::open(support::subject(&LONG.replace("50_000_000", "500")), 80, 24);
    screen.keys("End Home");
    let background_task = screen.send(InputEvent::Key(Key::char('c')));
    screen.event(InputEvent::Tick(Duration::from_millis(300)));
    let expected = "running `continue`  step 0  0.0%  0.3 s  history 0 B  Ctrl-C stops it";
    assert!(screen.text().contains(expected), "{}", screen.text());
    let effect = screen.app.returned(background_task.perform());
    screen.carry_out(effect);
    screen.draw();
    assert!(status(&screen).contains("100"), "{}", screen.text());
}

#[test]
fn an_interrupt_never_quits() {
    let mut screen = fib();
    for _ in 0..3 {
        screen.event(InputEvent::Key(Key::ctrl('c')));
    }
    assert!(!screen.has_quit);
    assert!(screen.last_row().contains("q ends the session"), "{}", screen.text());
    screen.keys("q");
    assert!(screen.has_quit);
}

#[test]
fn keys_typed_during_a_run_are_handled_after_it() {
    let mut screen = fib();
    let background_task = screen.send(InputEvent::Key(Key::char('s')));
    screen.keys("s s");
    let effects = screen.app.returned(background_task.perform());
    screen.carry_out(effects);
    assert_eq!(screen.step(), 3);
}

#[test]
fn keys_typed_during_a_run_are_all_handled() {
    let mut screen = fib();
    let background_task = screen.send(InputEvent::Key(Key::char('s')));
    screen.keys("m Ctrl-L s m s");
    let effects = screen.app.returned(background_task.perform());
    screen.carry_out(effects);
    assert_eq!(screen.step(), 3);
}

#[test]
fn printed_lines_are_messages_and_playing_continues() {
    let mut screen = Screen::open(support::subject(SHOWS), 80, 24);
    screen.command("break 3 log now {a}").keys("p + + + + + +");
    (0..10).for_each(|_| screen.event(InputEvent::Tick(Duration::from_millis(33))));
    let said: Vec<&str> = screen.app.messages().iter().map(|message| message.text.as_str()).collect();
    for expected in ["a = 1", "a = 45", "now 1", "now 36", "history end"] {
        assert_eq!(said.iter().filter(|text| **text == expected).count(), 1, "{expected} in {said:?}");
    }
}

#[test]
fn playing_works_in_both_directions_and_pauses() {
    let mut screen = fib();
    let second = |screen: &mut Screen| {
        (0..40).for_each(|_| screen.event(InputEvent::Tick(Duration::from_millis(25))));
    };
    screen.keys("Space");
    assert!(screen.text().contains("playing forward, 8 steps/s"), "{}", screen.text());
    second(&mut screen);
    assert_eq!(screen.step(), 8);
    screen.keys("P +");
    second(&mut screen);
    assert_eq!(screen.step(), 0);
    assert!(!screen.text().contains("playing"), "{}", screen.text());
    screen.keys("p");
    second(&mut screen);
    screen.keys("Space");
    let here = screen.step();
    second(&mut screen);
    assert_eq!((screen.step(), here), (here, 16));
}

#[test]
fn an_interrupt_while_playing_pauses() {
    let mut screen = fib();
    screen.keys("p").event(InputEvent::Key(Key::ctrl('c')));
    assert_eq!(screen.last_row(), "paused");
    assert!(!screen.text().contains("playing"), "{}", screen.text());
}

#[test]
fn the_panes_stay_while_a_run_is_resized() {
    let mut screen = Screen::open(support::subject(LONG), 80, 24);
    let background_task = screen.send(InputEvent::Key(Key::char('c')));
    screen.event(InputEvent::Tick(Duration::from_millis(100)));
    for (width, height) in [(100, 30), (60, 15), (3, 1), (120, 40), (80, 24)] {
        screen.resize(width, height);
        let text = screen.text();
        assert!(width < 60 || text.contains("rasm") && text.contains("running"), "{text}");
        assert!(width < 60 || text.matches("running").count() == 1, "{text}");
    }
    drop(background_task);
}

#[test]
fn quitting_a_run_asks_before_discarding_marks() {
    let mut screen = Screen::open(support::subject(LONG), 80, 24);
    screen.command("mark here");
    let background_task = screen.send(InputEvent::Key(Key::char('c')));
    screen.event(InputEvent::Tick(Duration::from_millis(100)));
    assert_eq!(screen.last_row(), "Ctrl-C stops the run   q stops the run and asks before quitting");
    let running = std::thread::spawn(move || background_task.perform());
    while !running.is_finished() {
        screen.keys("q");
        assert!(screen.last_row().contains("asks for confirmation as soon as"), "{}", screen.last_row());
        std::thread::sleep(Duration::from_millis(1));
    }
    let effects = screen.app.returned(running.join().unwrap());
    assert!(!screen.has_quit && screen.step() < 100_000_000);
    screen.carry_out(effects);
    screen.keys("q q");
    assert!(screen.has_quit);
}

#[test]
fn a_run_shows_its_keys_and_quitting_stops_it() {
    let mut screen = Screen::open(support::subject(LONG), 80, 24);
    let background_task = screen.send(InputEvent::Key(Key::char('c')));
    screen.event(InputEvent::Tick(Duration::from_millis(100)));
    assert_eq!(screen.last_row(), "Ctrl-C stops the run   q stops the run and ends the session");
    screen.keys("s");
    assert!(screen.last_row().contains("1 key waits"), "{}", screen.last_row());
    // A letter typed into the prompt doesn't end the session.
    screen.keys(": q");
    assert!(screen.last_row().contains("3 keys wait"), "{}", screen.last_row());
    screen.event(InputEvent::Key(Key::ctrl('c')));
    let running = std::thread::spawn(move || background_task.perform());
    while !running.is_finished() {
        screen.keys("q");
        assert!(screen.last_row().contains("ends as soon as the run has stopped"), "{}", screen.last_row());
        std::thread::sleep(Duration::from_millis(1));
    }
    let effects = screen.app.returned(running.join().unwrap());
    screen.carry_out(effects);
    assert!(screen.has_quit && screen.step() < 100_000_000);
}
