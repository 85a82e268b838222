//! Requests of the application to its host, which owns the terminal.

use super::background::BackgroundTask;

/// A request that the host must execute.
#[derive(Debug)]
pub enum Effect {
    /// End the application and restore the terminal.
    Quit,
    /// Switch mouse capture on or off.
    Mouse(bool),
    /// Clear the screen and draw everything.
    Clear,
    /// Restore the terminal and stop the process until the shell continues it.
    Suspend,
    /// Run a background task, and pass its result to [`App::returned`](super::App::returned).
    Run(BackgroundTask),
}
