//! Saves the terminal settings before the line mode's prompt switches the terminal to raw mode. If a signal ends
//! the process, the settings are restored.

#[cfg(unix)]
mod unix {
    use std::io::{Write as _, stdin, stdout};
    use std::sync::OnceLock;
    use std::thread;

    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::ending_signals::ENDING;

    static KEPT: OnceLock<Termios> = OnceLock::new();

    /// Saves the terminal settings, if there is a terminal. After this call, a signal that ends the process
    /// restores the settings first. SIGHUP (the terminal was closed) and SIGTERM (`kill`) are handled
    /// elsewhere.
    pub fn keep() {
        let Ok(settings) = tcgetattr(stdin()) else { return };
        if KEPT.set(settings).is_ok()
            && let Ok(mut arriving) = Signals::new(ENDING)
        {
            let wait = move || {
                if let Some(signal) = arriving.forever().next() {
                    give_back();
                    // If this fails, nothing else can be done.
                    let _ = emulate_default_handler(signal);
                }
            };
            // If no thread can be started, these signals are ignored.
            let _ = thread::Builder::new().name("prompt".into()).spawn(wait);
        }
    }

    /// Restores the settings, if there was a terminal. Errors are ignored, because the process ends anyway.
    pub fn give_back() {
        let Some(settings) = KEPT.get() else { return };
        // Switches bracketed paste off and ends the line of the prompt.
        let _ = stdout().write_all(b"\x1b[?2004l\r\n").and_then(|()| stdout().flush());
        let _ = tcsetattr(stdin(), OptionalActions::Drain, settings);
    }
}

#[cfg(unix)]
pub use unix::{give_back, keep};

#[cfg(not(unix))]
mod other {
    /// Does nothing: on this platform, the line mode handles no signals that end the process.
    pub fn keep() {}

    /// Does nothing: no settings were saved.
    pub fn give_back() {}
}

#[cfg(not(unix))]
pub use other::{give_back, keep};
