//! Tests of the tour. Its pages fit on the screen with every preset of keys. The tour marks the pages that were
//! tried, describes each step, and covers no pane.

use reviver_debugger::session::Session;
use reviver_debugger::tui::app::App;
use reviver_debugger::tui::event::InputEvent;
use reviver_debugger::tui::keys::{KeyMap, Preset};
use reviver_debugger::tui::theme::{Theme, ThemeName};
use reviver_debugger::tui::tour::reading::Tour;
use reviver_files::UsedFiles;

use crate::screen::Screen;
use crate::support;

/// Upper bound on the number of pages of a tour. It ends loops over pages.
const MOST: usize = 20;

fn on_tour(name: &str, preset: Preset, width: u16, height: u16) -> Screen {
    let session = Session::at_begin(support::subject(&support::text(name))).unwrap();
    let app = App::new(session, UsedFiles::default(), KeyMap::new(preset), Theme::new(ThemeName::Dark));
    Screen::new(app.on_tour(), width, height)
}

fn row(screen: &Screen, number: usize) -> String {
    screen.text().lines().nth(number).unwrap_or_default().to_owned()
}

/// Returns the heading, without the navigation keys.
fn heading(screen: &Screen) -> String {
    row(screen, 0).split("  r next").next().unwrap_or_default().trim().to_owned()
}

/// Returns the description of the last step, in one row.
fn reported(screen: &Screen) -> String {
    let rows = [4, 5].map(|number| row(screen, number).trim().to_owned());
    rows.join(" ").trim().to_owned()
}

fn tour_of(name: &str) -> Tour {
    Tour::of(Session::at_begin(support::subject(&support::text(name))).unwrap().program())
}

/// Returns all headings, from the first page to the last.
fn headings(name: &str) -> Vec<String> {
    let mut tour = tour_of(name);
    let mut headings = vec![tour.heading()];
    while headings.len() < MOST && tour.further() {
        headings.push(tour.heading());
    }
    headings
}

#[test]
fn each_page_fits_into_three_rows_and_names_a_key_for_each_line() {
    for (preset, name) in
        Preset::ALL.into_iter().flat_map(|preset| [(preset, "fib.rasm"), (preset, "besselj.rasm")])
    {
        let keys = KeyMap::new(preset);
        let mut tour = tour_of(name);
        for page in 0..MOST {
            let rows = tour.words(&keys).rows(78);
            let named: Vec<&str> =
                rows.iter().flatten().filter(|(_, is_key)| *is_key).map(|(text, _)| text.as_str()).collect();
            assert!(rows.len() <= 3, "{} {name} page {page}: {rows:?}", preset.name());
            assert!(!named.is_empty(), "page {page}: {rows:?}");
            let typed: Vec<&&str> =
                named.iter().filter(|key| key.len() > 1 && key.starts_with(':')).collect();
            assert!(typed.is_empty(), "{}: no key for {typed:?}", preset.name());
            if !tour.further() {
                assert!(page > 10, "{page}");
                break;
            }
        }
    }
}

#[test]
fn pages_that_a_program_does_not_support_are_left_out_and_named_at_the_end() {
    let has = |name: &str, title: &str| headings(name).iter().any(|heading| heading.ends_with(title));
    assert!(has("hanoi.rasm", ": calls") && !has("hanoi.rasm", ": a gradient"));
    assert!(!has("horner.rasm", ": calls") && has("horner.rasm", ": a gradient"));
    let mut screen = on_tour("fib.rasm", Preset::Gdb, 80, 24);
    while !row(&screen, 0).contains("what comes next") {
        screen.keys("r");
    }
    let text = screen.text();
    assert!(text.contains("calls, which programs/hanoi.rasm has") && text.contains("a gradient"), "{text}");
    screen.keys("r");
    assert!(screen.last_row().starts_with("the tour is over: r begins it again"), "{}", screen.text());
    assert!(row(&screen, 0).starts_with(" code"), "{}", screen.text());
}

#[test]
fn tried_keys_are_marked_and_pages_can_be_skipped_and_revisited() {
    let mut screen = on_tour("fib.rasm", Preset::Gdb, 80, 24);
    screen.keys("r");
    assert_eq!(heading(&screen), "tour 2 of 14: one step forward");
    screen.keys("S");
    assert_eq!(heading(&screen), "tour 2 of 14: one step forward", "there is no step back at the start");
    screen.keys("s");
    assert_eq!(heading(&screen), "tour 2 of 14: one step forward ✓ tried");
    screen.keys("r r R R R R");
    assert_eq!(heading(&screen), "tour 1 of 14: the screen");
    screen.keys("Q");
    assert!(row(&screen, 0).starts_with(" code"), "{}", screen.text());
    screen.keys("R");
    assert!(screen.last_row().contains("there is no tour at present: r begins one"), "{}", screen.text());
    screen.command("tour");
    assert_eq!(heading(&screen), "tour 1 of 14: the screen");
}

/// If the user follows the instructions of the pages, each page with a command is marked as tried.
#[test]
fn the_pages_can_be_followed_key_by_key() {
    let keys = [
        "",
        "s s s",
        "S",
        "c",
        "C",
        ": g o t o Space 5 0 % Enter",
        "3 Down",
        "End y Esc",
        "W",
        "1 b c",
        "3 v C",
        "e 4 Enter",
        "p p",
        "?",
    ];
    let mut screen = on_tour("fib.rasm", Preset::Gdb, 80, 24);
    for (page, keys) in keys.into_iter().enumerate() {
        // Keys are separated by blanks, so the blank itself is written as the name of its key.
        for key in keys.split(' ').filter(|key| !key.is_empty()) {
            screen.event(InputEvent::Key(key.parse().unwrap()));
        }
        let done = heading(&screen);
        assert!(page == 0 || done.ends_with("✓ tried"), "{done}: {keys}\n{}", screen.text());
        assert!(done.starts_with(&format!("tour {} of 14", page + 1)), "{done}");
        screen.keys(if keys == "?" { "Esc r" } else { "r" });
    }
    assert!(row(&screen, 0).starts_with(" code"), "{}", screen.text());
}

#[test]
fn each_step_is_described_with_its_numbers_in_both_directions() {
    let mut screen = on_tour("fib.rasm", Preset::Gdb, 80, 24);
    assert_eq!(reported(&screen), "");
    screen.keys("s s s");
    let there = "`add a, b` adds the function's value to the target: a ← a + b; here a ← 0 + 1 = 1.";
    assert_eq!(reported(&screen), there);
    screen.keys("S");
    assert_eq!(reported(&screen), "`add a, b` is undone: a ← a - b; here a ← 1 - 1 = 0.");
    screen.command("goto end");
    assert_eq!(reported(&screen), "50 steps forward, from step 2 to step 52.");
    screen.keys("C");
    let back = "52 steps back, from step 52 to step 0: each instruction was undone, the last one first.";
    assert_eq!(reported(&screen), back);
    screen.keys("e 4 Enter");
    assert_eq!(reported(&screen), "");
}

#[test]
fn nothing_is_hidden_and_every_size_is_drawn() {
    for (width, height) in [(80, 24), (120, 40), (170, 50)] {
        let mut screen = on_tour("fib.rasm", Preset::Gdb, width, height);
        screen.keys("s s");
        let text = screen.text();
        for part in [" code test.rasm", "cells", "next: add a, b", "undone", "time", "►", "S back", "step 2/"]
        {
            assert!(text.contains(part), "{width}×{height}: no `{part}`\n{text}");
        }
        // An overlay doesn't cover the tour.
        screen.keys("?");
        assert!(
            row(&screen, 0).contains("tour 1 of 14") && screen.text().contains("Make one step"),
            "{text}"
        );
    }
    for (width, height) in [(1, 1), (10, 3), (40, 10), (79, 23)] {
        on_tour("fib.rasm", Preset::Gdb, width, height).keys("s r S");
    }
}

/// The book shows rows of the tour. A comment before them contains the keys that lead to them.
#[test]
fn the_book_shows_the_current_tour() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../course/book/src/02-debugger.md");
    let chapter = std::fs::read_to_string(path).unwrap();
    let mut shown = 0;
    for part in chapter.split("<!-- tour: ").skip(1) {
        let (keys, rest) = part.split_once(" -->\n\n```text\n").expect("a block follows the comment");
        let (block, _) = rest.split_once("\n```").expect("the block has an end");
        let mut screen = on_tour("fib.rasm", Preset::Gdb, 80, 24);
        screen.keys(keys);
        let rows: Vec<String> = (0..6).map(|number| row(&screen, number)).collect();
        assert_eq!(rows.join("\n").trim_end(), block, "after the keys {keys}");
        shown += 1;
    }
    assert!(shown >= 3, "{shown}");
    let titles = headings("besselj.rasm");
    for title in titles.iter().filter_map(|heading| heading.split_once(": ")) {
        assert!(
            chapter.contains(&format!("| {} |", title.1)),
            "the chapter doesn't list the page `{}`",
            title.1
        );
    }
}
