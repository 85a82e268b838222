//! Tests of texts on the screen: replies, messages, help, completion, diagnostics.

use crate::behaviour::{SHOWS, fib, said};
use crate::screen::Screen;
use crate::support;
use reviver_assembler::files::Disk;
use reviver_debugger::listing::OpenedProgram;
use reviver_debugger::tui::app::App;
use reviver_debugger::tui::event::Gesture;
use reviver_debugger::tui::keys::KeyMap;
use reviver_debugger::tui::theme::{Theme, ThemeName};

#[test]
fn a_program_with_errors_opens_with_its_diagnostics() {
    let error = OpenedProgram::open("wrong.rasm", b"        add  q, 1\n".to_vec(), &Disk).unwrap_err();
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
fn the_help_covers_the_panes_until_a_key() {
    let mut screen = fib();
    screen.keys("?");
    assert!(screen.text().contains("Make one step backward"), "{}", screen.text());
    let step = screen.step();
    screen.keys("PageDown Down s");
    assert!(!screen.text().contains("Esc closes"));
    assert_eq!(screen.step(), step);
}

#[test]
fn a_long_reply_is_shown_and_closed_by_the_next_command() {
    let mut screen = fib();
    screen.keys("s s s").command("info stack").command("help");
    assert!(screen.text().contains("reply") && screen.text().contains("Esc closes"), "{}", screen.text());
    screen.keys("PageDown S");
    assert!(!screen.text().contains("Esc closes"));
    assert_eq!(screen.step(), 2);
}

#[test]
fn unknown_commands_and_keys_are_reported() {
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
fn a_failed_script_keeps_its_effects() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("screen_script");
    std::fs::write(&path, "step 2\nprint nosuch\n").unwrap();
    let mut screen = fib();
    screen.command(&format!("source {}", path.display()));
    assert_eq!(screen.step(), 2);
    let said: Vec<&str> = screen.app.messages().iter().map(|message| message.text.as_str()).collect();
    let expected = [">> step 2", "step 2, line 29: add   a, b", ">> print nosuch"];
    assert!(said.windows(3).any(|lines| lines == expected), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("error: line 2: `print nosuch`")), "{said:?}");
    // `quit` in a script also closes the screen.
    std::fs::write(&path, "step\nquit\n").unwrap();
    assert!(!screen.has_quit);
    screen.command(&format!("source {}", path.display()));
    assert!(screen.has_quit);
}

#[test]
fn messages_scroll_unless_earlier_ones_are_read() {
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
fn long_lines_are_shown_to_their_end() {
    let mut screen = fib();
    screen.keys("s s").command(&format!("print 1{}", " + 1".repeat(30)));
    assert!(screen.text().contains("1 = 31"), "{}", screen.text());
    screen.keys("Esc 7");
    assert!(screen.text().contains("│  = 31"), "{}", screen.text());
}

#[test]
fn output_and_final_step_of_a_script_are_shown() {
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
fn overlays_are_paged_and_searched() {
    let mut screen = fib();
    screen.keys("?");
    let place = |screen: &Screen| {
        let text = screen.text();
        let row = text.lines().find(|row| row.contains("Esc closes")).unwrap().to_owned();
        let at = row.find(" of ").unwrap();
        row[..at].rsplit(' ').next().unwrap().to_owned()
    };
    assert_eq!(place(&screen), "1-20");
    screen.keys("PageDown");
    assert_eq!(place(&screen), "20-39");
    screen.keys("Home");
    assert_eq!(place(&screen), "1-20");
    screen.keys("End");
    assert!(screen.text().contains("Ctrl-W Ctrl-U"), "{}", screen.text());
    screen.keys("Home / s h e l l Enter");
    assert!(screen.text().contains("Return to the shell"), "{}", screen.text());
    // After the last page, the search continues on the first page.
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
fn the_last_row_shows_the_last_printed_line_and_how_many_others() {
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
fn displayed_expressions_stay_on_the_screen() {
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
fn having_no_further_frame_is_no_error() {
    let mut screen = fib();
    for (key, note) in [("f", "main has no caller"), (")", "innermost frame"), ("U", "no motion to redo")] {
        screen.keys(key);
        assert!(
            screen.last_row().contains(note) && !screen.last_row().contains("error"),
            "{}",
            screen.text()
        );
    }
}

#[test]
fn completion_cycles_and_is_cut_with_an_ellipsis() {
    let mut screen = fib();
    screen.keys(": i n f o Space Tab");
    assert!(screen.last_row().ends_with('…'), "{}", screen.last_row());
    screen.keys("Tab Tab");
    assert!(screen.last_row().starts_with(":info breakpoints"), "{}", screen.last_row());
}

#[test]
fn diagnostics_are_folded_and_end_at_the_bottom() {
    let text: String = (0..20).map(|n| format!("        add  q{n}, 1\n")).collect();
    let error = OpenedProgram::open("wrong.rasm", text.into_bytes(), &Disk).unwrap_err();
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
fn motion_keys_work_over_a_completely_shown_reply() {
    let mut screen = Screen::open(support::subject(&support::text("besselj.rasm")), 80, 24);
    screen.keys("End").command("gradient out");
    assert!(screen.text().contains("Esc closes"), "{}", screen.text());
    screen.keys("Home");
    assert_eq!(screen.step(), 0);
}

#[test]
fn a_key_that_closes_answers_ends_no_session() {
    let mut screen = fib();
    screen.command("print a").keys("q");
    assert!(!screen.has_quit);
    assert_eq!(screen.last_row(), "q again ends the session");
    // Any other key cancels the request to end the session.
    screen.keys("s").command("print a").keys("q s q");
    assert!(screen.has_quit && screen.step() == 2);
    let mut screen = fib();
    screen.command("stpe").keys("q");
    assert!(!screen.has_quit, "an error is an answer");
    screen.keys("q");
    assert!(screen.has_quit);
    let mut screen = fib();
    screen.command("help").keys("q q");
    assert!(screen.has_quit, "the first one has closed what lay over the screen");
}

#[test]
fn quitting_asks_once_about_unsaved_items() {
    for (command, reported) in [
        ("break 29", "1 point"),
        ("watch a", "1 point"),
        ("mark here", "1 mark"),
        ("set a = 3", "1 branch"),
        ("source", "2 points, 1 mark, 2 branches"),
    ] {
        let mut screen = fib();
        if command == "source" {
            for command in ["break 29", "break 30", "mark here", "set a = 3", "timeline up", "set a = 4"] {
                screen.command(command);
            }
        } else {
            screen.command(command);
        }
        screen.keys("Down q");
        assert!(!screen.has_quit, "{command}");
        let asked = format!("q again quits without saving {reported}; `save FILE` saves");
        assert!(screen.last_row().starts_with(&asked), "{}", screen.last_row());
        screen.keys("q");
        assert!(screen.has_quit, "{command}");
    }
    let mut screen = fib();
    screen.command("break 29").command("quit");
    assert!(screen.has_quit, "a command is no slip");
    let mut screen = fib();
    screen.command("break 29").command("delete").keys("Down q");
    assert!(screen.has_quit, "there is nothing left to ask about");
}
