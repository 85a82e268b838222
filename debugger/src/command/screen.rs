//! Actions of the screen, as data. Command lines request these actions, and the screen executes them.

use reviver_vm::Travel;

/// An action of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScreenAction {
    /// Plays in a direction, or pauses. `None` means the direction of the last playback.
    Play(Option<Travel>),
    /// Doubles the speed of playback.
    Faster,
    /// Halves the speed of playback.
    Slower,
    /// Travels by a fiftieth of the range of steps that the timeline bar shows.
    Scrub(Travel),
    /// Executes a command line that sets an item. If the item is set already, removes the item instead.
    Toggle(Toggled, String),
    /// Opens the prompt with this text, for the user to complete.
    Ask(String),
    /// Opens the prompt for a search text.
    AskSearch,
    /// Searches for this text in the focused pane.
    Search(String),
    /// Repeats the last search.
    SearchAgain {
        /// True for the next match, false for the previous one.
        further: bool,
    },
    /// Moves the cursor of the code pane to the next instruction or, in an outer frame, to the frame's open call.
    Here,
    /// Switches the selection between a cell's value and its adjoint.
    Adjoint,
    /// Moves the focus to another pane.
    Focus(FocusTarget),
    /// Shows the focused pane alone, or all panes again.
    Zoom,
    /// Shows another part of the branch on the timeline bar.
    ZoomTime(TimeZoom),
    /// Moves the cursor of the focused pane.
    Cursor(CursorMove),
    /// Selects the array of the arrays pane.
    Array(ArrayChoice),
    /// Opens the item under the cursor. The effect depends on the pane.
    Open,
    /// Closes the pane of the last answer.
    Close,
    /// Shows the keys and their commands.
    Keys,
    /// Begins the tour, or turns its pages.
    Tour(TourTurn),
    /// Switches mouse capture on or off.
    Mouse,
    /// Draws the whole screen again.
    Redraw,
    /// Returns to the shell until the process is continued.
    Suspend,
    /// Ends the session, after a confirmation question if content would be lost.
    Leave,
}

/// Navigation within the tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourTurn {
    /// Starts the tour at its first page.
    Begin,
    /// Shows the next page. If there is no tour, begins one at the first page.
    Next,
    /// Shows the previous page of the tour.
    Back,
    /// Ends the tour. The panes get the screen rows of the tour back.
    Leave,
}

/// The range shown by the timeline bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeZoom {
    /// From one step to another; `None` means the first or the last step of the branch.
    Range(Option<i64>, Option<i64>),
    /// Fewer steps, around the current one.
    In,
    /// More steps, around the current one.
    Out,
    /// All known steps of the branch.
    Whole,
}

/// Items that can be set and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggled {
    /// A breakpoint at a place.
    Break,
    /// A watchpoint on a cell.
    Watch,
    /// A plot of a cell.
    Plot,
    /// A fence at the current step.
    Fence,
}

/// The pane that receives the focus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FocusTarget {
    /// The next pane in the order of the focus.
    Next,
    /// The previous pane in the order of the focus.
    Previous,
    /// The pane with this name, as on its tab.
    Pane(String),
}

/// The array that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayChoice {
    /// The array after the current one, cyclically.
    Next,
    /// The array before the current one, cyclically.
    Previous,
    /// The array with this name.
    Named(String),
}

/// Movement of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CursorMove {
    /// Moves up by one row.
    Up,
    /// Moves down by one row.
    Down,
    /// Moves left; in an answer, folds a row or goes to its parent.
    Left,
    /// Moves right; in an answer, unfolds a row.
    Right,
    /// Moves up by one page.
    PageUp,
    /// Moves down by one page.
    PageDown,
    /// Moves to the first row.
    Top,
    /// Moves to the last row.
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
