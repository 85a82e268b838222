//! Input events, independent of the terminal library.

use std::time::Duration;

use ratatui::layout::Position;

use super::keys::Key;
use super::theme::Ground;

/// An event that the application handles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputEvent {
    Key(Key),
    /// Pasted text, which is never interpreted as keys.
    Paste(String),
    Mouse(Mouse),
    /// The screen size has changed.
    Resize,
    /// The terminal has reported its background.
    Ground(Ground),
    /// Time elapsed since the last tick.
    Tick(Duration),
}

/// A mouse gesture and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    pub place: Position,
    pub gesture: Gesture,
}

/// A mouse gesture with a single button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    Press,
    /// The second press of a double click; the first press was reported as a press.
    DoublePress,
    Drag,
    Release,
    ScrollUp,
    ScrollDown,
}
