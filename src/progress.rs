//! A line that says how far a long run is: only on a terminal, only after a second.

use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use crate::failure::Fallible;
use crate::streams;

/// Shows steps made so far.
pub struct ProgressLine {
    started: Instant,
    bar: Option<ProgressBar>,
    what: &'static str,
}

impl ProgressLine {
    /// `what` is the direction: "forward" or "backward".
    pub fn new(what: &'static str) -> ProgressLine {
        ProgressLine { started: Instant::now(), bar: None, what }
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

/// Draws to stderr, and only if that is a terminal.
fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar
}
