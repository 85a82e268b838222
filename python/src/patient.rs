//! Calls without the interpreter's lock. Most calls are short and run on the thread of the caller, with a limit on their
//! steps. A call that reaches the limit is repeated on another thread, while the thread of the caller handles signals. So
//! Ctrl-C stops every call, and short calls need no other thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::prelude::*;
use reviver::Error;

/// Time between two checks for signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// Executes work on another thread. If a signal handler raises an exception, sets `stop` and returns the exception after
/// the work has ended.
pub fn patiently<T: Send>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<Result<T, Error>> {
    stop.store(false, Ordering::Relaxed);
    let (done, mut awaited) = mpsc::channel::<()>();
    let mut signal = None;
    let outcome = std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().spawn_scoped(scope, move || {
            let outcome = work();
            drop(done);
            outcome
        });
        let Ok(worker) = worker else { return Err(Error::LostThread) };
        // The channel can't carry values, so it is disconnected when the work has ended.
        let mut is_underway = || {
            let awaited = &mut awaited;
            py.detach(move || awaited.recv_timeout(PATIENCE)) == Err(RecvTimeoutError::Timeout)
        };
        while is_underway() {
            if signal.is_none()
                && let Err(raised) = py.check_signals()
            {
                signal = Some(raised);
                stop.store(true, Ordering::Relaxed);
            }
        }
        worker.join().unwrap_or(Err(Error::LostThread))
    });
    stop.store(false, Ordering::Relaxed);
    signal.map_or(Ok(outcome), Err)
}
