//! What happens to the screen, in words of our own: nothing here or behind it knows a terminal.

use std::time::Duration;

use ratatui::layout::Position;

use super::keys::Key;
use super::theme::Ground;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputEvent {
    Key(Key),
    /// Text that was pasted: it is never taken for keys.
    Paste(String),
    Mouse(Mouse),
    /// The screen has another size now.
    Resize,
    /// The terminal has told its background.
    Ground(Ground),
    /// So much time has passed since the last one.
    Tick(Duration),
}

/// What the mouse did, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    pub place: Position,
    pub gesture: Gesture,
}

/// What a mouse can do here: one button is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    Press,
    /// The second press of two at once on the same place; the first one was a press of its own.
    DoublePress,
    Drag,
    Release,
    ScrollUp,
    ScrollDown,
}
