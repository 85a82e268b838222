//! Tests of the status line, and of the timeline bar with its events and plots.

use crate::behaviour::{CALLS, fib, status};
use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::event::{Gesture, InputEvent};
use std::time::Duration;

fn assert_has(status: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| status.contains(part)), "{parts:?} in {status}");
}

#[test]
fn the_status_line_is_complete_at_80_columns() {
    let mut screen = fib();
    let costs = ["values", "history 0 B", "erased 0"];
    screen.keys("c");
    assert_has(&status(&screen), &["52/52", "100.0%", "end", "travel →", "machine →"]);
    assert_has(&status(&screen), &costs);
    screen.keys("C");
    assert_has(&status(&screen), &["0/52", "0.0%", "begin", "travel ←", "machine →"]);
    screen.command("goto 20").command("break again").keys("c");
    assert_has(&status(&screen), &["25/52", "48.1%", "break 1", "travel →", "machine →"]);
    screen.command("delete").command("watch a").keys("c");
    assert_has(&status(&screen), &["28/52", "53.8%", "watch 2", "travel →", "machine →"]);
    assert_has(&status(&screen), &costs);
    screen.keys("Space");
    assert_has(&status(&screen), &["playing forward, 8 steps/s", "28", "hist"]);
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.command("goto end").command("gradient out");
    assert_has(&status(&screen), &["388/388", "100", "branch 1", "gradient", "history 0 B", "erased 0"]);
    screen.command("reverse-step 97");
    assert_has(&status(&screen), &["291/388", "75", "travel ←", "m→", "gradient", "erased 0"]);
}

#[test]
fn the_history_is_on_the_screen_at_every_width() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.command("goto end").command("gradient out").command("reverse-step 300");
    for width in (14..200).rev() {
        screen.resize(width, 24);
        let status = status(&screen);
        assert!(status.contains("history 840 B") || status.contains("hist 840 B"), "{width}: {status}");
        assert!(width < 18 || status.contains("88"), "{width}: {status}");
    }
}

#[test]
fn keys_move_between_events() {
    let text = support::text("fib_recursive.rasm").replace("default 10", "default 3");
    let mut screen = Screen::open(support::subject(&text), 80, 24);
    assert!(!screen.text().contains("├┤ call"));
    screen.keys(";");
    assert!(screen.last_row().contains("no event after this step"), "{}", screen.text());
    screen.keys("End Home ; ;");
    assert_eq!(screen.step(), 5);
    screen.keys(",");
    assert_eq!(screen.step(), 2);
    assert!(screen.text().contains("├┤ call") && screen.text().contains("├──"), "{}", screen.text());
}

/// An edit doesn't change the scale of the timeline bar. So right after an edit, the user can drag the present to
/// later steps.
#[test]
fn a_new_branch_keeps_the_length_of_its_parent() {
    let mut screen = fib();
    screen.command("goto end").command("goto 26").command("set n = 4");
    assert_has(&status(&screen), &["26/~52", "50"]);
    screen.keys("m").mouse(Gesture::Press, 79, 20);
    assert_has(&status(&screen), &["end", "100"]);
    assert!(screen.step() < 52, "{}", screen.text());
}

#[test]
fn the_plot_of_a_variable_stays_with_its_call() {
    let mut screen = Screen::open(support::subject(CALLS), 120, 40);
    screen.command("break p").keys("c s s 3 Ctrl-End d");
    let plot = |screen: &mut Screen| {
        (0..2).for_each(|_| screen.event(InputEvent::Tick(Duration::from_millis(250))));
        let text = screen.text();
        let below = text.split_once("timeline").unwrap().1;
        assert!(below.contains("mine"), "{text}");
        below.to_owned()
    };
    assert!(plot(&mut screen).contains("mine      3"), "{}", plot(&mut screen));
    screen.command("delete").command("break q").keys("c s s");
    assert!(!plot(&mut screen).contains("777"), "{}", plot(&mut screen));
    screen.command("goto end");
    assert!(!plot(&mut screen).contains("777"), "{}", plot(&mut screen));
}

#[test]
fn the_right_edge_of_the_bar_is_the_end() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("End Home m").mouse(Gesture::Press, 30, 20).mouse(Gesture::Drag, 200, 20);
    assert_eq!(screen.step(), 388);
    screen.mouse(Gesture::Drag, 0, 20);
    assert_eq!(screen.step(), 0);
    screen.keys("9 Ctrl-End Enter");
    assert_eq!(screen.step(), 388);
}

#[test]
fn events_at_the_current_step_are_visible() {
    let mut screen = fib();
    screen.command("break 32").keys("c");
    let events = |screen: &Screen| {
        let text = screen.text();
        let row = text.lines().find(|row| row.starts_with("events")).unwrap_or_default();
        (row.trim_start_matches("events").trim().to_owned(), text.contains("● stop"))
    };
    assert_eq!(events(&screen), ("●".to_owned(), true));
    screen.keys("|");
    assert_eq!(events(&screen), ("|".to_owned(), true));
    assert!(screen.text().contains("| fence"), "{}", screen.text());
    screen.command("set n = 4").keys("^");
    assert_eq!(events(&screen), ("◆".to_owned(), true));
    for legend in ["| fence", "Y fork", "◆ several"] {
        assert!(screen.text().contains(legend), "{}", screen.text());
    }
    screen.keys("|");
    assert_eq!(events(&screen), ("Y".to_owned(), true));
}

#[test]
fn the_cursor_of_the_time_bar_follows_the_current_step() {
    let mut screen = fib();
    screen.keys("End 9 {");
    let here = screen.step();
    assert!(!screen.text().contains("Enter: to"), "{}", screen.text());
    screen.keys("Enter");
    assert_eq!(screen.step(), here);
    screen.keys("< < <");
    assert!(screen.text().contains("Enter: to"), "{}", screen.text());
}

#[test]
fn the_current_branch_is_seen_among_many() {
    let mut screen = fib();
    screen.command("goto end");
    for step in 0..5 {
        screen.command("timeline 0").command(&format!("goto {step}")).command("set n = 20");
    }
    let text = screen.text();
    let row = text.lines().find(|row| row.starts_with("branches")).unwrap();
    assert_eq!(row, "branches    5 from step 4: set n = 20   0   1   2   3   4", "{text}");
}

/// Returns the heading of the timeline bar, and its row of step numbers.
fn bar(screen: &Screen) -> (String, String) {
    let text = screen.text();
    let row =
        |begins: &str| text.lines().find(|row| row.contains(begins)).unwrap_or_default().trim().to_owned();
    (row("timeline"), row("step  "))
}

#[test]
fn the_time_bar_shows_its_zoom() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("End").command("goto 200").command("zoom 100..300");
    let (heading, axis) = bar(&screen);
    assert!(heading.contains("timeline 100..300 of 0..388"), "{heading}");
    assert!(axis.contains("100 ") && axis.contains(" 200 ") && axis.ends_with("300"), "{axis}");
    screen.keys("9 Ctrl-End Enter");
    assert_eq!(screen.step(), 300);
    // The shown part of the branch follows the present.
    screen.keys("s");
    assert!(bar(&screen).0.contains("timeline 188..388 of 0..388"), "{}", bar(&screen).0);
    screen.command("goto 200").keys("i");
    assert!(bar(&screen).0.contains("timeline 197..247 of"), "{}", bar(&screen).0);
    screen.keys("I").command("zoom in").command("zoom out").keys("I I");
    assert!(!bar(&screen).0.contains(" of "), "{}", bar(&screen).0);
    screen.command("zoom ..50").command("zoom all").command("zoom 380..").command("zoom 10..20");
    assert!(bar(&screen).0.contains("timeline 10..20 of"), "{}", bar(&screen).0);
    assert!(bar(&screen).1.contains("200 › (Enter: to 16)"), "{}", bar(&screen).1);
    screen.keys("1");
    assert!(bar(&screen).1.ends_with("200 ›"), "{}", bar(&screen).1);
    screen.command("goto 15").keys("}");
    assert_eq!(screen.step(), 16, "a part of what is shown");
}

#[test]
fn the_wheel_zooms_the_time_bar_at_the_pointer() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("End Home m").mouse(Gesture::ScrollUp, 12, 20);
    assert!(bar(&screen).0.contains("timeline 0..194 of 0..388"), "{}", bar(&screen).0);
    screen.mouse(Gesture::ScrollUp, 79, 20);
    assert!(bar(&screen).0.contains("..194 of"), "{}", bar(&screen).0);
    (0..4).for_each(|_| _ = screen.mouse(Gesture::ScrollDown, 40, 20));
    assert!(!bar(&screen).0.contains(" of "), "{}", bar(&screen).0);
}

#[test]
fn events_and_plots_follow_the_zoomed_bar() {
    let mut screen = fib();
    screen.command("goto end").command("goto 40").command("mark late").command("goto 5").command("plot a");
    let rested = |screen: &mut Screen| {
        (0..3).for_each(|_| screen.event(InputEvent::Tick(Duration::from_secs(1))));
        screen.text()
    };
    let text = rested(&mut screen);
    assert!(text.contains("late") && text.contains("a        89"), "{text}");
    screen.command("zoom 0..20");
    let text = rested(&mut screen);
    // F(20) hasn't been reached in the shown part.
    assert!(!text.contains("late") && text.contains("a         5"), "{text}");
    screen.command("zoom all");
    let text = rested(&mut screen);
    assert!(text.contains("late") && text.contains("a        89"), "{text}");
}

#[test]
fn ranges_outside_the_time_bar_are_refused() {
    let mut screen = fib();
    screen.keys("End");
    for (line, why) in [
        ("zoom 30..20", "the time bar has no steps 30..20: it goes from 0 to 52"),
        ("zoom 60..90", "the time bar has no steps 60..90: it goes from 0 to 52"),
        ("zoom 1..x", "`x` is no number, or is out of range"),
        ("zoom nearer", "`nearer` is neither in, out, all nor a range such as 100..300"),
    ] {
        screen.keys("Esc").command(line);
        assert!(crate::behaviour::said(&screen).join("\n").contains(why), "{line}: {}", screen.text());
    }
    screen.keys("Esc i i i i");
    assert!(screen.last_row().contains("the time bar can't show less than one step"), "{}", screen.text());
}
