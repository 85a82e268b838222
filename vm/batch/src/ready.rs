//! Waits for results that wgpu returns as futures. Except in browsers, each future is ready at once, so no executor is
//! needed.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Polls a future until it is ready, and returns its output.
pub(crate) fn ready<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}
