//! Slow lines, and terminals that answer late or never: keys keep their meaning. The effect of a session is read from
//! its saved file.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::pty::Line;

const REVIVER: &str = env!("CARGO_BIN_EXE_reviver");

const AT_ONCE: Duration = Duration::from_millis(2);

/// Starts a debugger session that gets no answer to its first query of the terminal.
fn debug() -> Line {
    let line = Line::start(Command::new(REVIVER).args(["debug", "programs/fib.rasm"]));
    line.shows("step 0/");
    line
}

/// Ends a session, and returns the commands that it executed.
fn commands_of(mut line: Line) -> Vec<String> {
    // After this pause, incomplete key sequences are resolved.
    sleep(Duration::from_millis(700));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session");
    line.send(&format!(":save {}\r", file.display()));
    line.waits_until("the session is saved", |_| file.exists());
    // The first key may only close the message of `save`.
    line.send("qq");
    assert!(line.ended().success());
    let saved = std::fs::read_to_string(&file).unwrap();
    saved.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

pub fn split_escape_sequences_are_keys() {
    for pause in [AT_ONCE, Duration::from_millis(30), Duration::from_millis(80)] {
        let mut line = debug();
        line.send("sss");
        line.send_slowly("\x1b[C", pause);
        line.send_slowly("\x1bOD", pause);
        line.send_slowly("\x1b[18~", pause);
        let keys = ["step", "step", "step", "step", "reverse-step", "step"];
        assert_eq!(commands_of(line), keys, "{pause:?} between two bytes");
    }
}

pub fn a_lone_escape_is_a_key() {
    let mut line = debug();
    line.send(":goto 7");
    line.send("\x1b");
    sleep(Duration::from_millis(300));
    line.send("s");
    assert_eq!(commands_of(line), ["step"]);
}

pub fn a_late_terminal_response_types_nothing() {
    for (answer, pause) in [
        ("\x1b]11;rgb:ffff/ffff/ffff\x07", Duration::ZERO),
        ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", AT_ONCE),
        ("\x1b]10;rgb:cccc/cccc/cccc\x1b\\", Duration::from_millis(30)),
        ("\x1b[12;40R", AT_ONCE),
        ("\x1b[?62;22c", Duration::ZERO),
    ] {
        let mut line = debug();
        sleep(Duration::from_millis(300));
        if pause.is_zero() {
            line.send(answer)
        } else {
            line.send_slowly(answer, pause)
        }
        sleep(Duration::from_millis(100));
        line.send("s");
        assert_eq!(commands_of(line), ["step"], "{answer:?}");
    }
}

pub fn a_late_background_response_selects_the_colours() {
    let mut line = debug();
    // Background colors of the dark theme, and of the light one.
    assert!(line.sent().contains("48;5;234") && !line.sent().contains("48;5;231"));
    line.send("\x1b]11;rgb:ffff/ffff/ffff\x07");
    line.shows("48;5;231");
    assert_eq!(commands_of(line), [""; 0]);
}

pub fn the_screen_is_drawn_without_terminal_responses() {
    let mut line = debug();
    // The second frame is drawn completely.
    line.send("s\x0c");
    line.shows("step 1/");
    assert!(!line.sent().contains("\x1b[6n"), "nobody asks where the cursor is");
    assert_eq!(commands_of(line), ["step"]);
}

/// A late answer of the terminal must not be typed into the shell.
pub fn a_response_after_the_end_is_discarded() {
    let run = format!("{REVIVER} debug programs/fib.rasm; read -r typed; echo \"there is <$typed>\"");
    let mut line = Line::start(Command::new("sh").args(["-c", &run]));
    line.shows("step 0/");
    line.send("q");
    sleep(Duration::from_millis(300));
    line.send("\x1b]11;rgb:ffff/ffff/ffff\x07");
    line.shows("\x1b[?1049l");
    line.send("mine\r");
    line.shows("there is <mine>");
    assert!(line.ended().success());
}
