//! Tests of the effects of keys on the screen, without a terminal. Other tests of the screen use the programs
//! and functions in this file, too.

use reviver_files::UsedFiles;
use std::time::Duration;

use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::app::messages::Tone;
use reviver_debugger::tui::app::{App, Effect};
use reviver_debugger::tui::event::InputEvent;
use reviver_debugger::tui::keys::{BareKey, Key, KeyMap, Preset};
use reviver_debugger::tui::panes::PaneKind;
use reviver_debugger::tui::theme::{Theme, ThemeName};

/// A program that runs for about 100 million steps.
pub const LONG: &str = ".inout n default 50_000_000\n\
                    .out a\n\
                    \x20       for i in 0..n\n\
                    \x20           add a, i\n\
                    \x20       rof\n";

pub fn fib() -> Screen {
    Screen::open(support::subject(&support::text("fib.rasm")), 80, 24)
}

#[test]
fn keys_are_commands_in_both_directions() {
    let mut screen = fib();
    screen.keys("s s s S");
    assert_eq!(screen.step(), 2);
    screen.keys("End");
    let end = screen.step();
    assert!(end > 2);
    screen.keys("c C");
    assert_eq!(screen.step(), 0);
    screen.keys("u U Left Right");
    assert_eq!(screen.step(), 1);
    screen.command("goto end").command("reverse-step 2");
    assert_eq!(screen.step(), end - 2);
    let said: Vec<&str> = screen.app.messages().iter().map(|message| message.text.as_str()).collect();
    assert!(said.contains(&"reverse-continue") && said.contains(&"reverse-step 2"));
}

#[test]
fn the_screen_is_stable_without_input() {
    let mut screen = fib();
    assert!(!screen.app.is_stale());
    assert_eq!(screen.app.patience(), None);
    assert!(screen.app.handle(InputEvent::Tick(Duration::from_secs(1))).is_none());
    assert!(!screen.app.is_stale());
    screen.keys("Down");
    assert!(!screen.app.is_stale());
}

/// A program with `show` instructions, so that some of its steps print.
pub const SHOWS: &str = ".out a\n\
                     \x20       for i in 0..10\n\
                     \x20           add a, i\n\
                     \x20           show a\n\
                     \x20       rof\n";

/// Returns the row above the last one: the status line.
pub fn status(screen: &Screen) -> String {
    screen.text().lines().rev().nth(1).unwrap_or_default().to_owned()
}

#[test]
fn small_screens_have_one_pane_and_tabs() {
    let mut screen = Screen::open(support::subject(&support::text("fib.rasm")), 60, 12);
    assert_eq!(screen.app.focus(), PaneKind::Code);
    assert!(screen.text().lines().next().unwrap().contains("cells"), "{}", screen.text());
    screen.keys("Tab Tab");
    assert_eq!(screen.app.focus(), PaneKind::Cells);
    screen.keys("9");
    assert_eq!(screen.app.focus(), PaneKind::Timeline);
    screen.resize(80, 24);
    screen.keys("Shift-Tab z");
    assert_eq!(screen.app.focus(), PaneKind::Card);
}

#[test]
fn every_preset_can_be_used() {
    for preset in Preset::ALL {
        let keys = KeyMap::new(preset);
        let [step, back] = ["step", "reverse-step"].map(|line| keys.keys(line).next().unwrap());
        let session =
            reviver_debugger::session::Session::at_begin(support::subject(&support::text("fib.rasm")))
                .unwrap();
        let mut screen =
            Screen::new(App::new(session, UsedFiles::default(), keys, Theme::new(ThemeName::Light)), 80, 24);
        [step, step, back].into_iter().for_each(|key| screen.event(InputEvent::Key(key)));
        assert_eq!(screen.step(), 1, "{}", preset.name());
    }
}

#[test]
fn a_key_can_run_a_command_line() {
    let mut keys = KeyMap::default();
    keys.bind(Key::plain(BareKey::F(2)), "goto end".into());
    let session =
        reviver_debugger::session::Session::at_begin(support::subject(&support::text("fib.rasm"))).unwrap();
    let mut screen =
        Screen::new(App::new(session, UsedFiles::default(), keys, Theme::new(ThemeName::Sixteen)), 80, 24);
    screen.keys("F2");
    assert!(screen.step() > 0);
}

#[test]
fn an_included_file_is_shown_when_it_is_entered() {
    let mut screen = Screen::open(support::subject(&support::text("complex_multiply.rasm")), 120, 40);
    screen.keys("s");
    assert!(screen.text().contains("code lib/complex.rasm"), "{}", screen.text());
    // The cursor and the new breakpoint are in the file that is shown.
    screen.keys("Down Down b");
    let said: Vec<&str> = screen.app.messages().iter().map(|message| message.text.as_str()).collect();
    assert!(said.contains(&"breakpoint 1: lib/complex.rasm:11"), "{said:?}");
    assert!(screen.text().contains("●  11"), "{}", screen.text());
    screen.keys("c");
    assert!(screen.text().contains(" ►11"), "{}", screen.text());
    screen.keys("End");
    assert!(screen.text().contains("code test.rasm"), "{}", screen.text());
}

#[test]
fn the_next_instruction_has_context_lines() {
    let text = format!(".inout a\n{}", "        add a, 1\n".repeat(200));
    let mut screen = Screen::open(support::subject(&text), 80, 24);
    for _ in 0..60 {
        screen.keys("s");
        let rows = screen.text();
        let next = rows.lines().position(|row| row.contains('►')).unwrap();
        assert!(rows.lines().nth(next + 2).is_some_and(|row| row.contains("add a, 1")), "{rows}");
    }
}

#[test]
fn the_inverse_program_follows_the_current_line() {
    let mut screen = Screen::open(support::subject(&support::text("complex_multiply.rasm")), 80, 24);
    screen.keys("2");
    let marked = |screen: &Screen| {
        let text = screen.text();
        text.lines().find(|row| row.contains('◄')).unwrap_or_default().to_owned()
    };
    assert!(marked(&screen).contains("uncall complex_multiply_add("), "{}", screen.text());
    // The mark is at the call that leads into the included file, because undoing this call undoes the file's code.
    screen.keys("s s");
    assert!(marked(&screen).contains("uncall complex_multiply_add("), "{}", screen.text());
    screen.keys("End S");
    assert!(marked(&screen).contains("irot"), "{}", screen.text());
}

#[test]
fn the_bracket_of_the_current_line_is_drawn() {
    let depth = 12;
    let open: String = (0..depth).map(|n| format!("        if a == {n}\n")).collect();
    let close: String = (0..depth).rev().map(|n| format!("        fi a == {n}\n")).collect();
    let text = format!(".inout a default 50, b\n{open}        neg b\n{close}");
    let screen = Screen::open(support::subject(&text), 80, 41);
    let rows = screen.text();
    let at = |word: &str| rows.lines().find(|row| row.contains(word)).unwrap_or_default().to_owned();
    // If there is no room for all pairs, the longest pair is dropped first. The outermost pair is the longest one, but
    // it is drawn because the machine is at this pair.
    assert!(at("if a == 0").contains('┌') && at("fi a == 0").contains('└'), "{rows}");
    assert!(!at("if a == 1 ").contains('┌'), "{rows}");
}

/// A program with two consecutive calls. Their variables have the same addresses.
pub const CALLS: &str = ".out a\n\
                     \x20       call  p(a)\n\
                     \x20       call  q(a)\n\
                     .proc p(inout u)\n\
                     \x20       local mine = 3\n\
                     \x20       add   u, mine\n\
                     \x20       delocal mine = 3\n\
                     .end\n\
                     .proc q(inout u)\n\
                     \x20       local other = 777\n\
                     \x20       add   u, other\n\
                     \x20       delocal other = 777\n\
                     .end\n";

#[test]
fn a_failure_independent_of_control_flow_names_no_branch() {
    let text = ".out a\n.out A[3]\n\
                \x20       for i in 0..6\n\
                \x20           if A[i] == 0\n\
                \x20               add a, i\n\
                \x20           fi A[i] == 0\n\
                \x20       rof\n";
    let mut screen = Screen::open(support::subject(text), 120, 40);
    screen.keys("c");
    let text = screen.text();
    assert!(text.contains("the index of `A[i]` is 3, outside of 0..3"), "{text}");
    assert!(!text.contains("expected") && !text.contains("is false"), "{text}");
}

pub fn said(screen: &Screen) -> Vec<String> {
    screen.app.messages().iter().map(|message| message.text.clone()).collect()
}

#[test]
fn the_screen_can_be_suspended_unless_a_letter_is_expected() {
    let mut screen = fib();
    let suspends = |screen: &mut Screen, key: Key| {
        matches!(screen.app.handle(InputEvent::Key(key)), Some(Effect::Suspend))
    };
    assert!(suspends(&mut screen, Key::ctrl('z')));
    screen.keys(": s");
    assert!(suspends(&mut screen, Key::ctrl('z')));
    screen.keys("Esc");
    let _running = screen.send(InputEvent::Key(Key::char('s')));
    assert!(suspends(&mut screen, Key::ctrl('z')));
}

/// Returns the commands executed by keys.
pub fn commands(screen: &Screen) -> Vec<String> {
    let lines = screen.app.messages().iter().filter(|message| message.tone == Tone::Command);
    lines.map(|message| message.text.clone()).collect()
}

#[test]
fn a_list_shows_its_number_of_hidden_rows() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    let heading = |screen: &Screen| screen.text().lines().next().unwrap().to_owned();
    assert!(heading(&screen).ends_with(" ▼3"), "{}", heading(&screen));
    screen.keys("3 Ctrl-End");
    assert!(heading(&screen).contains('▲') && !heading(&screen).ends_with("▼3"), "{}", heading(&screen));
    screen.resize(120, 40);
    screen.keys("Ctrl-Home");
    assert!(screen.text().contains("power") && !heading(&screen).ends_with('▼'), "{}", screen.text());
}

#[test]
fn the_numbers_of_gradients_are_on_the_card() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.command("goto end").command("gradient out").command("watch squared'").keys("C C");
    let text = screen.text();
    let rows: Vec<&str> = text.lines().filter(|row| row.contains("' ← ")).collect();
    assert!(text.contains("= 2.228…e-7") && !rows.is_empty(), "{text}");
    assert!(rows.iter().any(|row| row.contains("denominator' ← ")), "{text}");
}
