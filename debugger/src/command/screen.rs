//! What command lines ask of the screen that shows a session, as data. Does nothing of it: the screen does.

use reviver_vm::Travel;

/// Something that the screen is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenAction {
    /// To play in a direction, or to pause; without one, in the last.
    Play(Option<Travel>),
    Faster,
    Slower,
    /// To go a part of the known history further.
    Scrub(Travel),
    /// To set what a line sets, or to take it away where it is set.
    Toggle(Toggled, String),
    /// To let a line be typed that begins so.
    Ask(String),
    /// To let something be typed that is searched.
    AskSearch,
    Search(String),
    SearchAgain {
        further: bool,
    },
    /// To look at where the machine is.
    Here,
    /// To choose the adjoint of the selected cell, or its value again.
    Adjoint,
    Focus(FocusTarget),
    Zoom,
    /// To show another part of the branch on the time bar.
    ZoomTime(TimeZoom),
    Cursor(CursorMove),
    Array(ArrayChoice),
    /// To do with what is under the cursor what its pane is for.
    Open,
    /// To take the answer away.
    Close,
    Keys,
    Tour(TourTurn),
    Mouse,
    Redraw,
    Suspend,
    /// To end the session, or to ask whether that is meant.
    Leave,
}

/// Where a reader of the tour goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourTurn {
    Begin,
    Next,
    Back,
    Leave,
}

/// What the time bar is to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeZoom {
    /// From a step, or the first, to another, or the last.
    Range(Option<i64>, Option<i64>),
    In,
    Out,
    Whole,
}

/// Things that are there or aren't.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggled {
    Break,
    Watch,
    Plot,
    Fence,
}

/// Which pane gets the focus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FocusTarget {
    Next,
    Previous,
    Pane(String),
}

/// Which array is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayChoice {
    Next,
    Previous,
    Named(String),
}

/// Where a cursor goes.
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

/// The words for where a cursor goes.
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

/// What can be toggled.
pub(super) const TOGGLED: [(&str, Toggled); 4] = [
    ("break", Toggled::Break),
    ("watch", Toggled::Watch),
    ("plot", Toggled::Plot),
    ("fence", Toggled::Fence),
];

/// The words for turns of the tour.
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
