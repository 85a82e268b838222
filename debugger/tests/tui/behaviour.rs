//! The screen without a terminal: what keys, clicks and time do.

use std::time::Duration;

use crate::screen::Screen;
use crate::support;
use reviver_assembler::files::Disk;
use reviver_debugger::listing::Subject;
use reviver_debugger::tui::app::App;
use reviver_debugger::tui::event::{Event, Gesture};
use reviver_debugger::tui::keys::{Action, Binding, Code, Key, KeyMap, Preset};
use reviver_debugger::tui::panes::PaneKind;
use reviver_debugger::tui::theme::{Theme, ThemeName};

/// Runs for some 100 million steps.
const LONG: &str = ".inout n default 50_000_000\n\
                    .out a\n\
                    \x20       for i in 0..n\n\
                    \x20           add a, i\n\
                    \x20       rof\n";

fn fib() -> Screen {
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
fn nothing_changes_on_the_screen_while_nothing_happens() {
    let mut screen = fib();
    assert!(!screen.app.is_stale());
    assert_eq!(screen.app.patience(), None);
    assert!(screen.app.handle(Event::Tick(Duration::from_secs(1))).is_none());
    assert!(!screen.app.is_stale());
    screen.keys("Down");
    assert!(!screen.app.is_stale());
}

#[test]
fn the_screen_lives_during_a_long_run_and_an_interrupt_ends_it() {
    let mut screen = Screen::open(support::subject(LONG), 80, 24);
    let errand = screen.send(Event::Key(Key::char('c')));
    screen.event(Event::Tick(Duration::from_millis(700)));
    assert!(screen.text().contains("running `continue`: 0.7 s   Ctrl-C stops it"), "{}", screen.text());
    // What is typed meanwhile waits; after an interrupt it is forgotten.
    screen.keys("Down q");
    screen.resize(100, 30);
    let running = std::thread::spawn(move || errand.perform());
    std::thread::sleep(Duration::from_millis(20));
    screen.event(Event::Key(Key::ctrl('c')));
    let effect = screen.app.returned(running.join().unwrap());
    assert!(effect.is_none() && !screen.has_quit);
    screen.draw();
    assert!(screen.step() > 0 && screen.text().contains("nterrupt"), "{}", screen.text());
}

#[test]
fn an_interrupt_never_quits() {
    let mut screen = fib();
    for _ in 0..3 {
        screen.event(Event::Key(Key::ctrl('c')));
    }
    assert!(!screen.has_quit);
    assert!(screen.last_row().contains("q ends the session"), "{}", screen.text());
    screen.keys("q");
    assert!(screen.has_quit);
}

#[test]
fn what_is_typed_during_a_run_happens_after_it() {
    let mut screen = fib();
    let errand = screen.send(Event::Key(Key::char('s')));
    screen.keys("s s");
    let effect = screen.app.returned(errand.perform());
    screen.carry_out(effect);
    assert_eq!(screen.step(), 3);
}

#[test]
fn it_plays_in_both_directions_and_pauses() {
    let mut screen = fib();
    let second = |screen: &mut Screen| {
        (0..40).for_each(|_| screen.event(Event::Tick(Duration::from_millis(25))));
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
fn a_program_with_errors_opens_with_its_diagnostics() {
    let error = Subject::open("wrong.rasm", b"        add  q, 1\n".to_vec(), &Disk).unwrap_err();
    let app = App::broken(&error, KeyMap::default(), Theme::new(ThemeName::Plain));
    let mut screen = Screen::new(app, 80, 24);
    assert!(screen.text().contains("wrong.rasm:1"), "{}", screen.text());
    screen.keys("s Down PageDown Home ? : /");
    screen.mouse(Gesture::Press, 3, 3);
    assert!(!screen.has_quit);
    screen.keys("q");
    assert!(screen.has_quit);
}

#[test]
fn the_help_lies_over_the_panes_until_a_key() {
    let mut screen = fib();
    screen.keys("?");
    assert!(screen.text().contains("one step backward"), "{}", screen.text());
    let step = screen.step();
    screen.keys("PageDown Down s");
    assert!(!screen.text().contains("Esc closes"));
    assert_eq!(screen.step(), step);
}

#[test]
fn a_long_reply_is_shown_and_the_next_command_goes_on() {
    let mut screen = fib();
    screen.keys("s s s").command("info stack").command("help");
    assert!(screen.text().contains("reply") && screen.text().contains("Esc closes"), "{}", screen.text());
    screen.keys("PageDown S");
    assert!(!screen.text().contains("Esc closes"));
    assert_eq!(screen.step(), 2);
}

#[test]
fn unknown_commands_and_keys_say_so() {
    let mut screen = fib();
    screen.command("stpe");
    assert!(screen.text().contains("did you mean `step`?"), "{}", screen.text());
    screen.keys("Esc ~");
    assert!(screen.last_row().contains("~ does nothing"), "{}", screen.text());
}

#[test]
fn commands_are_completed() {
    let mut screen = fib();
    screen.keys(": r e v e r s e - c Tab Enter");
    assert!(screen.app.messages().iter().any(|message| message.text.starts_with("reverse-continue")));
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
        let key = |action| keys.keys(action).next().unwrap();
        let (step, back) = (key(Action::Step), key(Action::ReverseStep));
        let session =
            reviver_debugger::session::Session::at_begin(support::subject(&support::text("fib.rasm")));
        let mut screen = Screen::new(App::new(session, keys, Theme::new(ThemeName::Light)), 80, 24);
        [step, step, back].into_iter().for_each(|key| screen.event(Event::Key(key)));
        assert_eq!(screen.step(), 1, "{}", preset.name());
    }
}

#[test]
fn a_key_can_run_a_command_line() {
    let mut keys = KeyMap::default();
    keys.bind(Key::plain(Code::F(2)), Binding::Command("goto end".into()));
    let session = reviver_debugger::session::Session::at_begin(support::subject(&support::text("fib.rasm")));
    let mut screen = Screen::new(App::new(session, keys, Theme::new(ThemeName::Sixteen)), 80, 24);
    screen.keys("F2");
    assert!(screen.step() > 0);
}

#[test]
fn a_script_that_fails_leaves_what_it_did() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("screen_script");
    std::fs::write(&path, "step 2\nprint nosuch\n").unwrap();
    let mut screen = fib();
    screen.command(&format!("source {}", path.display()));
    assert_eq!(screen.step(), 2);
    let said: Vec<&str> = screen.app.messages().iter().map(|message| message.text.as_str()).collect();
    let expected = ["> step 2", "step 2, line 29: add   a, b", "> print nosuch"];
    assert!(said.windows(3).any(|lines| lines == expected), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("error: line 2: `print nosuch`")), "{said:?}");
    // `quit` in a script leaves the screen too.
    std::fs::write(&path, "step\nquit\n").unwrap();
    assert!(!screen.has_quit);
    screen.command(&format!("source {}", path.display()));
    assert!(screen.has_quit);
}
