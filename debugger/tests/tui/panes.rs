//! Tests that every pane can be focused, drawn at any size, navigated and opened.

use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::event::Gesture;
use reviver_debugger::tui::panes::PaneKind;

/// Screen sizes in columns and rows, from empty to large. Each layout is used for at least one of these sizes.
const SIZES: [(u16, u16); 8] = [(0, 0), (1, 1), (14, 4), (40, 10), (80, 24), (120, 40), (170, 40), (200, 60)];

#[test]
fn every_pane_can_be_focused_by_its_name() {
    for kind in PaneKind::ALL {
        let mut screen = Screen::open(support::subject(&support::text("sort.rasm")), 80, 24);
        screen.command(&format!("focus {}", kind.name()));
        assert_eq!(screen.app.focus(), kind);
    }
}

#[test]
fn names_of_panes_are_unique() {
    for kind in PaneKind::ALL {
        assert_eq!(PaneKind::named(kind.name()), Some(kind));
        assert!(kind.short_name().len() <= kind.name().len());
        let is_taken = |other: &PaneKind| *other != kind && other.short_name() == kind.short_name();
        assert!(!PaneKind::ALL.iter().any(is_taken), "{kind:?}");
    }
}

/// A screen with points, marks, branches and plots, so that each pane has content.
fn busy() -> Screen {
    let mut screen = Screen::open(support::subject(&support::text("sort.rasm")), 80, 24);
    screen.command("break 29").command("mark here").command("goto 60").command("set A[0] = 7");
    screen.command("plot A[0]");
    screen
}

#[test]
fn every_pane_is_drawn_at_every_size() {
    let mut screen = busy();
    for kind in PaneKind::ALL {
        screen.command(&format!("focus {}", kind.name())).keys("z");
        for (width, height) in SIZES {
            screen.resize(width, height);
            screen.keys("Ctrl-End Up > < PageUp Down Ctrl-Home");
        }
        screen.resize(80, 24);
        screen.keys("z");
    }
}

#[test]
fn every_pane_can_be_opened_at_each_of_its_items() {
    for kind in PaneKind::ALL {
        let mut screen = busy();
        screen.command(&format!("focus {}", kind.name())).keys("Ctrl-Home");
        for _ in 0..12 {
            screen.keys("Enter Esc").command(&format!("focus {}", kind.name())).keys("Down");
        }
    }
}

/// Opens a program with an array of reals at its end, in gradient mode.
fn with_adjoints(program: &str) -> Screen {
    let mut screen = Screen::open(support::subject(program), 120, 40);
    screen.command("goto end").command("gradient y").command("focus arrays");
    screen
}

/// Returns the rows and columns of a text on the screen.
fn columns_of(screen: &Screen, text: &str) -> Vec<(usize, usize)> {
    let rows = screen.text();
    let place = |(row, line): (usize, &str)| {
        let column = line.find(text).map(|byte| line[..byte].chars().count());
        column.map(|column| (row, column))
    };
    rows.lines().enumerate().filter_map(place).collect()
}

#[test]
fn adjoints_in_arrays_have_a_heading_above_them() {
    let one = ".inout A[4]: real default 0.5\n.out y: real\nadd y, A[1] * 0.25\n";
    let mut screen = with_adjoints(one);
    screen.command("reverse-step 3").keys("z");
    // The heading is above the adjoint of the element, in the same column.
    let (heading, column) = columns_of(&screen, "A'")[0];
    let (row, values) = columns_of(&screen, "[0]")[0];
    assert_eq!(heading + 1, row, "{}", screen.text());
    assert!(values < column, "{}", screen.text());
    let text = screen.text();
    let line = text.lines().nth(row).unwrap();
    let adjoint: String = line.chars().skip(column).take(3).collect();
    assert_eq!(adjoint, "0.0", "{text}");
    // Integers have no adjoints, and reals have none before the gradient.
    let mut plain = Screen::open(support::subject(one), 120, 40);
    plain.command("focus arrays").keys("z");
    assert!(columns_of(&plain, "A'").is_empty());
    // The first element is below the heading. A click at this position and a cursor movement both select the
    // element.
    let other = screen.app.session().unwrap().step_number();
    screen.mouse(Gesture::Press, 8, row as u16).command("print @");
    assert_eq!(screen.step(), other);
    assert!(screen.last_row().contains("A[0] = 0.5"), "{}", screen.text());
}

#[test]
fn each_array_has_the_heading_next_to_its_name() {
    let two = ".inout A[2]: real default 0.5\n.inout longer_name[2]: real default 1\n.inout k[2]\n.out y: real\n\
               add y, A[1] * longer_name[1]\n";
    let mut screen = with_adjoints(two);
    screen.keys("z");
    let text = screen.text();
    let row = |name: &str| text.lines().find(|line| line.trim_start_matches('│').starts_with(name)).unwrap();
    assert!(row("A[2]").contains("A'"), "{text}");
    assert!(row("longer_name[2]").contains("longer"), "{text}");
    assert!(!row("k[2]").contains('\''), "{text}");
}
