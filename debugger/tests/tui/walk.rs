//! Tests of answers: trees of origins and lists of time points. Enter travels to the time point of a row, and the
//! answer stays open.

use std::time::Duration;

use crate::behaviour::{LONG, commands, fib, said};
use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::event::Gesture;
use reviver_debugger::tui::panes::PaneKind;

/// Returns the visible rows of the answer.
fn rows(screen: &Screen) -> Vec<String> {
    let text = screen.text();
    let below = text.lines().skip_while(|row| !row.contains("failure") && !row.starts_with(" card ")).skip(1);
    let left = |row: &str| row.split(['│', '┃']).next().unwrap_or_default().trim_end().to_owned();
    below.map(left).take_while(|row| !row.is_empty()).collect()
}

fn besselj() -> Screen {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 120, 40);
    screen.command("goto 194").command("why sum");
    screen
}

#[test]
fn the_origin_of_a_value_is_a_tree() {
    let mut screen = besselj();
    assert_eq!(screen.app.focus(), PaneKind::Answer);
    let first = rows(&screen);
    assert!(first[0].starts_with("▾ sum  0.11490348492980633  add sum, term"), "{first:?}");
    assert!(first[0].ends_with("79 @191") && first[1].starts_with("  ▸ sum  0.114903485333478"), "{first:?}");
    assert_eq!(first.len(), 3, "{first:?}");
    // The answer has two links; the tree can be unfolded further.
    screen.keys("Down Right Down Right Down Right Down Right Down Right");
    let deep = rows(&screen);
    assert!(deep[5].starts_with("          ▾ sum  0.125  add sum, term"), "{deep:?}");
    // Left moves to the parent.
    screen.keys("Left Left");
    assert_eq!(rows(&screen).len(), deep.len() - 2, "{:?}", rows(&screen));
    screen.keys("Ctrl-Home Left");
    assert_eq!(rows(&screen).len(), 1);
    assert_eq!(commands(&screen), ["goto 194", "why sum"], "unfolding is no command");
}

#[test]
fn enter_goes_to_the_time_point_and_keeps_the_answer() {
    let mut screen = besselj();
    let before = rows(&screen);
    screen.keys("Enter");
    assert_eq!(screen.step(), 190);
    assert_eq!((rows(&screen), screen.app.focus()), (before, PaneKind::Answer));
    screen.keys("Down Enter");
    assert_eq!(screen.step(), 160);
    // Movements of every kind keep the answer and its selected row.
    screen.keys("s S c C Enter");
    assert_eq!(screen.step(), 160);
    screen.keys("u");
    assert_eq!(screen.step(), 0);
    screen.keys("Esc");
    assert_ne!(screen.app.focus(), PaneKind::Answer);
    assert!(!screen.text().contains("▾"), "{}", screen.text());
}

#[test]
fn the_first_q_closes_an_answer() {
    let mut screen = besselj();
    screen.keys("q");
    assert!(!screen.has_quit && screen.app.focus() != PaneKind::Answer);
    screen.keys("q");
    assert!(screen.has_quit);
}

#[test]
fn moves_of_a_value_have_one_row() {
    let mut screen = fib();
    screen.command("end").keys("3 Down").keys("y");
    let seen = rows(&screen);
    assert!(seen[0].starts_with("▾ a  55  add a, b") && seen[1] == "  ▸ through 2 swaps", "{seen:?}");
    screen.keys("Down Right");
    let seen = rows(&screen);
    assert!(
        seen[2].starts_with("      a  swap a, b") && seen[3].starts_with("      b  swap a, b"),
        "{seen:?}"
    );
    screen.keys("Down Enter");
    assert_eq!(screen.step(), 48);
    // A row without a destination is unfolded, if possible.
    screen.keys("Up Enter");
    assert_eq!(screen.step(), 48);
}

#[test]
fn a_history_list_can_be_extended() {
    let mut screen = Screen::open(support::subject(LONG), 80, 60);
    screen.command("goto 500").command("history a 3");
    let seen = rows(&screen);
    assert!(seen[0] == "▸ more" && seen.len() == 4, "{seen:?}");
    assert!(seen[3].contains("→") && seen[3].contains("add a, i"), "{seen:?}");
    screen.keys("Ctrl-Home Right");
    let more = rows(&screen);
    assert!(more.len() == 24 && more[0] == "▸ more" && more[21..] == seen[1..], "{more:?}");
    // Rows were added above the first row. The cursor stays at this row.
    screen.keys("Enter");
    let step = screen.step();
    assert!(more[20].ends_with(&format!("@{}", step + 1)), "{step} {more:?}");
}

#[test]
fn lists_of_time_points_are_navigable() {
    let mut screen = fib();
    screen.command("goto 30").command("mark b").command("goto 12").command("mark a").command("fence");
    screen.command("goto 20").command("fence").command("set n = 9");
    let cases = [
        ("info marks", "Down Enter", "goto b"),
        ("timeline", "Enter", "timeline 0"),
        ("info fences", "Down Enter", "goto 20"),
        ("info events", "Enter", "goto 12"),
    ];
    for (asked, keys, expected) in cases {
        screen.command(asked).keys(keys);
        assert_eq!(commands(&screen).last().unwrap(), expected, "{asked} {}", screen.text());
    }
    let text = support::text("bundle_adjustment.rasm");
    let mut screen = Screen::open(support::subject(&text), 120, 40);
    screen.command("until dot_3").command("backtrace").keys("Down Enter");
    assert!(screen.text().contains("►1 → rotate"), "{}", screen.text());
}

/// Step numbers have another meaning on another branch, so opening a row first switches to the answer's
/// branch.
#[test]
fn an_answer_of_another_branch_switches_to_it_first() {
    let mut screen = fib();
    screen.command("goto 30").command("why a").command("set n = 3").keys("Down Right Right Down Enter");
    assert_eq!(commands(&screen).last().unwrap(), "timeline 0");
    screen.keys("Enter");
    assert!(commands(&screen).last().unwrap().starts_with("goto "), "{:?}", commands(&screen));
    screen.command("timeline 1");
    // The question is about the other branch, so it isn't answered while the session is on this branch.
    screen.keys("Ctrl-End Right Ctrl-End Right Ctrl-End Right");
    let heard = said(&screen);
    assert!(heard.last().unwrap().starts_with("this answer belongs to branch 0"), "{heard:?}");
}

#[test]
fn an_interrupted_answer_can_be_requested_again() {
    let text =
        LONG.replace("        for i", "        add b, 5\n        for i").replace(".out a", ".out a, b, c");
    let mut screen = Screen::open(support::subject(&(text + "        add c, b\n")), 80, 40);
    screen.command("end").command("why c 0");
    let seen = rows(&screen);
    assert!(seen.iter().any(|row| row.starts_with("  ▸ b  5")), "{seen:?}");
    screen.patience = Duration::from_millis(20);
    screen.keys("Ctrl-End Right");
    let seen = rows(&screen);
    assert!(seen.last().unwrap().starts_with("  ▸ b  5  interrupted: the search stopped"), "{seen:?}");
    screen.patience = Duration::from_secs(600);
    screen.keys("Right");
    let seen = rows(&screen);
    assert!(seen.iter().any(|row| row.starts_with("  ▾ b  5  add b, 5")), "{seen:?}");
}

#[test]
fn rows_are_searched_clicked_and_opened_by_the_mouse() {
    let mut screen = besselj();
    let row = screen.text().lines().position(|row| row.contains("@161")).unwrap() as u16;
    screen.mouse(Gesture::Press, 5, row).mouse(Gesture::Release, 5, row);
    assert_eq!(screen.step(), 194);
    screen.mouse(Gesture::DoublePress, 5, row);
    assert_eq!(screen.step(), 160);
    screen.keys("Ctrl-Home / @ 1 7 7 Enter Enter");
    assert_eq!(screen.step(), 176);
}

#[test]
fn rows_of_tables_and_differences_link_to_time_points() {
    let mut screen = fib();
    screen.keys("End").command("trace a, b at 29 if a > 2");
    assert!(screen.text().contains("step   a   b"), "{}", screen.text());
    screen.keys("Down Enter");
    assert_eq!(screen.step(), 27, "{}", screen.text());
    screen.command("diff 10 27");
    assert!(screen.text().contains("from step 10 to step 27:"), "{}", screen.text());
    // The row leads to the step before the last write of its cell.
    screen.keys("Enter");
    assert_eq!(screen.step(), 24, "{}", screen.text());
}

#[test]
fn the_heading_of_a_table_stays_while_its_rows_are_scrolled() {
    let mut screen = fib();
    screen.keys("End").command("trace a, b at 29");
    let heading = "step   a   b";
    assert!(screen.text().contains(heading) && !screen.text().contains("47  34"), "{}", screen.text());
    screen.keys("Ctrl-End");
    assert!(screen.text().contains(heading) && screen.text().contains("47  34"), "{}", screen.text());
    screen.keys("Ctrl-Home");
    // The wheel scrolls to the last row, and a click selects the row at its position.
    let row = screen.text().lines().position(|row| row.contains(heading)).unwrap() as u16;
    (0..5).for_each(|_| _ = screen.mouse(Gesture::ScrollDown, 5, row + 1));
    assert!(screen.text().contains(heading) && screen.text().contains("47  34"), "{}", screen.text());
    screen.keys("Ctrl-Home").mouse(Gesture::Press, 5, row + 1).mouse(Gesture::Release, 5, row + 1);
    screen.keys("Enter");
    assert_eq!(screen.step(), 2, "{}", screen.text());
}
