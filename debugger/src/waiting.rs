//! A line on stderr that says how far a long run is, for who waits at the line mode's prompt: only on a
//! terminal, only after a second. Knows nothing of commands.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::session::Progress;
use crate::timeline::StepSpan;

/// Runs that take less time are not worth a word.
const SOON: Duration = Duration::from_secs(1);

/// Time between two looks at the progress.
const BEAT: Duration = Duration::from_millis(200);

/// Does some work, and says meanwhile how far it is along the steps that are known.
pub fn accompany<T>(progress: &Progress, span: StepSpan, work: impl FnOnce() -> T) -> T {
    if !stderr().is_terminal() {
        return work();
    }
    thread::scope(|scope| {
        let (_done, waiting) = channel::<()>();
        // Without a thread to be had, the work is done in silence.
        let _ = thread::Builder::new().spawn_scoped(scope, move || tell(progress, span, &waiting));
        work()
    })
}

/// Tells until the other end of the channel is gone.
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
