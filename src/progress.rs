//! A line that says how far a long run is: only on a terminal, only after a second.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use crate::failure::Fallible;
use crate::streams;

/// Shows steps made so far.
pub struct ProgressLine {
    started: Instant,
    bar: Option<ProgressBar>,
    what: &'static str,
    /// True until the note about `--max-steps` is printed, for runs without a limit.
    advises: bool,
}

/// A run without a limit that is still going on after this time, and has made so many steps, is told how to get one.
const LONG: Duration = Duration::from_secs(5);
const MANY: u64 = 100_000_000;

impl ProgressLine {
    /// `what` is the direction: "forward" or "backward". `is_limited` says whether the run has a limit on its steps.
    pub fn new(what: &'static str, is_limited: bool) -> ProgressLine {
        ProgressLine { started: Instant::now(), bar: None, what, advises: !is_limited }
    }

    /// Tells that so many steps have been made.
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
                "note: {} steps {} so far; if the program should have far fewer, Ctrl-C stops it, and `--max-steps N` limits a run\n",
                HumanCount(steps),
                self.what
            );
            bar.suspend(|| streams::complain(&note));
        }
    }

    /// Prints a line to stdout without a trace of the progress line in it.
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

/// Shows how many lanes are done, how many that makes a second, and how long the others will take; on a terminal, after a second.
pub struct LaneProgress {
    started: Instant,
    done: AtomicU64,
    ahead: Mutex<LanesAhead>,
}

/// What is known of the lanes that are to come.
#[derive(Default)]
struct LanesAhead {
    bar: Option<ProgressBar>,
    /// How many lanes have been read.
    read: u64,
    /// How much of all lanes these are.
    share: Option<f64>,
}

impl LaneProgress {
    pub fn new() -> LaneProgress {
        LaneProgress { started: Instant::now(), done: AtomicU64::new(0), ahead: Mutex::default() }
    }

    /// So many lanes have been read, and with them so much of all of them.
    pub fn expect(&self, block: usize, share: Option<f64>) {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.read += block as u64;
        ahead.share = share;
    }

    /// So many more lanes are done. Whoever finds somebody drawing leaves it to the next one.
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
    /// How long the others will take, as far as that can be told.
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

/// Draws to stderr, and only if that is a terminal.
fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar
}
