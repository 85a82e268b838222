//! Progress lines of long runs; shown on terminals only, after a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use crate::failure::Fallible;
use crate::streams;

/// Progress of a run in steps.
pub struct ProgressLine {
    started: Instant,
    bar: Option<ProgressBar>,
    what: &'static str,
    /// True if the advice about `--max-steps` may still be printed. False after the advice has been printed, and for
    /// runs with a step limit.
    advises: bool,
}

/// Minimum time after which a run without a step limit gets advice about `--max-steps`.
const LONG: Duration = Duration::from_secs(5);
/// Minimum number of steps after which a run without a step limit gets advice about `--max-steps`.
const MANY: u64 = 100_000_000;

impl ProgressLine {
    /// Creates the line of a run. `what` is the direction: "forward" or "backward".
    pub fn new(what: &'static str, is_limited: bool) -> ProgressLine {
        ProgressLine { started: Instant::now(), bar: None, what, advises: !is_limited }
    }

    /// Updates the number of executed steps.
    pub fn update(&mut self, steps: u64) {
        let elapsed = self.started.elapsed();
        if elapsed < Duration::from_secs(1) {
            return;
        }
        let bar = self.bar.get_or_insert_with(spinner);
        let rate = steps as f64 / elapsed.as_secs_f64() / 1e6;
        bar.set_message(format!("{} {} steps, {rate:.0} million a second", self.what, HumanCount(steps)));
        bar.tick();
        if elapsed >= LONG && steps >= MANY && self.advises {
            self.advises = false;
            let note = format!(
                "note: {} steps {} so far; if the program should take far fewer, stop it with Ctrl-C, and limit a run with `--max-steps N`\n",
                HumanCount(steps),
                self.what
            );
            bar.suspend(|| streams::complain(&note));
        }
    }

    /// Prints a line to standard output, with the progress line hidden meanwhile.
    pub fn print(&self, text: &str) -> Fallible {
        match &self.bar {
            Some(bar) => bar.suspend(|| streams::print(text)),
            None => streams::print(text),
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Progress of a batch: completed lanes, lanes per second, and remaining time.
pub struct LaneProgress {
    started: Instant,
    done: AtomicU64,
    ahead: Mutex<LanesAhead>,
}

/// Data from which the remaining time of a batch is estimated.
#[derive(Default)]
struct LanesAhead {
    bar: Option<ProgressBar>,
    /// Number of lanes that have been read.
    read: u64,
    /// Fraction of all lanes that has been read, if known.
    share: Option<f64>,
}

impl LaneProgress {
    pub fn new() -> LaneProgress {
        LaneProgress { started: Instant::now(), done: AtomicU64::new(0), ahead: Mutex::default() }
    }

    /// Records that a block of lanes has been read, and which fraction of all lanes is read so far.
    pub fn expect(&self, block: usize, share: Option<f64>) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.read += block as u64;
        ahead.share = share;
    }

    /// Adds completed lanes. If another thread is drawing the line, the line isn't updated.
    pub fn advance(&self, lanes: u64) {
        let done = self.done.fetch_add(lanes, Ordering::Relaxed) + lanes;
        let elapsed = self.started.elapsed();
        if elapsed < Duration::from_secs(1) {
            return;
        }
        let Ok(mut ahead) = self.ahead.try_lock() else { return };
        let left = ahead.left(done, elapsed);
        let rate = (done as f64 / elapsed.as_secs_f64()) as u64;
        let bar = ahead.bar.get_or_insert_with(spinner);
        bar.set_message(format!("{} lanes, {} a second{left}", HumanCount(done), HumanCount(rate)));
        bar.tick();
    }
}

impl LanesAhead {
    /// Formats the remaining time, if it can be estimated.
    fn left(&self, done: u64, elapsed: Duration) -> String {
        let known = self.read as f64;
        let Some(share) = self.share.filter(|share| *share > 0.0 && known > 0.0) else {
            return String::new();
        };
        let part = (share * done as f64 / known).clamp(1e-9, 1.0);
        let left = elapsed.mul_f64(((1.0 - part) / part).min(1e6));
        format!(", {:.0} %, {} left", part * 100.0, HumanDuration(left))
    }
}

impl Drop for LaneProgress {
    fn drop(&mut self) {
        let ahead = self.ahead.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = &ahead.bar {
            bar.finish_and_clear();
        }
    }
}

/// Creates a progress bar, which is drawn on standard error only if that is a terminal.
fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar
}
