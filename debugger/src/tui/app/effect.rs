//! What the application asks of whoever runs it.

use super::errand::Errand;

/// What the outside has to do.
#[derive(Debug)]
pub enum Effect {
    Quit,
    /// Switch the mouse on or off.
    Mouse(bool),
    /// Forget what is on the screen, and draw everything.
    Clear,
    /// Give the terminal back to the shell until that lets the debugger go on.
    Suspend,
    /// Run this, and give what it comes to to [`App::returned`](super::App::returned).
    Run(Errand),
}
