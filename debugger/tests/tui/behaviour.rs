//! The screen without a terminal: what keys, clicks and time do.

use std::time::Duration;

use crate::screen::Screen;
use crate::support;
use reviver_assembler::files::Disk;
use reviver_debugger::listing::Subject;
use reviver_debugger::tui::app::{App, Effect};
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
    assert!(effect.is_empty() && !screen.has_quit);
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
    let effects = screen.app.returned(errand.perform());
    screen.carry_out(effects);
    assert_eq!(screen.step(), 3);
}

#[test]
fn all_of_what_was_typed_happens_even_what_concerns_the_screen() {
    let mut screen = fib();
    let errand = screen.send(Event::Key(Key::char('s')));
    screen.keys("m Ctrl-L s m s");
    let effects = screen.app.returned(errand.perform());
    screen.carry_out(effects);
    assert_eq!(screen.step(), 3);
}

/// Prints at some of its steps.
const SHOWS: &str = ".out a\n\
                     \x20       for i in 0..10\n\
                     \x20           add a, i\n\
                     \x20           show a\n\
                     \x20       rof\n";

#[test]
fn what_is_printed_while_playing_is_said_and_playing_goes_on() {
    let mut screen = Screen::open(support::subject(SHOWS), 80, 24);
    screen.command("break 3 log now {a}").keys("p + + + + + +");
    (0..10).for_each(|_| screen.event(Event::Tick(Duration::from_millis(33))));
    let said: Vec<&str> = screen.app.messages().iter().map(|message| message.text.as_str()).collect();
    for expected in ["a = 1", "a = 45", "now 1", "now 36", "history end"] {
        assert_eq!(said.iter().filter(|text| **text == expected).count(), 1, "{expected} in {said:?}");
    }
}

#[test]
fn breakpoints_at_the_cursor_are_of_the_file_that_is_seen() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 120, 40);
    // The machine stops in the library, and the cursor is in the program.
    screen.command("break ifactorial").keys("c 5 Down Enter");
    let line = screen.app.messages().len();
    screen.keys("b");
    let said = screen.app.messages().iter().skip(line).map(|message| message.text.as_str());
    let said: Vec<&str> = said.collect();
    assert!(said[0].contains("test.rasm:") && said[1].starts_with("breakpoint 2: line"), "{said:?}");
    assert!(screen.text().contains("●"), "{}", screen.text());
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

/// Two calls, one after the other, whose variables lie in the same place.
const CALLS: &str = ".out a\n\
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
fn the_plot_of_a_variable_stays_with_its_call() {
    let mut screen = Screen::open(support::subject(CALLS), 120, 40);
    screen.command("break p").keys("c s s 3 Ctrl-End d");
    let plot = |screen: &mut Screen| {
        (0..2).for_each(|_| screen.event(Event::Tick(Duration::from_millis(250))));
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
fn a_failure_that_has_nothing_to_do_with_ways_names_none() {
    let text = ".out a\n.out A[3]\n\
                \x20       for i in 0..6\n\
                \x20           if A[i] == 0\n\
                \x20               add a, i\n\
                \x20           fi A[i] == 0\n\
                \x20       rof\n";
    let mut screen = Screen::open(support::subject(text), 120, 40);
    screen.keys("c");
    let text = screen.text();
    assert!(text.contains("the index is 3, outside of 0..3"), "{text}");
    assert!(!text.contains("expected") && !text.contains("is false"), "{text}");
}

#[test]
fn messages_follow_unless_somebody_reads_earlier_ones() {
    let mut screen = fib();
    screen.keys("7");
    (0..30).for_each(|_| _ = screen.keys("s"));
    assert!(screen.text().contains("│step 30, line"), "{}", screen.text());
    screen.keys("PageUp s");
    assert!(!screen.text().contains("│step 31, line"), "{}", screen.text());
    screen.keys("Ctrl-End s");
    assert!(screen.text().contains("│step 32, line"), "{}", screen.text());
}

#[test]
fn long_lines_are_seen_to_their_end() {
    let mut screen = fib();
    screen.keys("s s").command(&format!("print 1{}", " + 1".repeat(30)));
    assert!(screen.text().contains("1 = 31"), "{}", screen.text());
    screen.keys("Esc 7");
    assert!(screen.text().contains("│  = 31"), "{}", screen.text());
}

#[test]
fn what_a_script_says_is_shown_and_where_it_led() {
    let path = std::env::temp_dir().join(format!("reviver-script-{}", std::process::id()));
    std::fs::write(&path, "step 3\nprint n\nbt\n").unwrap();
    let mut screen = fib();
    screen.command(&format!("source {}", path.display()));
    let text = screen.text();
    std::fs::write(&path, "goto end\nnonsense\n").unwrap();
    screen.keys("Esc").command(&format!("source {}", path.display()));
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("n = 10") && text.contains("Esc closes"), "{text}");
    assert!(screen.text().contains("there is no command `nonsense`"), "{}", screen.text());
    assert!(screen.step() > 3);
}

fn said(screen: &Screen) -> Vec<String> {
    screen.app.messages().iter().map(|message| message.text.clone()).collect()
}

#[test]
fn adjoints_can_be_chosen_watched_and_plotted() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 120, 40);
    screen.keys("3 a");
    assert!(screen.last_row().contains("there are no adjoints yet"), "{}", screen.text());
    screen.command("goto end").command("gradient out").command("reverse-step 250");
    // Below nu, which is an integer, stands z.
    screen.keys("3 Ctrl-Home Down > v d e");
    assert!(screen.last_row().starts_with(":set z' ="), "{}", screen.text());
    screen.keys("Esc < v d Up a v");
    let heard = said(&screen);
    for expected in ["watchpoint 1: z'", "plots z'", "watchpoint 2: z", "plots z", "watchpoint 3: nu"] {
        assert!(heard.iter().any(|text| text == expected), "{expected} in {heard:?}");
    }
    let below = screen.text().split_once("timeline").unwrap().1.to_owned();
    assert!(below.contains("z' ") && below.contains("z "), "{below}");
    screen.keys("Down d").command("unplot z");
    assert!(said(&screen).iter().any(|text| text == "nothing is plotted any more"));
}

#[test]
fn the_mouse_chooses_values_and_adjoints() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 120, 40);
    screen.command("goto end").command("gradient out").command("reverse-step 250");
    let text = screen.text();
    let find = |text: &str, what: &str| {
        let (row, line) = text.lines().enumerate().find(|(_, line)| line.contains(what)).unwrap();
        let byte = line.find(what).unwrap();
        (line[..byte].chars().count() as u16, row as u16)
    };
    let (column, heading) = find(&text, "adjoint");
    let (_, row) = find(&text, "  z ");
    assert!(heading < row, "{text}");
    screen.mouse(Gesture::Press, column + 2, row).keys("v");
    screen.mouse(Gesture::Press, column - 6, row).keys("v");
    let heard = said(&screen);
    assert!(heard.iter().any(|text| text == "watchpoint 1: z'"), "{heard:?}\n{text}");
    assert!(heard.iter().any(|text| text == "watchpoint 2: z"), "{heard:?}\n{text}");
}

#[test]
fn the_shell_can_be_reached_at_any_time_but_while_a_letter_is_typed() {
    let mut screen = fib();
    let suspends =
        |screen: &mut Screen, key: Key| matches!(screen.app.handle(Event::Key(key)), Some(Effect::Suspend));
    assert!(suspends(&mut screen, Key::ctrl('z')));
    screen.keys(": s");
    assert!(suspends(&mut screen, Key::ctrl('z')));
    screen.keys("Esc");
    let _running = screen.send(Event::Key(Key::char('s')));
    assert!(suspends(&mut screen, Key::ctrl('z')));
}
