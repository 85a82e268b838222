//! Waiting for what wgpu answers as a future. Outside of browsers each is ready when it is asked for, so there is no executor.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// What a future comes to.
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
