//! The settings that the terminal had before the line mode's prompt, which reads keys as they are pressed: given back
//! where a signal ends the process there. Knows no line and no command.

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

    /// Remembers the settings, if there is a terminal. From now on a signal that ends the process gives them back
    /// before; at the end of the terminal, and at `kill`, others act.
    pub fn keep() {
        let Ok(settings) = tcgetattr(stdin()) else { return };
        if KEPT.set(settings).is_ok()
            && let Ok(mut arriving) = Signals::new(ENDING)
        {
            let wait = move || {
                if let Some(signal) = arriving.forever().next() {
                    give_back();
                    // Where this fails nothing is left to be done.
                    let _ = emulate_default_handler(signal);
                }
            };
            // Without a thread these signals are ignored.
            let _ = thread::Builder::new().name("prompt".into()).spawn(wait);
        }
    }

    /// Gives the settings back, if there was a terminal. What fails is left: the process ends.
    pub fn give_back() {
        let Some(settings) = KEPT.get() else { return };
        // Pasted text isn't marked any more, and the prompt's line has its end.
        let _ = stdout().write_all(b"\x1b[?2004l\r\n").and_then(|()| stdout().flush());
        let _ = tcsetattr(stdin(), OptionalActions::Drain, settings);
    }
}

#[cfg(unix)]
pub use unix::{give_back, keep};

#[cfg(not(unix))]
mod other {
    /// No signal ends the process here.
    pub fn keep() {}

    /// Nothing was kept.
    pub fn give_back() {}
}

#[cfg(not(unix))]
pub use other::{give_back, keep};
