//! The screen without a terminal: what keys, clicks and time do.

use std::time::Duration;

use crate::screen::Screen;
use crate::support;
use reviver_assembler::files::Disk;
use reviver_debugger::listing::Subject;
use reviver_debugger::tui::app::messages::Tone;
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
    let expected = "running `continue`  step 0  0.7 s  history 0 B  Ctrl-C stops it";
    assert!(screen.text().contains(expected), "{}", screen.text());
    // What is typed meanwhile waits; after an interrupt it is forgotten.
    screen.keys("Down q");
    screen.resize(100, 30);
    let running = std::thread::spawn(move || errand.perform());
    let progress = |screen: &mut Screen| {
        screen.event(Event::Tick(Duration::from_millis(100)));
        !screen.text().contains("step 0  ")
    };
    while !progress(&mut screen) {
        std::thread::sleep(Duration::from_millis(1));
    }
    screen.event(Event::Key(Key::ctrl('c')));
    let effect = screen.app.returned(running.join().unwrap());
    assert!(effect.is_empty() && !screen.has_quit);
    screen.draw();
    assert!(screen.step() > 0 && screen.text().contains("nterrupt"), "{}", screen.text());
}

#[test]
fn a_long_run_through_known_steps_has_a_percentage() {
    let mut screen = Screen::open(support::subject(&LONG.replace("50_000_000", "500")), 80, 24);
    screen.keys("End Home");
    let errand = screen.send(Event::Key(Key::char('c')));
    screen.event(Event::Tick(Duration::from_millis(300)));
    let expected = "running `continue`  step 0  0.0%  0.3 s  history 0 B  Ctrl-C stops it";
    assert!(screen.text().contains(expected), "{}", screen.text());
    let effect = screen.app.returned(errand.perform());
    screen.carry_out(effect);
    screen.draw();
    assert!(status(&screen).contains("100"), "{}", screen.text());
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
    assert!(said[0].starts_with("break ") && said[1].starts_with("breakpoint 2: line"), "{said:?}");
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

/// The row above the last one.
fn status(screen: &Screen) -> String {
    screen.text().lines().rev().nth(1).unwrap_or_default().to_owned()
}

fn assert_has(status: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| status.contains(part)), "{parts:?} in {status}");
}

#[test]
fn the_status_line_has_everything_at_80_columns() {
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
fn keys_go_from_event_to_event() {
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

/// An edit doesn't change the scale of the bar: what lies ahead can be dragged to at once.
#[test]
fn a_new_line_is_as_long_as_the_one_that_it_left() {
    let mut screen = fib();
    screen.command("goto end").command("goto 26").command("set n = 4");
    assert_has(&status(&screen), &["26/~52", "50"]);
    screen.keys("m").mouse(Gesture::Press, 79, 20);
    assert_has(&status(&screen), &["end", "100"]);
    assert!(screen.step() < 52, "{}", screen.text());
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
fn a_frame_is_selected_in_the_calls() {
    let text = support::text("bundle_adjustment.rasm");
    let mut screen = Screen::open(support::subject(&text), 120, 40);
    screen.command("until dot_3").keys("5 Down Enter");
    assert!(screen.text().contains("►1 → rotate") && screen.text().contains("▷ 83"), "{}", screen.text());
    assert!(screen.text().contains("ancillas of rotate"), "{}", screen.text());
    screen.keys("(");
    assert!(screen.text().contains("►2 → main") && screen.text().contains("ancillas of main"));
    screen.keys("(");
    assert!(screen.last_row().contains("outermost frame"), "{}", screen.last_row());
    screen.keys(") )");
    assert!(screen.text().contains("►0 → dot_3"), "{}", screen.text());
    screen.keys("( s");
    assert!(screen.text().contains("►0 → dot_3"), "a motion selects the innermost");
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
    let expected = [">> step 2", "step 2, line 29: add   a, b", ">> print nosuch"];
    assert!(said.windows(3).any(|lines| lines == expected), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("error: line 2: `print nosuch`")), "{said:?}");
    // `quit` in a script leaves the screen too.
    std::fs::write(&path, "step\nquit\n").unwrap();
    assert!(!screen.has_quit);
    screen.command(&format!("source {}", path.display()));
    assert!(screen.has_quit);
}

#[test]
fn an_included_file_is_shown_where_the_machine_goes_into_it() {
    let mut screen = Screen::open(support::subject(&support::text("complex_multiply.rasm")), 120, 40);
    screen.keys("s");
    assert!(screen.text().contains("code lib/complex.rasm"), "{}", screen.text());
    // The cursor is in the file that is shown, and so is the breakpoint.
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
fn what_comes_next_has_lines_around_it() {
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
fn the_inverse_program_follows() {
    let mut screen = Screen::open(support::subject(&support::text("complex_multiply.rasm")), 80, 24);
    screen.keys("2");
    let marked = |screen: &Screen| {
        let text = screen.text();
        text.lines().find(|row| row.contains('◄')).unwrap_or_default().to_owned()
    };
    assert!(marked(&screen).contains("uncall complex_multiply_add("), "{}", screen.text());
    // What stands in the library is undone by the call.
    screen.keys("s s");
    assert!(marked(&screen).contains("uncall complex_multiply_add("), "{}", screen.text());
    screen.keys("End S");
    assert!(marked(&screen).contains("irot"), "{}", screen.text());
}

#[test]
fn the_bracket_at_hand_is_drawn_among_many() {
    let depth = 12;
    let open: String = (0..depth).map(|n| format!("        if a == {n}\n")).collect();
    let close: String = (0..depth).rev().map(|n| format!("        fi a == {n}\n")).collect();
    let text = format!(".inout a default 50, b\n{open}        neg b\n{close}");
    let screen = Screen::open(support::subject(&text), 80, 40);
    let rows = screen.text();
    let at = |word: &str| rows.lines().find(|row| row.contains(word)).unwrap_or_default().to_owned();
    // The outermost pair is the longest, but the machine is there.
    assert!(at("if a == 0").contains('┌') && at("fi a == 0").contains('└'), "{rows}");
    assert!(!at("if a == 1 ").contains('┌'), "{rows}");
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

/// The commands that keys have stood for.
fn commands(screen: &Screen) -> Vec<String> {
    let lines = screen.app.messages().iter().filter(|message| message.tone == Tone::Command);
    lines.map(|message| message.text.clone()).collect()
}

#[test]
fn the_selected_cell_stays_the_same_over_calls() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("3 / d i r t Enter w w w w");
    assert_eq!(commands(&screen), ["next-write dirt"; 4]);
    // `term` of main is `term` in `imul` too, in another row.
    screen.keys("/ t e r m Enter w");
    assert!(screen.text().contains("│› term") || screen.text().contains("│* term"), "{}", screen.text());
    screen.keys("w w");
    assert_eq!(commands(&screen)[4..], ["next-write term"; 3]);
}

#[test]
fn a_selected_cell_without_a_name_here_stays_selected() {
    let mut screen = Screen::open(support::subject(CALLS), 80, 24);
    screen.command("break p").keys("c s s 3 Ctrl-End").command("finish").keys("e");
    assert!(screen.last_row().contains("`mine` is selected, and has no name here"), "{}", screen.text());
    assert!(screen.text().contains("mine is selected, not here"), "{}", screen.text());
    screen.command("goto 3").keys("e");
    assert!(screen.last_row().starts_with(":set mine ="), "{}", screen.text());
    screen.keys("Esc").command("finish").keys("Down e");
    assert!(screen.last_row().starts_with(":set a ="), "{}", screen.text());
}

#[test]
fn a_selected_element_is_the_same_under_another_name() {
    let text = ".out A[9]\n        call p(A[2..9])\n.proc p(inout B[])\n        call q(B[1..4])\n.end\n\
                .proc q(inout C[])\n        add C[0], 7\n.end\n";
    let mut screen = Screen::open(support::subject(text), 120, 40);
    screen.keys("s 4 ] > e");
    assert!(screen.last_row().starts_with(":set B[1] ="), "{}", screen.text());
    screen.keys("Esc s e");
    assert!(screen.last_row().starts_with(":set A[3] ="), "{}", screen.text());
    screen.keys("Esc S e");
    assert!(screen.last_row().starts_with(":set A[3] ="), "{}", screen.text());
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
fn keys_of_readers_close_a_reply() {
    let mut screen = fib();
    screen.keys("s s s");
    for key in ["q", "Enter", "Space", "Esc"] {
        screen.command("info cells").command("help");
        assert!(screen.text().contains("Esc closes"), "{key} {}", screen.text());
        screen.keys(key);
        assert!(!screen.text().contains("Esc closes"), "{key} {}", screen.text());
    }
    assert!(!screen.has_quit && screen.step() == 3 && screen.app.session().unwrap().points().is_empty());
    assert!(!screen.text().contains("playing"), "{}", screen.text());
}

#[test]
fn what_lies_over_the_screen_is_paged_and_searched() {
    let mut screen = fib();
    screen.keys("?");
    let place = |screen: &Screen| {
        let text = screen.text();
        let row = text.lines().find(|row| row.contains("Esc closes")).unwrap().to_owned();
        let at = row.find(" of ").unwrap();
        row[..at].rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(place(&screen), "1-21");
    screen.keys("PageDown");
    assert_eq!(place(&screen), "21-41");
    screen.keys("Home");
    assert_eq!(place(&screen), "1-21");
    screen.keys("End");
    assert!(screen.text().contains("end the session"), "{}", screen.text());
    screen.keys("Home / s h e l l Enter");
    assert!(screen.text().contains("back to the shell"), "{}", screen.text());
    // From the last page the search goes round to the first.
    screen.keys("End / t h e Enter");
    let start = |screen: &Screen| place(screen).split('-').next().unwrap().parse::<usize>().unwrap();
    let starts: Vec<usize> = (0..60).map(|_| start(screen.keys("Ctrl-N"))).collect();
    assert!(starts.windows(2).any(|pair| pair[1] < pair[0]), "{starts:?}");
    screen.keys("Esc").command("help");
    screen.keys("/ t r a n s c r i p t Enter");
    assert!(screen.last_row().contains("there is no `transcript`"), "{}", screen.last_row());
    screen.keys("/ a d j o i n t Enter n");
}

#[test]
fn what_is_put_where_one_was_stopped_is_seen() {
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
fn an_interrupt_while_playing_pauses() {
    let mut screen = fib();
    screen.keys("p").event(Event::Key(Key::ctrl('c')));
    assert_eq!(screen.last_row(), "paused");
    assert!(!screen.text().contains("playing"), "{}", screen.text());
}

#[test]
fn the_panes_stay_while_a_run_is_resized() {
    let mut screen = Screen::open(support::subject(LONG), 80, 24);
    let errand = screen.send(Event::Key(Key::char('c')));
    screen.event(Event::Tick(Duration::from_millis(100)));
    for (width, height) in [(100, 30), (60, 15), (3, 1), (120, 40), (80, 24)] {
        screen.resize(width, height);
        let text = screen.text();
        assert!(width < 60 || text.contains("rasm") && text.contains("running"), "{text}");
        assert!(width < 60 || text.matches("running").count() == 1, "{text}");
    }
    drop(errand);
}

#[test]
fn a_run_says_what_keys_do_and_quitting_stops_it() {
    let mut screen = Screen::open(support::subject(LONG), 80, 24);
    let errand = screen.send(Event::Key(Key::char('c')));
    screen.event(Event::Tick(Duration::from_millis(100)));
    assert_eq!(screen.last_row(), "Ctrl-C stops it   q stops it and ends the session");
    screen.keys("s");
    assert!(screen.last_row().contains("1 key waits"), "{}", screen.last_row());
    // A letter that is typed ends nothing.
    screen.keys(": q");
    assert!(screen.last_row().contains("3 keys wait"), "{}", screen.last_row());
    screen.event(Event::Key(Key::ctrl('c')));
    let running = std::thread::spawn(move || errand.perform());
    while !running.is_finished() {
        screen.keys("q");
        assert!(screen.last_row().contains("ends as soon as this has stopped"), "{}", screen.last_row());
        std::thread::sleep(Duration::from_millis(1));
    }
    let effects = screen.app.returned(running.join().unwrap());
    screen.carry_out(effects);
    assert!(screen.has_quit && screen.step() < 100_000_000);
}

#[test]
fn the_last_row_says_what_was_printed_last_and_how_much_more_there_is() {
    let mut screen = Screen::open(support::subject(SHOWS), 80, 24);
    screen.keys("c");
    assert_eq!(screen.last_row(), "a = 45  (+9: 7 shows them)  history end");
    screen.keys("Home");
    assert_eq!(screen.last_row(), "history begin");
    let mut screen = Screen::open(support::subject(SHOWS), 80, 24);
    screen.keys("s s s s s");
    assert!(said(&screen).iter().any(|line| line == "a = 0"), "{:?}", said(&screen));
}

#[test]
fn what_is_displayed_stays_on_the_screen() {
    let mut screen = fib();
    screen.command("display a * 2").command("display nosuch").keys("s s s s");
    let text = screen.text();
    assert!(text.contains("│displayed") && text.contains("│a * 2 = 2"), "{text}");
    screen.keys("4 s s");
    assert!(screen.last_row().starts_with("a * 2 = "), "{}", screen.text());
    screen.command("undisplay").keys("3");
    assert!(!screen.text().contains("displayed"), "{}", screen.text());
}

#[test]
fn a_list_says_how_much_of_it_is_hidden() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    let heading = |screen: &Screen| screen.text().lines().next().unwrap().to_owned();
    assert!(heading(&screen).ends_with(" ▼2"), "{}", heading(&screen));
    screen.keys("3 Ctrl-End");
    assert!(heading(&screen).contains('▲') && !heading(&screen).ends_with("▼2"), "{}", heading(&screen));
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

#[test]
fn the_cursor_of_the_bar_follows_the_present() {
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

#[test]
fn the_wheel_scrolls_and_only_a_double_click_opens() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("Home m");
    let first = |screen: &Screen| screen.text().lines().nth(1).unwrap().to_owned();
    let before = first(&screen);
    screen.mouse(Gesture::ScrollDown, 5, 5);
    assert_ne!(first(&screen), before);
    screen.mouse(Gesture::ScrollUp, 5, 5);
    assert_eq!(first(&screen), before);
    screen.mouse(Gesture::Press, 5, 5).mouse(Gesture::Release, 5, 5).mouse(Gesture::Press, 5, 5);
    assert!(screen.app.session().unwrap().points().is_empty());
    screen.mouse(Gesture::DoublePress, 5, 5);
    assert_eq!(screen.app.session().unwrap().points().len(), 1);
}

#[test]
fn there_being_nothing_further_is_no_error() {
    let mut screen = fib();
    for (key, note) in [("f", "main has no caller"), (")", "innermost frame"), ("U", "nothing to redo")] {
        screen.keys(key);
        assert!(
            screen.last_row().contains(note) && !screen.last_row().contains("error"),
            "{}",
            screen.text()
        );
    }
}

#[test]
fn completion_goes_round_and_is_cut_with_a_sign() {
    let mut screen = fib();
    screen.keys(": i n f o Space Tab");
    assert!(screen.last_row().ends_with('…'), "{}", screen.last_row());
    screen.keys("Tab Tab");
    assert!(screen.last_row().starts_with(":info breakpoints"), "{}", screen.last_row());
}

#[test]
fn diagnostics_are_folded_and_end_at_the_bottom() {
    let error = Subject::open("wrong.rasm", b"        add  q, 1\n".repeat(20), &Disk).unwrap_err();
    let app = App::broken(&error, KeyMap::default(), Theme::new(ThemeName::Plain));
    let mut screen = Screen::new(app, 40, 12);
    screen.keys("End");
    let rows = screen.text();
    assert!(rows.lines().all(|row| !row.is_empty()) || rows.lines().count() == 12, "{rows}");
    assert!(screen.last_row().contains("q quits") && screen.last_row().contains(" of "), "{rows}");
    assert!(rows.contains("20 errors"), "{rows}");
    screen.keys("Home");
    assert!(screen.text().contains("wrong.rasm:1"), "{}", screen.text());
}

#[test]
fn keys_that_travel_do_so_over_a_reply_that_is_seen_whole() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("End").command("gradient out");
    assert!(screen.text().contains("Esc closes"), "{}", screen.text());
    screen.keys("Home");
    assert_eq!(screen.step(), 0);
}
