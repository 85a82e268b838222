//! Signals that ask a long run to stop: Ctrl-C, the end of a session, `kill`. The first sets a flag that runs
//! look at; a second one ends the process at once. Knows no run.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use crate::failure::Exit;

/// A signal that stops runs.
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

    /// The exit code of what it has stopped: 128 and its number, as shells say it.
    pub fn exit(self) -> Exit {
        match self {
            Signal::Interrupt => Exit::Interrupted,
            Signal::HangUp => Exit::HungUp,
            Signal::Terminate => Exit::Terminated,
        }
    }
}

/// What has arrived since the process began to look.
#[derive(Debug, Default)]
struct Arrived {
    any: Arc<AtomicBool>,
    /// One more than the place of the first in [`Signal::ALL`]; 0 as long as none has come.
    which: Arc<AtomicUsize>,
}

static ARRIVED: LazyLock<Arrived> = LazyLock::new(|| {
    let arrived = Arrived::default();
    system::catch(&arrived);
    arrived
});

/// The flag that a signal sets. From the first call on signals don't end the process, but a second one does.
pub fn flag() -> Arc<AtomicBool> {
    ARRIVED.any.clone()
}

/// The signal that has arrived.
pub fn arrived() -> Option<Signal> {
    let which = ARRIVED.which.load(Ordering::Relaxed);
    which.checked_sub(1).and_then(|at| Signal::ALL.get(at).copied())
}

/// The signal that ends the process, where [`at_the_end`] has been asked for and one has come.
pub fn ending() -> Option<Signal> {
    let which = ENDING.load(Ordering::Relaxed);
    which.checked_sub(1).and_then(|at| Signal::ALL.get(at).copied())
}

/// Ends the process after the failure is printed, without waiting for threads that can't be stopped, such as one on which a driver compiles.
/// Nothing that such a thread uses is freed before.
pub fn leave(exit: Exit) {
    std::io::stdout().flush().ok();
    system::leave(exit);
}

static ENDING: AtomicUsize = AtomicUsize::new(0);

/// Has a thread of its own act when the end of a session, or `kill`, ends the process: for who waits for
/// input, and looks at no flag. Ctrl-C isn't meant. A second signal ends the process at once.
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

    use super::{Arrived, Signal};

    fn number(signal: Signal) -> i32 {
        match signal {
            Signal::Interrupt => SIGINT,
            Signal::HangUp => SIGHUP,
            Signal::Terminate => SIGTERM,
        }
    }

    /// Takes the signals that aren't ignored. Where one can't be taken, it ends the process as ever.
    pub fn catch(arrived: &Arrived) {
        let ignored = ignored();
        for (at, signal) in Signal::ALL.into_iter().enumerate() {
            let number = number(signal);
            if ignored >> (number - 1) & 1 == 1 {
                continue;
            }
            // In this order: what is set by the first signal acts at the second.
            flag::register_conditional_default(number, arrived.any.clone()).ok();
            flag::register_usize(number, arrived.which.clone(), at + 1).ok();
            flag::register(number, arrived.any.clone()).ok();
        }
    }

    /// Waits for a signal that ends the process, other than Ctrl-C, on a thread. Where that can't be, signals do
    /// what they do to any process.
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
            let arrived = arriving.forever().next();
            let signal = Signal::ALL.into_iter().find(|signal| Some(number(*signal)) == arrived);
            if let Some(signal) = signal {
                act(signal);
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(first).ok();
    }

    pub fn leave(exit: crate::failure::Exit) {
        signal_hook::low_level::exit(exit as i32);
    }

    /// The signals that the process was told to ignore, as `nohup` does, a bit each. Only Linux tells.
    fn ignored() -> u64 {
        let status = UsedFiles::default().read(Path::new("/proc/self/status"), Content::Text);
        let text = status.ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

/// Nothing is caught here: a signal ends the process.
#[cfg(not(unix))]
mod system {
    use super::Arrived;

    pub fn catch(_: &Arrived) {}

    pub fn wait(_: impl FnOnce(super::Signal)) {}

    /// No signal asks for it here.
    pub fn leave(_: crate::failure::Exit) {}
}
