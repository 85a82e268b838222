//! Signals that stop long runs: Ctrl-C, SIGTERM, SIGHUP. The first signal sets a flag that runs poll; a second one ends
//! the process at once.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use crate::failure::Exit;

/// Signal that stops runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Interrupt,
    HangUp,
    Terminate,
}

impl Signal {
    const ALL: [Signal; 3] = [Signal::Interrupt, Signal::HangUp, Signal::Terminate];

    pub fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "SIGINT",
            Signal::HangUp => "SIGHUP",
            Signal::Terminate => "SIGTERM",
        }
    }

    /// Returns the exit code for a stopped run: 128 plus the signal number, as in shells.
    pub fn exit(self) -> Exit {
        match self {
            Signal::Interrupt => Exit::Interrupted,
            Signal::HangUp => Exit::HungUp,
            Signal::Terminate => Exit::Terminated,
        }
    }
}

/// State of the signal handlers: the signals that have arrived since the handlers were installed.
#[derive(Debug, Default)]
struct ReceivedSignals {
    any: Arc<AtomicBool>,
    /// Index in [`Signal::ALL`] of the first signal, plus one; 0 before any signal.
    which: Arc<AtomicUsize>,
}

static RECEIVED: LazyLock<ReceivedSignals> = LazyLock::new(|| {
    let received = ReceivedSignals::default();
    system::catch(&received);
    received
});

/// Returns the flag that a signal sets, and installs the handlers on the first call. From then on only a second
/// signal ends the process.
pub fn flag() -> Arc<AtomicBool> {
    RECEIVED.any.clone()
}

/// Returns the first signal that has arrived, if any.
pub fn received() -> Option<Signal> {
    let which = RECEIVED.which.load(Ordering::Relaxed);
    which.checked_sub(1).and_then(|at| Signal::ALL.get(at).copied())
}

/// Returns the signal that is ending the process. `None` unless [`at_the_end`] was called and a signal other than
/// Ctrl-C has arrived.
pub fn ending() -> Option<Signal> {
    let which = ENDING.load(Ordering::Relaxed);
    which.checked_sub(1).and_then(|at| Signal::ALL.get(at).copied())
}

/// Ends the process after its failure has been printed. Doesn't join threads that can't be stopped, such as one in a
/// driver's compiler; their resources are not freed.
pub fn leave(exit: Exit) {
    std::io::stdout().flush().ok();
    system::leave(exit);
}

static ENDING: AtomicUsize = AtomicUsize::new(0);

/// Calls `act` on a separate thread when a signal other than Ctrl-C arrives. This is for commands that wait for input,
/// and so can't poll a flag. A second signal ends the process at once.
pub fn at_the_end(act: impl FnOnce(Signal) + Send + 'static) {
    system::wait(move |signal| {
        let at = Signal::ALL.iter().position(|other| *other == signal);
        ENDING.store(at.map_or(0, |at| at + 1), Ordering::Relaxed);
        act(signal);
    });
}

#[cfg(unix)]
mod system {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use reviver_files::{Content, UsedFiles};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;

    use super::{ReceivedSignals, Signal};

    fn number(signal: Signal) -> i32 {
        match signal {
            Signal::Interrupt => SIGINT,
            Signal::HangUp => SIGHUP,
            Signal::Terminate => SIGTERM,
        }
    }

    /// Installs handlers for the signals that aren't ignored. A signal without a handler ends the process as usual.
    pub fn catch(received: &ReceivedSignals) {
        let ignored = ignored();
        for (at, signal) in Signal::ALL.into_iter().enumerate() {
            let number = number(signal);
            if ignored >> (number - 1) & 1 == 1 {
                continue;
            }
            // The order of registration matters: handlers run in this order. When the second signal arrives, the first
            // one has set the flag, so the second signal ends the process.
            flag::register_conditional_default(number, received.any.clone()).ok();
            flag::register_usize(number, received.which.clone(), at + 1).ok();
            flag::register(number, received.any.clone()).ok();
        }
    }

    /// Starts a thread that waits for a signal other than Ctrl-C and then calls `act`. If this fails, signals have
    /// their default effect.
    pub fn wait(act: impl FnOnce(Signal) + Send + 'static) {
        let ignored = ignored();
        let heeded = [Signal::HangUp, Signal::Terminate];
        let heeded = heeded.map(number).into_iter().filter(|number| ignored >> (number - 1) & 1 == 0);
        let Ok(mut arriving) = Signals::new(heeded.clone()) else { return };
        for number in heeded {
            let has_come = Arc::new(AtomicBool::new(false));
            flag::register_conditional_default(number, has_come.clone()).ok();
            flag::register(number, has_come).ok();
        }
        let first = move || {
            let received = arriving.forever().next();
            let signal = Signal::ALL.into_iter().find(|signal| Some(number(*signal)) == received);
            if let Some(signal) = signal {
                act(signal);
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(first).ok();
    }

    pub fn leave(exit: crate::failure::Exit) {
        signal_hook::low_level::exit(exit as i32);
    }

    /// Returns a bit mask of the ignored signals, such as those set by `nohup`. Only Linux provides this mask.
    fn ignored() -> u64 {
        let status = UsedFiles::default().read(Path::new("/proc/self/status"), Content::Text);
        let text = status.ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

/// No handlers on this system; a signal ends the process.
#[cfg(not(unix))]
mod system {
    use super::ReceivedSignals;

    pub fn catch(_: &ReceivedSignals) {}

    pub fn wait(_: impl FnOnce(super::Signal)) {}

    /// Does nothing, because this system has no signal handlers.
    pub fn leave(_: crate::failure::Exit) {}
}
