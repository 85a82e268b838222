//! Screen actions requested by command lines, as data. The screen executes them.

use reviver_vm::Travel;

/// An action of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenAction {
    /// Play in a direction, or pause. `None` means the last direction.
    Play(Option<Travel>),
    Faster,
    Slower,
    /// Travel by a part of the known history.
    Scrub(Travel),
    /// Set an item, or remove it if it is set.
    Toggle(Toggled, String),
    /// Open the prompt with this text.
    Ask(String),
    /// Open the prompt for a search.
    AskSearch,
    Search(String),
    SearchAgain {
        further: bool,
    },
    /// Scroll to the machine's position.
    Here,
    /// Switch the selected cell between value and adjoint.
    Adjoint,
    Focus(FocusTarget),
    Zoom,
    /// Show another part of the branch on the timeline bar.
    ZoomTime(TimeZoom),
    Cursor(CursorMove),
    Array(ArrayChoice),
    /// Open the item under the cursor.
    Open,
    /// Close the answer pane.
    Close,
    Keys,
    Tour(TourTurn),
    Mouse,
    Redraw,
    Suspend,
    /// End the session, or ask for confirmation.
    Leave,
}

/// Navigation within the tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourTurn {
    Begin,
    Next,
    Back,
    Leave,
}

/// The range shown by the timeline bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeZoom {
    /// From a step (or the first) to another (or the last).
    Range(Option<i64>, Option<i64>),
    In,
    Out,
    Whole,
}

/// Items that can be set and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggled {
    Break,
    Watch,
    Plot,
    Fence,
}

/// The pane that receives the focus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FocusTarget {
    Next,
    Previous,
    Pane(String),
}

/// The array that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayChoice {
    Next,
    Previous,
    Named(String),
}

/// Movement of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorMove {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

/// Words for the movements of a cursor.
pub(super) const MOVES: [(&str, CursorMove); 8] = [
    ("up", CursorMove::Up),
    ("down", CursorMove::Down),
    ("left", CursorMove::Left),
    ("right", CursorMove::Right),
    ("page-up", CursorMove::PageUp),
    ("page-down", CursorMove::PageDown),
    ("top", CursorMove::Top),
    ("bottom", CursorMove::Bottom),
];

/// Words for the items that can be toggled.
pub(super) const TOGGLED: [(&str, Toggled); 4] = [
    ("break", Toggled::Break),
    ("watch", Toggled::Watch),
    ("plot", Toggled::Plot),
    ("fence", Toggled::Fence),
];

/// Words for the navigation within the tour.
pub(super) const TURNS: [(&str, TourTurn); 3] =
    [("next", TourTurn::Next), ("back", TourTurn::Back), ("leave", TourTurn::Leave)];

pub(super) const TURN_WORDS: &[&str] = &words_of(&TURNS);
pub(super) const MOVE_WORDS: &[&str] = &words_of(&MOVES);
pub(super) const TOGGLED_WORDS: &[&str] = &words_of(&TOGGLED);

const fn words_of<T: Copy, const N: usize>(rows: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut n = 0;
    while n < N {
        words[n] = rows[n].0;
        n += 1;
    }
    words
}
