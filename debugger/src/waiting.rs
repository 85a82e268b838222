//! Shows a progress line on stderr for long runs in line mode. The line appears after one second, and only on
//! a terminal.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::session::Progress;
use crate::timeline::StepSpan;

/// Time that a run must take before the progress line appears.
const SOON: Duration = Duration::from_secs(1);

/// Time between two updates of the progress line.
const BEAT: Duration = Duration::from_millis(200);

/// Runs `work`. While `work` runs, shows the progress as a position in `span`.
pub fn accompany<T>(progress: &Progress, span: StepSpan, work: impl FnOnce() -> T) -> T {
    if !stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        let (_done, waiting) = channel::<()>();
        // If no thread can be started, `work` runs without a progress line.
        let _ = thread::Builder::new().spawn_scoped(scope, move || tell(progress, span, &waiting));
        work()
    })
}

/// Updates the progress line until `work` has ended and its thread has closed the channel `waiting`.
fn tell(progress: &Progress, span: StepSpan, waiting: &Receiver<()>) {
    let is_working = |time| waiting.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    if !is_working(SOON) {
        return;
    }
    let bar = ProgressBar::new_spinner().with_elapsed(SOON);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}; Ctrl-C stops it") {
        bar.set_style(style);
    }
    loop {
        bar.set_message(words(progress.step(), span));
        bar.tick();
        if !is_working(BEAT) {
            break;
        }
    }
    bar.finish_and_clear();
}

fn words(step: i64, span: StepSpan) -> String {
    match span.percent(step) {
        Some(percent) => format!("step {step} ({percent:.1} %)"),
        None => format!("step {step}"),
    }
}
