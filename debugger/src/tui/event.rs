//! Input events, independent of the terminal library.

use std::time::Duration;

use ratatui::layout::Position;

use super::keys::Key;
use super::theme::Ground;

/// An event that the application handles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputEvent {
    /// A key press or repetition.
    Key(Key),
    /// Pasted text, which is never interpreted as keys.
    Paste(String),
    /// A gesture of the mouse, with its position on the screen.
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
    /// The column and row under the pointer, from the screen's top left corner.
    pub place: Position,
    /// The kind of the gesture.
    pub gesture: Gesture,
}

/// A mouse gesture with a single button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    /// The button was pressed.
    Press,
    /// The second press of a double click. The first one was reported as [`Gesture::Press`].
    DoublePress,
    /// The pointer moved with the button down.
    Drag,
    /// The button was released after a press.
    Release,
    /// The wheel scrolled one notch up.
    ScrollUp,
    /// The wheel scrolled one notch down.
    ScrollDown,
}
