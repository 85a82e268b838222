//! Threads that share work. If the system refuses to start a thread, the others do that thread's part. The module is
//! independent of the kind of work.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder, ScopedJoinHandle};

/// Maximum number of threads that share one piece of work, whatever the number of cores.
pub const MOST_THREADS: u32 = 1024;

/// Runs `work` on this thread and on at most `threads - 1` others. The system may start fewer threads, so any number of
/// calls of `work` must complete the whole work. Returns a result for each thread; `None` for a thread that panicked.
pub fn share<T: Send>(threads: u32, work: impl Fn() -> T + Sync) -> Vec<Option<T>> {
    thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<ScopedJoinHandle<'_, T>> = (1..threads.min(MOST_THREADS)).map_while(start).collect();
        let own = Some(work());
        std::iter::once(own).chain(others.into_iter().map(|other| other.join().ok())).collect()
    })
}

/// Runs two functions at the same time, `first` on another thread. If the system refuses to start a thread, the
/// functions run one after the other. The result of `first` is `None` if it panicked on its thread.
pub fn concurrently<T: Send, U>(
    first: impl FnOnce() -> T + Send,
    second: impl FnOnce() -> U,
) -> (Option<T>, U) {
    let first = Mutex::new(Some(first));
    let begin = || {
        let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map(|first| first())
    };
    thread::scope(|scope| match Builder::new().spawn_scoped(scope, begin) {
        Ok(started) => {
            let second = second();
            (started.join().ok().flatten(), second)
        }
        Err(_) => (begin(), second()),
    })
}

/// Runs `work` on a named thread, without waiting for it. If the system refuses to start a thread, `work` runs on the
/// current thread before the function returns. `stack` is the thread's stack size in bytes; `None` for the default.
/// Returns true if a thread was started.
pub fn detached<W: FnOnce() + Send + 'static>(name: &str, stack: Option<usize>, work: W) -> bool {
    fn begin<W: FnOnce()>(work: &Mutex<Option<W>>) {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.into_iter().for_each(|work| work());
    }
    let work = Arc::new(Mutex::new(Some(work)));
    let own = Arc::clone(&work);
    let builder = Builder::new().name(name.to_owned());
    let builder = stack.into_iter().fold(builder, Builder::stack_size);
    let has_thread = builder.spawn(move || begin(&own)).is_ok();
    if !has_thread {
        begin(&work);
    }
    has_thread
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn work_is_shared_by_one_to_the_requested_number_of_threads() {
        for threads in [0, 1, 4, MOST_THREADS + 1] {
            let left = AtomicU32::new(1000);
            let take = |left: u32| left.checked_sub(1);
            let done = share(threads, || {
                let mut done = 0;
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                    done += 1;
                }
                done
            });
            assert!((1..=threads.clamp(1, MOST_THREADS)).contains(&(done.len() as u32)), "{threads}");
            assert_eq!(done.into_iter().flatten().sum::<u32>(), 1000, "{threads}");
        }
    }

    #[test]
    fn two_functions_run_concurrently() {
        let mut done = 0;
        assert_eq!(concurrently(|| done += 1, || 2), (Some(()), 2));
        assert_eq!(done, 1);
    }
}
