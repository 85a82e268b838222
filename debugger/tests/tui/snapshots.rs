//! Snapshots of the screen: every pane, and several programs in various states, at 80×24 and 120×40.
//! `INSTA_UPDATE=always cargo test -p reviver-debugger --test tui snapshots` writes the snapshots again.
//! Review the changes.

use std::time::Duration;

use insta::assert_snapshot;
use ratatui::style::Modifier;
use reviver_debugger::session::Session;
use reviver_debugger::timeline::TimelineLimits;
use reviver_debugger::tui::app::App;
use reviver_debugger::tui::event::InputEvent;
use reviver_debugger::tui::keys::KeyMap;
use reviver_debugger::tui::theme::{Theme, ThemeName};
use reviver_files::UsedFiles;
use reviver_vm::Machine;

use crate::screen::Screen;
use crate::support;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// Opens a program on a screen of 80×24 and on one of 120×40, calls `play` for each of them, and compares the screens
/// with the snapshots.
fn picture(name: &str, open: impl Fn() -> Session, play: impl Fn(&mut Screen)) {
    for (width, height) in SIZES {
        let app = App::new(open(), UsedFiles::default(), KeyMap::default(), Theme::new(ThemeName::Dark));
        let mut screen = Screen::new(app, width, height);
        play(&mut screen);
        assert_snapshot!(format!("{name}_{width}x{height}"), screen.text());
    }
}

fn program(name: &str) -> Session {
    Session::at_begin(support::subject(&support::text(name))).unwrap()
}

fn replaced(name: &str, old: &str, new: &str) -> Session {
    let text = support::text(name);
    assert!(text.contains(old), "{old}");
    Session::at_begin(support::subject(&text.replace(old, new))).unwrap()
}

/// Lets time pass, so that plotted cells are sampled.
fn rest(screen: &mut Screen) {
    screen.event(InputEvent::Tick(Duration::from_secs(1)));
}

/// Shows the middle of a run of the Fibonacci loop, with a breakpoint that was hit, a mark, a fork and two plots.
fn fib_at_work(screen: &mut Screen) {
    screen.command("goto end").command("goto 18").command("mark middle").command("set n = 4");
    screen.command("timeline up").command("break again").keys("c c 3 d Down d 1");
    rest(screen);
}

#[test]
fn the_loop_forward() {
    picture("fib_forward", || program("fib.rasm"), |screen| _ = screen.keys("s s s s"));
}

#[test]
fn the_loop_backward() {
    picture("fib_backward", || program("fib.rasm"), |screen| _ = screen.command("goto 30").keys("S S"));
}

#[test]
fn the_loop_while_running() {
    picture("fib_at_work", || program("fib.rasm"), fib_at_work);
}

#[test]
fn the_end() {
    picture("fib_end", || program("fib.rasm"), |screen| _ = screen.keys("c"));
}

#[test]
fn a_planet() {
    picture(
        "leapfrog",
        || program("leapfrog.rasm"),
        |screen| {
            screen.command("goto 200").command("goto 187").keys("3 Down d Down d 1");
            rest(screen);
        },
    );
}

#[test]
fn the_machine_runs_backward() {
    let open = || replaced("fib_recursive.rasm", "default 10", "default 4");
    picture("recursion", open, |screen| _ = screen.command("goto 60").command("goto 56").keys("5"));
    picture("frame", open, |screen| _ = screen.command("goto 60").command("goto 56").keys("5 ( ("));
}

#[test]
fn answers() {
    picture(
        "why",
        || program("besselj.rasm"),
        |screen| {
            screen.command("goto 194").command("why sum").keys("Down Down Right Enter");
        },
    );
    picture("history", || program("fib.rasm"), |screen| _ = screen.keys("End").command("history a"));
}

#[test]
fn tapes() {
    let open = || {
        let subject =
            support::subject(&support::text("reverse_string.rasm").replace("default 0", "default 3"));
        let mut machine = Machine::at_begin(subject.program.clone()).unwrap();
        let entries = ["9", "8", "7"].map(|entry| subject.program.parse_entry(entry).unwrap());
        machine.state_mut().input = entries.to_vec();
        Session::new(subject, machine.into_state(), TimelineLimits::default()).unwrap()
    };
    picture("tapes", open, |screen| _ = screen.command("goto 10").keys("6"));
    // A declared stack is shown by its name.
    picture("stacks", || program("gcd.rasm"), |screen| _ = screen.command("goto end").keys("6"));
}

#[test]
fn arrays() {
    picture("array", || program("sort.rasm"), |screen| _ = screen.command("goto 60").keys("4 Down"));
    picture(
        "matrix",
        || program("matrix_product.rasm"),
        |screen| _ = screen.command("goto 60").keys("4 Down"),
    );
}

#[test]
fn an_unexpected_fall_through() {
    let open = || replaced("fib.rasm", "again, a != 0", "again, a == 0");
    picture("failure_fall", open, |screen| _ = screen.keys("c"));
}

#[test]
fn an_unexpected_jump() {
    let open = || replaced("fib.rasm", "again, a != 0", "again, b == 2");
    picture("failure_jump", open, |screen| _ = screen.keys("c"));
}

#[test]
fn an_assertion_that_does_not_hold() {
    let open = || replaced("fib_recursive.rasm", "default 10", "default -1");
    picture("failure_assert", open, |screen| _ = screen.keys("c"));
}

#[test]
fn erased_cells_cannot_be_restored() {
    picture("erase", || program("erase.rasm"), |screen| _ = screen.keys("s s 8"));
}

#[test]
fn each_pane_has_the_focus() {
    let keys = [
        ("code", "1"),
        ("inverse", "2"),
        ("cells", "3"),
        ("messages", "7"),
        ("card", "8"),
        ("timeline", "9"),
    ];
    for (name, key) in keys {
        picture(
            &format!("focus_{name}"),
            || program("fib.rasm"),
            |screen| {
                fib_at_work(screen);
                screen.keys(key).keys("Down >");
            },
        );
    }
}

#[test]
fn adjoints() {
    picture(
        "gradient",
        || program("besselj.rasm"),
        |screen| walk_back(screen, "gradient out", "reverse-step 250"),
    );
    picture(
        "gradient_card",
        || program("besselj.rasm"),
        |screen| walk_back(screen, "gradient out", "goto 174"),
    );
    picture(
        "gradient_array",
        || program("matvec_sum.rasm"),
        |screen| {
            walk_back(screen, "gradient total", "reverse-step 84");
            screen.keys("4");
        },
    );
}

/// Travels to the end of the program, begins a gradient, and travels back.
fn walk_back(screen: &mut Screen, gradient: &str, back: &str) {
    screen.command("goto end").command(gradient).command(back);
}

/// A wide screen shows the inverse program next to the program.
#[test]
fn a_wide_screen() {
    let mut screen = Screen::open(support::subject(&support::text("fib.rasm")), 170, 40);
    fib_at_work(&mut screen);
    assert_snapshot!("wide", screen.text());
}

#[test]
fn a_small_screen() {
    for (width, height) in [(60, 12), (30, 8), (14, 4)] {
        let mut screen = Screen::open(support::subject(&support::text("fib.rasm")), width, height);
        screen.keys("s s s");
        assert_snapshot!(format!("small_{width}x{height}"), screen.text());
    }
}

/// Without colours, attributes show selections, changes and reads. In the snapshot, letters denote the attributes:
/// B bold, D dim, I italic, U underlined, R reversed.
#[test]
fn attributes_without_colours() {
    let app =
        App::new(program("fib.rasm"), UsedFiles::default(), KeyMap::default(), Theme::new(ThemeName::Plain));
    let mut screen = Screen::new(app, 80, 24);
    screen.command("break again").keys("c s s s s s 3 Down");
    let letters = [
        (Modifier::REVERSED, 'R'),
        (Modifier::UNDERLINED, 'U'),
        (Modifier::BOLD, 'B'),
        (Modifier::ITALIC, 'I'),
        (Modifier::DIM, 'D'),
    ];
    let buffer = screen.terminal.backend().buffer();
    let letter = |cell: &ratatui::buffer::Cell| {
        let found = letters.iter().find(|(modifier, _)| cell.modifier.contains(*modifier));
        found.map_or(' ', |(_, letter)| *letter)
    };
    let rows = buffer.content().chunks(80).map(|row| row.iter().map(letter).collect::<String>());
    let attributes: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
    assert_snapshot!("plain", format!("{}\n{}", screen.text(), attributes.join("\n")));
}
