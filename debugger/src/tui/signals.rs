//! What others ask of the process by signals, for the screen to heed when it is due: a signal itself
//! changes nothing here, and knows no terminal. Where there are no such signals, nothing ever arrives.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Signals that have arrived.
#[derive(Debug, Default)]
pub struct Signals {
    interrupt: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
    /// The number of the signal that ends the process; 0 as long as none has.
    end: Arc<AtomicUsize>,
}

impl Signals {
    /// Whether somebody has asked to stop what is running, since the last time.
    pub fn take_interrupt(&self) -> bool {
        self.interrupt.swap(false, Ordering::Relaxed)
    }

    /// Whether the process was stopped and goes on, since the last time.
    pub fn take_resumed(&self) -> bool {
        self.resumed.swap(false, Ordering::Relaxed)
    }

    /// The signal that ends the process, once the terminal is given back.
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

    /// What others send to end the process, or what ends it by default.
    fn ending() -> impl Iterator<Item = i32> {
        [SIGTERM, SIGHUP].into_iter().chain(ENDING)
    }

    /// How long a signal that ends the process may wait until somebody heeds it.
    const AT_LAST: Duration = Duration::from_secs(1);

    impl Signals {
        /// Takes signals from now on. One that ends the process does so at once if it comes twice.
        ///
        /// # Errors
        /// What the platform says.
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

    /// Ends the process by a signal that nothing heeds: reading from a terminal that is gone may never
    /// return. Where the system starts no thread, only a second signal does.
    fn end_at_last(mut arriving: Arriving) {
        let wait = move || {
            for signal in arriving.forever() {
                thread::sleep(AT_LAST);
                // Where this fails nothing is left to be done.
                let _ = emulate_default_handler(signal);
            }
        };
        let _ = thread::Builder::new().name("signals".into()).spawn(wait);
    }

    /// Ends the process as a signal does that nobody has caught.
    ///
    /// # Errors
    /// What the platform says; otherwise it doesn't return.
    pub fn end_by(signal: i32) -> io::Result<()> {
        emulate_default_handler(signal)
    }

    /// Stops the job that the process belongs to, and returns when it goes on: what a terminal does at
    /// Ctrl-Z.
    ///
    /// # Errors
    /// What the platform says.
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
        /// There are none.
        ///
        /// # Errors
        /// None.
        pub fn catch() -> io::Result<Signals> {
            Ok(Signals::default())
        }
    }

    /// Never called: no signal arrives.
    ///
    /// # Errors
    /// None.
    pub fn end_by(_: i32) -> io::Result<()> {
        Ok(())
    }

    /// Jobs can't be stopped here.
    ///
    /// # Errors
    /// None.
    pub fn stop_job() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(unix))]
pub use other::{end_by, stop_job};
