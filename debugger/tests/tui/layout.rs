//! Tests of screen layouts: every pane is in exactly one slot at each screen size, and the content determines
//! the sizes of slots.

use ratatui::layout::Rect;
use reviver_debugger::tui::layout::{ScreenContent, divide};
use reviver_debugger::tui::panes::PaneKind::{self, Arrays, Cells};

/// Programs with much and with little content.
const CONTENTS: [ScreenContent; 4] = [
    ScreenContent { cells: 5, arrays: 0, has_branches: false, plots: 0, has_answer: false, has_tour: false },
    ScreenContent { cells: 30, arrays: 90, has_branches: true, plots: 2, has_answer: true, has_tour: false },
    ScreenContent {
        cells: 4,
        arrays: 2,
        has_branches: false,
        plots: u16::MAX,
        has_answer: false,
        has_tour: false,
    },
    ScreenContent {
        cells: u16::MAX,
        arrays: u16::MAX,
        has_branches: false,
        plots: 0,
        has_answer: false,
        has_tour: false,
    },
];

#[test]
fn every_pane_is_in_one_slot_at_every_size() {
    let sizes = [(0, 0), (1, 1), (40, 10), (80, 24), (119, 60), (120, 40), (170, 40), (400, 200)];
    for ((width, height), content) in sizes.into_iter().flat_map(|s| CONTENTS.map(|c| (s, c))) {
        let screen = divide(Rect::new(0, 0, width, height), false, content);
        for pane in PaneKind::ALL {
            let slots = screen.slots.iter().filter(|slot| slot.panes.contains(&pane)).count();
            assert_eq!(slots, 1, "{pane:?} at {width}×{height}");
        }
        let whole = Rect::new(0, 0, width, height);
        for slot in &screen.slots {
            assert_eq!(slot.area.intersection(whole).area(), slot.area.area());
            assert_eq!(slot.body().intersection(slot.area).area(), slot.body().area());
        }
    }
}

#[test]
fn slots_do_not_overlap() {
    let sizes = [(80, 24), (120, 40), (200, 60)];
    for ((width, height), content) in sizes.into_iter().flat_map(|s| CONTENTS.map(|c| (s, c))) {
        let slots = divide(Rect::new(0, 0, width, height), false, content).slots;
        for (n, slot) in slots.iter().enumerate() {
            assert!(slots[..n].iter().all(|other| !other.area.intersects(slot.area)));
        }
    }
}

/// Returns the height of a pane's slot, in rows, and a flag. The flag is true if cells and arrays have separate
/// slots.
fn place_of(pane: PaneKind, size: (u16, u16), content: ScreenContent) -> (u16, bool) {
    let slots = divide(Rect::new(0, 0, size.0, size.1), false, content).slots;
    let slot = slots.into_iter().find(|slot| slot.panes.contains(&pane)).unwrap();
    (slot.body().height, !(slot.panes.contains(&Cells) && slot.panes.contains(&Arrays)))
}

#[test]
fn a_larger_screen_shows_no_fewer_cells() {
    for content in CONTENTS {
        let heights = [(80, 24), (120, 40), (170, 40)].map(|size| place_of(Cells, size, content).0);
        assert!(heights.iter().all(|height| *height >= heights[0]), "{heights:?}");
    }
}

#[test]
fn arrays_are_seen_below_the_cells() {
    for content in CONTENTS.into_iter().filter(|content| content.arrays > 0) {
        for size in [(80, 24), (90, 24), (100, 30), (119, 60), (120, 40), (200, 60)] {
            let ((cells, _), (arrays, are_seen)) =
                (place_of(Cells, size, content), place_of(Arrays, size, content));
            assert!(are_seen && cells >= 4, "{cells} rows of cells at {size:?}");
            assert!(arrays >= content.arrays.min(3), "{arrays} rows of arrays at {size:?}");
        }
    }
    let without = ScreenContent { arrays: 0, ..CONTENTS[1] };
    assert!(!place_of(Arrays, (80, 24), without).1, "nothing is taken from the cells");
}

#[test]
fn arrays_get_the_remaining_rows_of_the_cells() {
    let rows = |cells, arrays| {
        let content = ScreenContent { cells, arrays, ..ScreenContent::default() };
        (place_of(Cells, (80, 24), content).0, place_of(Arrays, (80, 24), content).0)
    };
    // The cases are: room for all cells and elements, few cells, few elements, too many cells and too many elements.
    let expected = [(12, 3), (4, 11), (14, 1), (10, 5)];
    assert_eq!([rows(6, 3), rows(4, 40), rows(40, 1), rows(40, 40)], expected);
}
