//! Signals to the process. A signal only sets a flag, which the screen checks between events. On platforms
//! without such signals the flags are never set.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Flags for signals that have arrived.
#[derive(Debug, Default)]
pub struct Signals {
    interrupt: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
    /// The number of the signal that ends the process; 0 if no such signal has arrived.
    end: Arc<AtomicUsize>,
}

impl Signals {
    /// Returns true if an interrupt has arrived since the last call.
    pub fn take_interrupt(&self) -> bool {
        self.interrupt.swap(false, Ordering::Relaxed)
    }

    /// Returns true if the process was stopped and continued since the last call.
    pub fn take_resumed(&self) -> bool {
        self.resumed.swap(false, Ordering::Relaxed)
    }

    /// Returns the signal that ends the process, if one has arrived. The screen first restores the terminal.
    pub fn end(&self) -> Option<i32> {
        i32::try_from(self.end.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }
}

#[cfg(unix)]
mod unix {
    use std::thread;
    use std::time::Duration;

    use rustix::process::{Signal, kill_current_process_group};
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::iterator::Signals as Arriving;
    use signal_hook::low_level::emulate_default_handler;

    use super::*;
    use crate::ending_signals::ENDING;

    /// Returns the signals that end the process: those that request its end, and those that end it by
    /// default.
    fn ending() -> impl Iterator<Item = i32> {
        [SIGTERM, SIGHUP].into_iter().chain(ENDING)
    }

    /// Time after which a signal ends the process even if the screen hasn't handled it.
    const AT_LAST: Duration = Duration::from_secs(1);

    impl Signals {
        /// Installs the handlers. If a signal that ends the process arrives for the second time, it ends the
        /// process at once.
        ///
        /// # Errors
        /// The handlers can't be installed.
        pub fn catch() -> io::Result<Signals> {
            let signals = Signals::default();
            flag::register(SIGINT, signals.interrupt.clone())?;
            flag::register(SIGCONT, signals.resumed.clone())?;
            end_at_last(Arriving::new(ending())?);
            for signal in ending() {
                let has_come = Arc::new(AtomicBool::new(false));
                flag::register_conditional_default(signal, has_come.clone())?;
                flag::register(signal, has_come)?;
                flag::register_usize(signal, signals.end.clone(), signal.unsigned_abs() as usize)?;
            }
            Ok(signals)
        }
    }

    /// Starts a thread that ends the process if the screen doesn't handle a signal within [`AT_LAST`]. The thread
    /// is needed because a read from a closed terminal may never return. If no thread can be started, a second
    /// signal ends the process.
    fn end_at_last(mut arriving: Arriving) {
        let wait = move || {
            for signal in arriving.forever() {
                thread::sleep(AT_LAST);
                // If this fails, nothing else can be done.
                let _ = emulate_default_handler(signal);
            }
        };
        let _ = thread::Builder::new().name("signals".into()).spawn(wait);
    }

    /// Ends the process with the default action of a signal.
    ///
    /// # Errors
    /// The default action can't be executed. If it can be executed, the function doesn't return.
    pub fn end_by(signal: i32) -> io::Result<()> {
        emulate_default_handler(signal)
    }

    /// Stops the job of the process, as Ctrl-Z on a terminal does. Returns when the job is continued.
    ///
    /// # Errors
    /// The signal can't be sent.
    pub fn stop_job() -> io::Result<()> {
        Ok(kill_current_process_group(Signal::TSTP)?)
    }
}

#[cfg(unix)]
pub use unix::{end_by, stop_job};

#[cfg(not(unix))]
mod other {
    use super::*;

    impl Signals {
        /// Returns flags that are never set.
        ///
        /// # Errors
        /// Never returns an error on this platform.
        pub fn catch() -> io::Result<Signals> {
            Ok(Signals::default())
        }
    }

    /// Does nothing; never called, because no signal arrives.
    ///
    /// # Errors
    /// Never returns an error on this platform.
    pub fn end_by(_: i32) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing: jobs can't be stopped on this platform.
    ///
    /// # Errors
    /// Never returns an error on this platform.
    pub fn stop_job() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(unix))]
pub use other::{end_by, stop_job};
