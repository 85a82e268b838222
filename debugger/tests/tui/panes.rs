//! Every pane can be gone to, drawn in any room, moved in and opened.

use crate::screen::Screen;
use crate::support;
use reviver_debugger::tui::panes::PaneKind;

/// Rooms from nothing to plenty, with each layout among them.
const SIZES: [(u16, u16); 8] = [(0, 0), (1, 1), (14, 4), (40, 10), (80, 24), (120, 40), (170, 40), (200, 60)];

#[test]
fn every_pane_can_be_gone_to_by_its_name() {
    for kind in PaneKind::ALL {
        let mut screen = Screen::open(support::subject(&support::text("sort.rasm")), 80, 24);
        screen.command(&format!("focus {}", kind.name()));
        assert_eq!(screen.app.focus(), kind);
    }
}

#[test]
fn names_of_panes_are_their_own() {
    for kind in PaneKind::ALL {
        assert_eq!(PaneKind::named(kind.name()), Some(kind));
        assert!(kind.short_name().len() <= kind.name().len());
        let is_taken = |other: &PaneKind| *other != kind && other.short_name() == kind.short_name();
        assert!(!PaneKind::ALL.iter().any(is_taken), "{kind:?}");
    }
}

/// With points, marks, branches and plots, so that there is something in each.
fn busy() -> Screen {
    let mut screen = Screen::open(support::subject(&support::text("sort.rasm")), 80, 24);
    screen.command("break 29").command("mark here").command("goto 60").command("set A[0] = 7");
    screen.command("plot A[0]");
    screen
}

#[test]
fn every_pane_is_drawn_in_any_room() {
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
